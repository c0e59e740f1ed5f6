"""Answers that are kept decide as answers that are asked for each time."""

from __future__ import annotations

from hypothesis import given, settings

from kruntimes_core.framework.configuration import Profiles
from kruntimes_core.testing.harness import Host
from tests.engine.properties.history import History, placements
from tests.engine.properties.steps import Step, histories


@settings(max_examples=60)
@given(histories())
def test_decisions_with_reuse_equal_those_without(profiles: Profiles, history: list[Step]) -> None:
    reusing, asking = (History(Host(profiles, reuse=reuse)) for reuse in (True, False))
    for step in history:
        for one in (reusing, asking):
            one.play(step)
            one.host.settle()
        assert placements(reusing.host) == placements(asking.host)
        tallies = [one.host.engine.counters.filter_rejections for one in (reusing, asking)]
        assert tallies[0] == tallies[1]
    texts = [[write.body["status"] for write in one.host.server.accepted] for one in (reusing, asking)]
    assert texts[0] == texts[1]
