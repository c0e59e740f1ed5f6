"""What the options of `kruntimes dev` mean for the cluster and for what arrives at it."""

from __future__ import annotations

from collections.abc import Iterable

from kruntimes_core.cli.dev.options import DevOptions
from kruntimes_core.cli.dev.values import DurationRange
from kruntimes_core.lab.dev.cluster import DevSettings
from kruntimes_core.lab.dev.demo import RUNTIMES, demo
from kruntimes_core.lab.dev.workload import Arrival, first_runs, plain
from kruntimes_core.lab.runtimes.behaviour import Behaviour, Span
from kruntimes_core.model.quantity import capacity_amount

_DEFAULT_RUNTIMES = ("py",)
_DURATION, _DEMO_DURATION = DurationRange(2.0, 2.0), DurationRange(3.0, 8.0)
_FAILURES, _DEMO_FAILURES = 0.0, 0.05


def settings_of(options: DevOptions) -> DevSettings:
    """The cluster that was asked for."""
    duration = options.duration or (_DEMO_DURATION if options.demo else _DURATION)
    failures = options.failure_rate
    if failures is None:
        failures = _DEMO_FAILURES if options.demo else _FAILURES
    behaviour = Behaviour(
        run=Span(duration.shortest, duration.longest), failure_rate=failures, seed=options.seed
    )
    return DevSettings(
        runtimes=options.runtimes or (RUNTIMES if options.demo else _DEFAULT_RUNTIMES),
        pods=options.pods,
        capacity=options.capacity,
        behaviour=behaviour,
        port=options.port,
    )


def arrivals_of(options: DevOptions, settings: DevSettings) -> Iterable[Arrival]:
    """What arrives by itself: a demo, a number of Runs, or nothing."""
    if options.demo:
        whole = {resource: int(capacity_amount(text) or 0) for resource, text in settings.capacity.items()}
        arrivals = demo(options.seed, settings.runtimes, settings.pods, whole)
    elif options.runs is not None:
        arrivals = plain(settings.runtimes)
    else:
        return ()
    return arrivals if options.runs is None else first_runs(arrivals, options.runs)
