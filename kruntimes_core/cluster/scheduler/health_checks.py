"""Health checks of a scheduler: for its probes, and for the decision whether it should lead."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kruntimes_core.cluster.api_dispatcher import ApiDispatcher
from kruntimes_core.cluster.informers.reflector import Reflector
from kruntimes_core.cluster.observability.endpoints import HealthCheck
from kruntimes_core.cluster.plugin_worker import PluginWorker
from kruntimes_core.model.messages import counted

_FATAL_STUCK_CALLS = 3
_HUNG_SECONDS = 150.0
"""Lists, watches and pauses all end by themselves long before."""
_OUTDATED_SECONDS = 60.0
"""For how long an API server may answer from the past. One that was restored from a backup always will;
only a restart of the scheduler forgets what was known before."""
_LOST_SECONDS = 90.0
"""For how long a leader may fail to list or watch: then another should try. A page may take 60 s."""


class HealthChecks:
    """Looks at informers, dispatcher and plugin worker together."""

    def __init__(
        self, reflectors: Sequence[Reflector], dispatcher: ApiDispatcher, plugin_worker: PluginWorker
    ) -> None:
        self._reflectors = reflectors
        self._dispatcher = dispatcher
        self._plugin_worker = plugin_worker

    def alive(self) -> list[HealthCheck]:
        """What a restart would repair. An API server that does not answer is no part of it."""
        calls = sum(self._plugin_worker.stuck.values())
        stuck = f"{counted(calls, 'call')} of plugins do not return" if calls >= _FATAL_STUCK_CALLS else ""
        hung = [one for one in self._reflectors if one.liveness.tried_seconds > _HUNG_SECONDS]
        past = [one for one in self._reflectors if one.liveness.outdated_seconds > _OUTDATED_SECONDS]
        overdue = self._dispatcher.overdue
        return [
            HealthCheck("plugin-worker", stuck),
            _of_resources("watches", "no list or watch ends any more", hung),
            _of_resources("versions", "more was seen than the API server has", past),
            HealthCheck(
                "api-dispatcher", f"{counted(overdue, 'request')} did not end in time" if overdue else ""
            ),
        ]

    def ready(self) -> list[HealthCheck]:
        """What keeps Runs from being placed, or from being placed by the present state."""
        names = ", ".join(sorted(self._plugin_worker.stuck))
        return [
            *self._followed(),
            HealthCheck("plugin-worker", f"calls of {names} do not return" if names else ""),
        ]

    def unfit(self) -> str:
        """Why it cannot do a leader's work, in one line; empty if it can, or may soon again."""
        for check in self.alive():
            if not check.holds:
                return check.why
        lost = (one for one in self._reflectors if one.liveness.worked_seconds > _LOST_SECONDS)
        return next((one.problem or "" for one in lost), "")

    def _followed(self) -> Iterator[HealthCheck]:
        """For each resource, whether it is listed and watched in every namespace that is followed."""
        by_resource: dict[str, list[Reflector]] = {}
        for reflector in self._reflectors:
            by_resource.setdefault(reflector.handler.resource.title, []).append(reflector)
        for title, reflectors in by_resource.items():
            failed = [one for one in reflectors if one.problem is not None]
            if not failed:
                yield HealthCheck(title)
                continue
            kind = failed[0].problem_without_names
            if len(reflectors) > 1:
                kind = f"in {len(failed)} of {counted(len(reflectors), 'namespace')}: {kind}"
            problems = "; ".join(one.problem or "" for one in failed)
            yield HealthCheck(title, problems, without_names=kind)


def _of_resources(name: str, problem: str, reflectors: Sequence[Reflector]) -> HealthCheck:
    """A check of lists and watches: these have the problem."""
    if not reflectors:
        return HealthCheck(name)
    titles = ", ".join(one.handler.title for one in reflectors)
    resources = ", ".join(dict.fromkeys(one.handler.resource.title for one in reflectors))
    return HealthCheck(name, f"{problem}: {titles}", without_names=f"{problem}: {resources}")
