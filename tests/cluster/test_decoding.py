"""Objects as a real API server hands them out, read by the host."""

from __future__ import annotations

import pytest

from contrast import CREATIONS
from contrast.cases import Create, named, run_spec
from kruntimes_core.model.decode import Decoder
from kruntimes_core.model.workspace import WorkspacePhase
from kruntimes_core.testing.builders import NOW
from kruntimes_core.testing.objects import pod_object, workspace_object
from realcluster.client import PODS, RUNS, WORKSPACES, Client

NEVER_SCHEDULED = {
    "quantity -1": "InvalidResources",
    "quantity '500m'": "InvalidResources",
    "quantity '.5'": "InvalidResources",
    "quantity '1e999999999'": "InvalidResources",
    "quantity '1e1.5'": "InvalidResources",
    "operator that nobody knows": "InvalidAffinity",
    "operator without its values": "InvalidAffinity",
}
"""What the API takes and the scheduler ends as Failed, with the reason."""

# Without a spec there is nothing to schedule, and nothing to read.
TAKEN = [case for case in CREATIONS if case.at is None and case.spec is not None]


@pytest.mark.parametrize("case", TAKEN, ids=[case.title for case in TAKEN])
def test_what_the_api_takes_is_read(server: Client, namespace: str, case: Create) -> None:
    made = server.create(RUNS, case.object, namespace).body
    observation = Decoder().run(server.get(RUNS, made["metadata"]["name"], namespace).body)
    reason = observation.invalid.reason if observation.invalid else None
    assert reason == NEVER_SCHEDULED.get(case.title)
    assert case.spec is not None
    assert (observation.run.namespace, observation.run.runtime) == (namespace, case.spec["runtime"])
    assert observation.version == made["metadata"]["resourceVersion"]


def test_listed_runs_have_no_kind_of_their_own_and_are_read(server: Client, namespace: str) -> None:
    for _ in range(3):
        server.create(RUNS, named(RUNS, run_spec()), namespace)
    items = server.list(RUNS, namespace).body["items"]
    assert len(items) == 3
    assert [Decoder().run(item).invalid for item in items] == [None] * 3


def test_a_runtime_pod_is_read(server: Client, namespace: str) -> None:
    wanted = pod_object(namespace=namespace, capacity={"runs": "4", "memory": "2Gi"})
    del wanted["metadata"]["resourceVersion"], wanted["metadata"]["uid"]
    made = server.create(PODS, wanted, namespace)
    assert made.status == 201, made.body
    answer = server.patch(PODS, "py-0", {"status": wanted["status"]}, namespace, "status")
    observation = Decoder().pod(answer.body)
    assert observation is not None
    assert observation.pod.available
    assert observation.probed_at == NOW
    assert dict(observation.pod.capacity) == {"runs": 4, "memory": 2 * 2**30}
    assert (observation.pod.uid, observation.pod.node) == (made.body["metadata"]["uid"], "node-1")


def test_a_workspace_is_read(server: Client, namespace: str) -> None:
    wanted = workspace_object(namespace=namespace)
    del wanted["metadata"]["resourceVersion"], wanted["metadata"]["uid"]
    assert server.create(WORKSPACES, wanted, namespace).status == 201
    server.patch(WORKSPACES, "ws", {"status": wanted["status"]}, namespace, "status")
    workspace = Decoder().workspace(server.get(WORKSPACES, "ws", namespace).body).workspace
    assert (workspace.phase, workspace.bound_pod, workspace.mode) == (
        WorkspacePhase.BOUND,
        "py-0",
        "RuntimePodLocal",
    )
