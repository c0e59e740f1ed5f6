"""Calls of plugins by commands end within the scheduler's limit, with one line; signals end a command."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import click
import pytest

from kruntimes_core.cli.bench import engine_tables as bench_answer
from kruntimes_core.cli.commands import stop_on_signals, with_time_limit
from kruntimes_core.cli.main import main
from kruntimes_core.cluster import plugin_thread
from kruntimes_core.cluster.plugin_thread import AttendedCalls
from kruntimes_core.framework import configuration
from kruntimes_core.framework.profile import ActivePlugin, CurrentCall
from kruntimes_core.testing import pod_object, run_object
from kruntimes_core.testing.plugins import fake_plugin, profiles_of

LIMIT = 0.1
LINE = (
    "error: plugin Hanger (fake-hanger 1.0) failed in {}: did not return within 0.1 s: the call is abandoned;"
    " correct, upgrade or disable it\n"
)


@pytest.fixture(autouse=True)
def _of_short_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plugin_thread, "AttendedCalls", partial(AttendedCalls, limit_seconds=LIMIT))


@pytest.fixture
def hanging() -> Iterator[Callable[..., None]]:
    """A hook that does not return before the test has ended."""
    release = threading.Event()

    def hang(pod: Any) -> None:
        release.wait(30)

    yield hang
    release.set()


@pytest.fixture
def file(tmp_path: Path) -> str:
    """Manifests with a Pod and two Runs."""
    items = [pod_object("py-0"), run_object("r1"), run_object("r2")]
    written = tmp_path / "given.json"
    written.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    return str(written)


def install(monkeypatch: pytest.MonkeyPatch, plugin: ActivePlugin) -> None:
    """Let this be the only plugin."""
    for module in (configuration, bench_answer):
        monkeypatch.setattr(module, "build_profiles", lambda *_: profiles_of(plugin))


@pytest.mark.parametrize("form", ["table", "json", "name"])
def test_a_plan_says_who_hangs(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    hanging: Callable[..., None],
    file: str,
    form: str,
) -> None:
    install(monkeypatch, fake_plugin("Hanger", filter=hanging))
    assert main(["plan", "-f", file, "-o", form]) == 2
    assert capsys.readouterr() == ("", LINE.format("filter"))


def test_an_explanation_that_hangs_says_so_too(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    hanging: Callable[..., None],
    file: str,
) -> None:
    """It asks again, and a plugin may answer otherwise then."""
    times: list[int] = []

    def scorer(pod: Any) -> int:
        times.append(1)
        if len(times) > 2:
            hanging(pod)
        return 1

    install(monkeypatch, fake_plugin("Hanger", score=scorer))
    assert main(["plan", "-f", file, "--explain"]) == 2
    assert capsys.readouterr().err == LINE.format("score")


def test_a_bench_of_the_engine_says_who_hangs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], hanging: Callable[..., None]
) -> None:
    install(monkeypatch, fake_plugin("Hanger", filter=hanging))
    tiny = ["--pods", "2", "--runs", "1", "--known", "2", "--waiting", "1", "--repeat", "1"]
    assert main(["bench", "engine", *tiny, "--workload", "placements"]) == 2
    assert capsys.readouterr() == ("", LINE.format("filter"))


def test_who_debugs_has_no_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    values = iter([1, 2])
    monkeypatch.setenv("KRUNTIMES_DEBUG", "1")
    assert with_time_limit(CurrentCall()).values(values) is values
    assert with_time_limit(CurrentCall()).call(threading.get_ident) == threading.get_ident()
    monkeypatch.delenv("KRUNTIMES_DEBUG")
    with click.Context(click.Command("plan")):
        attentive = with_time_limit(CurrentCall())
        assert list(attentive.values(values)) == [1, 2]
        thread = attentive.call(threading.current_thread)
    assert thread is not threading.current_thread()
    thread.join(30)
    assert not thread.is_alive()


SLEEPING = """
import time
from kruntimes_core import hookimpl

class Sleeper:
    @hookimpl
    def filter(self, pod):
        time.sleep(3600)
"""
IMPATIENT = f"""
import sys
from functools import partial
from kruntimes_core.cli.main import main
import kruntimes_core.cluster.plugin_thread as worker
worker.AttendedCalls = partial(worker.AttendedCalls, limit_seconds={LIMIT})
sys.exit(main(sys.argv[1:]))
"""


def test_the_process_ends_though_the_call_never_does(
    file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "acme_sleeper.py").write_text(SLEEPING)
    metadata = tmp_path / "acme_sleeper-1.2.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-sleeper\nVersion: 1.2\n")
    (metadata / "entry_points.txt").write_text("[kruntimes.plugins]\nSleeper = acme_sleeper:Sleeper\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=":")
    command = [sys.executable, "-c", IMPATIENT, "plan", "-f", file]
    shown = subprocess.run(command, capture_output=True, text=True, check=False, timeout=50)
    assert (shown.returncode, shown.stdout) == (2, "")
    assert shown.stderr == LINE.replace("Hanger (fake-hanger 1.0)", "Sleeper (acme-sleeper 1.2)").format(
        "filter"
    )


@pytest.mark.parametrize("first", [signal.SIGTERM, signal.SIGINT])
def test_the_second_signal_does_not_wait(monkeypatch: pytest.MonkeyPatch, first: signal.Signals) -> None:
    async def main() -> list[object]:
        seen: list[object] = []
        stopped, exited = asyncio.Event(), asyncio.Event()

        def leave(code: int) -> None:
            seen.append(code)
            exited.set()

        def stop(number: signal.Signals) -> None:
            seen.append("stop")
            stopped.set()

        monkeypatch.setattr(os, "_exit", leave)
        stop_on_signals(stop, signal.SIGTERM, signal.SIGINT)
        os.kill(os.getpid(), first)
        await stopped.wait()
        assert seen == ["stop"]
        os.kill(os.getpid(), signal.SIGTERM)
        await exited.wait()
        return seen

    assert asyncio.run(main())[:2] == ["stop", 128 + signal.SIGTERM]
