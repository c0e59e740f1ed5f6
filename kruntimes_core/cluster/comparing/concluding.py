"""From what the plugins say to why two schedulers chose differently. Pure: values in, values out."""

from __future__ import annotations

from dataclasses import dataclass, replace

from kruntimes_core.cluster.comparing.difference import Difference, Score, ScorePair
from kruntimes_core.cluster.comparing.kinds import Hint, Kind, NotCompared
from kruntimes_core.engine.decisions import Decision, Outcome
from kruntimes_core.engine.explain import Evaluation
from kruntimes_core.framework.outcomes import Reject
from kruntimes_core.framework.profile import Profile
from kruntimes_core.framework.runtime import PodScores
from kruntimes_core.framework.runtime.calls import safe_str
from kruntimes_core.model.run import Run


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """The running scheduler placed a Run where it would not be placed here."""

    run: Run
    decision: Decision
    """What was decided here, last."""
    profile: Profile
    """Whose plugins are asked again."""
    pod: str
    pod_uid: str | None
    hints: tuple[Hint, ...] = ()
    crowded: bool = False
    """Whether another Run, that nobody placed there, holds room on that Pod here."""


def ours(decision: Decision) -> str:
    """What was decided, in one word: the name of a Pod, or the outcome."""
    if decision.outcome is Outcome.SCHEDULED and decision.pod is not None:
        return decision.pod.name
    return decision.outcome.lower()


def on_another_pod(placed: Placement, decided: Evaluation, seen: Evaluation) -> Difference:
    """Both placed it. decided: by what was decided from; seen: by what was known when its choice was seen."""
    if seen.best == placed.pod:
        placed = _hinting(placed, Hint.TIMING)
    decision, name = placed.decision, placed.pod
    known = decision.snapshot.pods.get(name) if decision.snapshot is not None else None
    if known is None or placed.pod_uid not in (None, known.uid):
        return _difference(placed, Kind.POD_UNKNOWN)
    down = decision.turned_down.get(name)
    if down is not None:
        reject = down.reject
        return _difference(placed, Kind.POD_REJECTED, down.plugin or "", reject.reason, reject.detail)
    verdict = decided.verdicts.get(name)
    if verdict is not None:
        return _rejected(placed, Kind.POD_REJECTED, verdict)
    return _outscored(placed, decided)


def while_waiting(placed: Placement, seen: Evaluation) -> Difference | NotCompared:
    """It waits here. That counts only if its Pod is rejected by what was known when its choice was seen."""
    down = placed.decision.turned_down.get(placed.pod)
    if down is not None:
        reject = down.reject
        return _difference(placed, Kind.PLACED_WAITING, down.plugin or "", reject.reason, reject.detail)
    if seen.invalid is not None:
        return NotCompared.BEFORE
    if placed.pod not in seen.verdicts:
        return _difference(placed, Kind.POD_UNKNOWN)
    verdict = seen.verdicts[placed.pod]
    return NotCompared.BEFORE if verdict is None else _rejected(placed, Kind.PLACED_WAITING, verdict)


def though_invalid(placed: Placement, seen: Evaluation) -> Difference | NotCompared:
    """A plugin here says that it can never be placed, if it still does."""
    if seen.invalid is None:
        return NotCompared.BEFORE
    invalid = seen.invalid
    return _difference(placed, Kind.PLACED_ENDED, invalid.plugin, invalid.reason, invalid.message)


def unexplained(placed: Placement, plugin: str = "", why: str = "") -> Difference:
    """Nobody can say why. plugin, why: what broke when it was asked again."""
    return _difference(placed, Kind.UNEXPLAINED, plugin, "", why)


def _outscored(placed: Placement, decided: Evaluation) -> Difference:
    chosen, other = decided.scored.get(ours(placed.decision)), decided.scored.get(placed.pod)
    if chosen is None or other is None or other.total > chosen.total:
        # The choice was made a moment before the state that is on record.
        return _difference(placed, Kind.UNEXPLAINED, scores=_pairs(placed.profile, chosen, other))
    scores = _pairs(placed.profile, chosen, other)
    if other.total == chosen.total:
        return _difference(placed, Kind.POD_TIED, scores=scores)
    telling = max(scores, key=lambda pair: pair.lead)
    return _difference(placed, Kind.POD_SCORED_LOWER, telling.plugin, scores=scores)


def _rejected(placed: Placement, kind: Kind, verdict: tuple[int, Reject]) -> Difference:
    if placed.crowded and Hint.FOLLOWS not in placed.hints:
        placed = _hinting(placed, Hint.FOLLOWS)
    place, reject = verdict
    plugin = placed.profile.implementing("filter")[place].name
    return _difference(placed, kind, plugin, reject.reason, reject.detail)


def _difference(
    placed: Placement,
    kind: Kind,
    plugin: str = "",
    reason: str = "",
    detail: str | None = None,
    scores: tuple[ScorePair, ...] = (),
) -> Difference:
    return Difference(
        run=placed.run,
        kind=kind,
        ours=ours(placed.decision),
        theirs=placed.pod,
        plugin=plugin,
        reason=reason,
        detail=detail or "",
        scores=scores,
        hints=placed.hints,
    )


def _pairs(profile: Profile, chosen: PodScores | None, other: PodScores | None) -> tuple[ScorePair, ...]:
    if chosen is None or other is None:
        return ()
    return tuple(
        ScorePair(plugin.name, plugin.weight, Score(safe_str(mine), left), Score(safe_str(its), right))
        for plugin, mine, left, its, right in zip(
            profile.implementing("score"),
            chosen.raw,
            chosen.normalized,
            other.raw,
            other.normalized,
            strict=True,
        )
    )


def _hinting(placed: Placement, hint: Hint) -> Placement:
    return replace(placed, hints=(*placed.hints, hint))
