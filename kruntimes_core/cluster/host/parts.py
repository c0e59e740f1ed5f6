"""The parts of one host, as they stand beside each other. `building` makes and joins them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field

from kruntimes_core.cluster.dry_run.comparer import DryRunComparer
from kruntimes_core.cluster.event_recorder.recorder import EventRecorder
from kruntimes_core.cluster.host.answers import Answers
from kruntimes_core.cluster.host.duty import Duty
from kruntimes_core.cluster.host.means import Means
from kruntimes_core.cluster.host.oversold import Oversold
from kruntimes_core.cluster.host.pump import Pump
from kruntimes_core.cluster.host.vitals import Vitals
from kruntimes_core.cluster.host.watched import Watched
from kruntimes_core.cluster.observability.metrics import Metrics
from kruntimes_core.cluster.rights.missing import MissingRights
from kruntimes_core.cluster.watching.followers import Followers
from kruntimes_core.cluster.watching.reflector import Reflector
from kruntimes_core.cluster.writing.protocol import Writer
from kruntimes_core.engine.engine import Engine
from kruntimes_core.model.decode import Decoder


@dataclass(frozen=True, slots=True, kw_only=True)
class Base:
    """What all other parts are made with."""

    means: Means
    rights: MissingRights
    """Hears what is answered to them."""
    decoder: Decoder
    engine: Engine
    metrics: Metrics
    watched: Watched
    answers: Answers
    stirred: asyncio.Event
    """Set by whoever brings something to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """All parts of one host."""

    base: Base
    reflectors: Sequence[Reflector]
    followers: Followers
    writer: Writer
    vitals: Vitals
    duty: Duty
    pump: Pump
    oversold: Oversold
    announcer: EventRecorder | None
    comparison: DryRunComparer | None = None
    """A dry run's."""
    beside: list[Callable[[], Coroutine[None, None, None]]] = field(default_factory=list)
    """What else goes on while the host runs, each in a task of its own, until all is settled."""
