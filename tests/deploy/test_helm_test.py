"""The script of `helm test` says whether each replica serves its metrics, and exactly one decides."""

from __future__ import annotations

import importlib.util
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from deployment.chart import Rendered, render
from deployment.site import Site
from kruntimes_core.cluster.observability.metrics import PREFIX

RESOLVE = socket.getaddrinfo
SERVICE = "kruntimes-scheduler.kruntimes-system.svc"


def script(rendered: Rendered) -> str:
    """What the Pod of `helm test` runs."""
    (pod,) = rendered.of("Pod")
    return str(pod["spec"]["containers"][0]["args"][0])


@pytest.fixture(scope="module")
def helm_test(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    """The script as a module, which looks again at once."""
    path = tmp_path_factory.mktemp("helm-test") / "helm_test.py"
    path.write_text(script(render()))
    spec = importlib.util.spec_from_file_location("helm_test", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.PAUSE = 0.0  # type: ignore[attr-defined]
    return module


class Replicas:
    """Replicas at addresses of this machine, on one port, behind the name of a Service."""

    def __init__(self, pages: Mapping[str, str]) -> None:
        self.pages = dict(pages)
        self._servers: list[ThreadingHTTPServer] = []
        self.port = 0
        for address in pages:
            server = ThreadingHTTPServer((address, self.port), self._handler())
            self.port = server.server_port
            self._servers.append(server)
            threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def resolve(self, service: str, port: int, *more: Any, **named: Any) -> list[tuple[Any, ...]]:
        """As `socket.getaddrinfo`, which also knows the Service."""
        names = self.pages if service == SERVICE else [service]
        return [found for name in names for found in RESOLVE(name, port, *more, **named)]

    def close(self) -> None:
        for server in self._servers:
            server.shutdown()
            server.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        pages = self.pages

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                text = pages[self.server.server_address[0]]  # type: ignore[index]
                self.send_response(200 if text and self.path == "/metrics" else 503)
                self.end_headers()
                self.wfile.write(text.encode())

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is given
                """Nothing: the output of a test is its own."""

        return Handler


def page(deciding: int) -> str:
    return f"# TYPE {PREFIX}deciding gauge\n{PREFIX}deciding {deciding}.0\n{PREFIX}deciding_other 1.0\n"


@pytest.fixture
def outcome(
    request: pytest.FixtureRequest, helm_test: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> Iterator[str]:
    """What is wrong with the replicas of a case."""
    replicas = Replicas(request.param)
    monkeypatch.setattr(socket, "getaddrinfo", replicas.resolve)
    yield helm_test.problem(SERVICE, replicas.port, 2)
    replicas.close()


ONE, TWO, THREE = "127.0.0.1", "127.0.0.2", "127.0.0.3"


@pytest.mark.parametrize(
    ("outcome", "said"),
    [
        ({ONE: page(1), TWO: page(0)}, ""),
        ({ONE: page(0), TWO: page(0), THREE: page(1)}, ""),
        ({ONE: page(0), TWO: page(0)}, "0 of 2 replicas decide, not 1"),
        ({ONE: page(1), TWO: page(1)}, f"2 of 2 replicas decide, not 1: {ONE}, {TWO}"),
        ({ONE: page(1)}, f"{SERVICE} has 1 of 2 replicas: {ONE}"),
        ({ONE: page(1), TWO: ""}, f"{SERVICE}: {TWO} does not serve its metrics: HTTP Error 503"),
        ({ONE: page(1), TWO: "# nothing\n"}, f"{SERVICE}: {TWO}: its metrics have no {PREFIX}deciding"),
    ],
    indirect=["outcome"],
    ids=["one of two", "one of three", "none", "both", "too few", "not served", "something else serves"],
)
def test_it_says_what_is_wrong(outcome: str, said: str) -> None:
    assert outcome.startswith(said)
    assert bool(outcome) is bool(said)


def test_it_looks_again_until_nothing_is_wrong(
    helm_test: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    looks = iter(["starting", "starting", ""])
    monkeypatch.setattr(helm_test, "problem", lambda *_: next(looks))
    assert helm_test.main(SERVICE, "8080", "2", "60") == 0
    assert "one of them decides" in capsys.readouterr().out


def test_it_gives_up_with_what_was_wrong(
    helm_test: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(helm_test, "problem", lambda *_: "wrong")
    assert helm_test.main(SERVICE, "8080", "2", "0") == 1
    assert capsys.readouterr().err == "wrong\n"


@pytest.mark.xdist_group("cluster")
def test_a_scheduler_that_runs_passes(site: Site, place: str, tmp_path: Path) -> None:
    rendered = render({"replicas": 1, "leaderElection": {"enabled": False}}, release=place, namespace=place)
    site.apply(rendered.objects)
    with site.started(rendered, tmp_path) as scheduler:
        scheduler.says("deciding")
        _, _, port = scheduler.address("metrics").rpartition(":")
        command = [sys.executable, "-c", script(rendered), "127.0.0.1", port, "1", "30"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert scheduler.stop() == 0
    assert (done.returncode, done.stderr) == (0, "")
