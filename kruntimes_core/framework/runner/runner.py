"""One profile's plan for one Run: prefilter, filter, score, normalize, choose.

A `Runner` belongs to the worker that plans, and to nobody else: the answers that it keeps are not
guarded by a lock. When a call is abandoned, its `Runner` is thrown away with the worker.
"""

from __future__ import annotations

from collections.abc import Hashable, Set
from typing import Any

from kruntimes_core.framework.outcomes import Reject
from kruntimes_core.framework.profile import Profile
from kruntimes_core.framework.runner import checks
from kruntimes_core.framework.runner.answers import PodAnswers
from kruntimes_core.framework.runner.outcomes import (
    NO_RUNTIME_PODS,
    Chosen,
    Headline,
    Invalid,
    Prepared,
    Unschedulable,
)
from kruntimes_core.framework.runner.preparing import PreFilters
from kruntimes_core.framework.runner.ranking import Ranking, Scored
from kruntimes_core.framework.runner.scoring import Scoring
from kruntimes_core.framework.runner.table import Questions, Table, Verdict, furthest
from kruntimes_core.framework.texts import BASE_COMPLETION, waiting_text
from kruntimes_core.model.run import Run
from kruntimes_core.model.snapshot import Snapshot

# Tables kept by one runner; each holds a verdict for every Pod of its Runtime.
_KEPT_TABLES = 256


class Runner:
    """Runs the plugins of one profile, asking them only what changed since they were asked last.

    With `reuse=False` every plugin is asked for everything each time; the answers must be the
    same, and a test holds that they are.
    """

    def __init__(self, profile: Profile, reuse: bool = True) -> None:
        self.profile = profile
        self._reuse = reuse
        self._prefilters = PreFilters(profile, reuse)
        places = {plugin.name: place for place, plugin in enumerate(profile.plugins)}
        self._filters = tuple(
            PodAnswers[Reject | None](plugin, "filter", places[plugin.name], checks.rejection, reuse)
            for plugin in profile.implementing("filter")
        )
        self._scoring = Scoring(profile, reuse)
        self._filter_plugins = tuple(answers.plugin for answers in self._filters)
        self._reusable = all(answers.reusable for answers in self._filters)
        self._shared = all(answers.shared for answers in (*self._filters, *self._scoring.answers))
        self._keeps_verdicts = any(plugin.stateful for plugin in profile.plugins)
        self._tables: dict[Hashable, Table] = {}

    def plan(
        self, run: Run, snapshot: Snapshot, excluded: Set[str] = frozenset()
    ) -> Chosen | Unschedulable | Invalid:
        """Find the best Pod for `run`, without the Pods named in `excluded` (turned down before).

        Raises `PluginError` for a plugin that raised or answered out of contract.
        """
        prepared = self._prefilters.prepare(run, snapshot)
        if isinstance(prepared, Invalid):
            return prepared
        table, questions = self._judged(run, snapshot, prepared)
        common: dict[str, Any] = {
            "prepared": prepared,
            "mark": snapshot.pods.mark,
            "rejections": self._rejections(table),
            "verdicts": dict(table.verdicts) if self._keeps_verdicts else None,
        }
        best = self._scoring.best(table, questions, prepared, run, snapshot, excluded)
        prepared.gather()
        if best is not None:
            return Chosen(pod=table.pod(best), **common)
        headline = self._headline(table, run)
        return Unschedulable(headline=headline, again_at=table.again_at(snapshot.now), **common)

    def check(self, run: Run, snapshot: Snapshot, name: str) -> Chosen | None:
        """Ask prefilter and filter again for one Pod, before it is reserved.

        None when the Pod is gone, a filter rejects it now, or the Run is invalid by now.
        Raises `PluginError`.
        """
        prepared = self._prefilters.prepare(run, snapshot)
        pod = snapshot.pods.get(name)
        if isinstance(prepared, Invalid) or pod is None:
            return None
        for answers in self._filters:
            if answers.about(prepared, run, snapshot)(pod) is not None:
                return None
        prepared.gather()
        return Chosen(prepared=prepared, mark=snapshot.pods.mark, pod=pod)

    def explain(
        self, run: Run, snapshot: Snapshot, excluded: Set[str] = frozenset()
    ) -> tuple[dict[str, Verdict], dict[str, Scored]]:
        """Each Pod's first rejection, and the scores of the feasible ones, for a record.

        The place in a verdict counts the filters of the profile. Raises `PluginError`.
        """
        prepared = self._prefilters.prepare(run, snapshot)
        if isinstance(prepared, Invalid):
            return {}, {}
        table, questions = self._judged(run, snapshot, prepared)
        scored = self._scoring.scored(table, questions, prepared, run, snapshot, excluded)
        return dict(table.verdicts), scored

    def _judged(self, run: Run, snapshot: Snapshot, prepared: Prepared) -> tuple[Table, Questions]:
        questions = Questions(
            tuple([answers.about(prepared, run, snapshot) for answers in self._filters]),
            tuple([answers.about(prepared, run, snapshot) for answers in self._scoring.answers]),
        )
        key = (run.namespace, run.runtime, prepared.keys, None if self._shared else run)
        # Out of the store while it is followed: one that a plugin's error left half followed is lost.
        table = self._tables.pop(key, None) or Table(
            Ranking(len(self._scoring.answers), incremental=self._reuse)
        )
        table.follow(snapshot.pods, questions, afresh=not self._reusable)
        if self._reuse:
            if len(self._tables) >= _KEPT_TABLES:
                del self._tables[next(iter(self._tables))]
            self._tables[key] = table
        return table, questions

    def _rejections(self, table: Table) -> dict[tuple[str, str], int]:
        counts: dict[tuple[str, str], int] = {}
        for (place, reason, _), number in table.rejected.items():
            key = (self._filter_plugins[place].name, reason)
            counts[key] = counts.get(key, 0) + number
        return counts

    def _headline(self, table: Table, run: Run) -> Headline:
        found = furthest(table.rejected, self._filter_plugins)
        if found is None:
            return Headline(NO_RUNTIME_PODS, waiting_text(BASE_COMPLETION, run.runtime))
        place, reason = found
        plugin = self._filter_plugins[place]
        return Headline(reason, waiting_text(plugin.reasons[reason], run.runtime), plugin.name, place)
