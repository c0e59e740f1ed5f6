"""The assumed cache, keyed by (namespace, Run UID): the life of each reservation.

Reserve, then bound and seen, or not bound. A plugin's `unreserve` is asked exactly once for each
`reserve` that was asked, whenever and however the reservation ends.
"""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass

from kruntimes_core.engine.binding.assumption import Assumption
from kruntimes_core.engine.runs import RunEntry
from kruntimes_core.engine.state import Claim, State
from kruntimes_core.engine.state.claims import RunKey
from kruntimes_core.framework.profile import ActivePlugin, Profile
from kruntimes_core.framework.runtime import ScheduleResult
from kruntimes_core.model.run import Request


@dataclass(frozen=True, slots=True)
class Unreserve:
    """A call that is due to a plugin."""

    plugin: ActivePlugin
    assumption: Assumption
    bound: bool


class Reservations:
    """Makes and ends assumptions; what they hold is claimed in the state."""

    def __init__(self, state: State) -> None:
        self._state = state
        self.unreserves: deque[Unreserve] = deque()
        self._assumed: dict[tuple[str, str], dict[RunKey, Request]] = {}  # by namespace and Pod UID

    def reserve(self, entry: RunEntry, chosen: ScheduleResult, profile: Profile) -> bool:
        """Assume the Run on the Pod as it is now, if all of its request still fits.

        The check and the insertion are one step: nobody else changes the state in between.
        """
        pod = chosen.pod
        current = self._state.pods.get(pod.namespace, pod.name)
        alone = self._state.pods.without_load(pod.namespace, pod.name)
        if current is None or alone is None or current.uid != pod.uid or not current.fits(entry.run.request):
            return False
        entry.assumption = Assumption(
            entry.run, current, alone, profile, chosen.prefilter_state, chosen.verdicts
        )
        self._assumed.setdefault((current.namespace, current.uid), {})[entry.key] = entry.run.request
        self.claim(entry)
        return True

    def claim(self, entry: RunEntry) -> None:
        """Let the state hold what the Run holds: by its own status, else by its assumption."""
        self._state.claim(entry.key, entry.observed_claim() or _assumed_claim(entry.assumption))

    def end(self, entry: RunEntry, bound: bool) -> None:
        """End the Run's assumption, if there is one: bound and seen in the snapshot, or not bound."""
        assumption = entry.assumption
        if assumption is None:
            return
        entry.assumption = None
        self._drop(entry.key, (assumption.pod.namespace, assumption.pod.uid))
        self.claim(entry)
        self.give_back(assumption, bound)

    def assumed(self, namespace: str, pod_uid: str) -> Counter[str]:
        """How much of a Pod's usage is assumed: no Run says yet that it is there."""
        usage: Counter[str] = Counter()
        for request in self._assumed.get((namespace, pod_uid), {}).values():
            usage.update(request)
        return usage

    def _drop(self, run: RunKey, pod: tuple[str, str]) -> None:
        on_pod = self._assumed[pod]
        del on_pod[run]
        if not on_pod:
            del self._assumed[pod]

    def give_back(self, assumption: Assumption, bound: bool) -> None:
        """Ask `unreserve`, in reverse order, of all whose `reserve` was asked."""
        asked, assumption.asked = assumption.asked, []
        for plugin in reversed(asked):
            if "unreserve" in plugin.hooks:
                self.unreserves.append(Unreserve(plugin, assumption, bound))


def _assumed_claim(assumption: Assumption | None) -> Claim | None:
    if assumption is None:
        return None
    run, pod = assumption.run, assumption.pod
    return Claim(run.namespace, pod.name, pod.uid, run.request, run.labels)
