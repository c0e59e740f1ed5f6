"""RuntimePodAvailability: a Run goes only to a Pod that is available and has room for all of it.

The rule is the API contract's "Runtime Pod" and "Resources": the Pod runs, is ready, its runtimed
has a fresh heartbeat, and usage + request <= capacity for every requested resource, exactly.
"""

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from types import MappingProxyType
from typing import ClassVar

from kruntimes_core import Reject, Request, RuntimePod, Unavailability, hookimpl

# The contract's base text: to the owner of a Run it makes no difference what a Pod lacks. The
# record and the metrics tell the reasons apart.
_TEXT = 'available runtime pods for runtime "{runtime}"'
INSUFFICIENT_CAPACITY = "InsufficientCapacity"

_UNAVAILABLE = MappingProxyType({why: Reject(why.value) for why in Unavailability})


def fit(pod: RuntimePod, request: Request) -> Reject | None:
    """Why `request` finds no room on `pod`, or None. Exact; the first resource that lacks room tells."""
    usage, capacity = pod.usage, pod.capacity
    for resource, asked in request.items():
        used, limit = usage.get(resource, 0), capacity.get(resource)
        if limit is None or used + asked > limit:
            return _insufficient(resource, used, asked, limit)
    return None


@lru_cache(maxsize=1024)
def _insufficient(resource: str, used: int, asked: int, limit: int | Fraction | None) -> Reject:
    """The rejection with its figures. Remembered: a Runtime's Pods are alike, texts cost time."""
    if limit is None:
        return Reject(INSUFFICIENT_CAPACITY, f"{resource} is not advertised")
    return Reject(INSUFFICIENT_CAPACITY, f"{resource}: {used} in use + {asked} requested > {limit}")


class RuntimePodAvailability:
    """The filter that knows capacity; a host without one refuses to schedule."""

    host_api: ClassVar[str] = ">=1,<2"
    provides: ClassVar[frozenset[str]] = frozenset({"capacity"})
    # The first of these that rejected a Pod becomes the Run's reason, so the last to be checked comes
    # first: a Pod that lacks only room explains more than one that is being deleted.
    reasons: ClassVar[Mapping[str, str]] = MappingProxyType(
        {INSUFFICIENT_CAPACITY: _TEXT, **{why.value: _TEXT for why in reversed(Unavailability)}}
    )

    @hookimpl
    def prefilter(self, request: Request) -> Request:
        """The request itself is the state: Runs that ask for the same share all answers."""
        return request

    @hookimpl
    def filter(self, pod: RuntimePod, state: Request) -> Reject | None:
        """None for an available Pod with room; else what is amiss, availability first."""
        if pod.unavailable is not None:
            return _UNAVAILABLE[pod.unavailable]
        return fit(pod, state)
