"""The scheduler's cache of the cluster: Pods with what they carry, workspaces, targets, snapshots."""

from kruntimes_core.engine.cache.cache import Cache, CacheEventHandler
from kruntimes_core.engine.cache.heartbeats import next_heartbeat
from kruntimes_core.engine.cache.pods import Allocation, PodAllocations, PodCache, PodKey, RunKey, carrying

__all__ = [
    "Allocation",
    "Cache",
    "CacheEventHandler",
    "PodAllocations",
    "PodCache",
    "PodKey",
    "RunKey",
    "carrying",
    "next_heartbeat",
]
