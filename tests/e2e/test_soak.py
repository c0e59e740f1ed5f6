"""Two minutes of the soak, and that its judge finds what it is there for."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any

import pytest
from soak.site import Load
from soak.soak import Judge, fitting, soak

from kruntimes_core.testing import pod_object, run_object
from realcluster.ledger import Event

SECONDS = 100.0


@pytest.mark.timeout(420)
@pytest.mark.usefixtures("kubectl")  # skips where there are no binaries
def test_two_minutes_of_faults_break_no_rule(tmp_path: Path) -> None:
    figures = soak(SECONDS, 7, _say, tmp_path)
    assert figures.broken == []
    assert figures.calms >= 2
    assert figures.placements > 50
    assert len([name for name, times in figures.faults.items() if times]) >= 4


class Told:
    """A ledger that was told all of this."""

    def __init__(self, *objects: Mapping[str, Any]) -> None:
        self._events = [Event("pods" if one["kind"] == "Pod" else "runs", "MODIFIED", one) for one in objects]

    def take(self, version: int, seconds: float) -> list[Event]:
        """See `Ledger`."""
        return self._events


POD = pod_object("py-0", uid="uid-0", version="1", capacity={"runs": 2})


def pending(version: int, name: str) -> dict[str, Any]:
    """A Run that waits, at a version of the store."""
    return run_object(name, uid=name, version=str(version), phase="Pending")


def bound(version: int, name: str, pod: str = "0") -> dict[str, Any]:
    """A Run on a Pod, at a version of the store."""
    return run_object(
        name, uid=name, version=str(version), phase="Scheduled", pod=f"py-{pod}", pod_uid=f"uid-{pod}"
    )


@pytest.mark.parametrize(
    ("told", "found"),
    [
        pytest.param([bound(2, "a"), bound(3, "b"), bound(4, "c")], ["overcommitted"], id="one Run too many"),
        pytest.param([bound(2, "a"), bound(3, "a", "1")], ["boundTwice"], id="a Run that is moved"),
        pytest.param(
            [bound(2, "a"), pending(3, "a"), bound(4, "a")],
            ["runLost", "boundTwice"],
            id="a Run that is taken off its Pod and bound again in one attempt",
        ),
        pytest.param([bound(2, "a"), bound(3, "a")], ["emptyWrite"], id="a write that changes nothing"),
        pytest.param([bound(2, "a"), bound(3, "b")], [], id="all as it should be"),
    ],
)
def test_the_judge_names_the_rule_that_was_broken(told: list[dict[str, Any]], found: list[str]) -> None:
    broken = Judge(Told(POD, *told)).broken(99, 0)  # type: ignore[arg-type]
    assert [one.partition(":")[0] for one in broken] == found


def test_a_run_that_fits_and_is_not_placed_is_waited_for() -> None:
    now = {
        "r1": {"phase": "Pending"},
        "r2": {},
        "r3": {"phase": "Scheduled"},
        "hopeless-1": {"phase": "Pending"},
    }
    assert fitting(now) == {"r1", "r2"}


class Unlucky(Random):
    """Draws what lets the load delete."""

    def random(self) -> float:
        """See `Random`."""
        return 0.0


class Deletions:
    """A client that notes what is deleted, and a ledger in which one Run waits."""

    def __init__(self) -> None:
        self.now = {"r1": {"phase": "Pending"}}
        self.deleted: list[str] = []

    def delete(self, _: object, name: str, __: str) -> None:
        """See `Client`."""
        self.deleted.append(name)


@pytest.mark.parametrize(("spares", "deleted"), [(False, ["r1"]), (True, [])])
def test_a_calm_deletes_no_run_that_waits(spares: bool, deleted: list[str]) -> None:
    client = Deletions()
    load = Load(client, "soak", client, Unlucky())  # type: ignore[arg-type]
    load.width, load.spares_waiting = 0, spares
    load.round()
    assert client.deleted == deleted


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")
