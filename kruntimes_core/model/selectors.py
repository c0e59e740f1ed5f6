"""Label sets and label selectors, with the meaning that Kubernetes gives them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from kruntimes_core.model.frozen import FrozenMap

# How many answers a label set remembers. Selectors come from users; memory must not.
_REMEMBERED_ANSWERS = 256


class LabelSet(FrozenMap[str, str]):
    """The labels of one object. Equal sets are shared (see `Interner`), and so are their answers."""

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

    Equality is by meaning as far as order and repetition go: `matchLabels` and the same words as
    `matchExpressions` compile to equal selectors. It is a frozenset because those keep their hash, and
    compare, without Python code: a selector is looked up for each term and each Pod that changed.
    """

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
