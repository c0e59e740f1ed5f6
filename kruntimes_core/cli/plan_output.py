"""What `kruntimes plan` prints: the decisions as a table or a document, and notes on standard error."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

from kruntimes_core.cli.output.documents import stream_json, stream_yaml
from kruntimes_core.cli.output.screen import Screen, print_lines
from kruntimes_core.cli.output.table import table
from kruntimes_core.cli.output.text import printable
from kruntimes_core.engine.clock import SECOND
from kruntimes_core.framework.profile import PluginError
from kruntimes_core.lab.offline_plan.dump_time import DumpTime, PodStates
from kruntimes_core.lab.offline_plan.manifest_reader import Unreadable
from kruntimes_core.lab.offline_plan.planner import PlanInput
from kruntimes_core.lab.offline_plan.sources import DUMP_COMMAND
from kruntimes_core.model.messages import counted
from kruntimes_core.model.pod import Unavailability

DecisionDocument = Mapping[str, Any]
"""A decision of the plan document."""
_Candidate = Mapping[str, Any]

# The kind of the decided Runs as kubectl names it.
_RESOURCE = "run.kruntimes.io"
_OUTCOMES = {
    "Scheduled": "green",
    "Waiting": "yellow",
    "Backoff": "yellow",
    "Failed": "red",
    "Cancelled": "bright_black",
    "Ignored": "bright_black",
}
_COLUMNS = ("run", "runtime", "outcome", "pod", "reason")
_WIDE_COLUMNS = ("until", "never", "uid")
_CAUSE_HEADINGS = ("NAMESPACE", "RUNTIME", "REASON", "NEVER", "RUNS")
_SHOWN_CAUSES = 20
_AVAILABLE = "Available"
_CANDIDATE_HEADINGS = ("POD", "VERDICT", "TOTAL", "WHY")
_COLOURS = {"OUTCOME": _OUTCOMES, "VERDICT": {"chosen": "green", "rejected": "red"}}
_INDENT = "  "
# Who rejected a Pod where no plugin did: the host's own check of free capacity.
_HOST = "host"
# A figure in a detail. Bounded: a plugin may write any text.
_NUMBER = re.compile(r"[0-9]{1,40}(?:\.[0-9]{1,40})?")
_INVALID_RESOURCES = "InvalidResources"


# Standard output


def show(
    head: Mapping[str, Any],
    decisions: Sequence[DecisionDocument],
    explained: Iterator[DecisionDocument] | None,
    screen: Screen,
    *,
    form: str = "table",
    namespace: str | None = None,
    all_namespaces: bool = False,
    all_pods: bool = False,
) -> None:
    """Write a plan to standard output.

    explained: the decisions with their candidates, made one by one as they are written; or None.
    namespace: the only one of which Runs are shown. all_namespaces: name the namespace of every Run.
    all_pods: explain each Pod in a line of its own.
    """
    if form == "json":
        stream_json(head, "decisions", explained or decisions)
    elif form == "yaml":
        stream_yaml(head, "decisions", explained or decisions)
    elif form == "name":
        print_lines((_name(decision, namespace) for decision in decisions), screen)
    else:
        print_lines(_table(decisions, screen, wide=form == "wide", namespaces=all_namespaces), screen)
        print_lines(_explanation(explained or (), screen, all_pods=all_pods), screen)


def _name(decision: DecisionDocument, namespace: str | None) -> str:
    """A Run as arguments of kubectl, for `xargs -L 1 kubectl get`."""
    name = f"{_RESOURCE}/{decision['run']}"
    return printable(name if namespace is not None else f"{name} -n {decision['namespace']}")


def _table(
    decisions: Sequence[DecisionDocument], screen: Screen, *, wide: bool, namespaces: bool
) -> Iterator[str]:
    """One line for each Run; nothing where there is none. Several namespaces are always named."""
    if not decisions:
        return
    several = namespaces or len({decision["namespace"] for decision in decisions}) > 1
    keys = (*(["namespace"] if several else []), *_COLUMNS, *(_WIDE_COLUMNS if wide else ()), "message")
    rows = ([_value(decision[key]) for key in keys] for decision in decisions)
    yield from table([key.upper() for key in keys], rows, screen, colours=_COLOURS)


def _value(value: object) -> object:
    """Truth values as JSON writes them, as kubectl does."""
    return str(value).lower() if isinstance(value, bool) else value


def _explanation(decisions: Iterable[DecisionDocument], screen: Screen, *, all_pods: bool) -> Iterator[str]:
    """A heading for each Run, and below it the Pods of its Runtime by name, with what was said of each.

    Pods of which the same was said share a line, at the place of the first, unless all_pods.
    """
    for decision in decisions:
        yield ""
        yield _heading(decision)
        candidates = decision["candidates"]
        if candidates:
            groups = [[candidate] for candidate in candidates] if all_pods else _alike(candidates)
            rows = [_row(group, len(candidates)) for group in groups]
            yield from table(_CANDIDATE_HEADINGS, rows, screen, _INDENT, whole=True, colours=_COLOURS)
        else:
            yield f"{_INDENT}no candidates"


def _heading(decision: DecisionDocument) -> str:
    run = f"{decision['namespace']}/{decision['run']} (runtime {decision['runtime']})"
    outcome, reason = decision["outcome"], decision["reason"]
    more = f" on {decision['pod']}" if decision["pod"] else f", {reason}" if reason != outcome else ""
    return printable(f"{run}: {outcome}{more}")


def _alike(candidates: Iterable[_Candidate]) -> list[list[_Candidate]]:
    """Pods of which the same was said. Rejections are the same when they differ in figures alone."""
    groups: dict[object, list[_Candidate]] = {}
    for candidate in candidates:
        said = candidate["plugin"], candidate["reason"], tuple(_NUMBER.split(candidate["detail"] or ""))
        key = said if candidate["reason"] else (candidate["verdict"], candidate["total"], _why([candidate]))
        groups.setdefault(key, []).append(candidate)
    return list(groups.values())


def _row(group: Sequence[_Candidate], all_of_them: int) -> tuple[object, ...]:
    """The line of one Pod, or of several, as in `12 of 15`."""
    first = group[0]
    pods = first["pod"] if len(group) == 1 else f"{len(group)} of {all_of_them}"
    return pods, first["verdict"], first["total"], _why(group)


def _why(group: Sequence[_Candidate]) -> str:
    first = group[0]
    if not first["reason"]:
        return "; ".join(_score(plugin, score) for plugin, score in (first["scores"] or {}).items())
    detail = _with_ranges([candidate["detail"] for candidate in group]) if first["detail"] else ""
    return f"{first['plugin'] or _HOST}: {first['reason']}" + (f" ({detail})" if detail else "")


def _with_ranges(details: Sequence[str]) -> str:
    """Details that differ in their figures alone as one: `least..most` for a figure that differs."""
    figures = zip(*(_NUMBER.findall(detail) for detail in details), strict=True)
    ranges = (sorted(set(each), key=Fraction) for each in figures)
    return _NUMBER.sub(lambda _: "..".join(dict.fromkeys((each := next(ranges))[:1] + each[-1:])), details[0])


def _score(plugin: str, score: Mapping[str, Any]) -> str:
    """`plugin normalized*weight (raw)`, without the raw score where it is the same."""
    normalized, raw = str(score["normalized"]), score["raw"]
    return f"{plugin} {normalized}*{score['weight']}" + (f" ({raw})" if raw != normalized else "")


# Standard error


def absent(world: PlanInput, namespace: str | None) -> Iterator[str]:
    """A line where the input has no Runs, or no Pods for them: most often a part of the dump is missing."""
    runs = any(namespace in (None, seen.run.namespace) for seen in world.runs)
    pods = any(namespace in (None, seen.pod.namespace) for seen in world.pods)
    where = f"the namespace {namespace} of the input" if namespace else "the input"
    missing = [name for name, there in (("no Runs", runs), ("no Runtime Pods", pods)) if not there]
    if missing:
        yield f"{where} has {' and '.join(missing)}: if the cluster has some, give what {DUMP_COMMAND} prints"


def skipped(kinds: Counter[str]) -> Iterator[str]:
    """One line for the objects of kinds that do not matter, if there are any."""
    if kinds:
        most_first = sorted(kinds.items(), key=lambda kind: (-kind[1], kind[0]))
        listed = ", ".join(f"{count} {kind}" for kind, count in most_first)
        yield f"skipped {counted(kinds.total(), 'object')} of other kinds: {listed}"


def outlived(time: DumpTime, limit: int) -> Iterator[str]:
    """One line when the input is judged later than its newest heartbeat. limit: in ticks."""
    newest = time.outlived_by(limit)
    if newest is not None and time.heartbeat is not None:
        yield (
            f"no heartbeat since {_moment(time.heartbeat)}, while {newest.title} is of {_moment(newest.at)}:"
            f" judged at the later time (a heartbeat is fresh for {limit / SECOND:g} s)"
        )


def stale(found: PodStates | None) -> Iterator[str]:
    """One line when Pods count for nothing because their heartbeat is of another time than the plan."""
    if found is not None and found.stale:
        have = "has" if found.stale == 1 else "have"
        pods = f"{found.stale} of {counted(found.ready, 'ready Runtime Pod')} {have} no heartbeat"
        advice = "unless this is an outage, give an earlier --now, or dump Pods and Runs together"
        yield f"{pods} within {found.limit_seconds:g} s of {_moment(found.at)}: {advice}"


def _moment(at: datetime) -> str:
    """With its fraction, unlike a time of the API: that may be what makes a heartbeat stale."""
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z")


def failed_unread(unreadable: Iterable[Unreadable], decisions: Iterable[DecisionDocument]) -> Iterator[str]:
    """`FILE:LINE: Run ...` for each Run that failed because something in it could not be read."""
    failed = {(made["namespace"], made["run"]) for made in decisions if made["outcome"] == "Failed"}
    for found in unreadable:
        run = found.observation.run
        if (run.namespace, run.name) in failed:
            yield str(found)


def guessed_usage(unreadable: Iterable[Unreadable], namespace: str | None) -> Iterator[str]:
    """A warning for each active Run whose requests could not be read in full.

    It is not an error: the plan is what the scheduler would do all the same.
    """
    for found in unreadable:
        seen, invalid = found.observation, found.observation.invalid
        guessed = seen.active and invalid and invalid.reason == _INVALID_RESOURCES
        if guessed and namespace in (None, seen.run.namespace):
            yield f"warning: {found}; of its requests, only what can be read counts as in use"


def broken_plugins(errors: Iterable[PluginError]) -> Iterator[str]:
    """A line for each different way in which a plugin failed."""
    for error in errors:
        if error.traceback:
            yield from error.traceback.splitlines()
        yield f"error: {error.with_place}; its Runs stay Pending: correct, upgrade or disable it"


def summary(decisions: Sequence[DecisionDocument], namespace: str | None) -> str:
    """One line with the number of Runs and of each outcome, as in `2 Runs: 1 Scheduled, 1 Waiting`."""
    if not decisions:
        return f"no pending Runs in the namespace {namespace}" if namespace else "no pending Runs"
    outcomes = Counter(decision["outcome"] for decision in decisions)
    order = [*_OUTCOMES, *sorted(outcomes.keys() - _OUTCOMES.keys())]
    listed = ", ".join(f"{outcomes[outcome]} {outcome}" for outcome in order if outcome in outcomes)
    return f"{counted(len(decisions), 'Run')}: {listed}"


def what_waits(decisions: Sequence[DecisionDocument], states: PodStates | None) -> Iterator[str]:
    """A table of the waiting Runs by Runtime and reason, and the Pods by state; nothing where no Run waits.

    What can never be placed comes first, then the most Runs.
    """
    waiting = Counter(
        (made["namespace"], made["runtime"], made["reason"], made["never"])
        for made in decisions
        if made["outcome"] == "Waiting"
    )
    if not waiting:
        return
    rows = sorted(waiting.items(), key=lambda row: (not row[0][3], -row[1], row[0]))
    # As in the table of the Runs, one namespace is not named.
    start = 0 if len({made["namespace"] for made in decisions}) > 1 else 1
    shown = [(*map(_value, cause[start:]), runs) for cause, runs in rows[:_SHOWN_CAUSES]]
    yield from table(_CAUSE_HEADINGS[start:], shown, Screen(), _INDENT)
    if left := rows[_SHOWN_CAUSES:]:
        yield f"{_INDENT}and {sum(runs for _, runs in left)} more in {counted(len(left), 'row')}"
    if states is not None:
        yield _by_state(states)


def _by_state(states: PodStates) -> str:
    """As in `5 Runtime Pods: 4 Available, 1 HeartbeatStale`."""
    named = {state.value if state is not None else _AVAILABLE: n for state, n in states.counts.items()}
    order = [_AVAILABLE, *(state.value for state in reversed(Unavailability))]
    listed = ", ".join(f"{named[state]} {state}" for state in order if state in named)
    return f"{counted(states.counts.total(), 'Runtime Pod')}" + (f": {listed}" if listed else "")
