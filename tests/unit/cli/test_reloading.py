"""A configuration that is read again while the scheduler runs."""

from __future__ import annotations

import asyncio
import io
import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from kruntimes_core.cli.scheduler.reloading import Reloading
from kruntimes_core.cluster.clock import SystemClock
from kruntimes_core.cluster.observability.log import Log
from kruntimes_core.framework.configuration import Configuration, Profiles, build_profiles, load_configuration
from kruntimes_core.framework.plugin_registry import PluginRegistry
from realcluster.scheduler import STEADY


class Lines(io.StringIO):
    """Log lines, and whether there is a new one."""

    def __init__(self) -> None:
        super().__init__()
        self.said = asyncio.Event()

    def write(self, text: str) -> int:
        self.said.set()
        return super().write(text)


class Host:
    """Keeps what it is to decide by."""

    def __init__(self) -> None:
        self.profiles: list[Profiles] = []

    def reload(self, profiles: Profiles) -> None:
        self.profiles.append(profiles)


SUPPLIED = build_profiles(Configuration(), PluginRegistry())


def reloaded(path: str | None, begin: Callable[[Reloading], None] = Reloading.begin) -> tuple[Host, str]:
    """A host that was started with defaults and a steady heartbeat, and the line that came of reloading."""

    async def main() -> tuple[Host, str]:
        host, lines = Host(), Lines()
        begin(
            Reloading(
                host.reload,
                path,
                load_configuration(STEADY, "config"),
                PluginRegistry(),
                SUPPLIED,
                build_profiles,
                Log(lines, SystemClock()),
            )
        )
        await lines.said.wait()
        return host, lines.getvalue()

    return asyncio.run(main())


def written(folder: Path, text: str) -> str:
    path = folder / "config.yaml"
    path.write_text(text)
    return str(path)


def test_plugins_and_profiles_count_at_once(tmp_path: Path) -> None:
    other = "profiles: [{name: other, runtimes: [go], plugins: {disabled: [LeastLoaded]}}]"
    host, line = reloaded(written(tmp_path, STEADY + other))
    (profiles,) = host.profiles
    default, second = profiles.all
    assert (default.name, second.name) == ("default", "other")
    assert {one.name for one in default.plugins} - {one.name for one in second.plugins} == {"LeastLoaded"}
    number = len(default.plugins) + len(second.plugins)
    assert line.endswith(f"INFO    the configuration was reloaded profiles=2 plugins={number}\n")


def test_what_counts_from_the_next_start_is_named(tmp_path: Path) -> None:
    host, line = reloaded(written(tmp_path, "requestsInFlight: 8\nallowNoCapacityFilter: true"))
    assert len(host.profiles) == 1
    assert 'not_before_a_restart="heartbeatStalenessSeconds,requestsInFlight"' in line


def test_without_a_file_the_defaults_count() -> None:
    host, line = reloaded(None)
    assert len(host.profiles) == 1
    assert "not_before_a_restart=heartbeatStalenessSeconds\n" in line


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("plugins: {enabled: [LeestLoaded]}", "did you mean LeastLoaded?"),
        ("plugins: {disabled: ['*']}", "enable RuntimePodAvailability"),
        ("plugins: [", "config.yaml:1"),
    ],
)
def test_one_that_is_no_good_changes_nothing(tmp_path: Path, text: str, why: str) -> None:
    host, line = reloaded(written(tmp_path, text))
    assert not host.profiles
    assert " WARNING the configuration was not reloaded why=" in line
    assert why in line


def test_one_that_is_gone_changes_nothing(tmp_path: Path) -> None:
    host, line = reloaded(str(tmp_path / "config.yaml"))
    assert not host.profiles
    assert "no such file" in line


def test_a_pipe_is_not_taken_for_an_empty_file(tmp_path: Path) -> None:
    """All that it said was read at the start; what is empty means all defaults."""
    os.mkfifo(tmp_path / "pipe")
    host, line = reloaded(str(tmp_path / "pipe"))
    assert not host.profiles
    assert "so it can be read only once: restart the scheduler" in line


def test_a_configuration_that_is_being_read_is_not_read_twice() -> None:
    release = threading.Event()

    def hang(configuration: Configuration, registry: PluginRegistry) -> Profiles:
        release.wait()
        return build_profiles(configuration, registry)

    async def main() -> tuple[str, Host]:
        host, lines = Host(), Lines()
        begun = Reloading(
            host.reload, None, Configuration(), PluginRegistry(), SUPPLIED, hang, Log(lines, SystemClock())
        )
        begun.begin()
        begun.begin()
        said = lines.getvalue()
        release.set()
        lines.said.clear()
        await lines.said.wait()
        return said, host

    said, host = asyncio.run(main())
    assert 'not reloaded why="it is still being read"' in said
    assert len(host.profiles) == 1


def test_sighup_begins_it_where_there_is_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "ctermid", lambda: "/nonexistent")

    def hang_up(one: Reloading) -> None:
        one.on_hangup()
        os.kill(os.getpid(), signal.SIGHUP)

    host, _ = reloaded(None, hang_up)
    assert len(host.profiles) == 1


def test_sighup_stays_what_it_is_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a scheduler would outlive the terminal that it was started from, and keep its Lease."""
    monkeypatch.setattr(os, "ctermid", lambda: os.devnull)
    before = signal.getsignal(signal.SIGHUP)

    async def main() -> None:
        Reloading(
            Host().reload,
            None,
            Configuration(),
            PluginRegistry(),
            SUPPLIED,
            build_profiles,
            Log(Lines(), SystemClock()),
        ).on_hangup()
        assert signal.getsignal(signal.SIGHUP) is before

    asyncio.run(main())
