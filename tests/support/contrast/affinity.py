"""Runs by their affinity to other Runs."""

from __future__ import annotations

from contrast.cases import REMOVED, Create, accepted, refused
from realcluster.client import Object

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_SELECTOR: Object = {"matchLabels": {"cohort": "a"}}


def _term(selector: object = _SELECTOR, key: object = "kruntimes.io/runtime-pod") -> Object:
    term = {"labelSelector": selector, "topologyKey": key}
    return {name: value for name, value in term.items() if value is not REMOVED}


def _expressing(**expression: object) -> Object:
    return _term({"matchExpressions": [{"key": "cohort", **expression}]})


def _onto(*terms: Object) -> Object:
    return {"runAffinity": {_REQUIRED: list(terms)}}


def _apart(*terms: Object) -> Object:
    return {"runAntiAffinity": {_REQUIRED: list(terms)}}


def _preferring(weight: object, term: Object, count: int = 1) -> Object:
    weighted = {name: value for name, value in (("weight", weight), ("runAffinityTerm", term)) if value}
    return {"runAffinity": {_PREFERRED: [weighted] * count}}


_ONTO = f"spec.affinity.runAffinity.{_REQUIRED}"
_APART = f"spec.affinity.runAntiAffinity.{_REQUIRED}"
_PREFERS = f"spec.affinity.runAffinity.{_PREFERRED}"

AFFINITY: list[Create] = [
    accepted("empty affinity", affinity={}),
    accepted("required term", affinity=_onto(_term())),
    accepted("required term apart", affinity=_apart(_expressing(operator="NotIn", values=["a", "b"]))),
    accepted("32 required terms", affinity=_onto(*[_term()] * 32)),
    accepted("32 preferences", affinity=_preferring(1, _term(), 32)),
    accepted("weight of 100", affinity=_preferring(100, _term())),
    accepted("operator that nobody knows", affinity=_onto(_expressing(operator="Near"))),
    accepted("operator without its values", affinity=_onto(_expressing(operator="In"))),
    refused("33 required terms", _ONTO, affinity=_onto(*[_term()] * 33)),
    refused("33 preferences", _PREFERS, affinity=_preferring(1, _term(), 33)),
    refused("weight of 101", f"{_PREFERS}[0].weight", affinity=_preferring(101, _term())),
    refused("negative weight", f"{_PREFERS}[0].weight", affinity=_preferring(-1, _term())),
    refused("preference without a weight", f"{_PREFERS}[0].weight", affinity=_preferring(None, _term())),
    refused("preference without a term", f"{_PREFERS}[0].runAffinityTerm", affinity=_preferring(1, {})),
    refused("empty selector", f"{_ONTO}[0].labelSelector", affinity=_onto(_term({}))),
    refused(
        "selector of empty parts",
        f"{_APART}[0].labelSelector",
        affinity=_apart(_term({"matchLabels": {}, "matchExpressions": []})),
    ),
    refused(
        "empty selector in a preference",
        f"{_PREFERS}[0].runAffinityTerm.labelSelector",
        affinity=_preferring(1, _term({})),
    ),
    refused("no selector", f"{_ONTO}[0].labelSelector", affinity=_onto(_term(REMOVED))),
    refused("no topology key", f"{_ONTO}[1].topologyKey", affinity=_onto(_term(), _term(key=REMOVED))),
    refused(
        "topology of nodes", f"{_ONTO}[0].topologyKey", affinity=_onto(_term(key="kubernetes.io/hostname"))
    ),
    refused(
        "expression without an operator",
        f"{_ONTO}[0].labelSelector.matchExpressions[0].operator",
        affinity=_onto(_expressing()),
    ),
]
