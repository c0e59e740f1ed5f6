"""How many answers are kept: those of the states that were used last."""

from __future__ import annotations

from kruntimes_core.framework.profile import Profile
from kruntimes_core.framework.runtime import PreFilterState
from kruntimes_core.framework.runtime.filter import FilterAnswers
from kruntimes_core.framework.runtime.pod_set import PodSet
from kruntimes_core.framework.runtime.prefilter import PreFilters
from kruntimes_core.framework.runtime.result_cache import HookCache, PlanInputs, ResultCache
from kruntimes_core.framework.runtime.score import ScoreAnswers
from kruntimes_core.testing import make_run, make_snapshot
from kruntimes_core.testing.plugins import fake_plugin


def test_states_of_runtimes_without_pods_are_forgotten_in_time() -> None:
    plugin = fake_plugin(filter=lambda pod, state: None, prefilter=lambda request: request)
    profile = Profile(plugins=(plugin,))
    answers = HookCache(profile, plugin, "filter", FilterAnswers)
    prefilters = PreFilters(profile)
    cache: ResultCache[FilterAnswers, ScoreAnswers] = ResultCache((answers,), ())
    nothing, pods = make_snapshot(), PodSet()
    for number in range(40_000):
        run = make_run(request={"size": number + 1})
        state = prefilters.run(run, nothing)
        assert isinstance(state, PreFilterState)
        cache.of(PlanInputs(run, nothing, state, pods))
    assert len(answers) <= 32_768
