"""All workloads, in the order in which they are measured and shown."""

from __future__ import annotations

from kruntimes_core.lab.bench.engine.figures import MILLISECONDS
from kruntimes_core.lab.bench.engine.workloads import placing
from kruntimes_core.lab.bench.engine.workloads.heartbeats import heartbeats
from kruntimes_core.lab.bench.engine.workloads.memory import Memory
from kruntimes_core.lab.bench.engine.workloads.pauses import Pauses
from kruntimes_core.lab.bench.engine.workloads.restart import nothing_listed, restart
from kruntimes_core.lab.bench.engine.workloads.waiting import freed_slot, full
from kruntimes_core.lab.bench.engine.workloads.workload import Timed, Workload

WORKLOADS: tuple[Workload, ...] = (
    Timed(
        name="placements",
        each="placement",
        repeat=placing.one_by_one(placing.plain),
        grows_with=("pods", "known", "waiting", "requests", "namespaces", "runtimes"),
    ),
    Timed(name="burst", each="placement", repeat=placing.burst, grows_with=("runs", "pods", "waiting")),
    Timed(
        name="affinity",
        each="placement",
        repeat=placing.one_by_one(placing.tied),
        prepare=placing.with_cohorts,
        grows_with=("pods", "known", "cohorts"),
    ),
    Timed(
        name="preferences",
        each="placement",
        repeat=placing.one_by_one(placing.choosy),
        grows_with=("pods", "preferences"),
    ),
    Timed(
        name="new-states",
        each="placement",
        repeat=placing.one_by_one(placing.new),
        grows_with=("pods", "known"),
    ),
    Timed(
        name="freed-slot",
        each="freed slot",
        repeat=freed_slot,
        prepare=full,
        grows_with=("pods", "known", "waiting", "requests"),
    ),
    Timed(
        name="heartbeats",
        each="heartbeat",
        repeat=heartbeats,
        grows_with=("pods", "known", "waiting"),
        places=False,
    ),
    Timed(
        name="restart",
        each="start",
        repeat=restart,
        prepare=nothing_listed,
        grows_with=("pods", "known", "waiting"),
        unit=MILLISECONDS,
        places=False,
    ),
    Pauses(),
    Memory(),
)


def workload_names() -> tuple[str, ...]:
    """What users may ask for."""
    return tuple(workload.name for workload in WORKLOADS)
