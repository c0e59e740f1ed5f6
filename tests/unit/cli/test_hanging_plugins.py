"""A plugin whose import or constructor does not return is named by every command, and by a reload."""

from __future__ import annotations

import asyncio
import io
import json
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from kruntimes_core.cli import dev_session
from kruntimes_core.cli.main import main
from kruntimes_core.cli.scheduler import serve
from kruntimes_core.cli.scheduler.reloading import Reloading
from kruntimes_core.cluster import plugin_thread
from kruntimes_core.cluster.clock import SystemClock
from kruntimes_core.cluster.observability.log import Log
from kruntimes_core.cluster.plugin_thread import AttendedCalls
from kruntimes_core.cluster.plugin_worker import ThreadPluginWorker
from kruntimes_core.framework.configuration import Configuration, Profiles
from kruntimes_core.framework.plugin_registry import PluginRegistry
from kruntimes_core.testing import pod_object, run_object

LIMIT = 0.5
WHY = (
    "plugin Hanger (acme-hanger 1.2) failed in {}: did not return within 0.5 s: the call is abandoned;"
    " correct, upgrade or disable it"
)
SPINNING = """
def hang():
    while True:
        try:
            time.sleep(0.01)
        except Exception:
            pass
"""
LOCKED = """
def hang():
    lock = threading.Lock()
    lock.acquire()
    lock.acquire()
"""
IN_C = """
def hang():
    time.sleep(1e9)
"""
PLUGIN = """
import threading
import time
from pydantic import BaseModel
from kruntimes_core import hookimpl
{hang}
{at_import}

class Arguments(BaseModel):
    def model_post_init(self, context):
        {in_arguments}

class Hanger:
    Arguments = Arguments

    def __init__(self, arguments):
        {in_constructor}

    @hookimpl
    def filter(self, pod):
        return None
"""
WHERE = {"import": "at_import", "constructor": "in_constructor", "arguments": "in_arguments"}
STEPS = ["import", "constructor"]

Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Install a plugin that hangs in a step; an import holds the lock of its module, so each has its own."""

    def put(step: str, hang: str = SPINNING) -> None:
        module = f"acme_{tmp_path.name}_{step}"
        places = dict.fromkeys(WHERE.values(), "pass") | {WHERE[step]: "hang()"}
        (tmp_path / f"{module}.py").write_text(PLUGIN.format(hang=hang, **places))
        metadata = tmp_path / "acme_hanger-1.2.dist-info"
        metadata.mkdir()
        (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-hanger\nVersion: 1.2\n")
        (metadata / "entry_points.txt").write_text(f"[kruntimes.plugins]\nHanger = {module}:Hanger\n")
        monkeypatch.syspath_prepend(tmp_path)

    return put


@pytest.fixture(autouse=True)
def _of_short_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plugin_thread, "AttendedCalls", partial(AttendedCalls, limit_seconds=LIMIT))
    for module in (serve, dev_session):
        monkeypatch.setattr(module, "ThreadPluginWorker", partial(ThreadPluginWorker, limit_seconds=LIMIT))


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    """Manifests, and an empty configuration."""
    items = [pod_object("py-0"), run_object("r1")]
    (tmp_path / "given.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    (tmp_path / "empty.yaml").write_text("")
    return {"manifests": str(tmp_path / "given.json"), "config": str(tmp_path / "empty.yaml")}


COMMANDS = {
    "plan": "plan -f {manifests}",
    "validate": "config validate {config}",
    "show": "config show",
    "list": "plugins list",
    "dev": "dev --runs 1 --exit-when-done",
    "bench": "bench engine --pods 2 --runs 1 --known 2 --waiting 1 --repeat 1",
    "scheduler": "scheduler --kubeconfig {config}",
}


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_ends_with_one_line(
    command: str, step: str, install: Install, files: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    install(step)
    assert main(COMMANDS[command].format(**files).split()) == 2
    assert capsys.readouterr().err == f"error: {WHY.format(step)}\n"


def test_a_schema_needs_the_import_alone(install: Install, capsys: pytest.CaptureFixture[str]) -> None:
    install("import")
    assert main(["config", "schema"]) == 2
    assert capsys.readouterr().err == f"error: {WHY.format('import')}\n"


@pytest.mark.parametrize(
    ("step", "hang"),
    [("import", IN_C), ("constructor", IN_C), ("constructor", LOCKED), ("arguments", IN_C)],
)
def test_however_it_hangs(step: str, hang: str, install: Install, capsys: pytest.CaptureFixture[str]) -> None:
    install(step, hang)
    assert main(["config", "show"]) == 2
    named = step if step == "import" else "constructor"
    assert capsys.readouterr().err == f"error: {WHY.format(named)}\n"


class Deciding:
    """Keeps what it is to decide by."""

    def __init__(self) -> None:
        self.profiles: list[Profiles] = []

    def reload(self, profiles: Profiles) -> None:
        self.profiles.append(profiles)


@pytest.mark.parametrize("hang", [SPINNING, IN_C])
@pytest.mark.parametrize("step", STEPS)
def test_a_reload_that_hangs_is_told_and_a_later_one_is_taken(
    step: str, hang: str, install: Install, tmp_path: Path
) -> None:
    lines, host = io.StringIO(), Deciding()
    log = Log(lines, SystemClock())
    path = tmp_path / "config.yaml"
    path.write_text("")

    async def told(number: int) -> None:
        async with asyncio.timeout(30):
            while lines.getvalue().count("\n") < number:
                await asyncio.sleep(0.01)

    async def scene() -> None:
        worker = ThreadPluginWorker(log, limit_seconds=LIMIT)
        configuration, registry = Configuration(), PluginRegistry()
        profiles = worker.build(configuration, registry)
        install(step, hang)
        reloading = Reloading(
            host.reload, str(path), configuration, PluginRegistry(), profiles, worker.build, log
        )
        for number in (1, 2):
            reloading.begin()
            await told(number)
            line = lines.getvalue().splitlines()[-1]
            assert f'the configuration was not reloaded why="{WHY.format(step)}"' in line
            assert not host.profiles
        path.write_text("plugins: {disabled: [Hanger]}")
        reloading.begin()
        await told(3)
        assert "the configuration was reloaded" in lines.getvalue().splitlines()[-1]
        assert len(host.profiles) == 1
        worker.close()

    asyncio.run(scene())


THREADS = """
import threading
from kruntimes_core import hookimpl

THREADS = []

class Bound:
    def __init__(self):
        THREADS.append(threading.get_ident())

    @hookimpl
    def filter(self, pod):
        THREADS.append(threading.get_ident())
"""


def test_a_plan_calls_an_instance_where_it_was_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, str]
) -> None:
    """So a connection to a database works that its constructor has opened."""
    (tmp_path / "acme_bound.py").write_text(THREADS)
    metadata = tmp_path / "acme_bound-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-bound\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[kruntimes.plugins]\nBound = acme_bound:Bound\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert main(["plan", "-f", files["manifests"], "--explain"]) == 0
    import acme_bound  # type: ignore[import-not-found]

    assert len(acme_bound.THREADS) >= 2
    assert len(set(acme_bound.THREADS)) == 1
    assert acme_bound.THREADS[0] != threading.get_ident()
