"""Whatever a reload meets ends in one log line, and what cannot be reloaded is not said to be."""

from __future__ import annotations

import asyncio
import io
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread

import pytest

from kruntimes_core.cli.scheduler import reloading as module
from kruntimes_core.cli.scheduler.reloading import Reloading
from kruntimes_core.cluster.clock import SystemClock
from kruntimes_core.cluster.observability.log import Log
from kruntimes_core.framework.configuration import Configuration, Profiles, build_profiles
from kruntimes_core.framework.plugin_registry import PluginRegistry
from kruntimes_core.framework.profile import ActivePlugin

PLUGIN = """
from pydantic import BaseModel
from kruntimes_core import hookimpl

class Arguments(BaseModel):
    number: int = 0

class {name}:
    Arguments = Arguments

    def __init__(self, arguments):
        {constructor}

    @hookimpl
    def score(self, pod):
        return {score}
"""
OFF = "    on_by_default = False\n    def __init__"


class Packages:
    """Plugins that are installed, upgraded and removed while a scheduler runs."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def install(
        self, name: str, version: str = "1.0", *, score: int = 1, constructor: str = "pass", off: bool = False
    ) -> None:
        self.remove(name)
        source = PLUGIN.format(name=name, score=score, constructor=constructor)
        self._module(name).write_text(source.replace("    def __init__", OFF) if off else source)
        info = self._root / f"acme_{name.lower()}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: acme-{name.lower()}\nVersion: {version}\n"
        )
        entry = f"{name} = {self._module(name).stem}:{name}"
        (info / "entry_points.txt").write_text(f"[kruntimes.plugins]\n{entry}\n")

    def remove(self, name: str) -> None:
        self._module(name).unlink(missing_ok=True)
        for info in self._root.glob(f"acme_{name.lower()}-*.dist-info"):
            shutil.rmtree(info)

    def write(self, name: str, source: str) -> None:
        """Put other source in the place of a plugin's module."""
        self._module(name).write_text(source)

    def forget(self) -> None:
        for path in self._root.glob("acme_*.py"):
            sys.modules.pop(path.stem, None)

    def _module(self, name: str) -> Path:
        return self._root / f"acme_{self._root.name}_{name.lower()}.py".replace("-", "_")


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Packages]:
    root = tmp_path / f"site_{tmp_path.name}"
    root.mkdir()
    monkeypatch.syspath_prepend(root)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setattr(module, "_PAUSE_SECONDS", 0.0)
    installed = Packages(root)
    yield installed
    installed.forget()


class Scheduler:
    """A scheduler that has started, and what its reloads log."""

    def __init__(
        self,
        path: Path,
        build: Callable[[Configuration, PluginRegistry], Profiles] = build_profiles,
        started_with: Configuration | None = None,
    ) -> None:
        configuration, registry = started_with or Configuration(), PluginRegistry()
        self.profiles = build_profiles(configuration, registry)
        self._lines = io.StringIO()
        log = Log(self._lines, SystemClock())
        self.reloading = Reloading(self._use, str(path), configuration, registry, self.profiles, build, log)

    def _use(self, profiles: Profiles) -> None:
        self.profiles = profiles

    def reload(self) -> str:
        """The one line that comes of a SIGHUP."""
        self._lines.seek(0)
        self._lines.truncate()

        async def main() -> None:
            self.reloading.begin()
            async with asyncio.timeout(30):
                while not self._lines.getvalue():
                    await asyncio.sleep(0.005)

        asyncio.run(main())
        (line,) = self._lines.getvalue().splitlines()
        return line

    def plugin(self, name: str) -> ActivePlugin | None:
        """The plugin that decides now."""
        return next((one for one in self.profiles.all[0].plugins if one.name == name), None)

    def score(self, name: str) -> object:
        """What its code answers, which is of its version."""
        plugin = self.plugin(name)
        assert plugin is not None
        return plugin.hooks["score"].function(None)


# What a reload meets


def directory(path: Path) -> None:
    path.mkdir()


def loop(path: Path) -> None:
    path.symlink_to(path)


def text(content: str | bytes) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())

    return write


OTHERS = ["Broken", "Exits", "Interrupts", "Unbuilt"]


def enabling(entry: str) -> Callable[[Path], None]:
    disabled = ", ".join(name for name in OTHERS if name != entry)
    return text(f"plugins: {{enabled: [{entry}], disabled: [{disabled}]}}")


MET: dict[str, tuple[Callable[[Path], None], str]] = {
    "missing": (lambda path: None, "no such file"),
    "a directory": (directory, "is a directory"),
    "a loop of links": (loop, "symbolic links"),
    "bad YAML": (text("plugins: ["), "config.yaml:1"),
    "bytes": (text(b"\xff\xfe\x00\x01\x02"), "config.yaml"),
    "two documents": (text("{}\n---\n{}\n"), "a second document"),
    "deep": (text("[" * 5_000), "config.yaml"),
    "another kind": (text("plugins: 7"), "write a mapping"),
    "arguments": (enabling("{name: Alpha, arguments: {number: many}}"), "number"),
    "no such plugin": (enabling("Omega"), "Omega"),
    "an import that fails": (enabling("Broken"), "ZeroDivisionError"),
    "an import that exits": (enabling("Exits"), "SystemExit"),
    "an interrupt": (enabling("Interrupts"), "KeyboardInterrupt"),
    "a constructor": (enabling("Unbuilt"), "RuntimeError: not today"),
}


