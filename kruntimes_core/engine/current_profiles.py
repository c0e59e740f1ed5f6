"""The profiles that place Runs now, and which changes wake the Runs that a profile holds back."""

from __future__ import annotations

from dataclasses import dataclass

from kruntimes_core.framework.configuration import Profiles
from kruntimes_core.framework.profile import ActivePlugin, Profile
from kruntimes_core.model.run import Run


@dataclass(frozen=True, slots=True)
class ProfileDependencies:
    """What the answers of a profile's plugins depend on, beyond one Pod and one state.

    It follows from the arguments that the hooks name: a hook can depend on nothing else.
    """

    any_change: bool
    """Any change of the namespace may turn the answer for a waiting Run.

    A filter or reserve names `snapshot` or `run`, or is stateful, or a prefilter may return another state.
    """
    prefilter_again: bool
    """A prefilter names `snapshot` or is stateful: its state may differ after any change."""
    snapshot_counts: bool
    """A prefilter or filter names `snapshot`: called again before reserving if anything changed."""
    reserves: bool
    """A plugin implements `reserve`: it is called between the reservation and the bind."""

    @classmethod
    def of(cls, profile: Profile) -> ProfileDependencies:
        """The dependencies, by the arguments that the plugins name."""
        names = {
            hook: [(plugin.stateful, plugin.hooks[hook].names) for plugin in profile.implementing(hook)]
            for hook in ("prefilter", "filter", "reserve")
        }
        pods = [*names["filter"], *names["reserve"]]
        prefilter_again = any(stateful or "snapshot" in n for stateful, n in names["prefilter"])
        return cls(
            any_change=prefilter_again
            or any(stateful or "snapshot" in n or "run" in n for stateful, n in pods),
            prefilter_again=prefilter_again,
            snapshot_counts=any("snapshot" in n for _, n in [*names["prefilter"], *names["filter"]]),
            reserves=bool(names["reserve"]),
        )


class CurrentProfiles:
    """The profiles by which the engine decides. Only a reload replaces them."""

    def __init__(self, profiles: Profiles) -> None:
        self.current = profiles
        self._dependencies: dict[str, ProfileDependencies] = {}

    def of(self, run: Run) -> Profile:
        """The profile that places a Run."""
        return self.current.of(run.runtime)

    def dependencies(self, profile: Profile) -> ProfileDependencies:
        """What the profile's answers depend on."""
        if profile.name not in self._dependencies:
            self._dependencies[profile.name] = ProfileDependencies.of(profile)
        return self._dependencies[profile.name]

    def replace(self, profiles: Profiles) -> None:
        """Decide by these profiles from now on."""
        self.current = profiles
        self._dependencies.clear()

    @property
    def queue_plugin(self) -> ActivePlugin | None:
        """The plugin that orders the queue, if there is one."""
        return self.current.queue_plugin
