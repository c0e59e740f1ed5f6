"""What each plugin's hooks cost: clocks around every call, in a pass of its own that times nothing else.

They are wall clocks: a look at the processor's takes longer than most calls do. What others did meanwhile is
known of the pass alone, and told with it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import wraps
from statistics import median
from typing import Any, NamedTuple

from kruntimes_core.framework.profile import ActivePlugin, Hook, wrap_hooks
from kruntimes_core.lab.bench.engine.driver import EngineSetup, ReadNanoseconds
from kruntimes_core.lab.bench.engine.shape import Shape
from kruntimes_core.lab.bench.engine.workloads import Timed
from kruntimes_core.lab.bench.figures import MICROSECONDS, NANOSECONDS

_CALIBRATIONS = 1_000


class HookName(NamedTuple):
    """A hook of a plugin."""

    plugin: str
    hook: str


@dataclass(slots=True)
class _Total:
    calls: int = 0
    nanoseconds: int = 0


NO_HOOKS: Mapping[str, Any] = {"units": None, "placed": None, "waited": None, "hooks": ()}
"""Of a workload of which no hook is timed."""


class HookClocks:
    """Clocks around hooks. Reading a clock costs something itself, which is taken off again."""

    def __init__(self, clock: ReadNanoseconds) -> None:
        self._clock = clock
        self._totals: dict[HookName, _Total] = {}
        self._overhead = self._calibrated()

    def around(self, plugin: ActivePlugin, name: str, hook: Hook) -> Callable[..., Any]:
        """The hook's function with clocks around it; see `wrap_hooks`."""
        total = self._totals.setdefault(HookName(plugin.name, name), _Total())
        return self._timed(hook.function, total)

    def reset(self) -> None:
        """Forget what was counted so far."""
        for total in self._totals.values():
            total.calls = total.nanoseconds = 0

    def costs(self, units: int) -> list[dict[str, Any]]:
        """What each hook costs, shared among so many placements, heartbeats and so on."""
        return [self._cost(name, total, units) for name, total in self._totals.items()]

    def _cost(self, name: HookName, total: _Total, units: int) -> dict[str, Any]:
        net = max(total.nanoseconds - total.calls * self._overhead, 0.0)
        return {
            **name._asdict(),
            "calls": total.calls / units,
            "microseconds": net / NANOSECONDS[MICROSECONDS] / units,
            "nanosecondsACall": round(net / total.calls, 1) if total.calls else 0.0,
        }

    def _timed(self, function: Callable[..., Any], total: _Total) -> Callable[..., Any]:
        clock = self._clock

        # As `wraps` says: a look for the plugin in the stack finds it.
        @wraps(function)
        def timed(*arguments: Any) -> Any:
            begun = clock()
            try:
                return function(*arguments)
            finally:
                total.nanoseconds += clock() - begun
                total.calls += 1

        return timed

    def _calibrated(self) -> float:
        """What the clocks see of a function that does nothing, in nanoseconds."""
        seen = []
        for _ in range(_CALIBRATIONS):
            total = _Total()
            self._timed(lambda *_: None, total)(None, None)
            seen.append(total.nanoseconds)
        return median(seen)


def hook_pass(workload: Timed, shape: Shape, setup: EngineSetup) -> Mapping[str, Any]:
    """Repeat a workload once more to see what its hooks cost, as the report has it.

    waited: the share of its time in which others had the processor; hooks look dearer by so much.
    """
    clocks = HookClocks(setup.fine_clock)
    observed = replace(setup, profiles=wrap_hooks(setup.profiles, clocks.around))
    begun: list[tuple[int, int]] = []

    def begin() -> None:
        clocks.reset()
        begun.append((setup.clock(), setup.fine_clock()))

    (done,) = workload.repeats(shape, observed, 1, begin=begin)
    processor, wall = setup.clock() - begun[0][0], setup.fine_clock() - begun[0][1]
    waited = max(1 - processor / wall, 0.0) if wall else 0.0
    hooks = clocks.costs(done.units)
    return {"units": done.units, "placed": done.placed, "waited": waited, "hooks": hooks}
