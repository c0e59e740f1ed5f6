"""Which decision counts for a Run when the running scheduler's is seen."""

from __future__ import annotations

from kruntimes_core.cluster.dry_run.comparer import current_decision
from kruntimes_core.cluster.dry_run.held_decisions import HeldDecision
from kruntimes_core.engine.api_calls import Write
from kruntimes_core.framework.configuration import Profiles
from kruntimes_core.testing.builders import NAMESPACE
from kruntimes_core.testing.harness import Host, refuse


def test_a_placement_counts_only_while_it_is_held(profiles: Profiles) -> None:
    host = Host(profiles)
    host.pod("py-0")
    host.disturb("r", refuse(422))
    host.run("r")
    host.settle()
    entry = host.engine.find(NAMESPACE, "r")
    (write,) = (request for request in host.requests if isinstance(request, Write))
    assert entry is not None
    assert current_decision(entry, HeldDecision(write, 0)) is entry.decision
    # It waits for its backoff: what it will be placed on by then is not decided yet.
    assert current_decision(entry, None) is None
