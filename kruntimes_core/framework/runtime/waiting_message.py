"""The message that a waiting Run shows in its status (semantics, Headline)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from kruntimes_core.framework.profile import ActivePlugin
from kruntimes_core.model.status_patches import status_message

BASE_COMPLETION = 'available runtime pods for runtime "{runtime}"'
"""The API contract's base text of a waiting Run; also what RuntimePodAvailability says."""

# The reason of a Run whose Runtime has no Pods at all: no plugin was there to give one.
NO_RUNTIME_PODS = "NoRuntimePods"

RejectionKind = tuple[str, bool, datetime | None]
"""Reason, whether the Run is pinned elsewhere, and when the rejection may turn by itself."""


@dataclass(frozen=True, slots=True)
class WaitingMessage:
    """Why a waiting Run waits: the rejection of the Pods that got furthest."""

    reason: str
    text: str
    plugin: str | None = None
    place: int = -1
    """How far in the order of filters the Pods got; -1 when there are no Pods."""


def choose_waiting_message(
    filters: Sequence[ActivePlugin], rejections: Sequence[tuple[int, RejectionKind]], runtime: str
) -> WaitingMessage:
    """The rejection that a waiting Run shows: of the Pods that got furthest in the order of filters.

    Pods that the Run is not tied to (`pinned_elsewhere`) count only if there are no others; among the
    reasons of one plugin the first declared one wins, so that the text does not follow numbers.

    rejections: the kinds that occurred, each with the place of its filter; none: there are no Pods.
    """
    here = [(place, kind) for place, kind in rejections if not kind[1]] or rejections
    if not here:
        return WaitingMessage(NO_RUNTIME_PODS, waiting_text(BASE_COMPLETION, runtime))
    furthest = max(place for place, _ in here)
    plugin = filters[furthest]
    reasons = {kind[0] for place, kind in here if place == furthest}
    reason = next(reason for reason in plugin.reasons if reason in reasons)
    return WaitingMessage(reason, waiting_text(plugin.reasons[reason], runtime), plugin.name, furthest)


def waiting_text(completion: str, runtime: str) -> str:
    """The status message for a reason's `completion` of "waiting for ...", as long as the API lets it be.

    It never names a Pod or a Run, so that it stays the same while nothing changes for the Run.
    """
    return status_message("waiting for " + completion.replace("{runtime}", runtime))
