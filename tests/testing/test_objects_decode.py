"""The two kinds of builders say the same: what `*_object` describes decodes to what `make_*` makes."""

from kruntimes_core.model.decode import Decoder
from kruntimes_core.model.run import Phase
from kruntimes_core.testing import (
    affinity_object,
    make_affinity,
    make_pod,
    make_run,
    make_workspace,
    matching,
    pod_object,
    run_object,
    term_object,
    workspace_object,
)
from kruntimes_core.testing.builders import NOW


def test_runs() -> None:
    term = term_object({"app": "a"})
    observed = Decoder().run(
        run_object(
            "r",
            version="7",
            labels={"app": "a"},
            requests={"gpu": "2"},
            affinity=affinity_object(required=[term], required_anti=[term], preferred=[(3, term)]),
            workspace="ws",
            status={"attempt": 2},
        )
    )
    a = matching(app="a")
    assert observed.invalid is None
    assert (observed.phase, observed.version) == (Phase.PENDING, "7")
    assert observed.run == make_run(
        "r",
        labels={"app": "a"},
        request={"gpu": 2},
        affinity=make_affinity(required=[a], required_anti=[a], preferred=[(3, a)]),
        workspace="ws",
        attempt=2,
    )


def test_active_runs() -> None:
    observed = Decoder().run(run_object(pod="py-0"))
    assert observed.active
    assert (observed.assigned_pod, observed.assigned_pod_uid) == ("py-0", make_pod("py-0").uid)


def test_pods() -> None:
    observed = Decoder().pod(pod_object("py-1", labels={"zone": "z"}, capacity={"runs": "4"}))
    assert observed is not None
    assert observed.probed_at == NOW
    assert observed.pod == make_pod(
        "py-1",
        node="node-1",
        labels={"zone": "z"},
        capacity={"runs": 4},
        annotations={"kruntimes.io/capacity.runs": "4"},
    )


def test_pods_that_are_not_available() -> None:
    for broken in (pod_object(ready=False), pod_object(runtimed_ready=False), pod_object(phase="Failed")):
        observed = Decoder().pod(broken)
        assert observed is not None
        assert not observed.pod.available


def test_workspaces() -> None:
    observed = Decoder().workspace(workspace_object("ws", version="3"))
    assert (observed.workspace, observed.version) == (make_workspace("ws"), "3")
