"""Filter: the Pods go through the plugins' columns in order, and what each rejects is left out.

A plugin is asked about a Pod only if every plugin before it let the Pod pass.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from kruntimes_core.framework.profile import Profile
from kruntimes_core.framework.runtime.bits import members
from kruntimes_core.framework.runtime.columns import Columns, Effort
from kruntimes_core.framework.runtime.outcomes import NO_RUNTIME_PODS, Headline, Prepared, Verdict
from kruntimes_core.framework.runtime.pool import Pool
from kruntimes_core.framework.runtime.verdicts import Recorded, Verdicts, checked
from kruntimes_core.framework.texts import BASE_COMPLETION, waiting_text
from kruntimes_core.model.run import Run
from kruntimes_core.model.snapshot import Snapshot

# Answers of one filter that are kept, over all states and Pods: some 20 MB of bits at the most, or 25 MB
# where each answer is recorded.
_KEPT_ANSWERS = 40_000_000
_KEPT_RECORDS = 250_000


@dataclass(slots=True)
class Rejecting:
    """A filter that rejected some of the Pods that came to it."""

    place: int
    """Of the plugin among the filters."""
    column: Verdicts
    came: int
    """The set of the Pods that all filters before it had let pass."""


@dataclass(slots=True)
class Sifted:
    """What is left after all filters, and where the others were rejected."""

    feasible: int
    rejecting: list[Rejecting]

    def verdicts(self, pool: Pool) -> dict[str, Verdict]:
        """Each Pod's first rejection, or None, by name; of filters that keep each answer."""
        verdicts: dict[str, Verdict] = dict.fromkeys(
            [pool.pod(position).name for position in members(pool.present)]
        )
        for step in self.rejecting:
            answers = step.column.answers if isinstance(step.column, Recorded) else {}
            for position in members(step.came & ~step.column.passed):
                verdicts[pool.pod(position).name] = (step.place, answers[position])
        return verdicts

    def retry_at(self, now: datetime) -> datetime | None:
        """The earliest time after `now` at which a rejection may turn."""
        return min(
            (
                at
                for step in self.rejecting
                for position, at in step.column.timed.items()
                if at > now and step.came >> position & 1
            ),
            default=None,
        )


class Filtering:
    """The filters of one profile, with the answers that still hold."""

    def __init__(self, profile: Profile, effort: Effort, reuse: bool = True, records: bool = False) -> None:
        """records: keep each answer, so that verdicts can be had."""
        places = {plugin.name: place for place, plugin in enumerate(profile.plugins)}
        new, kept = (Recorded, _KEPT_RECORDS) if records else (Verdicts, _KEPT_ANSWERS)
        self._plugins = profile.implementing("filter")
        self.columns = tuple(
            Columns(plugin, "filter", places[plugin.name], new, checked, effort, kept, reuse)
            for plugin in self._plugins
        )

    def sift(
        self,
        pool: Pool,
        filters: Sequence[Verdicts],
        among: int,
        prepared: Prepared,
        run: Run,
        snapshot: Snapshot,
    ) -> Sifted:
        """Let the Pods in the set `among` through the filters. Raises `PluginError`.

        filters: the columns of this Run's states.
        """
        left = among
        rejecting = []
        for place, column in enumerate(filters):
            if not left:
                break
            self.columns[place].bring_up(column, pool, left, prepared, run, snapshot)
            passed = left & column.passed
            if passed != left:
                rejecting.append(Rejecting(place, column, left))
                left = passed
        return Sifted(left, rejecting)

    def counted(self, sifted: Sifted) -> dict[tuple[str, str], int]:
        """(plugin, reason) -> how many Pods; a verdict that is reused counts like a new one."""
        counts: dict[tuple[str, str], int] = {}
        for step in sifted.rejecting:
            name = self._plugins[step.place].name
            for (reason, _), number in step.column.rejected(step.came):
                counts[name, reason] = counts.get((name, reason), 0) + number
        return counts

    def headline(self, sifted: Sifted, run: Run) -> Headline:
        """The rejection that a waiting Run shows: of the Pods that got furthest in the order of filters.

        Pods that the Run is not tied to (`pinned_elsewhere`) count only if there are no others; among the
        reasons of one plugin the first declared one wins, so that the text does not follow numbers.
        """
        given = [
            (step.place, kind) for step in sifted.rejecting for kind, _ in step.column.rejected(step.came)
        ]
        here = [(place, reason) for place, (reason, elsewhere) in given if not elsewhere]
        return self._furthest(here or [(place, reason) for place, (reason, _) in given], run.runtime)

    def _furthest(self, given: Iterable[tuple[int, str]], runtime: str) -> Headline:
        furthest = max((place for place, _ in given), default=None)
        if furthest is None:
            return Headline(NO_RUNTIME_PODS, waiting_text(BASE_COMPLETION, runtime))
        plugin = self._plugins[furthest]
        reasons = {reason for place, reason in given if place == furthest}
        reason = next(reason for reason in plugin.reasons if reason in reasons)
        return Headline(reason, waiting_text(plugin.reasons[reason], runtime), plugin.name, furthest)
