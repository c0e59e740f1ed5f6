"""How many answers are kept: those of the states that were used last."""

from __future__ import annotations

from kruntimes_core.framework.profile import Profile
from kruntimes_core.framework.runtime import Prepared
from kruntimes_core.framework.runtime.columns import Columns, Effort
from kruntimes_core.framework.runtime.combinations import Combinations
from kruntimes_core.framework.runtime.pool import Pool
from kruntimes_core.framework.runtime.preparing import PreFilters
from kruntimes_core.framework.runtime.verdicts import Verdicts, checked
from kruntimes_core.testing import make_run, make_snapshot
from kruntimes_core.testing.plugins import fake_plugin


def test_states_of_runtimes_without_pods_are_forgotten_in_time() -> None:
    plugin = fake_plugin(filter=lambda pod, state: None, prefilter=lambda request: request)
    columns = Columns(plugin, "filter", 0, Verdicts, checked, Effort(), kept=1_000)
    prefilters = PreFilters(Profile(plugins=(plugin,)))
    combinations = Combinations((columns,), ())
    nothing, pool = make_snapshot(), Pool()
    for number in range(40_000):
        run = make_run(request={"size": number + 1})
        prepared = prefilters.prepare(run, nothing)
        assert isinstance(prepared, Prepared)
        combinations.of(pool, prepared, run)
    assert len(columns) <= 32_768
