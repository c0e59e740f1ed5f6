from datetime import timedelta

from kruntimes_core.engine.clock import SECOND, Now
from kruntimes_core.lab.offline_plan.planner import freshness
from kruntimes_core.model.decode import Decoder
from kruntimes_core.testing import pod_object
from kruntimes_core.testing.builders import NOW


def test_pods_are_stale_as_for_the_engine_and_only_ready_ones_count() -> None:
    ages = {"exactly": 15.0, "over": 15.001, "old": 3_600.0, "of-the-future": -60.0}
    objects = [pod_object(name, probed_at=NOW - timedelta(seconds=age)) for name, age in ages.items()]
    old = NOW - timedelta(hours=1)
    objects.append(pod_object("gone", probed_at=old, phase="Failed"))
    decoder = Decoder()
    seen = [observation for content in objects if (observation := decoder.pod(content)) is not None]
    found = freshness(seen, Now(NOW, 0), 15 * SECOND)
    assert (found.ready, found.stale, found.at, found.limit_seconds) == (4, 2, NOW, 15.0)
