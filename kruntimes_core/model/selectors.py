"""Label sets, label selectors as Kubernetes matches them, affinity terms, and the decoding of these.

Selectors follow the rules of apimachinery's `labels.NewRequirement`. An API server refuses what breaks
these rules, and it cannot match what its author meant, so the Run that carries it fails, and no other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Self, TypeVar

from kruntimes_core.model.bounded import LARGE, MIB, BoundedCache
from kruntimes_core.model.fields import (
    DecodeError,
    is_label_value,
    is_qualified_name,
    optional_list,
    optional_members,
)
from kruntimes_core.model.frozen import FrozenMap
from kruntimes_core.model.messages import quoted
from kruntimes_core.model.validation import (
    MAX_WEIGHT,
    check_instance,
    check_text,
    check_texts,
    member,
    members_of,
    whole,
)

T = TypeVar("T")

RUNTIME_POD_TOPOLOGY = "kruntimes.io/runtime-pod"
"""The only topology that v1alpha1 of the API knows: the Runtime Pod itself."""

ANSWER_BYTES = 16 * MIB
"""Of the answers that all label sets remember together."""
COMPILED_BYTES = 16 * MIB
"""Of the selectors that are kept compiled."""
# What an answer takes beside the text of its selector, and a compiled selector: at least, and for each byte.
_ANSWER_ENTRY = 128
_COMPILED_ENTRY = 256
_COMPILED_FACTOR = 8


class LabelSet(FrozenMap[str, str]):
    """The labels of one object. Decoding shares equal sets, and with them the remembered answers."""

    __slots__ = ("_answers",)

    def __init__(self, items: Mapping[str, str] | None = None) -> None:
        super().__init__(items)
        check_texts("LabelSet", self._items)
        self._answers: dict[LabelSelector, bool] = {}

    def satisfies(self, selector: LabelSelector) -> bool:
        """Whether `selector` matches these labels; the answer is remembered for a while."""
        answer = self._answers.get(selector)
        if answer is None:
            answer = selector.matches(self)
            _ANSWERS.remember(self._answers, selector, answer)
        return answer


class _RememberedAnswers:
    """The answers of all label sets, which share one budget: when it is spent, all of them are forgotten."""

    def __init__(self) -> None:
        self._tables: dict[int, dict[LabelSelector, bool]] = {}
        """Those that are not empty, by identity."""
        self._size = 0

    def remember(self, answers: dict[LabelSelector, bool], selector: LabelSelector, answer: bool) -> None:
        """Add an answer to those of a label set, unless the selector is large."""
        if len(selector) > LARGE:
            return
        # In this order, because another thread may forget all of them meanwhile.
        answers[selector] = answer
        self._tables[id(answers)] = answers
        self._size += len(selector) + _ANSWER_ENTRY
        if self._size > ANSWER_BYTES:
            tables, self._tables, self._size = self._tables, {}, 0
            for table in list(tables.values()):
                table.clear()


_ANSWERS = _RememberedAnswers()


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

    def __post_init__(self) -> None:
        """Take an operator by its text too. Raises: `TypeError`, `ValueError` for what could never match."""
        check_text("Requirement.key", self.key)
        operator = member("Requirement.operator", self.operator, Operator)
        values = frozenset(members_of("Requirement.values", self.values, str))
        if (operator in _WITH_VALUES) != bool(values):
            wanted = "needs at least one value" if operator in _WITH_VALUES else "takes no values"
            raise ValueError(f"operator {operator.value} on key {quoted(self.key)} {wanted}")
        object.__setattr__(self, "operator", operator)
        object.__setattr__(self, "values", values)

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether `labels` meet this requirement; an empty value is a present value."""
        if self.operator is Operator.EXISTS:
            return self.key in labels
        if self.operator is Operator.DOES_NOT_EXIST:
            return self.key not in labels
        inside = self.key in labels and labels[self.key] in self.values
        return inside if self.operator is Operator.IN else not inside


_Compiled = tuple[tuple[str, frozenset[str | None], bool], ...]
"""Key, values, and whether the label's value is to be one of them; the value of a missing label is None."""


