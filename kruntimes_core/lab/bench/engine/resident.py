"""The process whose memory is measured: it learns of a cluster, decides what waits, and tells its size."""

from __future__ import annotations

import gc
import json
import resource
import sys
from collections.abc import Iterator
from pathlib import Path

from kruntimes_core.cluster.attended_calls import attended
from kruntimes_core.engine.engine import Settings
from kruntimes_core.framework.configuration import build_profiles, configuration_from
from kruntimes_core.framework.plugin_registry import PluginRegistry
from kruntimes_core.lab.bench.engine.cluster import Cluster
from kruntimes_core.lab.bench.engine.shape import Shape
from kruntimes_core.lab.bench.engine.site import Means, Site

_STATM = Path("/proc/self/statm")


def measure(shape: Shape, config: str | None) -> dict[str, int]:
    """Bytes resident at the start, with the Pods listed, and with the Runs too; and how many there are.

    Raises: `InputError` for a configuration that cannot be, or a plugin that hangs.
    """
    configuration = configuration_from(config)
    means = Means(build_profiles(configuration, PluginRegistry()), Settings.of(configuration))
    (measured,) = attended(_measured(shape, means), means.under_way)
    return measured


def _measured(shape: Shape, means: Means) -> Iterator[dict[str, int]]:
    site = Site(Cluster(shape, means.profiles), means)
    start = _resident()
    site.list_pods()
    pods = _resident()
    site.list_runs(follow=False)
    site.lead()
    site.settle()
    yield {
        "start": start,
        "pods": pods,
        "runs": _resident(),
        "podsKnown": site.cluster.pods_in_all,
        "runsKnown": site.engine.sizes["runs"],
    }


def _resident() -> int:
    gc.collect()
    if _STATM.exists():
        return int(_STATM.read_text().split()[1]) * resource.getpagesize()
    # Where that cannot be read, the peak: nothing is given back before the end anyway.
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


if __name__ == "__main__":
    asked = json.loads(sys.argv[1])
    print(json.dumps(measure(Shape(**asked["shape"]), asked["config"])))  # noqa: T201 - its answer
