"""What a plugin may return beside a value, what a waiting Run shows, and the error of a broken plugin."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from kruntimes_core.model.status_patches import status_message

BASE_COMPLETION = 'available runtime pods for runtime "{runtime}"'
"""The API contract's base text of a waiting Run; also what RuntimePodAvailability says."""


@dataclass(frozen=True, slots=True)
class Reject:
    """A plugin rejects one Pod; it is not broken.

    reason: a CamelCase name out of the plugin's own `reasons`.
    detail: free text for the decision record only; never in a status or a metric.
    retry_at: an aware time at which the Pod may become feasible, besides any change.
    pinned_elsewhere: the Run is tied to another Pod than this one, so this rejection explains little.
    """

    reason: str
    detail: str | None = None
    retry_at: datetime | None = None
    pinned_elsewhere: bool = False


class InvalidRun(Exception):  # noqa: N818 - the public name that the specification's authors chose
    """Raised by `prefilter` for a Run that can never be scheduled: the Run ends as Failed.

    reason: a CamelCase name, at most 1,024 characters: the reason of the Run's conditions.
    message: what is wrong and what to do about it, for the owner of the Run.
    """

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(reason, message)
        self.reason = reason
        self.message = message


def waiting_text(completion: str, runtime: str) -> str:
    """The status message for a reason's `completion` of "waiting for ...", as long as the API lets it be.

    It never names a Pod or a Run, so that it stays the same while nothing changes for the Run.
    """
    return status_message("waiting for " + completion.replace("{runtime}", runtime))


class InterruptedCallError(BaseException):
    """Raised inside a call that took too long. No `Exception`: no plugin is to swallow it."""

    def __str__(self) -> str:
        return "interrupted: it took longer than the time limit"


class PluginError(Exception):
    """A plugin is broken: it raised, or returned what its hook may not. Never read as a rejection."""

    def __init__(self, plugin: str, origin: str, hook: str, problem: str, overtime: bool = False) -> None:
        """plugin: its name; origin: distribution and version; hook: where; problem: one line.

        overtime: whether it was interrupted; calls before it may have used the time up.
        """
        super().__init__(f"plugin {plugin} ({origin}) failed in {hook}: {problem}")
        self.plugin = plugin
        self.origin = origin
        self.hook = hook
        self.problem = problem
        self.overtime = overtime
