"""Label sets, label selectors with the meaning that Kubernetes gives them, and affinity terms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from kruntimes_core.model.frozen import FrozenMap

RUNTIME_POD_TOPOLOGY = "kruntimes.io/runtime-pod"
"""The only topology that v1alpha1 of the API knows: the Runtime Pod itself."""

# How many answers a label set remembers. Selectors come from users; memory must not grow with them.
_REMEMBERED_ANSWERS = 256


class LabelSet(FrozenMap[str, str]):
    """The labels of one object. Decoding shares equal sets, and with them the remembered answers."""

    __slots__ = ("_answers",)

    def __init__(self, items: Mapping[str, str] | None = None) -> None:
        super().__init__(items)
        self._answers: dict[LabelSelector, bool] = {}

    def satisfies(self, selector: LabelSelector) -> bool:
        """Whether `selector` matches these labels; the answer is remembered."""
        answer = self._answers.get(selector)
        if answer is None:
            answer = selector.matches(self)
            if len(self._answers) >= _REMEMBERED_ANSWERS:
                self._answers.clear()
            self._answers[selector] = answer
        return answer


class Operator(StrEnum):
    """The four operators of a metav1.LabelSelectorRequirement."""

    IN = "In"
    NOT_IN = "NotIn"
    EXISTS = "Exists"
    DOES_NOT_EXIST = "DoesNotExist"


@dataclass(frozen=True, slots=True)
class Requirement:
    """One condition of a selector on one key. `NotIn` and `DoesNotExist` also match an absent key."""

    key: str
    operator: Operator
    values: frozenset[str] = frozenset()

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether `labels` meet this requirement; an empty value is a present value."""
        if self.operator is Operator.EXISTS:
            return self.key in labels
        if self.operator is Operator.DOES_NOT_EXIST:
            return self.key not in labels
        inside = self.key in labels and labels[self.key] in self.values
        return inside if self.operator is Operator.IN else not inside


class LabelSelector(frozenset[Requirement]):
    """A compiled label selector: a set of requirements, all of which must match.

    Equality is by meaning as far as order and repetition go: `matchLabels` and the same requirements
    as `matchExpressions` compile to equal selectors.
    """

    # A frozenset keeps its hash and compares without Python code: selectors are looked up for each
    # term and each Pod that changed.

    __slots__ = ()

    @property
    def requirements(self) -> frozenset[Requirement]:
        """All that labels must meet."""
        return self

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a LabelSelector cannot be changed (attribute {name})")

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether every requirement matches `labels`."""
        return all(requirement.matches(labels) for requirement in self)

    def __repr__(self) -> str:
        return f"LabelSelector({set(self)!r})"


@dataclass(frozen=True, slots=True)
class AffinityTerm:
    """A set of Runs, named by a selector, on one Runtime Pod."""

    selector: LabelSelector


@dataclass(frozen=True, slots=True)
class WeightedTerm:
    """A preferred term and its weight, 1..100."""

    weight: int
    term: AffinityTerm


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Affinity:
    """`spec.affinity` of a Run, compiled: required terms filter, preferred terms score. Empty when absent."""

    required: tuple[AffinityTerm, ...] = ()
    required_anti: tuple[AffinityTerm, ...] = ()
    preferred: tuple[WeightedTerm, ...] = ()
    preferred_anti: tuple[WeightedTerm, ...] = ()
