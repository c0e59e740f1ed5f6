"""Runs with large selectors: what the host keeps of them is bounded in bytes, and goes when they go."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
from large_selectors import NAMESPACE, Scheduler, fill, one_large, rounds

from kruntimes_core.engine.decisions import JOURNAL_BYTES, Decision, Journal, Outcome
from kruntimes_core.engine.runs import Stage
from kruntimes_core.model import selectors
from kruntimes_core.model.selectors import Affinity
from kruntimes_core.testing import make_affinity, make_run, matching
from kruntimes_core.testing.objects import Object

VALUES = 1_000
"""Of one selector: 15 kB as text, 100 kB as objects."""


@pytest.fixture
def traced() -> Iterator[None]:
    tracemalloc.start()
    yield
    tracemalloc.stop()


def megabytes() -> float:
    gc.collect()
    return tracemalloc.get_traced_memory()[0] / 1_000_000


@pytest.mark.usefixtures("traced")
def test_large_runs_that_come_and_go_leave_nothing_behind() -> None:
    """A round is 800 kB of objects. The journal, which has a bound of its own, is left out."""
    scheduler = Scheduler(pods=3)
    left = []
    for _ in rounds(scheduler, 4, 8, VALUES):
        scheduler.engine.journal.latest.clear()
        left.append(megabytes())
    assert left[-1] - left[1] < 0.03


def test_the_journal_keeps_the_latest_decisions_within_its_bound() -> None:
    journal = Journal()
    runs = [
        make_run(str(number), affinity=make_affinity(required=[matching(app="a" * 63 + str(number))] * 32))
        for number in range(3_000)
    ]
    for run in runs:
        journal.note(None, Decision(run=run, outcome=Outcome.WAITING, reason="Waiting"))
    kept = [decision.run.name for decision in journal.latest]
    assert kept == [run.name for run in runs[-len(kept) :]]
    assert 500 < len(kept) <= 1_000
    large = make_run("large", affinity=make_affinity(required=[matching(app="a" * JOURNAL_BYTES)]))
    journal.note(None, Decision(run=large, outcome=Outcome.WAITING, reason="Waiting"))
    assert not journal.latest


KINDS = {"waits": 0, "is placed by anti-affinity": 1, "is placed by preference": 2, "is placed by NotIn": 3}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.usefixtures("traced")
def test_of_one_large_run_that_is_gone_nothing_is_kept_but_its_decision(kind: str) -> None:
    scheduler = Scheduler(pods=3)
    for turn in range(2):  # the first time more is made: tables, answers about the Pods
        scheduler.engine.journal.latest.clear()
        before = megabytes()
        scheduler.create("large", partial(one_large, KINDS[kind], VALUES, turn))
        scheduler.settle()
        scheduler.pass_time()
        assert ("large" in scheduler.placed) is (kind != "waits")
        scheduler.delete("large")
        scheduler.settle()
    scheduler.engine.journal.latest.clear()
    assert megabytes() - before < 0.03


@pytest.mark.usefixtures("traced")
def test_a_large_affinity_is_forgotten_while_its_run_is_active() -> None:
    scheduler = Scheduler(pods=3)
    before = megabytes()
    scheduler.create("large", partial(one_large, 1, VALUES, 0))
    scheduler.settle()
    entry = scheduler.engine.find(NAMESPACE, "large")
    assert entry is not None
    assert entry.run.affinity == Affinity()
    scheduler.engine.journal.latest.clear()
    assert megabytes() - before < 0.03


@pytest.mark.usefixtures("traced")
@pytest.mark.parametrize("met", [False, True])
def test_a_waiting_run_takes_little_more_than_the_text_of_its_terms(met: bool) -> None:
    """96 terms of 14 to 20 characters: 480,000 of them fit into 200 MB."""
    scheduler = Scheduler(pods=3, slots=1)
    fill(scheduler, 25, met, "first")
    budgets = (selectors.ANSWER_BYTES, selectors.COMPILED_BYTES)
    before = megabytes()
    fill(scheduler, 25, met, "second")
    shared = 25 * 96 * 700 / 1_000_000  # what the two caches of selectors still grow by, up to their budgets
    assert sum(budgets) == 32 * 1024 * 1024
    assert megabytes() - before < 25 * 0.032 + shared


def test_a_waiting_large_run_is_woken_and_placed() -> None:
    """Its answers are kept with it: a Pod that changes costs calls for that Pod alone."""
    scheduler = Scheduler(pods=3)
    scheduler.create("waits", lambda: one_large(0, 30_000, 7))
    scheduler.settle()
    assert "waits" not in scheduler.placed
    scheduler.create("wanted", dict, labels={"cohort": "value-7-0-29999"})
    scheduler.settle()
    assert scheduler.placed["waits"] == scheduler.placed["wanted"]


def test_equal_large_runs_share_one_state() -> None:
    scheduler = Scheduler(pods=3)
    for number in range(5):
        scheduler.create(f"waits-{number}", lambda: one_large(0, 30_000), labels={"cohort": "one"})
    scheduler.settle()
    entries = [scheduler.engine.find(NAMESPACE, f"waits-{number}") for number in range(5)]
    assert {entry.stage for entry in entries if entry} == {Stage.UNSCHEDULABLE}
    assert len({id(entry.prefilter_state) for entry in entries if entry}) == 1


@pytest.mark.parametrize(
    "large",
    [
        {"metadata": {"labels": {f"label-{number}": "x" * 60 for number in range(1_000)}}},
        {"spec": {"resources": {"requests": {f"resource-{number}": "0" for number in range(1_000)}}}},
    ],
    ids=["labels", "resources"],
)
@pytest.mark.usefixtures("traced")
def test_other_large_parts_of_a_run_go_with_it_too(large: dict[str, Any]) -> None:
    scheduler = Scheduler(pods=3)

    def bring(number: int) -> None:
        def change(obj: Object) -> None:
            obj["metadata"]["labels"].update(large.get("metadata", {}).get("labels", {}))
            obj["metadata"]["labels"]["number"] = str(number)
            for resource in large.get("spec", {}).get("resources", {}).get("requests", {}):
                obj["spec"]["resources"]["requests"][f"{resource}-{number}"] = "0"

        scheduler.create("large", dict, change=change)
        scheduler.settle()
        scheduler.pass_time()
        scheduler.delete("large")
        scheduler.settle()
        scheduler.engine.journal.latest.clear()

    for number in range(2):
        bring(number)
    before = megabytes()
    for number in range(2, 7):
        bring(number)
    assert megabytes() - before < 0.3
