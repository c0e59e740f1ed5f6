"""H5: the text of a waiting Run is what holds now, is not lost, and lies to nobody."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from memoryapi.calls import status, target
from memoryapi.site import Site

from kruntimes_core.cluster.client.transport import Call, Response
from kruntimes_core.testing import affinity_object, condition_object, term_object
from kruntimes_core.testing.builders import NOW
from tests.unit.cluster.played import scheduler_scene

PODS = 'waiting for available runtime pods for runtime "py"'
ANTI = "waiting for a runtime pod without the runs that required run anti-affinity excludes"
AWAY_FROM_A = affinity_object(required_anti=[term_object({"app": "a"})])


def writes(site: Site, name: str) -> list[dict[str, Any]]:
    """What was asked of the server about a Run, accepted or not."""
    return [
        json.loads(call.body or b"{}")["status"]
        for _, what, call in site.api.calls
        if what.verb == "patch" and what.name == name
    ]


@scheduler_scene()
async def test_each_reason_is_written_once_when_it_becomes_another(site: Site) -> None:
    site.run("r", affinity=AWAY_FROM_A)
    site.start()
    await site.passes(100)
    site.run("x", labels={"app": "a"}, pod="py-0")
    await site.passes(1)
    site.pod("py-0", runs=4)
    await site.passes(100)
    site.end("x")
    await site.passes(2)
    assert [write.get("message") for write in writes(site, "r")] == [PODS, ANTI, None]
    assert site.pod_of("r") == "py-0"
    assert "message" not in site.status("r")


@scheduler_scene()
async def test_a_text_that_meets_an_edit_is_read_again_and_written_if_it_is_still_true(site: Site) -> None:
    async def edited_before_it_arrives(call: Call) -> Response | None:
        if target(call).verb == "patch" and len(writes(site, "r")) == 1:
            site.change("r", metadata={"labels": {"team": "b"}})
        return None

    # What the watch tells of the edit comes late: the host has to look for itself.
    site.api.lag_seconds["runs"] = 10
    site.api.faults.append(edited_before_it_arrives)
    site.run("r")
    site.start()
    await site.passes(2)
    assert site.status("r")["message"] == PODS
    assert len(writes(site, "r")) == 2


@scheduler_scene()
async def test_a_text_that_is_no_longer_true_when_its_conflict_is_known_is_not_written(site: Site) -> None:
    async def room_comes_first(call: Call) -> Response | None:
        if target(call).verb != "patch" or len(writes(site, "r")) > 1:
            return None
        site.pod("py-0", runs=1)
        await asyncio.sleep(0.5)
        return status(409, "Conflict")

    site.api.faults.append(room_comes_first)
    site.run("r")
    site.start()
    await site.passes(3)
    assert site.pod_of("r") == "py-0"
    assert [write.get("message") for write in writes(site, "r")] == [PODS, None]


@scheduler_scene()
async def test_a_bind_takes_the_schedulers_own_text_away_and_leaves_that_of_somebody_else(site: Site) -> None:
    stopped = condition_object("Running", False, since=NOW)
    theirs = {"attempt": 2, "conditions": [stopped], "message": "the runtime pod was lost"}
    site.pod("py-0", runs=9)
    site.run("ours", status={"message": PODS})
    site.run("theirs", status=theirs)
    site.start()
    await site.passes(3)
    assert "message" not in site.status("ours")
    assert site.status("theirs")["message"] == "the runtime pod was lost"
    (bind,) = writes(site, "theirs")
    assert bind["phase"] == "Scheduled"
    assert "message" not in bind


@scheduler_scene()
async def test_a_text_of_somebody_else_makes_way_for_a_waiting_text_and_for_nothing_else(site: Site) -> None:
    stopped = condition_object("Running", False, since=site.clock.now().wall)
    theirs = {"attempt": 2, "conditions": [stopped], "message": "the runtime pod was lost"}
    site.run("r", status=theirs)
    site.start()
    await site.passes(0.5)
    # Its delay goes on: there is no reason to wait that anybody could do something about.
    assert site.status("r")["message"] == "the runtime pod was lost"
    await site.passes(2)
    assert site.status("r")["message"] == PODS
    site.change("r", status={"message": "somebody writes again"})
    await site.passes(1)
    site.pod("py-0", runs=1)
    await site.passes(2)
    assert site.pod_of("r") == "py-0"
    assert site.status("r")["message"] == "somebody writes again"
