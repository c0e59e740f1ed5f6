"""All that a host needs of the world: whoever gives it decides what world that is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from kruntimes_core.cluster.clock import Clock
from kruntimes_core.cluster.dry_run.comparer import DryRunSettings
from kruntimes_core.cluster.event_recorder.recorder import EventSink
from kruntimes_core.cluster.host.leadership import Leadership
from kruntimes_core.cluster.observability.log import Log
from kruntimes_core.cluster.planning.protocol import Planner
from kruntimes_core.cluster.rights.missing import MissingRights
from kruntimes_core.cluster.transport.protocol import Transport
from kruntimes_core.engine.settings import Settings
from kruntimes_core.framework.configuration import Profiles


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """What a host is made with."""

    profiles: Profiles
    settings: Settings
    transport: Transport
    clock: Clock
    random: Random
    """For jitter."""
    planner: Planner
    leadership: Leadership
    log: Log
    namespaces: Sequence[str] | None = None
    """Those that are followed, with rights in them alone; None for all."""
    rights: MissingRights | None = None
    """What hears of all answers, those to others who send for this host too; None for one of its own."""
    in_flight: int = 32
    """Writes and reads at a time."""
    events: EventSink | None = None
    """Where Events go; None for none. A dry run has none."""
    dry_run: DryRunSettings | None = None
    """Given, it writes nothing, and compares what it would do with what the running scheduler does."""
