"""Each hook's calls and time are its own, less what the clocks cost."""

from __future__ import annotations

import pytest

from kruntimes_core.framework.profile import wrap_hooks
from kruntimes_core.lab.bench.engine.hook_costs import HookClocks
from kruntimes_core.testing.plugins import fake_plugin, profiles_of


class SlowClock:
    """A clock that takes time itself when it is read."""

    def __init__(self) -> None:
        self.now = 0

    def __call__(self) -> int:
        self.now += 7
        return self.now


def test_calls_and_times_are_those_of_each_hook() -> None:
    clock = SlowClock()

    def spend(nanoseconds: int) -> None:
        clock.now += nanoseconds

    plugin = fake_plugin("Slow", filter=lambda pod: spend(1_000), score=lambda pod: spend(40))
    clocks = HookClocks(clock)
    (profile,) = wrap_hooks(profiles_of(plugin), clocks.around).all
    hooks = profile.plugins[0].hooks
    for _ in range(10):
        hooks["filter"].function(None)
    hooks["score"].function(None)
    costs = {cost["hook"]: cost for cost in clocks.costs(units=5)}
    assert costs["filter"]["calls"] == 2
    assert costs["filter"]["microseconds"] == pytest.approx(2.0)
    assert costs["filter"]["nanosecondsACall"] == pytest.approx(1_000)
    assert costs["score"]["nanosecondsACall"] == pytest.approx(40)


def test_a_call_that_raises_is_counted_and_raises() -> None:
    def fail(pod: object) -> None:
        raise LookupError("no")

    clocks = HookClocks(SlowClock())
    (profile,) = wrap_hooks(profiles_of(fake_plugin(filter=fail)), clocks.around).all
    with pytest.raises(LookupError):
        profile.plugins[0].hooks["filter"].function(None)
    (cost,) = clocks.costs(units=1)
    assert cost["calls"] == 1


def test_what_was_before_the_reset_does_not_count() -> None:
    clocks = HookClocks(SlowClock())
    (profile,) = wrap_hooks(profiles_of(fake_plugin(filter=lambda pod: None)), clocks.around).all
    profile.plugins[0].hooks["filter"].function(None)
    clocks.reset()
    (cost,) = clocks.costs(units=1)
    assert (cost["calls"], cost["microseconds"], cost["nanosecondsACall"]) == (0, 0, 0)


def test_hooks_keep_their_names_and_arguments() -> None:
    plugin = fake_plugin(filter=lambda pod, state: None, prefilter=lambda request: request)
    (profile,) = wrap_hooks(profiles_of(plugin), HookClocks(SlowClock()).around).all
    wrapping = profile.plugins[0]
    assert (wrapping.name, wrapping.origin) == (plugin.name, plugin.origin)
    assert {name: hook.names for name, hook in wrapping.hooks.items()} == {
        "filter": ("pod", "state"),
        "prefilter": ("request",),
    }
