"""Starts etcd and kube-apiserver on free loopback ports, with flags for tests and nothing else."""

from __future__ import annotations

import base64
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
from realcluster.client import Answer, Client, Resource
from realcluster.processes import ServerError, ServerProcess, free_ports

_HOST = "127.0.0.1"
_ETCD_SECONDS = 20
_APISERVER_SECONDS = 50
_ATTEMPTS = 3
_AUDIT_LOG = "audit.log"
_P256_ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
_P256_KEY = bytes.fromhex("30310201010420"), bytes.fromhex("a00a06082a8648ce3d030107")
"""What stands before and after the number in a P-256 private key (RFC 5915)."""


@dataclass(frozen=True)
class Cluster:
    """A running API server, and what an administrator needs to use it."""

    url: str
    ca_file: Path
    token: str
    kubeconfig: Path
    server: ServerProcess
    etcd: ServerProcess
    audit: AuditLog
    """What ServiceAccounts asked of it."""

    def client(self, token: str | None = None) -> Client:
        """A client for the bearer of `token`; without one, for the administrator."""
        return Client(self.url, token=token or self.token, ca_file=self.ca_file)

    def wait_until_ready(self) -> None:
        """Wait until it serves (again), its store included."""
        ready = partial(_ready, self.url, self.ca_file, self.token)
        self.server.wait_until(ready, _APISERVER_SECONDS, "answer of /readyz")

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
    ca_file, url = folder / "certs" / "apiserver.crt", f"https://{_HOST}:{port}"
    kubeconfig, audit = _kubeconfig(folder, url, ca_file, token), AuditLog(folder / _AUDIT_LOG)
    cluster = Cluster(url, ca_file, token, kubeconfig, server, etcd, audit)
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
    tokens, key = folder / "tokens.csv", folder / "service-accounts.key"
    policy = folder / "audit-policy.json"
    policy.write_text(json.dumps(POLICY))
    tokens.write_text(f'{token},admin,admin,"system:masters"\n')
    key.write_text(_private_key())
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


def _private_key() -> str:
    """A key that ServiceAccount tokens are signed with: on a curve, because it is only a number."""
    number = secrets.randbelow(_P256_ORDER - 1) + 1
    text = base64.encodebytes(number.to_bytes(32, "big").join(_P256_KEY)).decode()
    return f"-----BEGIN EC PRIVATE KEY-----\n{text}-----END EC PRIVATE KEY-----\n"


def _listens(port: int) -> bool:
    try:
        socket.create_connection((_HOST, port), timeout=1).close()
    except OSError:
        return False
    return True


def _ready(url: str, ca_file: Path, token: str) -> bool:
    try:
        return Client(url, token=token, ca_file=ca_file).request("GET", "/readyz").status == 200
    except OSError:
        return False


def _kubeconfig(folder: Path, url: str, ca_file: Path, token: str) -> Path:
    path = folder / "kubeconfig"
    cluster = {"server": url, "certificate-authority": str(ca_file)}
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "test", "cluster": cluster}],
        "users": [{"name": "admin", "user": {"token": token}}],
        "contexts": [{"name": "test", "context": {"cluster": "test", "user": "admin"}}],
        "current-context": "test",
    }
    path.write_text(json.dumps(config))
    return path
