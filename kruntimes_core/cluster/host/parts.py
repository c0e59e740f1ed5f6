"""The parts of one host, as they stand beside each other. `building` makes and joins them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field

from kruntimes_core.cluster.announcing.announcer import Announcer
from kruntimes_core.cluster.api_dispatcher.dispatcher import Dispatcher
from kruntimes_core.cluster.comparing.comparison import Comparison
from kruntimes_core.cluster.host.answers import Answers
from kruntimes_core.cluster.host.duty import Duty
from kruntimes_core.cluster.host.means import Means
from kruntimes_core.cluster.host.oversold import Oversold
from kruntimes_core.cluster.host.pump import Pump
from kruntimes_core.cluster.host.vitals import Vitals
from kruntimes_core.cluster.host.watched import Watched
from kruntimes_core.cluster.observing.metrics import Metrics
from kruntimes_core.cluster.rights.missing import MissingRights
from kruntimes_core.cluster.watching.followers import Followers
from kruntimes_core.cluster.watching.reflector import Reflector
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
    writer: Dispatcher
    vitals: Vitals
    duty: Duty
    pump: Pump
    oversold: Oversold
    announcer: Announcer | None
    comparison: Comparison | None = None
    """A dry run's."""
    beside: list[Callable[[], Coroutine[None, None, None]]] = field(default_factory=list)
    """What else goes on while the host runs, each in a task of its own, until all is settled."""
