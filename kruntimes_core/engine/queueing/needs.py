"""What the answers of a profile's plugins were given from, beyond one Pod and one state."""

from __future__ import annotations

from dataclasses import dataclass

from kruntimes_core.framework.profile import Profile


@dataclass(frozen=True, slots=True)
class Needs:
    """Which changes wake the waiting Runs of a profile, besides those of its Pods."""

    every_change: bool
    """A filter or reserve names `snapshot` or `run`, or is stateful: any change of the namespace."""
    prepare_again: bool
    """A prefilter names `snapshot` or is stateful: its state may differ after any change."""
    snapshot_counts: bool
    """A prefilter or filter names `snapshot`: asked again before reserving if anything changed."""
    reserves: bool
    """A plugin implements `reserve`: it is asked between the reservation and the bind."""


def needs_of(profile: Profile) -> Needs:
    """Read the needs off the arguments that the plugins name."""
    names = {
        hook: [(plugin.stateful, plugin.hooks[hook].names) for plugin in profile.implementing(hook)]
        for hook in ("prefilter", "filter", "reserve")
    }
    pods = [*names["filter"], *names["reserve"]]
    return Needs(
        every_change=any(stateful or "snapshot" in n or "run" in n for stateful, n in pods),
        prepare_again=any(stateful or "snapshot" in n for stateful, n in names["prefilter"]),
        snapshot_counts=any("snapshot" in n for _, n in [*names["prefilter"], *names["filter"]]),
        reserves=bool(names["reserve"]),
    )
