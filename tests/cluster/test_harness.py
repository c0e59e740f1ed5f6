"""The harness keeps its promises: rights in force, servers that end with their process, errors that help."""

from __future__ import annotations

import re
import subprocess
import sys
from contextlib import closing
from itertools import islice
from pathlib import Path

import pytest

from contrast.cases import named, run_spec
from realcluster import guard
from realcluster.assets import KUBE_APISERVER, AssetsError, cached, locate, require, version_of
from realcluster.client import PODS, RUNS, Client
from realcluster.fixtures import ServiceAccounts
from realcluster.processes import ServerError, ServerProcess
from realcluster.servers import Cluster

READ_RUNS = {"apiGroups": ["kruntimes.io"], "resources": ["runs"], "verbs": ["get", "list", "watch"]}


def test_a_service_account_may_do_what_its_rules_say_and_there_alone(
    cluster: Cluster, namespace: str, service_account: ServiceAccounts
) -> None:
    client = cluster.client(service_account([READ_RUNS]).token)
    assert client.list(RUNS, namespace).status == 200
    refused = [client.list(RUNS), client.list(RUNS, "default"), client.list(PODS, namespace)]
    assert [answer.status for answer in refused] == [403] * 3
    assert client.create(RUNS, named(RUNS, run_spec()), namespace).status == 403


def test_a_service_account_may_have_rights_everywhere(
    cluster: Cluster, service_account: ServiceAccounts
) -> None:
    client = cluster.client(service_account([READ_RUNS], cluster_wide=True).token)
    assert [client.list(RUNS, place).status for place in (None, "default")] == [200, 200]


def test_a_service_account_without_rules_is_known_and_may_nothing(
    cluster: Cluster, namespace: str, service_account: ServiceAccounts
) -> None:
    client = cluster.client(service_account([]).token)
    assert client.list(RUNS, namespace).status == 403
    assert cluster.client("nonsense").list(RUNS, namespace).status == 401


def test_a_watch_shows_what_happens_after_a_version(server: Client, namespace: str) -> None:
    version = server.list(RUNS, namespace).body["metadata"]["resourceVersion"]
    name = server.create(RUNS, named(RUNS, run_spec()), namespace).body["metadata"]["name"]
    server.delete(RUNS, name, namespace)
    with closing(server.watch(RUNS, namespace, resourceVersion=version)) as watch:
        seen = list(islice(watch, 2))
    assert [(event["type"], event["object"]["metadata"]["name"]) for event in seen] == [
        ("ADDED", name),
        ("DELETED", name),
    ]


def test_a_refused_watch_says_so(cluster: Cluster, namespace: str) -> None:
    with closing(cluster.client("nonsense").watch(RUNS, namespace)) as watch:
        assert watch.status == 401


def test_kubectl_shows_the_columns_and_knows_the_short_names(
    cluster: Cluster, namespace: str, kubectl: str, server: Client
) -> None:
    name = server.create(RUNS, named(RUNS, run_spec()), namespace).body["metadata"]["name"]
    status = {"phase": "Running", "assignedPod": "python-0"}
    server.patch(RUNS, name, {"status": status}, namespace, "status")
    command = [kubectl, f"--kubeconfig={cluster.kubeconfig}", f"--namespace={namespace}", "get"]
    shown = subprocess.run([*command, "rn"], capture_output=True, text=True, check=True).stdout.splitlines()
    assert re.split(" {2,}", shown[0].strip()) == ["NAME", "PHASE", "ASSIGNED POD", "RUNTIME", "AGE"]
    assert shown[1].split()[:4] == [name, "Running", "python-0", "python"]
    for short in ("rt", "pw"):
        nothing = subprocess.run([*command, short], capture_output=True, text=True, check=True)
        assert "No resources found" in nothing.stderr


def test_a_killed_process_leaves_no_server() -> None:
    server = [sys.executable, "-c", "import signal; print('up', flush=True); signal.pause()"]
    command = [sys.executable, str(guard.__file__), *server]
    holder = f"import subprocess as s; s.Popen({command}, stdin=s.PIPE).wait()"
    with subprocess.Popen([sys.executable, "-c", holder], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"up\n"
        process.kill()
        # The end of what all of them write to: it comes when the last of them is gone.
        assert process.stdout.read() == b""


def test_a_server_that_ends_early_is_named_with_its_last_words(tmp_path: Path) -> None:
    ended = ServerProcess(
        "etcd", [sys.executable, "-c", "raise SystemExit('no such flag')"], tmp_path / "log"
    )
    with pytest.raises(
        ServerError, match=r"(?s)^etcd ended before connection; .*log ends with:\nno such flag"
    ):
        ended.wait_until(lambda: False, 30, "connection")
    ended.stop()


def test_a_server_that_never_gets_ready_is_not_awaited_for_ever(tmp_path: Path) -> None:
    stuck = ServerProcess("etcd", [sys.executable, "-c", "import signal; signal.pause()"], tmp_path / "log")
    with pytest.raises(ServerError, match=r"^etcd: no connection within 0 s"):
        stuck.wait_until(lambda: False, 0, "connection")
    stuck.stop()


def program(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def test_binaries_are_looked_for_in_order(tmp_path: Path) -> None:
    environment = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    assert locate(KUBE_APISERVER, environment) is None
    kept = program(cached(KUBE_APISERVER, environment))
    assert version_of(KUBE_APISERVER) in str(kept)
    assert locate(KUBE_APISERVER, environment) == kept
    environment["KUBEBUILDER_ASSETS"] = str(tmp_path / "bin")
    folder = program(tmp_path / "bin" / "kube-apiserver")
    assert locate(KUBE_APISERVER, environment) == folder
    environment["TEST_ASSET_KUBE_APISERVER"] = str(own := program(tmp_path / "own"))
    assert locate(KUBE_APISERVER, environment) == own


def test_a_binary_that_is_named_and_not_there_is_an_error(tmp_path: Path) -> None:
    environment = {"TEST_ASSET_KUBE_APISERVER": str(tmp_path / "gone")}
    with pytest.raises(
        AssetsError, match=r"^TEST_ASSET_KUBE_APISERVER leads to .*gone, .*: correct or unset"
    ):
        locate(KUBE_APISERVER, environment)


def test_a_missing_binary_says_how_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(AssetsError, match=r"^no kube-apiserver: install Go and run `tox -e cluster`"):
        require(KUBE_APISERVER, {"XDG_CACHE_HOME": str(tmp_path)})
