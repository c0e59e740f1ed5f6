"""How large the cluster is that a decision is measured in."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """The numbers of one measured cluster; each is a dimension that cost may grow with."""

    pods: int = 1_000
    """Runtime Pods in all, spread evenly over namespaces and Runtimes."""
    runs: int = 100
    """Runs that one repeat places."""
    known: int = 10_000
    """Runs known beside them: four on each Pod, the others ended."""
    waiting: int = 1_000
    """Runs that wait meanwhile and cannot be placed."""
    requests: int = 20
    """Different requests, among those that arrive and among those that wait: so many classes wait."""
    cohorts: int = 50
    """Different labels, and so different required affinities, in each namespace."""
    preferences: int = 20
    """Different preferred affinities."""
    namespaces: int = 1
    runtimes: int = 1
    seed: int = 0
    """Chooses what lies on which Pod."""

    @property
    def pools(self) -> int:
        """How many pairs of a namespace and a Runtime have Pods."""
        return max(self.namespaces, self.runtimes)

    def sized(self, dimension: str, size: int) -> Shape:
        """The same cluster with another size of one dimension.

        What comes with further namespaces and Runtimes is further Pods: each pair keeps as many.
        """
        grown = replace(self, **{dimension: size})
        if dimension not in ("namespaces", "runtimes"):
            return grown
        return replace(grown, pods=max(self.pods // self.pools, 1) * grown.pools)


DIMENSIONS = tuple(field.name for field in fields(Shape) if field.name != "seed")
