"""The configuration file of the scheduler, as typed models. `kruntimes config schema` prints them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, PrivateAttr

from kruntimes_core.framework.configuration.failures import Origin
from kruntimes_core.framework.configuration.shapes import Listed, Name, RuntimeName, Section, named

EVERY = "*"
"""In `disabled`: every plugin that `enabled` does not name."""


class EnabledPlugin(Section):
    """A plugin that this profile names. A bare string is the name alone."""

    name: Name
    """The plugin's name, as `kruntimes plugins list` shows it."""

    weight: int = Field(default=1, ge=1, le=1_000)
    """Factor of the plugin's normalized score (0..100) in a Pod's total; no effect on plugins that do
    not score. 1, the default, makes all scorers equal. At 1,000 one point of this scorer outweighs
    the full score of nine others at 1, so that more could not change an order."""

    arguments: dict[str, Any] | None = None
    """What the plugin is built with, checked against its own `Arguments`. Default: the plugin's."""


NameOrPlugin = Annotated[EnabledPlugin, BeforeValidator(named, json_schema_input_type=str | EnabledPlugin)]
"""An entry of `enabled`: a mapping, or a bare name."""


class PluginSet(Section):
    """Which plugins decide. Without any entry: what is installed and on by default."""

    disabled: Annotated[tuple[Name, ...], Listed] = ()
    """Plugins that are not asked, and not imported. `"*"` leaves only those named in `enabled`, in
    their order. Empty by default: what somebody installed is meant to be used."""

    enabled: Annotated[tuple[NameOrPlugin, ...], Listed] = ()
    """Plugins with their weight and arguments. An entry for a plugin that is on by default takes its
    place without moving it; others follow the supplied ones in this order."""


class ProfileSection(Section):
    """A further profile: its Runtimes' Runs are placed by these plugins and no others.

    Profiles share nothing: `plugins` of one says nothing about another's.
    """

    name: Name
    """What records and metrics call it; unique, and not `default`."""

    runtimes: Annotated[tuple[RuntimeName, ...], Listed] = Field(min_length=1)
    """The Runtimes (`spec.runtime`) whose Runs it places; each Runtime belongs to one profile."""

    plugins: PluginSet = PluginSet()
    """Its plugins; the same defaults as for the default profile."""


class Backoff(Section):
    """The delay before a Run is tried again after a plugin error, a conflict or a failed write."""

    initial_seconds: float = Field(default=1.0, ge=0.001, le=3_600, allow_inf_nan=False)
    """Seconds after the first failure; each further one doubles it. 1, as for kube-scheduler's Pods:
    long enough for a watch to catch up."""

    max_seconds: float = Field(default=60.0, ge=0.001, le=3_600, allow_inf_nan=False)
    """Seconds that the delay never exceeds. 60, as the retry delay of the API contract."""


class Events(Section):
    """Which Events (events.k8s.io/v1) are written, and how many."""

    after_seconds: float = Field(default=60.0, ge=1, le=86_400, allow_inf_nan=False)
    """Seconds for which a Run must wait, or fail to be placed, before an Event says so. 60: as long as
    the longest delay between two tries, and longer than most Pods take to start, so that what mends
    itself makes no Event."""

    repeat_seconds: float = Field(default=1_800.0, ge=1, le=3_600, allow_inf_nan=False)
    """Seconds after which an Event is counted on while what it says is still so. 1,800, as in Kubernetes'
    own recorder: twice in the hour for which an API server keeps an Event."""

    per_second: float = Field(default=5.0, ge=0, le=100, allow_inf_nan=False)
    """Events a second at most, with a burst of five seconds' worth; 0 for none at all. 5: a fiftieth of
    what a small API server takes, and enough to tell of 9,000 waiting Runs each half hour."""

    placements: bool = False
    """Whether each bind makes an Event too. False: the condition `Scheduled` of the Run says as much, and
    an Event costs the API server as much as the bind."""


class Configuration(Section):
    """Everything that an operator can decide about the scheduler in a file."""

    api_version: Literal["kruntimes.io/config/v1"] = "kruntimes.io/config/v1"
    """The version of this format."""

    kind: Literal["SchedulerConfiguration"] = "SchedulerConfiguration"
    """The kind of this document."""

    plugins: PluginSet = PluginSet()
    """The plugins of the default profile: of every Run whose Runtime no other profile names."""

    profiles: Annotated[tuple[ProfileSection, ...], Listed] = ()
    """Further profiles for some Runtimes. None by default."""

    heartbeat_staleness_seconds: float = Field(default=15.0, ge=1, le=3_600, allow_inf_nan=False)
    """Seconds after which a Runtime Pod's last probe is no longer trusted. 15, three times the
    period of runtimed, so that one lost probe takes no Pod away."""

    backoff: Backoff = Backoff()
    """Delays after failures."""

    sweep_interval_seconds: float = Field(default=30.0, ge=1, le=3_600, allow_inf_nan=False)
    """Seconds between two looks at every class of waiting Runs, a safety net that should find nothing.
    30: seldom enough to cost nothing, soon enough to help."""

    allow_no_capacity_filter: bool = False
    """Whether to schedule although no active plugin provides capacity. False: without one
    nothing looks at a Pod's readiness, and the host's own check at its room comes only when a Run is
    reserved there."""

    requests_in_flight: int = Field(default=32, ge=1, le=256)
    """Binds, other status writes and reads at a time; each is a connection. 32: enough to keep an API
    server busy (with one that answers in 30 ms, a thousand a second), and too few to crowd others out."""

    events: Events = Events()
    """Events about what lasts or needs somebody."""

    _origin: Origin = PrivateAttr(default_factory=Origin)

    @property
    def origin(self) -> Origin:
        """The file that it was read from, for errors found later."""
        return self._origin

    @property
    def sets_nothing(self) -> bool:
        """Whether all of it is defaults: it was an empty file, or names its kind alone."""
        return self.model_fields_set <= {"api_version", "kind"}

    @classmethod
    def default(cls) -> Configuration:
        """The configuration that an empty file means."""
        return cls()

    def read_from(self, origin: Origin) -> Configuration:
        """Remember where this configuration was read from; returns itself."""
        self._origin = origin
        return self
