"""One log line for each difference."""

from __future__ import annotations

from kruntimes_core.cluster.comparing.difference import Difference, ScorePair
from kruntimes_core.cluster.observing.log import Log


class DifferenceLines:
    """Says each difference as it is found."""

    def __init__(self, log: Log) -> None:
        self._log = log

    def differs(self, difference: Difference) -> None:
        """Say it; see `Report.listeners`."""
        run = difference.run
        self._log.info(
            "the running scheduler did otherwise",
            run=f"{run.namespace}/{run.name}",
            kind=difference.kind,
            ours=difference.ours,
            theirs=difference.theirs,
            plugin=difference.plugin or None,
            reason=difference.reason or None,
            detail=difference.detail or None,
            scores=scores_line(difference.scores) or None,
            hints=",".join(difference.hints) or None,
        )


def scores_line(scores: tuple[ScorePair, ...]) -> str:
    """The scores of both Pods, ours first: `LeastLoaded 100 to 0, weight 1 (raw 1/4 to 3/4)`."""
    return "; ".join(
        f"{pair.plugin} {pair.ours.normalized} to {pair.theirs.normalized}, weight {pair.weight}"
        f" (raw {pair.ours.raw} to {pair.theirs.raw})"
        for pair in scores
    )
