"""ZoneSpread, an example: prefer the zones that hold the fewest Runs of the same application."""

from collections import Counter
from collections.abc import Sequence
from typing import ClassVar

from pydantic import BaseModel, ConfigDict, Field

from kruntimes_core import (
    FrozenMap,
    LabelSelector,
    LabelSet,
    Operator,
    Requirement,
    RuntimePod,
    Snapshot,
    hookimpl,
)

ZONE = "topology.kubernetes.io/zone"


def runs_by_zone(snapshot: Snapshot, selector: LabelSelector) -> FrozenMap[str, int]:
    """How many targets that match `selector` each zone holds, by the zone label of their Pods."""
    counts: Counter[str] = Counter()
    for pod in snapshot.pods.values():
        counts[pod.labels.get(ZONE, "")] += pod.targets.count(selector)
    return FrozenMap(counts)


class ZoneSpread:
    """A scorer. It has to be named in a configuration to be active."""

    class Arguments(BaseModel):
        """What a configuration may say under `args`."""

        model_config = ConfigDict(extra="forbid", frozen=True)

        label: str = Field(default="app", min_length=1)
        """The Run label whose value names an application."""

    on_by_default: ClassVar[bool] = False
    normalize_keeps_best: ClassVar[bool] = True
    host_api: ClassVar[str] = ">=1,<2"

    def __init__(self, arguments: Arguments) -> None:
        self.label = arguments.label

    @hookimpl
    def prefilter(self, labels: LabelSet, snapshot: Snapshot) -> FrozenMap[str, int] | None:
        """The Runs of the same application in each zone; None for a Run without the label."""
        application = labels.get(self.label)
        if application is None:
            return None
        same = Requirement(self.label, Operator.IN, frozenset({application}))
        return runs_by_zone(snapshot, LabelSelector(frozenset({same})))

    @hookimpl
    def score(self, pod: RuntimePod, state: FrozenMap[str, int] | None) -> int:
        """Fewer is better, and more must be better: hence the minus."""
        return -state.get(pod.labels.get(ZONE, ""), 0) if state else 0

    @hookimpl
    def normalize(self, scores: Sequence[int]) -> list[int]:
        """100 for the emptiest of the zones, 0 for the fullest; 0 for all when they are alike."""
        fullest, spread = min(scores), max(scores) - min(scores)
        return [(score - fullest) * 100 // spread if spread else 0 for score in scores]
