"""`kruntimes plan`: reads objects from files, and answers what the scheduler would decide for them."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from shlex import quote
from typing import TYPE_CHECKING

import click

from kruntimes_core.cli.commands import Exit, UnlimitedCalls, with_time_limit
from kruntimes_core.cli.options import CONFIG, FORMS, NAMESPACE, output_option
from kruntimes_core.cli.output.screen import follow, note_waiting, print_note, print_notes, standard_output
from kruntimes_core.cli.plugin_output import PluginCommand
from kruntimes_core.model.messages import InputError
from kruntimes_core.model.times import parse_time

if TYPE_CHECKING:
    from kruntimes_core.cluster.plugin_thread import AttendedCalls
    from kruntimes_core.lab.offline_plan.manifest_reader import Reader, Reading
    from kruntimes_core.lab.offline_plan.planner import PlanInput, Planner

_NO = frozenset({"Waiting", "Failed"})
_SHOWN_NAMESPACES = 10


class FilesByOption(PluginCommand):
    """A command whose files are named by `-f` alone, as kubectl's are: it reminds those who forget it."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the options. Raises: `click.UsageError` for a file without one."""
        given = list(args)
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            _, unexpected, _ = self.make_parser(ctx).parse_args(given)
            if not unexpected:
                raise
            problem = f"unexpected argument {unexpected[0]!r}: did you mean -f {quote(unexpected[0])}?"
            raise click.UsageError(problem, ctx) from error


@click.command(cls=FilesByOption, options_metavar="-f FILE [OPTIONS]")
@click.option(
    "-f",
    "--filename",
    "filenames",
    metavar="FILE",
    multiple=True,
    required=True,
    help="YAML or JSON manifests: a file, a folder (its *.yaml, *.yml and *.json), or - for standard input."
    " May be given many times.",
)
@click.option(
    "-n",
    "--namespace",
    type=NAMESPACE,
    metavar="NAME",
    help="Show only the Runs of this namespace, which the input must have. Objects that name no namespace"
    " belong to it.",
)
@click.option(
    "-A",
    "--all-namespaces",
    is_flag=True,
    help="Show all namespaces, which is the default, and always name them. Not together with -n.",
)
@click.option(
    "--now",
    metavar="TIME",
    help="Judge heartbeats and delays at this time (RFC 3339, as in 2026-01-02T03:04:05Z)."
    " Default: the newest lastProbeTime in the input, unless an object is newer by more than a heartbeat"
    " stays fresh: then the time of that object.",
)
@click.option(
    "--explain",
    is_flag=True,
    help="Say why each Pod was chosen or not; Pods of which the same is said share a line.",
)
@click.option("--all-pods", is_flag=True, help="With --explain: a line for each Pod.")
@CONFIG
@output_option(
    FORMS,
    "How to show the plan. name: each decided Run, in order, with the -n that kubectl needs to find it;"
    " not together with --explain.",
)
def plan(
    *,
    filenames: tuple[str, ...],
    namespace: str | None,
    all_namespaces: bool,
    now: str | None,
    explain: bool,
    all_pods: bool,
    config: str | None,
    form: str,
) -> Exit:
    """Show what the scheduler would decide for the Runs in FILE.

    FILE is what "kubectl get runs,pods,persistentworkspaces -A -o yaml" prints. Nothing is read from a
    cluster, and nothing is written to one.

    Exit codes: 0 every pending Run got an answer, 1 a Run waits or fails, 2 bad input or a broken plugin.
    """
    if all_namespaces and namespace is not None:
        raise click.UsageError("-n and -A exclude each other: choose one")
    if explain and form == "name":
        raise click.UsageError("--explain does not work with -o name: leave one of them out")
    if all_pods and not explain:
        raise click.UsageError("--all-pods says how to explain: give --explain too")
    # Only here, as below: help needs neither YAML nor the engine.
    from kruntimes_core.cli import plan_output

    with _without_garbage_collection():
        reading, planner, calls = _planned(filenames, namespace, now, config)
        decisions = list(planner.decision_documents(explain=False))
    states = planner.pod_states
    stale = list(plan_output.stale(states))
    outage = states is not None and states.outage
    print_notes(stale if outage else ())
    print_notes(plan_output.absent(reading.world, namespace))
    print_notes(plan_output.skipped(reading.skipped))
    plan_output.show(
        planner.head(),
        decisions,
        calls.values(planner.decision_documents(explain=True)) if explain else None,
        standard_output(),
        form=form,
        namespace=namespace,
        all_namespaces=all_namespaces,
        all_pods=all_pods,
    )
    print_notes(() if outage else stale)
    print_notes(plan_output.guessed_usage(reading.unreadable, namespace))
    bad = print_notes(plan_output.failed_unread(reading.unreadable, decisions))
    bad += print_notes(plan_output.broken_plugins(planner.plugin_errors))
    if form in ("table", "wide"):
        print_note(plan_output.summary(decisions, namespace))
        print_notes(plan_output.what_waits(decisions, states))
    if bad:
        return Exit.BAD_INPUT
    return Exit.ANSWER_IS_NO if any(made["outcome"] in _NO for made in decisions) else Exit.DONE


