"""What keeps the scheduler from starting: one line, the code 2, and nothing that listens or says started."""

from __future__ import annotations

import json
import socket
import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import trustme

from kruntimes_core.cli.main import main

Capture = pytest.CaptureFixture[str]
OFF = ("--metrics-bind-address=0", "--health-probe-bind-address=0")


class Versions(BaseHTTPRequestHandler):
    """Tells its version to the bearer of the right token; has nothing else."""

    def do_GET(self) -> None:
        known = self.headers.get("authorization") == "Bearer right"
        body = b'{"major": "1", "minor": "37"}' if known else b"{}"
        self.send_response(200 if known and self.path == "/version" else 401)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is http.server's
        """Say nothing."""


class Site:
    """API servers that get no further than their version, and kubeconfigs that lead to them."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.folder = folder
        self._stack = stack

    def server(self, certificate: trustme.LeafCert | None = None) -> str:
        """The URL of a new server, with TLS if it has a certificate."""
        server = ThreadingHTTPServer(("127.0.0.1", 0), Versions)
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            certificate.configure_cert(context)
            server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        self._stack.callback(server.server_close)
        self._stack.callback(thread.join)
        self._stack.callback(server.shutdown)
        scheme = "http" if certificate is None else "https"
        return f"{scheme}://127.0.0.1:{server.server_address[1]}"

    def kubeconfig(self, server: str, user: Mapping[str, Any] | None = None, **cluster: str) -> str:
        """The option that names a new kubeconfig."""
        path = self.folder / "config"
        clusters = [{"name": "c", "cluster": {"server": server, **cluster}}]
        users = [{"name": "u", "user": {"token": "right"} if user is None else user}]
        contexts = [{"name": "one", "context": {"cluster": "c", "user": "u"}}]
        content = {"current-context": "one", "clusters": clusters, "users": users, "contexts": contexts}
        path.write_text(json.dumps(content))
        return f"--kubeconfig={path}"


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with ExitStack() as stack:
        yield Site(tmp_path, stack)


def refused(capsys: Capture, *arguments: str) -> str:
    """The one line with which the start ends; a line that says started would be another one."""
    assert main(["scheduler", *arguments]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("error: ")
    assert shown.err.count("\n") == 1
    return shown.err


@pytest.fixture
def taken() -> Iterator[str]:
    """An address on which somebody else listens."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        yield "{}:{}".format(*other.getsockname())


@pytest.mark.parametrize("flag", ["--metrics-bind-address", "--health-probe-bind-address"])
def test_a_port_in_use_is_named_with_its_option(site: Site, capsys: Capture, taken: str, flag: str) -> None:
    line = refused(capsys, site.kubeconfig(site.server()), *OFF, f"{flag}={taken}")
    assert f"cannot listen on {taken}: the port is in use: choose another {flag}" in line


def test_a_port_of_both_on_two_interfaces_is_in_use_by_the_other(
    site: Site, capsys: Capture, taken: str
) -> None:
    """One address for both is served; that one covers the other is seen when it is tried."""
    port = taken.rpartition(":")[2]
    both = (f"--metrics-bind-address=:{port}", f"--health-probe-bind-address=127.0.0.1:{port}")
    assert "the port is in use" in refused(capsys, site.kubeconfig(site.server()), *both)


def test_an_address_of_another_machine_is_named(site: Site, capsys: Capture) -> None:
    # TEST-NET-3: no machine has it.
    line = refused(capsys, site.kubeconfig(site.server()), *OFF, "--metrics-bind-address=203.0.113.9:80")
    assert "cannot listen on 203.0.113.9:80: this machine has no such address" in line


@pytest.mark.parametrize("user", [{"token": "expired"}, {}, {"username": "a", "password": "b"}])
def test_credentials_that_are_not_accepted_are_named(
    site: Site, capsys: Capture, user: Mapping[str, str]
) -> None:
    line = refused(capsys, site.kubeconfig(site.server(), user), *OFF)
    assert "(context one of" in line
    assert "does not accept the credentials: log in again, or choose another context" in line


def test_an_authority_that_did_not_sign_is_named(site: Site, capsys: Capture) -> None:
    other = site.folder / "ca.pem"
    trustme.CA().cert_pem.write_to_path(str(other))
    server = site.server(trustme.CA().issue_cert("127.0.0.1"))
    line = refused(capsys, site.kubeconfig(server, None, **{"certificate-authority": str(other)}), *OFF)
    assert f"cannot reach the API server at {server}" in line
    assert line.endswith(": name the right certificate authority\n")


@pytest.mark.parametrize(
    ("user", "named"),
    [
        ({"client-certificate": "/none/c.pem", "client-key": "/none/k.pem"}, "/none/c.pem"),
        ({"tokenFile": "/none/token"}, "/none/token"),
        ({"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "no-such"}}, "no-such"),
        ({"token": "two\nlines"}, "the token contains a line break: write it again without one"),
    ],
)
def test_credentials_that_are_not_there_are_named(
    site: Site, capsys: Capture, user: Mapping[str, Any], named: str
) -> None:
    server = site.server(trustme.CA().issue_cert("127.0.0.1"))
    assert named in refused(capsys, site.kubeconfig(server, user), *OFF)


def test_a_context_that_is_not_there_is_named(site: Site, capsys: Capture) -> None:
    line = refused(capsys, site.kubeconfig(site.server()), *OFF, "--context=oen")
    assert "--context names the context 'oen', which is not there: did you mean one?" in line


def test_a_kubeconfig_that_cannot_be_read_is_named_with_its_line(site: Site, capsys: Capture) -> None:
    (site.folder / "config").write_text("clusters:\n\tname: c\n")
    assert "config:2: " in refused(capsys, f"--kubeconfig={site.folder / 'config'}", *OFF)


@pytest.mark.parametrize(
    ("environment", "arguments", "named"),
    [
        ({}, (), "the namespace of the Lease is not known: give --lease-namespace"),
        ({"POD_NAMESPACE": ""}, (), "the namespace of the Lease is not known"),
        (
            {"POD_NAMESPACE": "Not A Name"},
            (),
            "POD_NAMESPACE 'Not A Name' is not a valid name of a namespace",
        ),
        (
            {"POD_NAMESPACE": "a"},
            ("--lease-namespace=",),
            "--lease-namespace '' is not a valid name of a namespace",
        ),
        ({"POD_NAMESPACE": "a"}, ("--lease-namespace=a/b",), "'a/b' is not a valid name of a namespace"),
    ],
)
def test_an_election_needs_a_namespace_and_an_empty_variable_is_none(
    site: Site,
    capsys: Capture,
    monkeypatch: pytest.MonkeyPatch,
    environment: Mapping[str, str],
    arguments: tuple[str, ...],
    named: str,
) -> None:
    monkeypatch.delenv("POD_NAMESPACE", raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    line = refused(capsys, site.kubeconfig(site.server()), *OFF, "--leader-elect", *arguments)
    assert named in line