@pytest.mark.parametrize("met", MET)
def test_what_a_reload_meets_ends_in_one_line_and_the_last_good_configuration_decides(
    met: str, packages: Packages, tmp_path: Path
) -> None:
    make, why = MET[met]
    packages.install("Alpha")
    for name, source in (
        ("Broken", "1 / 0"),
        ("Exits", "raise SystemExit(3)"),
        ("Interrupts", "raise KeyboardInterrupt"),
    ):
        packages.install(name)
        packages.write(name, source)
    packages.install("Unbuilt", constructor="raise RuntimeError('not today')")
    path = tmp_path / "config.yaml"
    started_with = Configuration.model_validate({"plugins": {"disabled": OTHERS}})
    scheduler = Scheduler(path, started_with=started_with)
    before, in_force = scheduler.profiles, scheduler.reloading.in_force
    make(path)
    line = scheduler.reload()
    assert " WARNING the configuration was not reloaded why=" in line
    assert why in line
    assert "restart_needed_for" not in line
    assert scheduler.profiles is before
    assert scheduler.reloading.in_force is in_force
    if path.is_dir():
        path.rmdir()
    path.unlink(missing_ok=True)
    path.write_text(f"plugins: {{disabled: {OTHERS}}}")
    assert " INFO    the configuration was reloaded profiles=1 " in scheduler.reload()
    assert scheduler.profiles is not before


def test_a_name_that_no_file_can_have_is_told(packages: Packages, tmp_path: Path) -> None:
    """To ask whether such a file exists raises, as does a folder that may not be searched."""
    line = Scheduler(tmp_path / ("x" * 300)).reload()
    assert "not reloaded why=" in line
    assert "file name too long" in line


@pytest.mark.parametrize("error", [RuntimeError("a defect"), RecursionError("too deep"), MemoryError("full")])
def test_a_defect_is_told_with_its_place(error: BaseException, packages: Packages, tmp_path: Path) -> None:
    def fail(configuration: Configuration, registry: PluginRegistry) -> Profiles:
        raise error

    path = tmp_path / "config.yaml"
    path.write_text("")
    line = Scheduler(path, fail).reload()
    assert f'not reloaded why="{type(error).__name__}: {error} (at {__file__}:' in line


