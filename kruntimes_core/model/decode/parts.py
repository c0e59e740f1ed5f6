"""The parts that Runs and Pods are decoded into, each compiled once and shared by all that have it."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import NamedTuple

from kruntimes_core.model.decode.affinity import compile_affinity
from kruntimes_core.model.decode.annotations import advertised, capacity_amounts, kept_annotations
from kruntimes_core.model.decode.fields import texts
from kruntimes_core.model.decode.interning import Compiled, Interner, SharedMaps, shared
from kruntimes_core.model.decode.problems import FieldError
from kruntimes_core.model.decode.request import RUNS, readable, requested
from kruntimes_core.model.frozen import FrozenMap
from kruntimes_core.model.pod import Capacity
from kruntimes_core.model.run import InvalidInput, Request
from kruntimes_core.model.selectors import Affinity, LabelSet
from kruntimes_core.model.targets import Targets


class Requested(NamedTuple):
    """What `spec.resources` comes to."""

    request: Request
    held: Request
    invalid: InvalidInput | None


class Related(NamedTuple):
    """What `spec.affinity` comes to."""

    affinity: Affinity
    invalid: InvalidInput | None


class Parts:
    """Compiles parts and keeps the one object for each; one instance serves one host."""

    def __init__(self) -> None:
        self._labels: SharedMaps[str, LabelSet] = SharedMaps(LabelSet)
        self._annotations: SharedMaps[str, FrozenMap[str, str]] = SharedMaps(FrozenMap)
        self._requests: SharedMaps[int, Request] = SharedMaps(Request)
        self._capacities: SharedMaps[int | Fraction, Capacity] = SharedMaps(Capacity)
        self._affinities: Interner[Affinity] = Interner()
        self.no_usage: FrozenMap[str, int] = FrozenMap()
        self.no_targets = Targets()
        self._requested = Compiled(self._request)
        self._related = Compiled(self._affinity)
        self._advertised = Compiled(self._capacity)

    def labels(self, value: object) -> LabelSet:
        """Those of `metadata.labels` that are strings."""
        known = self._labels.find(value) if isinstance(value, Mapping) else None
        if known is not None:
            return known
        return self._labels.of({shared(key): shared(entry) for key, entry in texts(value).items()})

    def annotations(self, annotations: Mapping[str, str]) -> FrozenMap[str, str]:
        """The part of the annotations that values keep."""
        return self._annotations.of(kept_annotations(annotations))

    def requested(self, resources: object) -> Requested:
        """What `spec.resources` comes to."""
        return self._requested.of(resources)

    def related(self, affinity: object) -> Related:
        """What `spec.affinity` comes to."""
        return self._related.of(affinity)

    def capacity(self, annotations: Mapping[str, str]) -> Capacity:
        """What a Pod with these annotations advertises."""
        return self._advertised.of(advertised(annotations))

    def _request(self, resources: object) -> Requested:
        try:
            request = self._requests.of(requested(resources))
            return Requested(request, request, None)
        except FieldError as error:
            held = self._requests.of(readable(resources))
            return Requested(self._requests.of({RUNS: 1}), held, error.as_invalid("InvalidResources"))

    def _affinity(self, value: object) -> Related:
        try:
            affinity, invalid = compile_affinity(value), None
        except FieldError as error:
            affinity, invalid = Affinity(), error.as_invalid("InvalidAffinity")
        key = (affinity.required, affinity.required_anti, affinity.preferred, affinity.preferred_anti)
        return Related(self._affinities.keep(key, affinity), invalid)

    def _capacity(self, advertisement: tuple[tuple[str, str], ...]) -> Capacity:
        return self._capacities.of(capacity_amounts(advertisement))
