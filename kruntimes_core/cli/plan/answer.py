"""From the options of `kruntimes plan` to its answer: read, plan, show, and say what was wrong."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any

import click

from kruntimes_core.cli.exits import Exit
from kruntimes_core.cli.limits import patiently
from kruntimes_core.cli.output.progress import follow
from kruntimes_core.cli.output.screen import standard_output
from kruntimes_core.cli.output.text import printable
from kruntimes_core.cli.plan import notes
from kruntimes_core.cli.plan.forms import show
from kruntimes_core.cli.plan.options import PlanOptions
from kruntimes_core.framework.configuration import build_profiles, configuration_from
from kruntimes_core.framework.plugin_registry import PluginRegistry
from kruntimes_core.lab.offline_plan.manifest_reader import Reader, Reading
from kruntimes_core.lab.offline_plan.planner import PlanInput, Planner
from kruntimes_core.lab.offline_plan.sources import read_sources
from kruntimes_core.model.decode import Decoder
from kruntimes_core.model.messages import InputError
from kruntimes_core.model.run import Phase
from kruntimes_core.model.times import parse_time

_NO = frozenset({"Waiting", "Failed"})
_SHOWN_NAMESPACES = 10


def answer(options: PlanOptions) -> Exit:
    """Plan, show the plan, and judge it. Raises: `InputError` before anything is shown."""
    given = _given_time(options.now)
    configuration = configuration_from(options.config)
    profiles = build_profiles(configuration, PluginRegistry())
    with _uncollected():
        reading = _read(options)
        pending = _pending(reading.world, options.namespace)
        now = given or _observed_time(reading.world, pending)
        planner = Planner(reading.world, profiles, configuration, now, options.namespace)
        follow(patiently(planner.decisions(), planner.under_way), "planning", pending)
        decisions = list(planner.decision_documents(explain=False))
    _say(notes.left_out(reading.skipped))
    explained = _explained(planner) if options.explain else None
    show(planner.head(), decisions, explained, options, standard_output())
    return _judge(decisions, reading, planner, options)


def _explained(planner: Planner) -> Iterator[dict[str, Any]]:
    """The decisions with their candidates: plugins are asked again."""
    return patiently(planner.decision_documents(explain=True), planner.under_way)


@contextmanager
def _uncollected() -> Iterator[None]:
    """Without the cyclic garbage collector: nearly all that a plan makes lives until its end.

    Looking through it again and again took a fifth of the time of a plan of 10,000 Runs.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _given_time(text: str | None) -> datetime | None:
    """The time of `--now`, if there is one. Raises: `InputError` when it is no RFC 3339 time."""
    if text is None:
        return None
    moment = parse_time(text)
    if moment is None:
        raise InputError(f"--now {text!r} is no RFC 3339 time: write it as in 2026-01-02T03:04:05Z")
    return moment


def _read(options: PlanOptions) -> Reading:
    reader = Reader(Decoder(), options.namespace or "default")
    follow(_read_all(reader, options.filenames), "reading")
    reading = reader.reading()
    _check_namespace(options.namespace, reading.namespaces)
    return reading


def _read_all(reader: Reader, filenames: Iterable[str]) -> Iterator[int]:
    for source in read_sources(filenames, sys.stdin.buffer):
        yield from reader.read(source)


def _check_namespace(asked: str | None, found: frozenset[str]) -> None:
    """Raises: `InputError` for a namespace that is not in the input, while others are."""
    if asked is None or asked in found or not found:
        return
    names = sorted(found)
    more = f" and {len(names) - _SHOWN_NAMESPACES} more" if len(names) > _SHOWN_NAMESPACES else ""
    listed = ", ".join(names[:_SHOWN_NAMESPACES])
    raise InputError(f"the input has no namespace {asked}; it has {listed}{more}")


def _observed_time(world: PlanInput, pending: int) -> datetime | None:
    """When the input was taken. Raises: `InputError` when nothing tells, and a Pending Run asks."""
    if pending and world.observed_at is None:
        raise InputError("the input tells no time (no lastProbeTime, no creationTimestamp): give --now TIME")
    return world.observed_at


def _pending(world: PlanInput, namespace: str | None) -> int:
    runs = (seen for seen in world.runs if namespace in (None, seen.run.namespace))
    return sum(seen.phase is Phase.PENDING for seen in runs)


def _judge(
    decisions: Sequence[Mapping[str, Any]], reading: Reading, planner: Planner, options: PlanOptions
) -> Exit:
    """Say on standard error what was wrong, and sum up under a table."""
    _say(notes.stale(planner.freshness))
    _say(notes.guessed_usage(reading.unreadable, options.namespace))
    bad = _say(notes.failed_unread(reading.unreadable, decisions))
    bad += _say(notes.broken_plugins(planner.plugin_errors))
    if options.form in ("table", "wide"):
        _say([notes.summary(decisions, options.namespace)])
    if bad:
        return Exit.BAD_INPUT
    return Exit.ANSWER_IS_NO if any(made["outcome"] in _NO for made in decisions) else Exit.DONE


def _say(lines: Iterable[str]) -> int:
    """Write lines to standard error; gives how many there were."""
    count = 0
    for line in lines:
        click.echo(printable(line), err=True)
        count += 1
    return count