def test_a_reload_for_which_there_is_no_thread_is_told_and_the_next_one_is_taken(
    packages: Packages, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def start(thread: Thread) -> None:
        raise RuntimeError("can't start new thread")

    (tmp_path / "config.yaml").write_text("")
    scheduler = Scheduler(tmp_path / "config.yaml")
    with monkeypatch.context() as patched:
        patched.setattr(Thread, "start", start)
        assert "not reloaded why=\"RuntimeError: can't start new thread (at " in scheduler.reload()
    assert " INFO " in scheduler.reload()


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ("", "plugins: {disabled: [LeastLoaded]}"),
        ("plugins: {disabled: [LeastLoaded]}", "plugins: {disabled: [LeastLoaded, RunAffinity]}"),
        ("plugins: {disabled: [LeastLoaded]}", ""),
    ],
    ids=["emptied first", "half of it first", "emptied then"],
)
def test_a_file_that_changes_while_it_is_read_is_not_taken(
    first: str, then: str, packages: Packages, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(first)
    scheduler = Scheduler(path)
    before = scheduler.profiles
    with monkeypatch.context() as patched:
        patched.setattr(module, "sleep", lambda seconds: path.write_text(then))
        line = scheduler.reload()
    assert "it changes while it is read: send SIGHUP when it is written" in line
    assert scheduler.profiles is before
    assert "INFO    the configuration was reloaded" in scheduler.reload()


# Packages that change on the disk

NEED = " WARNING the configuration was reloaded, but packages that changed need a restart "


@pytest.fixture
def running(packages: Packages, tmp_path: Path) -> Scheduler:
    """A scheduler with the plugin `Alpha` 1.0, and with `Spare` 1.0, which is off."""
    packages.install("Alpha")
    packages.install("Spare", off=True)
    (tmp_path / "config.yaml").write_text("")
    return Scheduler(tmp_path / "config.yaml")


def test_an_upgraded_package_is_not_said_to_be_reloaded(running: Scheduler, packages: Packages) -> None:
    assert " INFO " in running.reload()
    packages.install("Alpha", "1.1", score=2)
    line = running.reload()
    assert NEED in line
    assert line.endswith('restart_needed_for="acme-alpha 1.0 -> 1.1"')
    alpha = running.plugin("Alpha")
    assert alpha is not None
    assert (alpha.version, running.score("Alpha")) == ("1.0", 1)


@pytest.mark.parametrize("installed_again", [True, False])
def test_other_files_of_the_same_version_are_not_said_to_be_reloaded(
    installed_again: bool, running: Scheduler, packages: Packages
) -> None:
    """As those of an editable install, or of a version that was built again."""
    if installed_again:
        packages.install("Alpha", score=2)
    else:
        packages.write("Alpha", PLUGIN.format(name="Alpha", score=2, constructor="pass"))
    line = running.reload()
    assert NEED in line
    assert line.endswith('restart_needed_for="acme-alpha 1.0 -> 1.0 with other files"')
    assert running.score("Alpha") == 1


def test_a_package_that_was_removed_decides_until_a_restart(running: Scheduler, packages: Packages) -> None:
    packages.remove("Alpha")
    line = running.reload()
    assert NEED in line
    assert line.endswith('restart_needed_for="acme-alpha 1.0 -> none"')
    assert running.score("Alpha") == 1


def test_a_package_that_is_new_decides_from_the_next_start(
    running: Scheduler, packages: Packages, tmp_path: Path
) -> None:
    packages.install("Beta", "2.0")
    line = running.reload()
    assert NEED in line
    assert line.endswith('restart_needed_for="acme-beta none -> 2.0"')
    assert running.plugin("Beta") is None
    (tmp_path / "config.yaml").write_text("plugins: {enabled: [Beta]}")
    line = running.reload()
    assert "not reloaded why=" in line
    assert line.endswith('restart_needed_for="acme-beta none -> 2.0"')
    assert running.score("Alpha") == 1


def test_all_that_changed_is_named_in_the_line(running: Scheduler, packages: Packages) -> None:
    packages.install("Alpha", "1.1")
    packages.remove("Spare")
    packages.install("Beta")
    changed = "acme-alpha 1.0 -> 1.1, acme-beta none -> 1.0, acme-spare 1.0 -> none"
    assert running.reload().endswith(f'restart_needed_for="{changed}"')


@pytest.mark.parametrize("version", ["1.1", None])
def test_a_plugin_that_was_not_loaded_is_not_loaded_from_another_version(
    version: str | None, running: Scheduler, packages: Packages, tmp_path: Path
) -> None:
    """It was looked at, because it might be on by default; another one, which was disabled, was not."""
    (tmp_path / "config.yaml").write_text("plugins: {disabled: [Alpha]}")
    fresh = Scheduler(
        tmp_path / "config.yaml",
        started_with=Configuration.model_validate({"plugins": {"disabled": ["Alpha"]}}),
    )
    packages.forget()
    if version is None:
        packages.remove("Alpha")
    else:
        packages.install("Alpha", version, score=2)
    assert NEED in fresh.reload()
    (tmp_path / "config.yaml").write_text("plugins: {enabled: [Alpha]}")
    line = fresh.reload()
    assert "not reloaded why=" in line
    assert f"acme-alpha changed since the start (1.0 -> {version or 'none'}): restart to load it" in line
    assert fresh.plugin("Alpha") is None


def test_a_plugin_that_was_loaded_at_a_reload_stays_when_it_is_upgraded(
    packages: Packages, tmp_path: Path
) -> None:
    packages.install("Alpha")
    path = tmp_path / "config.yaml"
    scheduler = Scheduler(
        path, started_with=Configuration.model_validate({"plugins": {"disabled": ["Alpha"]}})
    )
    path.write_text("")
    assert " INFO " in scheduler.reload()
    packages.install("Alpha", "1.1", score=2)
    assert NEED in scheduler.reload()
    assert scheduler.score("Alpha") == 1


def test_a_plugin_that_failed_is_tried_again_unless_its_package_changed(
    running: Scheduler, packages: Packages, tmp_path: Path
) -> None:
    packages.install("Gamma", constructor="pass", off=True)
    packages.write("Gamma", "1 / 0")
    path = tmp_path / "config.yaml"
    scheduler = Scheduler(
        path, started_with=Configuration.model_validate({"plugins": {"disabled": ["Gamma"]}})
    )
    path.write_text("plugins: {enabled: [Gamma]}")
    assert "ZeroDivisionError" in scheduler.reload()
    packages.write("Gamma", PLUGIN.format(name="Gamma", score=3, constructor="pass"))
    assert " INFO " in scheduler.reload()
    assert scheduler.score("Gamma") == 3


def test_the_host_itself_is_named_when_it_was_upgraded(
    running: Scheduler, packages: Packages, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = PluginRegistry().version_of("kruntimes-core")
    monkeypatch.setattr(PluginRegistry, "version_of", lambda *_: "9.9")
    assert running.reload().endswith(f'restart_needed_for="kruntimes-core {installed} -> 9.9"')


@pytest.mark.parametrize("folders", ["none", "one more", "another"])
def test_a_search_path_that_a_plugin_changed_is_no_change_of_packages(
    running: Scheduler, packages: Packages, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folders: str
) -> None:
    info = tmp_path / "vendored" / "kruntimes_core-9.9.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: kruntimes-core\nVersion: 9.9\n")
    paths = {"none": [], "one more": [str(info.parent), *sys.path], "another": [str(info.parent)]}
    monkeypatch.setattr(sys, "path", paths[folders])
    assert " INFO " in running.reload()
