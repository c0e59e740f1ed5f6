"""`spec.affinity` of a Run, compiled once into terms that plugins can ask."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kruntimes_core.model.decode.fields import optional_list, optional_members
from kruntimes_core.model.decode.problems import FieldError
from kruntimes_core.model.decode.selector import compile_selector
from kruntimes_core.model.messages import quoted
from kruntimes_core.model.selectors import RUNTIME_POD_TOPOLOGY, Affinity, AffinityTerm, WeightedTerm

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_MAX_TERMS = 32
_MAX_WEIGHT = 100


def compile_affinity(value: object) -> Affinity:
    """Compile `spec.affinity`; empty when absent.

    Raises `FieldError` for the first term that breaks a bound of the API contract (Affinity).
    """
    path = "spec.affinity"
    affinity = optional_members(value, path)
    together = _half(affinity, "runAffinity", path)
    apart = _half(affinity, "runAntiAffinity", path)
    return Affinity(
        required=_required(together, f"{path}.runAffinity.{_REQUIRED}"),
        required_anti=_required(apart, f"{path}.runAntiAffinity.{_REQUIRED}"),
        preferred=_preferred(together, f"{path}.runAffinity.{_PREFERRED}"),
        preferred_anti=_preferred(apart, f"{path}.runAntiAffinity.{_PREFERRED}"),
    )


def _half(affinity: Mapping[str, object], name: str, path: str) -> Mapping[str, object]:
    return optional_members(affinity.get(name), f"{path}.{name}")


def _required(half: Mapping[str, object], path: str) -> tuple[AffinityTerm, ...]:
    return tuple(_term(entry, place) for place, entry in _entries(half.get(_REQUIRED), path))


def _preferred(half: Mapping[str, object], path: str) -> tuple[WeightedTerm, ...]:
    return tuple(_weighted(entry, place) for place, entry in _entries(half.get(_PREFERRED), path))


def _entries(value: object, path: str) -> Iterator[tuple[str, object]]:
    terms = optional_list(value, path)
    if len(terms) > _MAX_TERMS:
        problem = f"{len(terms)} terms are too many: write at most {_MAX_TERMS}"
        raise FieldError(path, problem, unreadable=False)
    return ((f"{path}[{place}]", entry) for place, entry in enumerate(terms))


def _weighted(value: object, path: str) -> WeightedTerm:
    fields = optional_members(value, path)
    weight = fields.get("weight")
    if type(weight) is not int or not 1 <= weight <= _MAX_WEIGHT:
        problem = f"{quoted(weight)} is no weight: write a whole number from 1 to {_MAX_WEIGHT}"
        raise FieldError(f"{path}.weight", problem, unreadable=type(weight) is not int)
    return WeightedTerm(weight, _term(fields.get("runAffinityTerm"), f"{path}.runAffinityTerm"))


def _term(value: object, path: str) -> AffinityTerm:
    fields = optional_members(value, path)
    topology = fields.get("topologyKey")
    if topology != RUNTIME_POD_TOPOLOGY:
        problem = f"{quoted(topology)} is no topology of Runs: write {RUNTIME_POD_TOPOLOGY}"
        raise FieldError(f"{path}.topologyKey", problem)
    try:
        return AffinityTerm(compile_selector(fields.get("labelSelector")))
    except FieldError as error:
        raise error.below(path) from None
