"""A whole scheduler in virtual time: the engine, and an API server that says what a test wants.

    host = Host(installed_profiles())
    host.pod("py-0", runs=4)
    host.run("r1")
    host.settle()
    assert host.pod_of("r1") == "py-0"

One thread, no sleep, no randomness. The server refuses nothing that a real one takes, but raises
`BrokenPromiseError` when a bind breaks what no history may break.
"""

from kruntimes_core.testing.harness.host import (
    Host,
    WriteFault,
    answer_late,
    apply,
    arrive_late,
    hold_answer,
    hold_request,
    land_late,
    lose_answer,
    lose_request,
    refuse,
)
from kruntimes_core.testing.harness.invariants import BrokenPromiseError, Invariants
from kruntimes_core.testing.harness.object_tracker import PODS, RUNS, WORKSPACES, ObjectTracker

__all__ = [
    "PODS",
    "RUNS",
    "WORKSPACES",
    "ObjectTracker",
    "BrokenPromiseError",
    "WriteFault",
    "Host",
    "Invariants",
    "answer_late",
    "apply",
    "arrive_late",
    "hold_answer",
    "hold_request",
    "land_late",
    "lose_answer",
    "lose_request",
    "refuse",
]
