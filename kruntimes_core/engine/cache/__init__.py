"""The scheduler's cache of the cluster: Pods with what they carry, workspaces, targets, snapshots."""

from kruntimes_core.engine.cache.allocations import Allocation, PodAllocations, RunKey
from kruntimes_core.engine.cache.cache import Cache
from kruntimes_core.engine.cache.heartbeats import next_heartbeat
from kruntimes_core.engine.cache.namespaces import CacheEventHandler
from kruntimes_core.engine.cache.pods import PodCache, PodKey, carrying

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
