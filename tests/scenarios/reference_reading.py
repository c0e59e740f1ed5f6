"""What the reference planner reads off JSON objects: amounts, selectors and the state of Pods.

Plain readings of the API contract, without a value type of the project.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from math import ceil
from typing import Any

Object = Mapping[str, Any]

MAX_AMOUNT = 2**63 - 1
CAPACITY = "kruntimes.io/capacity."
HEARTBEAT_SECONDS = 15
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


class Refused(Exception):  # noqa: N818 - a verdict
    """A Run that ends as Failed, with this reason."""


# Quantities


def quantity(value: Any) -> Fraction | None:
    """The exact value, rounded up to 10^-9 away from zero; None when it is no Kubernetes quantity."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int):
        return Fraction(value)
    if isinstance(value, float):
        return Fraction(value) if value.is_integer() else None
    match = re.fullmatch(r"([+-]?)([0-9]+\.?[0-9]*|\.[0-9]+)(.*)", value) if isinstance(value, str) else None
    if match is None:
        return None
    sign, number, suffix = match.groups()
    factor = _factor(suffix)
    if factor is None:
        return None
    nanos = ceil(Fraction(number.removesuffix(".")) * factor * 10**9)
    return Fraction(-nanos if sign == "-" else nanos, 10**9)


def _factor(suffix: str) -> Fraction | None:
    decimal = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
    if suffix in decimal:
        return Fraction(10) ** decimal[suffix]
    if len(suffix) == 2 and suffix[1] == "i" and suffix[0] in "KMGTPE":
        return Fraction(1024 ** ("KMGTPE".index(suffix[0]) + 1))
    exponent = re.fullmatch(r"[eE]([+-]?[0-9]+)", suffix)
    return Fraction(10) ** int(exponent[1]) if exponent else None


def request(run: Object) -> dict[str, int]:
    """The complete request, or `Refused`."""
    amounts = {}
    for name, value in _requests(run).items():
        amount = quantity(value)
        if amount is None or amount < 0 or amount.denominator != 1 or amount > MAX_AMOUNT:
            raise Refused("InvalidResources")
        if amount:
            amounts[name] = int(amount)
    return {"runs": 1, **amounts}


def held(run: Object) -> dict[str, int]:
    """What an active Run holds, whatever of its request can be read."""
    amounts = {}
    for name, value in _requests(run).items():
        amount = quantity(value)
        if amount is not None and amount > 0:
            amounts[name] = min(ceil(amount), MAX_AMOUNT)
    return {"runs": 1, **amounts}


def _requests(run: Object) -> dict[str, Any]:
    return (run["spec"].get("resources") or {}).get("requests") or {}


def capacity(pod: Object) -> dict[str, Fraction]:
    """What a Pod advertises."""
    amounts = {"runs": Fraction(2)}
    for key, value in (pod["metadata"].get("annotations") or {}).items():
        amount = quantity(value)
        if key.startswith(CAPACITY) and key != CAPACITY and amount is not None and amount > 0:
            amounts[key.removeprefix(CAPACITY)] = min(amount, Fraction(MAX_AMOUNT))
    return amounts


# Selectors and affinity


def labels(thing: Object) -> dict[str, str]:
    """Those labels that are strings."""
    given = thing["metadata"].get("labels") or {}
    return {key: value for key, value in given.items() if isinstance(value, str)}


def matches(selector: Object, having: Mapping[str, str]) -> bool:
    """Whether every requirement of a selector holds."""
    if any(having.get(key) != value for key, value in (selector.get("matchLabels") or {}).items()):
        return False
    return all(_holds(one, having) for one in selector.get("matchExpressions") or [])


def _holds(one: Object, having: Mapping[str, str]) -> bool:
    key, values = one["key"], one.get("values") or []
    if one["operator"] == "In":
        return any(having.get(key) == value for value in values)
    if one["operator"] == "NotIn":
        return all(having.get(key) != value for value in values)
    return bool((key in having) == (one["operator"] == "Exists"))


def terms(run: Object, side: str) -> list[Object]:
    """The selectors of the required terms of one side."""
    listed = ((run["spec"].get("affinity") or {}).get(side) or {}).get(_REQUIRED) or []
    return [_selector(term) for term in listed]


def preferences(run: Object, side: str) -> list[tuple[int, Object]]:
    """The weights and selectors of the preferred terms of one side."""
    listed = ((run["spec"].get("affinity") or {}).get(side) or {}).get(_PREFERRED) or []
    return [(one["weight"], _selector(one["runAffinityTerm"])) for one in listed]


def _selector(term: Object) -> Object:
    selector: Object = term["labelSelector"]
    wanted = selector.get("matchLabels") or {}
    expressions = selector.get("matchExpressions") or []
    sound = bool(wanted or expressions) and all(_is_value(value) for value in wanted.values())
    if not sound or term["topologyKey"] != "kruntimes.io/runtime-pod":
        raise Refused("InvalidAffinity")
    for one in expressions:
        values = one.get("values") or []
        takes_values = {"In": True, "NotIn": True, "Exists": False, "DoesNotExist": False}.get(
            one["operator"]
        )
        if takes_values is None or takes_values != bool(values) or not all(map(_is_value, values)):
            raise Refused("InvalidAffinity")
    return selector


def _is_value(value: Any) -> bool:
    return (
        isinstance(value, str)
        and re.fullmatch(r"([A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)?", value) is not None
    )


# Pods


def time(text: Any) -> datetime | None:
    """A time as the generated objects write it."""
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC) if text else None


def unavailable(pod: Object, now: datetime) -> str | None:
    """Why a Pod cannot take Runs, or None."""
    status = pod.get("status") or {}
    conditions = {one["type"]: one for one in status.get("conditions") or []}
    runtimed = conditions.get("kruntimes.io/RuntimedReady", {})
    probed = time(runtimed.get("lastProbeTime"))
    if pod["metadata"].get("deletionTimestamp"):
        return "PodTerminating"
    if status.get("phase") != "Running":
        return "PodNotRunning"
    if conditions.get("Ready", {}).get("status") != "True":
        return "PodNotReady"
    if runtimed.get("status") != "True" or probed is None:
        return "RuntimedNotReady"
    return "HeartbeatStale" if now - probed > timedelta(seconds=HEARTBEAT_SECONDS) else None
