"""Starts etcd and kube-apiserver on free loopback ports, with flags for tests and nothing else."""

from __future__ import annotations

import json
import secrets
import shutil
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from realcluster.assets import ETCD, KUBE_APISERVER, require
from realcluster.audit import POLICY, AuditLog
from realcluster.client import Answer, Reachable, Resource
from realcluster.processes import ServerError, ServerProcess, free_ports

_HOST = "127.0.0.1"
_ETCD_SECONDS = 20
_APISERVER_SECONDS = 50
_ATTEMPTS = 3
_AUDIT_LOG = "audit.log"


@dataclass(frozen=True)
class Cluster(Reachable):
    """A running API server of ours."""

    kubeconfig: Path
    """Of the administrator."""
    server: ServerProcess
    etcd: ServerProcess
    audit: AuditLog
    """What ServiceAccounts asked of it."""

    def wait_until_ready(self) -> None:
        """Wait until it serves (again), its store included."""
        self.server.wait_until(partial(_ready, self), _APISERVER_SECONDS, "answer of /readyz")

    def version_of(self, resource: Resource) -> int:
        """The revision of the store now. A server that has just come back may say no to a list or two."""
        answers: list[Answer] = []

        def listed() -> bool:
            answers.append(self.client().list(resource, limit=1))
            return answers[-1].status == 200

        self.server.wait_until(listed, _APISERVER_SECONDS, "list")
        return int(answers[-1].body["metadata"]["resourceVersion"])


@contextmanager
def running_cluster(folder: Path) -> Iterator[Cluster]:
    """Etcd and kube-apiserver until the block ends; their logs stay in `folder`."""
    with ExitStack() as running:
        yield _started(folder, running)


def _started(folder: Path, running: ExitStack) -> Cluster:
    """Another process can take a free port before the server does: then new ports are tried."""
    for attempt in range(1, _ATTEMPTS + 1):
        place = folder / f"attempt-{attempt}"
        place.mkdir()
        with ExitStack() as trial:
            try:
                cluster = _start(place, trial)
            except ServerError as error:
                if "address already in use" not in str(error) or attempt == _ATTEMPTS:
                    raise
                continue
            running.push(trial.pop_all())
            return cluster
    raise AssertionError("the last attempt returns or raises")


def _start(folder: Path, running: ExitStack) -> Cluster:
    etcd_port, peer_port, port = free_ports(3)
    data = folder / "etcd-data"
    running.callback(shutil.rmtree, data, ignore_errors=True)
    etcd = _launch(running, "etcd", _etcd_command(etcd_port, peer_port, data), folder)
    etcd.wait_until(lambda: _listens(etcd_port), _ETCD_SECONDS, "client connection")
    token = secrets.token_urlsafe(24)
    server = _launch(running, "kube-apiserver", _apiserver_command(port, etcd_port, folder, token), folder)
    admin = Reachable(f"https://{_HOST}:{port}", folder / "certs" / "apiserver.crt", token)
    kubeconfig, audit = admin.kubeconfig_of(token, folder), AuditLog(folder / _AUDIT_LOG)
    cluster = Cluster(admin.url, admin.ca_file, token, kubeconfig, server, etcd, audit)
    cluster.wait_until_ready()
    return cluster


def _launch(running: ExitStack, name: str, command: list[str], folder: Path) -> ServerProcess:
    process = ServerProcess(name, command, folder / f"{name}.log")
    running.callback(process.stop)
    return process


def _etcd_command(port: int, peer_port: int, data: Path) -> list[str]:
    client, peer = f"http://{_HOST}:{port}", f"http://{_HOST}:{peer_port}"
    return [
        str(require(ETCD)),
        f"--data-dir={data}",
        f"--listen-client-urls={client}",
        f"--advertise-client-urls={client}",
        f"--listen-peer-urls={peer}",
        f"--initial-advertise-peer-urls={peer}",
        f"--initial-cluster=default={peer}",
        "--unsafe-no-fsync",
        "--log-level=warn",
    ]


def _apiserver_command(port: int, etcd_port: int, folder: Path, token: str) -> list[str]:
    # The server makes it before it reads it.
    tokens, key = folder / "tokens.csv", folder / "certs" / "apiserver.key"
    policy = folder / "audit-policy.json"
    policy.write_text(json.dumps(POLICY))
    tokens.write_text(f'{token},admin,admin,"system:masters"\n')
    return [
        str(require(KUBE_APISERVER)),
        f"--etcd-servers=http://{_HOST}:{etcd_port}",
        f"--secure-port={port}",
        f"--bind-address={_HOST}",
        f"--advertise-address={_HOST}",
        # Else a loopback address is refused.
        "--endpoint-reconciler-type=none",
        f"--cert-dir={folder / 'certs'}",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-account-key-file={key}",
        f"--service-account-signing-key-file={key}",
        f"--token-auth-file={tokens}",
        "--authorization-mode=RBAC",
        f"--audit-policy-file={policy}",
        f"--audit-log-path={folder / _AUDIT_LOG}",
        "--service-cluster-ip-range=10.0.0.0/24",
        # Nobody makes the default ServiceAccounts that Pods would have to have.
        "--disable-admission-plugins=ServiceAccount",
    ]


def _listens(port: int) -> bool:
    try:
        socket.create_connection((_HOST, port), timeout=1).close()
    except OSError:
        return False
    return True


def _ready(cluster: Cluster) -> bool:
    try:
        return cluster.client().request("GET", "/readyz").status == 200
    except OSError:
        return False
