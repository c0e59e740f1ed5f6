"""What is said beside a plan, on standard error: what was left out, what was wrong, and the sum."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC
from typing import Any

from kruntimes_core.cli.plan.table import OUTCOME_COLOURS
from kruntimes_core.framework.profile import PluginError
from kruntimes_core.lab.freshness import Freshness
from kruntimes_core.lab.manifests.reader import Unreadable
from kruntimes_core.model.messages import counted

_INVALID_RESOURCES = "InvalidResources"


def left_out(skipped: Counter[str]) -> Iterator[str]:
    """One line for the objects that do not matter, by kind; none when all of them do."""
    if skipped:
        kinds = sorted(skipped.items(), key=lambda kind: (-kind[1], kind[0]))
        listed = ", ".join(f"{count} {kind}" for kind, count in kinds)
        yield f"skipped {counted(skipped.total(), 'object')} of other kinds: {listed}"


def stale(found: Freshness | None) -> Iterator[str]:
    """One line when Pods count for nothing because their heartbeat is of another time than the plan."""
    if found is not None and found.stale:
        have = "has" if found.stale == 1 else "have"
        pods = f"{found.stale} of {counted(found.ready, 'ready Runtime Pod')} {have} no heartbeat"
        # Whole, unlike a time of the API: a fraction of a second may be what makes them stale.
        moment = found.at.astimezone(UTC).isoformat().replace("+00:00", "Z")
        advice = "if that is no outage, give an earlier --now, or dump Pods and Runs together"
        yield f"{pods} within {found.limit_seconds:g} s of {moment}: {advice}"


def failed_unread(unreadable: Iterable[Unreadable], decisions: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """`FILE:LINE: Run ...` for each Run that failed because something in it could not be read."""
    failed = {(made["namespace"], made["run"]) for made in decisions if made["outcome"] == "Failed"}
    for found in unreadable:
        run = found.observation.run
        if (run.namespace, run.name) in failed:
            yield str(found)


def guessed_usage(unreadable: Iterable[Unreadable], namespace: str | None) -> Iterator[str]:
    """A warning for each active Run that holds room of which not all could be read.

    The plan is what the scheduler would do all the same, so that this is no error.
    """
    for found in unreadable:
        seen, invalid = found.observation, found.observation.invalid
        guessed = seen.active and invalid and invalid.reason == _INVALID_RESOURCES
        if guessed and namespace in (None, seen.run.namespace):
            yield f"warning: {found}; of the room that it holds, only what can be read is counted"


def broken_plugins(errors: Iterable[PluginError]) -> Iterator[str]:
    """A line for each different way in which a plugin failed."""
    for error in errors:
        yield f"error: {error}; the Runs that met it stay Pending: correct, upgrade or disable it"


def summary(decisions: Sequence[Mapping[str, Any]], namespace: str | None) -> str:
    """One line with the number of Runs and of each outcome, as in `2 Runs: 1 Scheduled, 1 Waiting`."""
    if not decisions:
        return f"no pending Runs in the namespace {namespace}" if namespace else "no pending Runs"
    outcomes = Counter(decision["outcome"] for decision in decisions)
    order = [*OUTCOME_COLOURS, *sorted(outcomes.keys() - OUTCOME_COLOURS.keys())]
    listed = ", ".join(f"{outcomes[outcome]} {outcome}" for outcome in order if outcome in outcomes)
    return f"{counted(len(decisions), 'Run')}: {listed}"
