"""Status patches of a Run: JSON merge patches (RFC 7386) of the status subresource.

A merge patch replaces a list as a whole, so every patch that touches conditions repeats all of them
as they are, fields of other owners included; a field that a patch does not name survives by itself. A
patch carries the resourceVersion that it was decided from: the API server refuses it in a conflict.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from kruntimes_core.model.run import Phase, RunObservation
from kruntimes_core.model.times import format_time

WAITING_PREFIX = "waiting for"
"""How every waiting text begins. A message of a Pending Run that begins so is the scheduler's own."""

_MAX_MESSAGE = 4_096
_MAX_CONDITION_MESSAGE = 32_768
_MAX_REASON = 1_024
_MAX_CONDITIONS = 16
_REASON = re.compile(r"[A-Za-z](?:[A-Za-z0-9_,:]*[A-Za-z0-9_])?")
_WORD = re.compile(r"[A-Za-z0-9]+")
_BEFORE_LETTER = re.compile(r"^[^A-Za-z]+")


def is_waiting_text(message: str) -> bool:
    """Whether a Pending Run's message is a waiting text, and so the scheduler's own to change."""
    return message.startswith(WAITING_PREFIX)


def status_message(text: str) -> str:
    """`text` as it stands in `status.message`: cut to the API's 4,096 characters."""
    return _cut(text, _MAX_MESSAGE)


def bind_patch(observation: RunObservation, pod_name: str, pod_uid: str, now: datetime) -> dict[str, Any]:
    """Place a Run on a Pod: phase, Pod, the condition `Scheduled`, and no waiting text any more."""
    scheduled = condition("Scheduled", "True", "Assigned", f"assigned to runtime pod {pod_name}", now)
    status: dict[str, Any] = {
        "phase": Phase.SCHEDULED.value,
        "assignedPod": pod_name,
        "assignedPodUID": pod_uid,
        "conditions": with_conditions(observation.conditions, [scheduled]),
    }
    if is_waiting_text(observation.message):
        status["message"] = None
    return _guarded(observation, status)


def waiting_patch(observation: RunObservation, message: str) -> dict[str, Any] | None:
    """Say what a Pending Run waits for; None when its status says so already."""
    text = _cut(message, _MAX_MESSAGE)
    if observation.phase is Phase.PENDING and observation.message == text:
        return None
    return _guarded(observation, {"phase": Phase.PENDING.value, "message": text})


def terminal_patch(
    observation: RunObservation, phase: Phase, reason: str, message: str, now: datetime
) -> dict[str, Any]:
    """End a Run for good, as Failed, Cancelled or another terminal `phase`.

    reason: CamelCase; a reason that the API would refuse is made to fit. message: cut to the API's limits.
    """
    name, text = _camel_case(reason, phase), _cut(message, _MAX_CONDITION_MESSAGE)
    ended = [condition(kind, "False", name, text, now) for kind in ("Running", "Completed")]
    status = {
        "phase": phase.value,
        "message": _cut(message, _MAX_MESSAGE),
        "completionTime": format_time(now),
        "conditions": with_conditions(observation.conditions, ended),
    }
    return _guarded(observation, status)


def _guarded(observation: RunObservation, status: dict[str, Any]) -> dict[str, Any]:
    if not observation.version:
        return {"status": status}
    return {"metadata": {"resourceVersion": observation.version}, "status": status}


def condition(kind: str, status: str, reason: str, message: str, now: datetime) -> dict[str, str]:
    """A condition that changes its status at `now`; where the status is the same, see `with_conditions`."""
    return {
        "type": kind,
        "status": status,
        "reason": reason,
        "message": message,
        "lastTransitionTime": format_time(now),
    }


def with_conditions(standing: Iterable[object], wanted: Iterable[Mapping[str, str]]) -> list[object]:
    """The standing conditions with the wanted ones in their places or at the end.

    A type occurs once, so a second entry of a wanted type is dropped. The API allows 16 conditions and
    would refuse a patch with more, so a new type beyond that is left out.
    """
    conditions = list(standing)
    for new in wanted:
        places = [place for place, old in enumerate(conditions) if _type(old) == new["type"]]
        if places:
            conditions[places[0]] = _changed(conditions[places[0]], new)
            conditions = [old for place, old in enumerate(conditions) if place not in places[1:]]
        elif len(conditions) < _MAX_CONDITIONS:
            conditions.append(dict(new))
    return conditions


def _type(condition: object) -> object:
    return condition.get("type") if isinstance(condition, Mapping) else None


def _changed(old: object, new: Mapping[str, str]) -> dict[str, object]:
    """`new` over the old condition. Unknown fields stay; the time stays while the status is the same."""
    before = dict(old) if isinstance(old, Mapping) else {}
    since = before.get("lastTransitionTime")
    keeps_time = before.get("status") == new["status"] and isinstance(since, str) and since
    return {**before, **new, **({"lastTransitionTime": since} if keeps_time else {})}


def _cut(text: str, length: int) -> str:
    """At most `length` characters that can be sent: half of a surrogate pair becomes a `?`."""
    shortened = text if len(text) <= length else f"{text[: length - 3]}..."
    return shortened if shortened.isascii() else shortened.encode("utf-8", "replace").decode("utf-8")


def _camel_case(reason: str, phase: Phase) -> str:
    """A reason that the API accepts: `reason` itself, or its words joined, or else the phase."""
    if len(reason) <= _MAX_REASON and _REASON.fullmatch(reason):
        return reason
    words = _WORD.findall(reason[: 2 * _MAX_REASON])
    joined = _BEFORE_LETTER.sub("", "".join(word[0].upper() + word[1:] for word in words))
    return joined[:_MAX_REASON] or phase.value
