"""OneAtATime: a Run goes only to an idle Runtime Pod."""

from kruntimes_core import Reject, RuntimePod, hookimpl

reasons = {"PodBusy": 'an idle runtime pod for runtime "{runtime}"'}


@hookimpl
def filter(pod: RuntimePod) -> Reject | None:
    return Reject("PodBusy") if pod.usage else None
