"""From API objects to a plan document, without a process: what most scenarios look at."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from kruntimes_core.framework.configuration import Configuration, Profiles, build_profiles
from kruntimes_core.framework.plugin_registry import PluginRegistry
from kruntimes_core.lab.planner import Planner
from kruntimes_core.lab.world import World
from kruntimes_core.model.decode import Decoder
from kruntimes_core.testing.builders import NOW

Object = dict[str, Any]
Decision = dict[str, Any]


def world_of(objects: Iterable[Object]) -> World:
    """What a list of these objects would show."""
    decoder, listed = Decoder(), list(objects)
    kinds = {
        kind: [one for one in listed if one["kind"] == kind] for kind in ("Run", "Pod", "PersistentWorkspace")
    }
    pods = [decoder.pod(one) for one in kinds["Pod"]]
    return World(
        runs=tuple(decoder.run(one) for one in kinds["Run"]),
        pods=tuple(pod for pod in pods if pod is not None),
        workspaces=tuple(decoder.workspace(one) for one in kinds["PersistentWorkspace"]),
    )


def installed_profiles() -> Profiles:
    """The plugins that are really installed, by the default configuration."""
    return build_profiles(Configuration(), PluginRegistry())


def document_of(
    objects: Iterable[Object],
    profiles: Profiles,
    *,
    now: datetime = NOW,
    explain: bool = False,
    configuration: Configuration | None = None,
) -> dict[str, Any]:
    """The plan document of these objects."""
    planner = Planner(world_of(objects), profiles, configuration or Configuration(), now)
    for _ in planner.decisions():
        pass
    return {**planner.head(), "decisions": list(planner.decision_documents(explain))}


class Plan:
    """The decisions of a plan, by the names of the Runs."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.decisions: list[Decision] = document["decisions"]
        self._by_run: dict[str, Decision] = {made["run"]: made for made in self.decisions}

    def __getitem__(self, run: str) -> Decision:
        return self._by_run[run]

    @property
    def order(self) -> list[str]:
        """The Runs in the order of the plan."""
        return [made["run"] for made in self.decisions]

    @property
    def pods(self) -> dict[str, str | None]:
        """Where each Run goes; None for those that go nowhere."""
        return {made["run"]: made["pod"] for made in self.decisions}

    @property
    def reasons(self) -> dict[str, str]:
        """The reason of each decision."""
        return {made["run"]: made["reason"] for made in self.decisions}