def _planned(
    filenames: Sequence[str], namespace: str | None, now: str | None, config: str | None
) -> tuple[Reading, Planner, AttendedCalls | UnlimitedCalls]:
    """What was read, the planner that has planned it, and how its plugins are called.

    When the input is judged later than its newest heartbeat, that is the first note.
    """
    from kruntimes_core.cli import plan_output
    from kruntimes_core.engine.engine import Settings
    from kruntimes_core.framework.configuration import build_profiles, configuration_from
    from kruntimes_core.framework.plugin_registry import PluginRegistry
    from kruntimes_core.lab.offline_plan.planner import Planner

    given = _given_time(now)
    configuration = configuration_from(config)
    # Plugins may change the working directory, the limit of recursion and more: all is read before.
    reading = _read(filenames, namespace)
    registry = PluginRegistry()
    calls = with_time_limit(registry.current)
    profiles = calls.call(lambda: build_profiles(configuration, registry))
    pending = _pending(reading.world, namespace)
    limit = Settings.of(configuration).heartbeat_staleness
    at = given or _observed_time(reading.world, pending, limit)
    if pending and given is None:
        print_notes(plan_output.outlived(reading.world.time, limit))
    planner = Planner(reading.world, profiles, configuration, at, namespace, registry.current)
    follow(calls.values(planner.decisions()), "planning", pending)
    return reading, planner, calls


@contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """Nearly all that a plan makes lives until its end.

    The cyclic collector, which looks through it again and again, took a fifth of the time of 10,000 Runs.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _given_time(text: str | None) -> datetime | None:
    """The time of `--now`, if there is one. Raises: `InputError` when it is not an RFC 3339 time."""
    if text is None:
        return None
    moment = parse_time(text)
    if moment is None:
        raise InputError(f"--now {text!r} is not a valid RFC 3339 time: write it as in 2026-01-02T03:04:05Z")
    return moment


def _read(filenames: Sequence[str], namespace: str | None) -> Reading:
    from kruntimes_core.lab.offline_plan.manifest_reader import Reader
    from kruntimes_core.model.decode import Decoder

    reader = Reader(Decoder(), namespace or "default")
    follow(_read_all(reader, filenames), "reading")
    reading = reader.reading()
    _check_not_foreign(reading)
    _check_namespace(namespace, reading.namespaces)
    return reading


def _read_all(reader: Reader, filenames: Sequence[str]) -> Iterator[int]:
    from kruntimes_core.lab.offline_plan.sources import STANDARD_INPUT, read_sources

    if STANDARD_INPUT in filenames:
        note_waiting("manifests")
    for source in read_sources(filenames, sys.stdin.buffer):
        yield from reader.read(source)


def _check_not_foreign(reading: Reading) -> None:
    """Raises: `InputError` for an input of which no object counts: it cannot say that all is placed."""
    from kruntimes_core.lab.offline_plan.sources import DUMP_COMMAND

    world = reading.world
    if reading.skipped and not (world.runs or world.pods or world.workspaces):
        kinds = ", ".join(sorted(reading.skipped))
        problem = f"the input has no Runs and no Runtime Pods, only {kinds}"
        raise InputError(f"{problem}: give what {DUMP_COMMAND} prints")


def _check_namespace(asked: str | None, found: frozenset[str]) -> None:
    """Raises: `InputError` for a namespace that is not in the input, while others are."""
    if asked is None or asked in found or not found:
        return
    names = sorted(found)
    more = f" and {len(names) - _SHOWN_NAMESPACES} more" if len(names) > _SHOWN_NAMESPACES else ""
    listed = ", ".join(names[:_SHOWN_NAMESPACES])
    raise InputError(f"the input has no namespace {asked}; it has {listed}{more}")


def _pending(world: PlanInput, namespace: str | None) -> int:
    from kruntimes_core.model.run import Phase

    runs = (seen for seen in world.runs if namespace in (None, seen.run.namespace))
    return sum(seen.phase is Phase.PENDING for seen in runs)


def _observed_time(world: PlanInput, pending: int, limit: int) -> datetime | None:
    """When the input was taken. Raises: `InputError` when it does not say so and a Run is Pending.

    limit: the age up to which a heartbeat is fresh, in ticks.
    """
    moment = world.time.at(limit)
    if pending and moment is None:
        raise InputError("the input has no time (no lastProbeTime, no creationTimestamp): give --now TIME")
    return moment
