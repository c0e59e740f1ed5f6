"""The example of priority and fairness gives the scheduler seats of its own, and its Lease a leader's."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from realcluster.access import RULES, ServiceAccount
from realcluster.client import Client, Object, Resource
from realcluster.fixtures import ServiceAccounts
from realcluster.hosts import Start
from realcluster.servers import Cluster
from realcluster.workload import Workload, placed

EXAMPLE = Path(__file__).parents[2] / "deploy" / "examples" / "priority-and-fairness.yaml"
GROUP = "flowcontrol.apiserver.k8s.io"
PLURALS = {"PriorityLevelConfiguration": "prioritylevelconfigurations", "FlowSchema": "flowschemas"}
LEASES = Resource("coordination.k8s.io", "v1", "leases")
SECONDS = 30
DISPATCHED = re.compile(
    r'^apiserver_flowcontrol_dispatched_requests_total\{flow_schema="(.*?)",priority_level="(.*?)"\} (\S+)$',
    re.MULTILINE,
)


@pytest.fixture
def account(service_account: ServiceAccounts) -> ServiceAccount:
    return service_account(RULES)


@pytest.fixture
def applied(cluster: Cluster, account: ServiceAccount) -> Iterator[None]:
    """The objects of the example, for the test's account, are in force."""
    text = EXAMPLE.read_text().replace(
        "{namespace: kruntimes-system, name: kruntimes-scheduler}",
        f"{{namespace: {account.namespace}, name: {account.name}}}",
    )
    assert text.count(account.name) == 2
    client, objects = cluster.client(), list(yaml.safe_load_all(text))
    for obj in objects:
        path = Resource(GROUP, "v1", PLURALS[obj["kind"]]).path(None)
        answer = client.request("POST", path, obj, query={"fieldValidation": "Strict"})
        assert answer.status == 201, answer
    schemas = [obj for obj in objects if obj["kind"] == "FlowSchema"]
    cluster.server.wait_until(
        lambda: all(in_force(client, schema) for schema in schemas), SECONDS, "flow schemas in force"
    )
    yield
    for obj in reversed(objects):
        client.delete(Resource(GROUP, "v1", PLURALS[obj["kind"]]), obj["metadata"]["name"])


def in_force(client: Client, schema: Object) -> bool:
    """Whether the server knows where the requests of a schema go."""
    found = client.get(Resource(GROUP, "v1", "flowschemas"), schema["metadata"]["name"]).body
    conditions = {one["type"]: one["status"] for one in found.get("status", {}).get("conditions", ())}
    return conditions.get("Dangling") == "False"


def dispatched(client: Client) -> dict[tuple[str, str], float]:
    """How many requests were served, by schema and priority level."""
    text = client.request("GET", "/metrics").body
    return {(schema, level): float(count) for schema, level, count in DISPATCHED.findall(text)}


@pytest.mark.usefixtures("applied")
def test_the_scheduler_has_seats_of_its_own(
    cluster: Cluster, account: ServiceAccount, work: Workload, start: Start
) -> None:
    client = cluster.client()
    before = dispatched(client)
    start(token=account.token)
    work.pod("py-0")
    work.run("r-0")
    work.wait_for("r-0", placed)
    cluster.client(account.token).get(LEASES, "any", account.namespace)
    after = dispatched(client)
    own, lease = ("kruntimes-scheduler",) * 2, ("kruntimes-scheduler-leases", "leader-election")
    # Three lists, and the bind; a watch counts when it begins.
    assert after[own] - before.get(own, 0) >= 4
    assert after[lease] - before.get(lease, 0) == 1
    others = ("service-accounts", "workload-low")
    assert after.get(others, 0) == before.get(others, 0)
