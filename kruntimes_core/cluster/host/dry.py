"""The parts of a host that runs dry: it has nothing to write with, and compares instead."""

from __future__ import annotations

from dataclasses import replace

from kruntimes_core.cluster.api_dispatcher.answers import RunReader
from kruntimes_core.cluster.api_dispatcher.dry_run import DryRunDispatcher
from kruntimes_core.cluster.comparing.comparison import Comparison, DryRun
from kruntimes_core.cluster.comparing.gauges import show_comparison
from kruntimes_core.cluster.comparing.lines import DifferenceLines
from kruntimes_core.cluster.host.means import Means
from kruntimes_core.cluster.host.parts import Base
from kruntimes_core.cluster.leader_election.protocol import AlwaysLeading
from kruntimes_core.cluster.transport.readonly import ReadOnlyTransport


def without_writing(means: Means) -> Means:
    """The same without a way to write: no part gets hold of another transport, of a Lease or of Events."""
    return replace(
        means, transport=ReadOnlyTransport(means.transport), leadership=AlwaysLeading(), events=None
    )


def comparison_of(base: Base, asked: DryRun) -> Comparison:
    """What compares this host's decisions with those of the running scheduler."""
    means = base.means
    return Comparison(
        asked,
        engine=base.engine,
        clock=means.clock,
        planner=means.planner,
        stir=base.stirred.set,
    )


def dry_writer(base: Base, comparison: Comparison) -> DryRunDispatcher:
    """The writer that sends nothing."""
    means, limits = base.means, base.means.leadership.limits
    return DryRunDispatcher(
        engine=base.engine,
        clock=means.clock,
        reader=RunReader(
            transport=means.transport,
            clock=means.clock,
            decoder=base.decoder,
            timeout_seconds=limits.write_seconds,
        ),
        holder=comparison.holder,
        freed=base.stirred.set,
        in_flight=means.in_flight,
        timeout_seconds=limits.write_seconds,
    )


def join_comparison(base: Base, comparison: Comparison) -> None:
    """Let it hear of what happens, and be seen."""
    base.watched.foretold.append(comparison.before)
    base.watched.listeners.append(comparison.after)
    comparison.report.listeners.append(DifferenceLines(base.means.log).differs)
    show_comparison(base.metrics, comparison)
