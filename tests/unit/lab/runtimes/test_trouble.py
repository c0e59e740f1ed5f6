"""An API server that refuses, fails or forgets does not stop the simulation."""

from __future__ import annotations

import json

import pytest

from kruntimes_core.cluster.client.transport import Call, MaybeSentError, Response
from tests.unit.lab.runtimes.scene import TASK_SECONDS, Site, passes, play


class Trouble:
    """Strikes writes of one kind, so many times."""

    def __init__(self, plural: str, times: int, answer: Response | None) -> None:
        self._plural = plural
        self._left = times
        self._answer = answer

    async def strike(self, call: Call) -> Response | None:
        """Answer, or break the connection."""
        if call.method == "GET" or f"/{self._plural}" not in call.path or not self._left:
            return None
        self._left -= 1
        if self._answer is None:
            raise MaybeSentError("the connection broke")
        return self._answer

    @property
    def struck(self) -> bool:
        return self._left == 0


ANSWERS = [
    None,
    Response(409, b"{}"),
    Response(500, b"oh"),
    Response(429, b"{}"),
    Response(403, b"{}"),
]


@pytest.mark.parametrize("answer", ANSWERS, ids=["broken", "conflict", "error", "busy", "forbidden"])
@pytest.mark.parametrize("plural", ["pods", "runs"])
def test_a_write_that_does_not_work_is_tried_again(plural: str, answer: Response | None) -> None:
    async def scene(site: Site) -> None:
        trouble = Trouble(plural, 3, answer)
        site.transport.faults.append(trouble.strike)
        site.runtime()
        await passes(20)
        site.run("r")
        site.bind("r", "py-0")
        await passes(TASK_SECONDS + 20)
        assert trouble.struck
        assert site.status("r")["phase"] == "Succeeded"

    play(scene)


def test_a_write_that_is_refused_for_ever_is_not_repeated_without_a_pause() -> None:
    async def scene(site: Site) -> None:
        site.transport.faults.append(Trouble("pods", 10_000, Response(422, b"{}")).strike)
        site.runtime()
        await passes(30)
        assert len([call for _, _, call in site.transport.calls if call.method == "POST"]) <= 31

    play(scene)


def test_a_conflict_is_decided_anew_from_the_newer_version() -> None:
    async def scene(site: Site) -> None:
        site.runtime()
        await passes(2)
        site.run("r")
        site.bind("r", "py-0")
        await passes(TASK_SECONDS - 1)

        async def meanwhile(call: Call) -> None:
            """Somebody cancels the Run just before its success arrives."""
            if call.method == "PATCH" and "Succeeded" in (call.body or b"").decode():
                site.change("runs", "r", spec={"cancelRequested": True})

        site.transport.faults.append(meanwhile)
        await passes(5)
        assert site.status("r")["phase"] == "Cancelled"

    play(scene)


def test_every_patch_is_guarded_by_a_version() -> None:
    async def scene(site: Site) -> None:
        site.runtime()
        await passes(2)
        site.run("r")
        site.bind("r", "py-0")
        await passes(TASK_SECONDS + 10)

    site = play(scene)
    patches = [json.loads(call.body or b"") for _, _, call in site.transport.calls if call.method == "PATCH"]
    assert len(patches) > 5
    assert all(patch["metadata"]["resourceVersion"] for patch in patches)


def test_a_run_that_is_deleted_while_it_runs_is_forgotten() -> None:
    async def scene(site: Site) -> None:
        site.runtime()
        await passes(2)
        site.run("r")
        site.bind("r", "py-0")
        await passes(2)
        site.delete("runs", "r")
        await passes(TASK_SECONDS + 5)
        assert site.names("runs") == []

    site = play(scene)
    assert site.lines.getvalue() == ""