class LabelSelector(bytes):
    """A label selector: a set of requirements, all of which must match.

    Equality is by meaning as far as order and repetition go: `matchLabels` and the same requirements
    as `matchExpressions` are equal selectors.

    It is its own text, so `len` is its size. The text takes a fifth of the objects that it stands for, of
    which waiting Runs may have hundreds of thousands, and a bytes keeps its hash and compares without Python
    code. Selectors that are looked at often are kept compiled; a large one is matched from its text.
    """

    # The text: requirements in order, each ended by a newline; in each the key, the operator and the values
    # in order, each ended by NUL.

    __slots__ = ()

    def __new__(cls, requirements: Iterable[Requirement] = ()) -> Self:
        """Raises `TypeError` for anything but requirements: a mapping of labels is not a selector.

        Raises `ValueError` for a key or value with a NUL or a newline: no label has one.
        """
        given = members_of("LabelSelector", requirements, Requirement)
        return super().__new__(cls, b"".join(sorted({_text(requirement) for requirement in given})))

    def __reduce__(self) -> tuple[type[Self], tuple[frozenset[Requirement]]]:
        return type(self), (self.requirements,)

    @property
    def requirements(self) -> frozenset[Requirement]:
        """All that labels must meet."""
        return frozenset(
            Requirement(
                _decoded(key),
                Operator(operator.decode()),
                frozenset(_decoded(value) for value in values.split(b"\0")[:-1]),
            )
            for key, operator, values in map(_split, self.split(b"\n")[:-1])
        )

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether every requirement matches `labels`."""
        if len(self) > LARGE:
            return self._matches_by_text(labels)
        compiled = _COMPILED.get(self)
        if compiled is None:
            compiled = tuple([_compiled(requirement) for requirement in self.requirements])
            _COMPILED.keep(self, compiled, _COMPILED_ENTRY + _COMPILED_FACTOR * len(self))
        # A loop, because this is called for each new pair of a selector and a label set.
        for key, values, inside in compiled:  # noqa: SIM110
            if (labels.get(key) in values) is not inside:
                return False
        return True

    def _matches_by_text(self, labels: Mapping[str, str]) -> bool:
        for key, operator, values in map(_split, self.split(b"\n")[:-1]):
            value = labels.get(_decoded(key))
            if operator in (b"In", b"NotIn"):
                # A value stands between two NULs; the one before the first was the operator's.
                listed = value is not None and b"\0%b\0" % _encoded(value) in b"\0" + values
                met = listed is (operator == b"In")
            else:
                met = (value is not None) is (operator == b"Exists")
            if not met:
                return False
        return True

    def __repr__(self) -> str:
        return f"LabelSelector({set(self.requirements)!r})"


_COMPILED: BoundedCache[LabelSelector, _Compiled] = BoundedCache(COMPILED_BYTES, COMPILED_BYTES)


def _compiled(requirement: Requirement) -> tuple[str, frozenset[str | None], bool]:
    if requirement.operator in (Operator.EXISTS, Operator.DOES_NOT_EXIST):
        return requirement.key, frozenset({None}), requirement.operator is Operator.DOES_NOT_EXIST
    return requirement.key, requirement.values, requirement.operator is Operator.IN


def _text(requirement: Requirement) -> bytes:
    parts = [requirement.key, requirement.operator.value, *requirement.values]
    key, operator, *values = [_encoded(part) for part in parts]
    text = b"\0".join([key, operator, *sorted(values), b"\n"])
    if text.count(b"\n") > 1 or text.count(b"\0") != len(parts):
        raise ValueError(f"{requirement!r} has a NUL or a newline")
    return text


def _split(text: bytes) -> tuple[bytes, bytes, bytes]:
    """Key, operator, and the values, each ended by NUL."""
    key, operator, values = text.split(b"\0", 2)
    return key, operator, values


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _decoded(text: bytes) -> str:
    return text.decode("utf-8", "surrogatepass")


@dataclass(frozen=True, slots=True)
class AffinityTerm:
    """A set of Runs, named by a selector, on one Runtime Pod."""

    selector: LabelSelector

    def __post_init__(self) -> None:
        """Raises `TypeError` for what is not a selector."""
        check_instance("AffinityTerm.selector", self.selector, LabelSelector)


@dataclass(frozen=True, slots=True)
class WeightedTerm:
    """A preferred term and its weight, 1..100."""

    weight: int
    term: AffinityTerm

    def __post_init__(self) -> None:
        """Raises: `TypeError`, `ValueError` for another weight."""
        object.__setattr__(self, "weight", whole("WeightedTerm.weight", self.weight, 1, MAX_WEIGHT))
        check_instance("WeightedTerm.term", self.term, AffinityTerm)


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Affinity:
    """`spec.affinity` of a Run, compiled: required terms filter, preferred terms score. Empty when absent."""

    required: tuple[AffinityTerm, ...] = ()
    required_anti: tuple[AffinityTerm, ...] = ()
    preferred: tuple[WeightedTerm, ...] = ()
    preferred_anti: tuple[WeightedTerm, ...] = ()

    def __post_init__(self) -> None:
        """Take any list of terms. Raises `TypeError` for what is not a term."""
        for name in self.__slots__[:4]:
            kind = AffinityTerm if name.startswith("required") else WeightedTerm
            terms = getattr(self, name)
            object.__setattr__(self, name, tuple(members_of(f"Affinity.{name}", terms, kind)))


# What a term takes beside the text of its selector.
_TERM_BYTES = 128


def affinity_size(affinity: Affinity) -> int:
    """About how many bytes an affinity takes."""
    terms = [*affinity.required, *affinity.required_anti]
    terms += [weighted.term for weighted in (*affinity.preferred, *affinity.preferred_anti)]
    return sum([len(term.selector) + _TERM_BYTES for term in terms])


_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_MAX_TERMS = 32
_OPERATORS = {operator.value: operator for operator in Operator}
_WITH_VALUES = frozenset({Operator.IN, Operator.NOT_IN})


def compile_affinity(value: object) -> Affinity:
    """Compile `spec.affinity`; empty when absent.

    Raises `DecodeError` for the first term that breaks a bound of the API contract (Affinity).
    """
    affinity = optional_members(value, "spec.affinity")
    return Affinity(
        required=_terms(affinity, "runAffinity", _REQUIRED, _term),
        required_anti=_terms(affinity, "runAntiAffinity", _REQUIRED, _term),
        preferred=_terms(affinity, "runAffinity", _PREFERRED, _weighted),
        preferred_anti=_terms(affinity, "runAntiAffinity", _PREFERRED, _weighted),
    )


def _terms(
    affinity: Mapping[str, object], half: str, when: str, compile_term: Callable[[object, str], T]
) -> tuple[T, ...]:
    path = f"spec.affinity.{half}"
    terms = optional_list(optional_members(affinity.get(half), path).get(when), f"{path}.{when}")
    if len(terms) > _MAX_TERMS:
        problem = f"{len(terms)} terms are too many: write at most {_MAX_TERMS}"
        raise DecodeError(f"{path}.{when}", problem, unreadable=False)
    return tuple(compile_term(entry, f"{path}.{when}[{place}]") for place, entry in enumerate(terms))


def _weighted(value: object, path: str) -> WeightedTerm:
    fields = optional_members(value, path)
    weight = fields.get("weight")
    if type(weight) is not int or not 1 <= weight <= MAX_WEIGHT:
        problem = f"{quoted(weight)} is not a weight: write a whole number from 1 to {MAX_WEIGHT}"
        raise DecodeError(f"{path}.weight", problem, unreadable=type(weight) is not int)
    return WeightedTerm(weight, _term(fields.get("runAffinityTerm"), f"{path}.runAffinityTerm"))


def _term(value: object, path: str) -> AffinityTerm:
    fields = optional_members(value, path)
    topology = fields.get("topologyKey")
    if topology != RUNTIME_POD_TOPOLOGY:
        problem = f"{quoted(topology)} is not a topology of Runs: write {RUNTIME_POD_TOPOLOGY}"
        raise DecodeError(f"{path}.topologyKey", problem)
    try:
        return AffinityTerm(compile_selector(fields.get("labelSelector")))
    except DecodeError as error:
        raise error.below(path) from None


def compile_selector(value: object) -> LabelSelector:
    """Compile a metav1.LabelSelector.

    In: its JSON. Raises `DecodeError`, with the path below the selector: `unreadable` when it cannot
    be compiled, not so when it is empty (it would match every Run; the API does not allow it).
    """
    if not isinstance(value, Mapping):
        raise DecodeError("labelSelector", f"{quoted(value)} is not a selector: write matchLabels")
    labels = optional_members(value.get("matchLabels"), "labelSelector.matchLabels")
    expressions = optional_list(value.get("matchExpressions"), "labelSelector.matchExpressions")
    requirements: set[Requirement] = set()
    for key, label in labels.items():
        path = "labelSelector.matchLabels"
        values = frozenset({_label_value(label, key, path)})
        requirements.add(Requirement(_key(key, path), Operator.IN, values))
    for place, expression in enumerate(expressions):
        requirements.add(_requirement(expression, f"labelSelector.matchExpressions[{place}]"))
    if not requirements:
        problem = "it is empty and would match every Run: write matchLabels or matchExpressions"
        raise DecodeError("labelSelector", problem, unreadable=False)
    return LabelSelector(requirements)


def _requirement(value: object, path: str) -> Requirement:
    fields = optional_members(value, path)
    key = _key(fields.get("key"), f"{path}.key")
    operator = _operator(fields.get("operator"), key, f"{path}.operator")
    given = optional_list(fields.get("values"), f"{path}.values")
    if (operator in _WITH_VALUES) != bool(given):
        wanted = "needs at least one value" if operator in _WITH_VALUES else "takes no values"
        raise DecodeError(f"{path}.values", f"operator {operator.value} on key {quoted(key)} {wanted}")
    values = frozenset(_label_value(entry, key, f"{path}.values") for entry in given)
    return Requirement(key, operator, values)


def _key(key: object, path: str) -> str:
    if not isinstance(key, str) or not is_qualified_name(key):
        rule = "write up to 63 letters, digits, '-', '_' or '.', after an optional DNS prefix and '/'"
        raise DecodeError(path, f"{quoted(key)} is not a label key: {rule}")
    return key


def _operator(operator: object, key: str, path: str) -> Operator:
    known = _OPERATORS.get(operator) if isinstance(operator, str) else None
    if known is None:
        problem = f"unknown operator {quoted(operator)} on key {quoted(key)}: write {', '.join(_OPERATORS)}"
        raise DecodeError(path, problem)
    return known


def _label_value(value: object, key: object, path: str) -> str:
    if not isinstance(value, str) or not is_label_value(value):
        rule = "write nothing or up to 63 letters, digits, '-', '_' or '.'"
        raise DecodeError(path, f"{quoted(value)} of key {quoted(key)} is not a label value: {rule}")
    return value
