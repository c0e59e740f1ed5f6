"""Making the parts of a host, and joining them: the place to change for a host with other parts."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from kruntimes_core.cluster.dry_run.comparer import DryRunComparer
from kruntimes_core.cluster.event_recorder.recorder import EventRecorder, register_event_metrics
from kruntimes_core.cluster.host.answers import Answers
from kruntimes_core.cluster.host.dry import comparison_of, dry_writer, join_comparison, without_writing
from kruntimes_core.cluster.host.duty import Duty
from kruntimes_core.cluster.host.gauges import show_host
from kruntimes_core.cluster.host.means import Means
from kruntimes_core.cluster.host.oversold import Oversold
from kruntimes_core.cluster.host.parts import Base, Parts
from kruntimes_core.cluster.host.pump import Pump, nothing_aside
from kruntimes_core.cluster.host.reports import DecisionLines, QueueTimes
from kruntimes_core.cluster.host.vitals import Vitals
from kruntimes_core.cluster.host.watched import Watched
from kruntimes_core.cluster.observability.log import Level
from kruntimes_core.cluster.observability.metrics import Metrics
from kruntimes_core.cluster.rights.missing import MissingRights
from kruntimes_core.cluster.rights.transport import HeardTransport
from kruntimes_core.cluster.watching.feed import feeds
from kruntimes_core.cluster.watching.followers import Followers
from kruntimes_core.cluster.watching.reflector import Reflector
from kruntimes_core.cluster.writing.protocol import Writer
from kruntimes_core.cluster.writing.writer import StatusWriter
from kruntimes_core.engine.engine import Engine
from kruntimes_core.model.decode import Decoder


def build_parts(means: Means) -> Parts:
    """Make all parts, each with those that it needs, and let the others hear what they ask for."""
    base = _base(without_writing(means) if means.dry_run is not None else means)
    means = base.means
    reflectors = _reflectors(base)
    followers = Followers(reflectors)
    comparison = comparison_of(base, means.dry_run) if means.dry_run is not None else None
    writer = dry_writer(base, comparison) if comparison is not None else _writer(base)
    vitals = Vitals(reflectors, writer, means.planner)
    duty = _duty(base, followers, vitals, writer)
    parts = Parts(
        base=base,
        reflectors=reflectors,
        followers=followers,
        writer=writer,
        vitals=vitals,
        duty=duty,
        pump=_pump(base, writer, comparison),
        oversold=Oversold(base.engine, means.log),
        announcer=_announcer(base, duty),
        comparison=comparison,
    )
    _join(parts)
    return parts


def _base(means: Means) -> Base:
    stirred = asyncio.Event()
    engine = Engine(means.profiles, means.settings, means.clock.now())
    rights = means.rights or MissingRights(means.clock, means.log)
    heard = replace(means, transport=HeardTransport(means.transport, rights))
    if means.events is not None:
        ways = replace(means.events, transport=HeardTransport(means.events.transport, rights))
        heard = replace(heard, events=ways)
    return Base(
        means=heard,
        rights=rights,
        decoder=Decoder(),
        engine=engine,
        metrics=Metrics(engine.counters, means.profiles),
        watched=Watched(engine, means.clock, stirred.set),
        answers=Answers(),
        stirred=stirred,
    )


def _reflectors(base: Base) -> list[Reflector]:
    means, watched = base.means, base.watched
    return [
        Reflector(
            transport=means.transport,
            feed=feed,
            clock=means.clock,
            random=means.random,
            log=means.log,
            tell=watched.tell,
            changed=watched.changed,
        )
        for feed in feeds(base.decoder, means.namespaces, watched.known)
    ]


def _writer(base: Base) -> Writer:
    means = base.means
    return StatusWriter(
        engine=base.engine,
        transport=means.transport,
        clock=means.clock,
        decoder=base.decoder,
        log=means.log,
        answered=base.answers.tell,
        freed=base.stirred.set,
        in_flight=means.in_flight,
        timeout_seconds=means.leadership.limits.write_seconds,
    )


def _duty(base: Base, followers: Followers, vitals: Vitals, writer: Writer) -> Duty:
    return Duty(
        leadership=base.means.leadership,
        followers=followers,
        vitals=vitals,
        engine=base.engine,
        writer=writer,
        clock=base.means.clock,
        log=base.means.log,
        stir=base.stirred.set,
    )


def _announcer(base: Base, duty: Duty) -> EventRecorder | None:
    means, leadership = base.means, base.means.leadership
    if means.events is None:
        return None
    return EventRecorder(
        sink=means.events,
        engine=base.engine,
        clock=means.clock,
        random=means.random,
        log=means.log,
        may_record=lambda: duty.deciding and leadership.leading,
        timeout_seconds=leadership.limits.write_seconds,
    )


def _pump(base: Base, writer: Writer, comparison: DryRunComparer | None) -> Pump:
    return Pump(
        engine=base.engine,
        planner=base.means.planner,
        writer=writer,
        clock=base.means.clock,
        metrics=base.metrics,
        stirred=base.stirred,
        aside=comparison.process_next if comparison is not None else nothing_aside,
    )


def _join(parts: Parts) -> None:
    """Let the parts hear of what happens, and be seen."""
    base, means = parts.base, parts.base.means
    base.watched.on_change.append(parts.duty.changed)
    base.answers.listeners.append(QueueTimes(base.engine, base.metrics, means.clock).answered)
    if means.log.speaks(Level.DEBUG):
        base.engine.journal.listeners.append(DecisionLines(means.log).decided)
    if parts.comparison is not None:
        # What it holds is reserved beside what really runs: a Pod may well hold more than it has.
        join_comparison(base, parts.comparison)
    else:
        base.watched.listeners.append(parts.oversold.after)
    if parts.announcer is not None:
        _join_announcer(parts, parts.announcer)
    show_host(parts)


def _join_announcer(parts: Parts, announcer: EventRecorder) -> None:
    base, sources = parts.base, announcer.sources
    base.engine.journal.listeners.append(sources.decided)
    base.answers.listeners.append(sources.answered)
    base.watched.listeners.append(sources.observed)
    parts.oversold.listeners.append(sources.oversold)
    parts.beside.append(announcer.run)
    register_event_metrics(base.metrics, announcer)
