"""Score and normalize: the scorers of a profile, asked for the feasible Pods of a table."""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Any

from kruntimes_core.framework.outcomes import PluginError
from kruntimes_core.framework.profile import ActivePlugin, Profile
from kruntimes_core.framework.runner import calls, checks
from kruntimes_core.framework.runner.answers import PodAnswers
from kruntimes_core.framework.runner.outcomes import Prepared
from kruntimes_core.framework.runner.ranking import Normalize, Scored, Scorer, UncomparableError
from kruntimes_core.framework.runner.table import Questions, Table
from kruntimes_core.model.run import Run
from kruntimes_core.model.snapshot import Snapshot


class Scoring:
    """The scorers of one profile, with the raw scores that still hold."""

    def __init__(self, profile: Profile, reuse: bool = True) -> None:
        self._places = {plugin.name: place for place, plugin in enumerate(profile.plugins)}
        self.answers = tuple(
            PodAnswers[Any](plugin, "score", self._places[plugin.name], _check(plugin), reuse)
            for plugin in profile.implementing("score")
        )
        self._reusable = all(answers.reusable for answers in self.answers)

    def best(
        self,
        table: Table,
        questions: Questions,
        prepared: Prepared,
        run: Run,
        snapshot: Snapshot,
        excluded: Set[str],
    ) -> str | None:
        """The best feasible Pod of `table` outside `excluded`. Raises `PluginError`."""
        if not table.feasible:
            return None
        scorers = self._bound(prepared, run, snapshot)
        try:
            table.score(questions, afresh=not self._reusable)
            return table.ranking.best(scorers, excluded)
        except UncomparableError as error:
            raise self._blamed(error) from None

    def scored(
        self,
        table: Table,
        questions: Questions,
        prepared: Prepared,
        run: Run,
        snapshot: Snapshot,
        excluded: Set[str],
    ) -> dict[str, Scored]:
        """All scores of the feasible Pods of `table`, for a record. Raises `PluginError`."""
        try:
            table.score(questions, afresh=False)
            return table.ranking.scored(self._bound(prepared, run, snapshot), excluded)
        except UncomparableError as error:
            raise self._blamed(error) from None

    def _bound(self, prepared: Prepared, run: Run, snapshot: Snapshot) -> tuple[Scorer, ...]:
        return tuple(
            [
                Scorer(answers.plugin, self._normalize(answers.plugin, prepared, run, snapshot))
                for answers in self.answers
            ]
        )

    def _normalize(
        self, plugin: ActivePlugin, prepared: Prepared, run: Run, snapshot: Snapshot
    ) -> Normalize | None:
        hook = plugin.hooks.get("normalize")
        if hook is None:
            return None
        ask = calls.positional(hook, calls.NORMALIZE)
        state = prepared.states[self._places[plugin.name]]

        def normalize(scores: Sequence[Any]) -> list[int]:
            try:
                answer = ask(tuple(scores), state, run, snapshot)
                return checks.normalized_scores(plugin, answer, len(scores))
            except BaseException as error:  # noqa: BLE001 - whatever a plugin raises is its own error
                raise calls.broken(plugin, "normalize", error) from None

        return normalize

    def _blamed(self, error: UncomparableError) -> PluginError:
        """Scores compare as they like: what goes wrong there is the error of the plugin that gave them."""
        return calls.broken(self.answers[error.place].plugin, "score", error.__cause__ or error)


def _check(plugin: ActivePlugin) -> Any:
    return checks.raw_score if "normalize" in plugin.hooks else checks.plain_score
