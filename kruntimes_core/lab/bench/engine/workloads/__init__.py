"""The workloads: what is done again and again while the clock runs."""

from kruntimes_core.lab.bench.engine.workloads.catalogue import WORKLOADS, workload_names
from kruntimes_core.lab.bench.engine.workloads.workload import Timed, Workload

__all__ = ["WORKLOADS", "Timed", "Workload", "workload_names"]
