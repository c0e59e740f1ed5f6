"""The record of a Go elector is honoured and taken over on a real API server, and Go reads ours."""

from __future__ import annotations

import re
import subprocess
import time
from datetime import UTC, datetime
from typing import Any

import pytest

from realcluster.client import Client, Object
from realcluster.electing import SHORT, SLACK_SECONDS, Join, LeaseLog
from realcluster.leases import LEASE, LEASES, seconds_between
from realcluster.scheduler import Scheduler
from realcluster.servers import Cluster
from realcluster.traffic import Traffic

GO = "kruntimes-scheduler-5d9c7b6f4-x2k8p_0f8c2f7e-1b2c-4d3e-8f90-a1b2c3d4e5f6"
LEASE_SECONDS = 3
MICRO_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")
"""What metav1.MicroTime writes and reads: no other number of digits, and UTC."""


def micro_time_now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


class GoElector:
    """Writes the Lease as client-go's resource lock does."""

    def __init__(self, client: Client, namespace: str) -> None:
        self._client = client
        self._namespace = namespace
        now = micro_time_now()
        self._spec = {
            "holderIdentity": GO,
            "leaseDurationSeconds": LEASE_SECONDS,
            "acquireTime": now,
            "renewTime": now,
            "leaseTransitions": 6,
        }
        head = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": LEASE}}
        answer = client.create(LEASES, {**head, "spec": self._spec}, namespace)
        assert answer.status == 201, answer

    def renew(self) -> None:
        self._write({**self._spec, "renewTime": micro_time_now()})

    def release(self) -> None:
        now = micro_time_now()
        released = {"holderIdentity": "", "leaseDurationSeconds": 1, "renewTime": now, "acquireTime": now}
        self._write({**released, "leaseTransitions": self._spec["leaseTransitions"]})

    def _write(self, spec: Object) -> None:
        lease = self._client.get(LEASES, LEASE, self._namespace).body
        answer = self._client.replace(LEASES, {**lease, "spec": spec}, self._namespace)
        assert answer.status == 200, answer


@pytest.fixture
def go(cluster: Cluster, namespace: str) -> GoElector:
    """One that leads."""
    return GoElector(cluster.client(), namespace)


def read_by(host: Scheduler) -> None:
    """Wait until a standby has read the Lease once more."""
    reads = host.metric("lease_requests_total", verb="get", outcome="done")
    host.wait_until(lambda: host.metric("lease_requests_total", verb="get", outcome="done") > reads)


def test_a_go_elector_is_waited_for_until_its_record_stood_still(
    go: GoElector, lease_log: LeaseLog, join: Join, traffic: Traffic
) -> None:
    host = join(beside=True)
    assert f"[+]lease ok: standby; held by '{GO}'" in host.get("debug", "/checks")[1]
    began = time.monotonic()
    while time.monotonic() < began + 1.5 * LEASE_SECONDS:
        go.renew()
        read_by(host)
    assert host.metric("leading") == 0
    assert lease_log.transitions == 6
    taken = lease_log.wait(lambda record: record.holder != GO)
    waited = seconds_between(lease_log.before(taken), taken)
    assert LEASE_SECONDS <= waited <= LEASE_SECONDS + 2 + SLACK_SECONDS
    assert taken.spec["leaseTransitions"] == 7
    assert taken.spec["acquireTime"] == taken.spec["renewTime"]
    traffic.passes(4)


def test_a_lease_that_a_go_elector_released_is_taken_at_once(
    go: GoElector, lease_log: LeaseLog, join: Join
) -> None:
    host = join(beside=True)
    read_by(host)
    go.release()
    host.says("deciding")
    taken = lease_log.last
    released = next(record for record in lease_log.records if record.holder == "")
    assert seconds_between(released, taken) <= 1 + SLACK_SECONDS
    assert (taken.spec["leaseTransitions"], taken.spec["leaseDurationSeconds"]) == (7, SHORT.lease)


def of_go(client: Client) -> Object:
    """The record of a Lease that a Go program keeps: the API server's own."""
    items = client.list(LEASES, "kube-system").body["items"]
    return next(one["spec"] for one in items if one["metadata"]["name"].startswith("apiserver-"))


def forms(spec: Object) -> dict[str, Any]:
    """The kind of each value: a time, another text, a whole number."""
    return {key: "time" if MICRO_TIME.fullmatch(str(value)) else type(value) for key, value in spec.items()}


def test_go_programs_and_people_read_our_record(
    cluster: Cluster, namespace: str, join: Join, kubectl: str
) -> None:
    host = join()
    identity = host.says("leading")["identity"]
    client = cluster.client()
    lease = client.get(LEASES, LEASE, namespace).body
    theirs = of_go(client)
    assert {key: form for key, form in forms(lease["spec"]).items() if key in theirs} == forms(theirs)
    assert forms(lease["spec"]) == {
        "holderIdentity": str,
        "leaseDurationSeconds": int,
        "acquireTime": "time",
        "renewTime": "time",
        "leaseTransitions": int,
    }
    copy = {**lease, "metadata": {"name": "copy"}}
    strict = {"fieldValidation": "Strict", "dryRun": "All"}
    assert client.request("POST", LEASES.path(namespace), copy, query=strict).status == 201
    command = [
        kubectl,
        f"--kubeconfig={cluster.kubeconfig}",
        f"--namespace={namespace}",
        "get",
        "lease",
        LEASE,
    ]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    assert [line.split()[:2] for line in shown] == [["NAME", "HOLDER"], [LEASE, identity]]
    assert re.fullmatch(r"[^_]+_[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}", identity)
