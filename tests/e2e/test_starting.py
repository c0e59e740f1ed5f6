"""How the scheduler starts and stops on a real API server, and what it says when a right is missing."""

from __future__ import annotations

import json
import re
import signal
import socket
from collections.abc import Callable
from pathlib import Path

import certifi
import pytest

from kruntimes_core.testing.objects import affinity_object, term_object
from realcluster.access import RULES, Rule
from realcluster.fixtures import ServiceAccounts
from realcluster.hosts import Start
from realcluster.scheduler import COMMAND, STEADY, Scheduler, running_scheduler
from realcluster.servers import Cluster
from realcluster.workload import Workload, placed

Starting = Callable[..., str]
FREE = ("--metrics-bind-address=0", "--health-probe-bind-address=0")


@pytest.fixture
def refusal() -> Starting:
    """The one line with which a scheduler ends that cannot start."""

    def start(*arguments: str) -> str:
        scheduler = Scheduler(arguments)
        assert scheduler.wait() == 2
        (line,) = (one["message"] for one in scheduler.all_lines() if one["message"].startswith("error: "))
        return str(line)

    return start


def test_an_authority_that_did_not_sign_is_named(cluster: Cluster, tmp_path: Path, refusal: Starting) -> None:
    path = cluster.kubeconfig_of(cluster.token, tmp_path)
    path.write_text(path.read_text().replace(str(cluster.ca_file), certifi.where()))
    line = refusal(f"--kubeconfig={path}", *FREE)
    assert "its certificate is not trusted" in line
    assert "name the right certificate authority" in line


def test_credentials_that_are_not_known_are_named(
    cluster: Cluster, tmp_path: Path, refusal: Starting
) -> None:
    path = cluster.kubeconfig_of("nonsense", tmp_path)
    assert "does not accept the credentials" in refusal(f"--kubeconfig={path}", *FREE)


def test_a_port_in_use_is_named(cluster: Cluster, tmp_path: Path, refusal: Starting) -> None:
    path = cluster.kubeconfig_of(cluster.token, tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        line = refusal(
            f"--kubeconfig={path}", "--metrics-bind-address=0", f"--health-probe-bind-address={address}"
        )
    assert f"cannot listen on {address}: the port is in use" in line


@pytest.mark.parametrize(
    ("resource", "verb", "named"),
    [
        ("pods", "watch", "cannot watch pods in"),
        ("pods", "list", "cannot list pods in"),
        ("persistentworkspaces", "list", "cannot list persistentworkspaces.kruntimes.io in"),
        ("runs", "watch", "cannot watch runs.kruntimes.io in"),
    ],
)
def test_a_missing_right_is_named_and_keeps_it_from_deciding(
    cluster: Cluster,
    namespace: str,
    work: Workload,
    service_account: ServiceAccounts,
    tmp_path: Path,
    resource: str,
    verb: str,
    named: str,
) -> None:
    work.pod("py-0")
    work.run("r1")
    token = service_account([_without(rule, resource, verb) for rule in RULES]).token
    with running_scheduler(cluster, token, tmp_path, f"--namespaces={namespace}") as scheduler:
        scheduler.says_like(f"{named}.*forbidden")
        status, why = scheduler.get("probes", "/readyz")
        assert status == 503
        assert re.search(f"{named.removesuffix(' in')}: forbidden", why)
        assert f"{named} {namespace}: forbidden" in scheduler.get("debug", "/checks")[1]
        assert scheduler.get("probes", "/healthz")[0] == 200
        assert work.phases() == {"r1": ""}
        assert scheduler.stop() == 0


def _without(rule: Rule, resource: str, verb: str) -> Rule:
    verbs = [one for one in rule["verbs"] if resource not in rule["resources"] or one != verb]
    return {**rule, "verbs": verbs}


def test_all_namespaces_are_followed_with_rights_everywhere(
    cluster: Cluster, work: Workload, service_account: ServiceAccounts, tmp_path: Path
) -> None:
    token = service_account(RULES, cluster_wide=True).token
    with running_scheduler(cluster, token, tmp_path, "--v=1") as scheduler:
        scheduler.says("deciding")
        work.pod("py-0", runs=1)
        work.workspace("ws", "py-0")
        work.run("tied", workspace={"name": "ws"})
        work.run("loose")
        done = work.wait(lambda now: placed(now["tied"]) and bool(now["loose"].get("message")))
        assert done["tied"]["assignedPod"] == "py-0"
        decided = scheduler.says("decided")
        assert json.dumps(decided).count("\n") == 0
        assert scheduler.stop() == 0


def test_sighup_lets_it_decide_by_its_configuration_as_it_is_now(
    work: Workload, start: Start, tmp_path: Path
) -> None:
    work.pod("py-0", runs=1)
    work.run("r", affinity=affinity_object(required=[term_object({"app": "nobody"})]))
    # In a session of its own: with a terminal, SIGHUP means that this is gone.
    scheduler = start(program=("setsid", COMMAND))
    work.wait_for("r", lambda status: "message" in status)
    (tmp_path / "scheduler.yaml").write_text(f"{STEADY}plugins: {{disabled: [RunAffinity]}}")
    scheduler.send(signal.SIGHUP)
    scheduler.says("the configuration was reloaded")
    work.wait_for("r", placed)
    assert scheduler.metric("pending_run_wakeups_total", source="reload") == 1
    assert scheduler.stop() == 0
