"""The closed set of what Events are about. `docs/reference/events.md` says the same to operators."""

from __future__ import annotations

from enum import StrEnum

CONTROLLER = "kruntimes.com/scheduler"
"""`reportingController` of every Event."""


class Reason(StrEnum):
    """`reason` of an Event. Names of kube-scheduler and its neighbours, where they have one."""

    FAILED_SCHEDULING = "FailedScheduling"
    """The Run has waited for a Pod for long."""
    NEVER_FITS = "NeverFits"
    """The same, and no Pod of its Runtime advertises the room that it asks for."""
    PLUGIN_ERROR = "PluginError"
    """A plugin has failed for the Run for long."""
    FAILED_UPDATE_STATUS = "FailedUpdateStatus"
    """What was decided for the Run could not be written for long."""
    INVALID_RUN = "InvalidRun"
    """The Run was ended as Failed."""
    RUNTIME_POD_OVERSOLD = "RuntimePodOversold"
    """A Pod was seen to hold more than it has."""
    SCHEDULED = "Scheduled"
    """The Run was bound; only where that is asked for."""

    @property
    def type(self) -> str:
        """`type` of the Event."""
        return "Normal" if self is Reason.SCHEDULED else "Warning"

    @property
    def action(self) -> str:
        """`action` of the Event: what was done, or tried."""
        return _ACTIONS.get(self, "Scheduling")


_ACTIONS = {
    Reason.FAILED_UPDATE_STATUS: "UpdatingStatus",
    Reason.RUNTIME_POD_OVERSOLD: "Watching",
    Reason.SCHEDULED: "Binding",
}


class EventOutcome(StrEnum):
    """What became of an Event."""

    CREATED = "created"
    UPDATED = "updated"
    """It stands already; its series was counted on."""
    REFUSED = "refused"
    """The API server does not want it."""
    FAILED = "failed"
    """No answer, or one that says to try later."""
    DROPPED = "dropped"
    """It was not sent: too many wait, it was tried too often, or this host no longer decides."""
