"""The configuration file as typed models: what each field accepts, its default, and where a mistake stands.

`kruntimes config schema` prints them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PrivateAttr,
    StringConstraints,
    model_validator,
)
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

from kruntimes_core.model.messages import InputError, quoted
from kruntimes_core.model.yaml_files import locate

EVERY = "*"
"""In `disabled`: every plugin that `enabled` does not name."""

DEFAULT_PROFILE = "default"
"""The profile of every Run whose Runtime no other profile names."""

Path = tuple[str | int, ...]


class ConfigurationError(InputError):
    """A configuration cannot be used: `FILE:LINE: path.to.field: what is wrong and what to write`."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a configuration was read from. The text is kept to find the line of a mistake.

    All origins are equal: two files that say the same are the same configuration.
    """

    source: str = field(default="", compare=False)
    text: str | bytes = field(default="", compare=False, repr=False)

    def error(self, path: Path, problem: str) -> ConfigurationError:
        """The error for the field at `path`, which is the subject of `problem`."""
        return ConfigurationError(
            ": ".join(part for part in (self.place(path), dotted(path), problem) if part)
        )

    def place(self, path: Path) -> str:
        """Where the field at `path` stands, as `FILE:LINE`; empty without a file."""
        line = locate(self.text, path) if self.source else None
        return f"{self.source}:{line}" if line is not None else self.source

    def complaint(self, path: Path, problem: str) -> ConfigurationError:
        """The error for a problem that names its own subject: the path only leads into a file."""
        return self.error(path if self.source else (), problem)


def dotted(path: Sequence[str | int]) -> str:
    """A path as people write it: `plugins.enabled[0].weight`."""
    written = ""
    for step in path:
        if isinstance(step, int):
            written += f"[{step}]"
        else:
            written += f".{step}" if written else step
    return written


RuntimeName = Annotated[
    str,
    StringConstraints(
        strict=True,
        min_length=1,
        max_length=63,
        pattern=r"^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$",
    ),
]
"""`spec.runtime` of a Run: 1 to 63 characters of a label value (API contract)."""

Name = Annotated[str, StringConstraints(strict=True, min_length=1, max_length=253)]


class Section(BaseModel):
    """The common ground: camelCase keys, no unknown ones, null means absent, frozen when read."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        extra="forbid",
        frozen=True,
        strict=True,
        use_attribute_docstrings=True,
        validate_by_name=True,
    )

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, value: Any) -> Any:
        if isinstance(value, dict):
            return {key: item for key, item in value.items() if item is not None}
        if isinstance(value, BaseModel):
            return value
        raise PydanticCustomError(
            "mapping", "write a mapping, `key: value`, not {what}", {"what": what(value)}
        )


def what(value: object) -> str:
    """A value as an error shows it, with YAML's word for its type where the value would be long."""
    if isinstance(value, list | tuple | dict):
        kind = "mapping" if isinstance(value, dict) else "list"
        return f"a {kind}" if value else f"an empty {kind}"
    return quoted(value)


def _listed(value: Any) -> Any:
    """A list as it is; a bare string would be taken for its letters, so it is refused by name."""
    if isinstance(value, list | tuple):
        return tuple(value)
    shown = value if isinstance(value, str) else "Name"
    raise PydanticCustomError(
        "list", "write a list, as in [{shown}], not {what}", {"shown": shown, "what": what(value)}
    )


Listed = BeforeValidator(_listed)


def named(value: Any) -> Any:
    """A bare name stands for the mapping that has only this name."""
    return {"name": value} if isinstance(value, str) else value


class EnabledPlugin(Section):
    """A plugin that this profile names. A bare string is the name alone."""

    name: Name
    """The plugin's name, as `kruntimes plugins list` shows it."""

    weight: int = Field(default=1, ge=1, le=1_000)
    """Factor of the plugin's normalized score (0..100) in a Pod's total; no effect on plugins that do
    not score. 1, the default, makes all scorers equal. At 1,000 one point of this scorer outweighs
    the full score of nine others at 1, so that more could not change an order."""

    arguments: dict[str, Any] | None = Field(default=None, repr=False)
    """What the plugin is built with, checked against its own `Arguments`. Default: the plugin's."""


NameOrPlugin = Annotated[EnabledPlugin, BeforeValidator(named, json_schema_input_type=str | EnabledPlugin)]
"""An entry of `enabled`: a mapping, or a bare name."""


class PluginSet(Section):
    """Which plugins decide. Without any entry: what is installed and on by default."""

    disabled: Annotated[tuple[Name, ...], Listed] = ()
    """Plugins that are not called, and not imported. `"*"` leaves only those named in `enabled`, in
    their order. Empty by default: what is installed is meant to be used."""

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
    """Events about what lasts or needs an operator."""

    _origin: Origin = PrivateAttr(default_factory=Origin)

    @property
    def origin(self) -> Origin:
        """The file that it was read from, for errors found later."""
        return self._origin

    @property
    def sets_nothing(self) -> bool:
        """Whether all of it is defaults: it was an empty file, or names its kind alone."""
        return self.model_fields_set <= {"api_version", "kind"}

    def read_from(self, origin: Origin) -> Configuration:
        """Remember where this configuration was read from; returns itself."""
        self._origin = origin
        return self


@dataclass(frozen=True, slots=True)
class ConfiguredProfile:
    """One profile as configured: its name, its Runtimes (None: all others), its plugins, and where."""

    name: str
    runtimes: frozenset[str] | None
    plugins: PluginSet
    path: Path


def configured_profiles(configuration: Configuration) -> Iterator[ConfiguredProfile]:
    """The default profile, and then the others as they stand in the file."""
    yield ConfiguredProfile(DEFAULT_PROFILE, None, configuration.plugins, ("plugins",))
    for index, section in enumerate(configuration.profiles):
        path = ("profiles", index, "plugins")
        yield ConfiguredProfile(section.name, frozenset(section.runtimes), section.plugins, path)
