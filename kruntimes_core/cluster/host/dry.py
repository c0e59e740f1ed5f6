"""The parts of a host that runs dry: it has nothing to write with, and compares instead."""

from __future__ import annotations

from dataclasses import replace

from kruntimes_core.cluster.dry_run.comparer import DryRunComparer, DryRunSettings
from kruntimes_core.cluster.dry_run.report import register_dry_run_metrics
from kruntimes_core.cluster.host.leadership import Always
from kruntimes_core.cluster.host.means import Means
from kruntimes_core.cluster.host.parts import Base
from kruntimes_core.cluster.transport.readonly import ReadOnlyTransport
from kruntimes_core.cluster.writing.dry import DryWriter
from kruntimes_core.cluster.writing.reading import RunReader


def without_writing(means: Means) -> Means:
    """The same without a way to write: no part gets hold of another transport, of a Lease or of Events."""
    return replace(means, transport=ReadOnlyTransport(means.transport), leadership=Always(), events=None)


def comparison_of(base: Base, asked: DryRunSettings) -> DryRunComparer:
    """What compares this host's decisions with those of the running scheduler."""
    means = base.means
    return DryRunComparer(
        settings=asked,
        engine=base.engine,
        clock=means.clock,
        planner=means.planner,
        log=means.log,
        wake=base.stirred.set,
    )


def dry_writer(base: Base, comparison: DryRunComparer) -> DryWriter:
    """The writer that sends nothing."""
    means, limits = base.means, base.means.leadership.limits
    return DryWriter(
        engine=base.engine,
        clock=means.clock,
        reader=RunReader(means.transport, means.clock, base.decoder, limits.write_seconds),
        holder=comparison.holder,
        freed=base.stirred.set,
        in_flight=means.in_flight,
        timeout_seconds=limits.write_seconds,
    )


def join_comparison(base: Base, comparison: DryRunComparer) -> None:
    """Let it hear of what happens, and be seen."""
    base.watched.foretold.append(comparison.before)
    base.watched.listeners.append(comparison.after)
    register_dry_run_metrics(base.metrics, comparison.report, lambda: comparison.held)
