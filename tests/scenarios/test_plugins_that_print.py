"""What plugins print, log and warn never gets into the output of a command, and says who it is from."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from embedded.place import ADMINISTRATOR, embedded_place
from kruntimes_core.testing import pod_object, run_object
from realcluster.scheduler import Scheduler
from tests.scenarios.site import COMMAND, Completed, Site, run_together

PLUGIN = """
import ctypes, logging, os, subprocess, sys, threading, warnings

log = logging.getLogger("acme")

def elsewhere():
    helper = threading.Thread(target=print, args=("said",))
    helper.start()
    helper.join()

class Silent(Exception):
    def __str__(self):
        raise ValueError("no text")

{at_import}

class {{name}}:
    def __init__(self):
        {in_constructor}

    @hookimpl
    def filter(self, pod):
        {in_hook}
"""
PLACES = ("at_import", "in_constructor", "in_hook")


@dataclass(frozen=True)
class Kind:
    """What a plugin does, where, and the line on standard error."""

    place: str
    statement: str
    line: str


FROM = "info from {module}.{function} (plugin Speaker of acme 1.0): said"
SPEAKING = {
    "print at import": Kind("at_import", "print('said')", FROM.replace("{function}", "<module>")),
    "print in the constructor": Kind(
        "in_constructor", "print('said')", FROM.replace("{function}", "Speaker.__init__")
    ),
    "print in a hook": Kind("in_hook", "print('said')", FROM.replace("{function}", "Speaker.filter")),
    "print without a line feed": Kind("in_constructor", "print('said', end='')", "said"),
    "print on a thread": Kind("in_hook", "elsewhere()", "said"),
    "print bytes": Kind("in_hook", "sys.stdout.buffer.write(b'said\\n'); sys.stdout.buffer.flush()", "said"),
    "the stream of the start": Kind(
        "at_import", "sys.__stdout__.write('said\\n'); sys.__stdout__.flush()", "said"
    ),
    "another stream": Kind(
        "at_import", "sys.stdout = open(1, 'w', closefd=False); print('said', flush=True)", "said"
    ),
    "a stream that fails": Kind("at_import", "sys.stdout = None; os.write(2, b'said\\n')", "said"),
    "a closed stream": Kind("at_import", "sys.stdout.close(); os.write(2, b'said\\n')", "said"),
    "the descriptor": Kind("in_hook", "os.write(1, b'said\\n')", "said"),
    "a library in C": Kind(
        "in_constructor", "libc = ctypes.CDLL(None); libc.puts(b'said'); libc.fflush(None)", "said"
    ),
    "a child": Kind("in_constructor", "subprocess.run(['echo', 'said'], check=True)", "said"),
    "a record": Kind("in_hook", "log.warning('%s', 'said')", "warning from acme: said"),
    "a record with a fault": Kind(
        "in_constructor", "log.error('said %d', 'x')", "error from acme: said %d (TypeError in its arguments)"
    ),
    "an error in a record": Kind(
        "in_constructor",
        "log.error('said', exc_info=ValueError('no'))",
        "error from acme: said (ValueError: no)",
    ),
    "a record that is no text": Kind(
        "in_hook", "log.warning(Silent())", "warning from acme: a record (ValueError in its arguments)"
    ),
    "an error that has no text": Kind(
        "in_constructor",
        "log.error('said', exc_info=Silent())",
        "error from acme: said (Silent: its message cannot be read)",
    ),
    "a record of the root": Kind("at_import", "logging.critical('said')", "critical from root: said"),
    "a warning": Kind(
        "in_constructor",
        "warnings.warn_explicit('said', UserWarning, 'acme.py', 7)",
        "warning from py.warnings: acme.py:7: UserWarning: said",
    ),
}
COMMANDS = {
    "plan -o json": ("plan", "-f", "{cluster}", "-o", "json"),
    "plugins list -o json": ("plugins", "list", "-o", "json"),
    "config show -o json": ("config", "show", "-o", "json"),
    "config schema": ("config", "schema"),
    "dev -o json": ("dev", "--runs=1", "--duration=10ms", "--exit-when-done", "-o", "json"),
}


def install(folder: Path, kind: Kind) -> tuple[Site, str]:
    folder.mkdir(exist_ok=True)
    site = Site(folder / "site")
    places = dict.fromkeys(PLACES, "pass") | {kind.place: kind.statement}
    module = site.install("acme", {"Speaker": PLUGIN.format(**places)})
    return site, kind.line.replace("{module}", module)


def cluster_file(folder: Path) -> Path:
    file = folder / "cluster.yaml"
    file.write_text(yaml.safe_dump_all([pod_object(), run_object("r1")]))
    return file


def folder_of(folder: Path, kind: str) -> Path:
    return folder / kind.replace(" ", "_")


@pytest.fixture(scope="module")
def planned(tmp_path_factory: pytest.TempPathFactory) -> tuple[Mapping[str, Completed], Mapping[str, str]]:
    """A plan with each kind of plugin, and the line that it is to say."""
    folder = tmp_path_factory.mktemp("said")
    installed = {name: install(folder_of(folder, name), kind) for name, kind in SPEAKING.items()}
    sites = {name: site for name, (site, _) in installed.items()}
    lines = {name: line for name, (_, line) in installed.items()}
    return run_together(sites, "plan", "-f", cluster_file(folder), "-o", "name"), lines


@pytest.mark.parametrize("kind", SPEAKING)
def test_a_document_stays_whole_and_the_text_is_on_standard_error(
    planned: tuple[Mapping[str, Completed], Mapping[str, str]], kind: str
) -> None:
    ended, line = planned[0][kind], planned[1][kind]
    assert (ended.returncode, ended.stdout) == (0, "run.kruntimes.io/r1 -n team-a\n")
    assert ended.stderr.splitlines() == [line]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_writes_whole_documents(tmp_path: Path, command: str) -> None:
    arguments = [one.format(cluster=cluster_file(tmp_path)) for one in COMMANDS[command]]
    kinds = ("print at import", "the descriptor", "a child", "another stream")
    sites = {kind: install(folder_of(tmp_path, kind), SPEAKING[kind])[0] for kind in kinds}
    for kind, ended in run_together(sites, *arguments).items():
        assert ended.returncode == 0, (kind, ended)
        assert json.loads(ended.stdout), kind
        assert "said" in ended.stderr or SPEAKING[kind].place != "at_import", kind


@pytest.mark.parametrize("redirected", ["2>&-", "2>/dev/full", "2>&- <&-", "2>/dev/null"])
def test_a_document_is_whole_without_a_place_for_the_text(tmp_path: Path, redirected: str) -> None:
    kinds = ["print in a hook", "a record"]
    if "full" not in redirected:  # where these fail by themselves
        kinds += ["the descriptor", "a child"]
    for kind in kinds:
        site, _ = install(folder_of(tmp_path, kind), SPEAKING[kind])
        arguments = f"{COMMAND} plan -f {cluster_file(tmp_path)} -o name {redirected}"
        environment = {**os.environ, "PYTHONPATH": str(site.root)}
        ended = subprocess.run(
            ["/bin/sh", "-c", arguments],
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
            check=False,
            timeout=50,
        )
        assert (ended.returncode, ended.stdout) == (0, "run.kruntimes.io/r1 -n team-a\n"), kind


@pytest.mark.parametrize("redirected", [">&-", ">&- 2>&-", ">&- <&-"])
def test_what_a_plugin_writes_gets_into_no_file_that_took_the_place_of_a_closed_stream(
    tmp_path: Path, redirected: str
) -> None:
    opens = "opened = open(__file__ + '.opened', 'w'); os.write(1, b'said')"
    site, _ = install(tmp_path, Kind("at_import", opens, "said"))
    arguments = f"{COMMAND} plan -f {cluster_file(tmp_path)} {redirected}"
    environment = {**os.environ, "PYTHONPATH": str(site.root)}
    ended = subprocess.run(
        ["/bin/sh", "-c", arguments], env=environment, stderr=subprocess.PIPE, check=False, timeout=50
    )
    (opened,) = site.root.glob("*.opened")
    assert (ended.returncode, opened.read_text()) == (0, "")


SILENCING = {
    "disable": "logging.disable(logging.CRITICAL)",
    "another configuration": "logging.basicConfig(force=True, level=60)",
    "no handlers": "logging.getLogger().handlers.clear()",
    "existing loggers disabled": "import logging.config; logging.config.dictConfig({'version': 1})",
}
LOGGED = {
    **{name: SPEAKING[name] for name in ("print in the constructor", "a record of the root")},
    "a quiet record": Kind("in_constructor", "log.info('said')", ""),
    "a detail": Kind("in_constructor", "log.debug('never said'); log.error('said')", ""),
}


@pytest.fixture(scope="module")
def kubeconfig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with embedded_place() as place:
        yield place.kubeconfig_of(ADMINISTRATOR, tmp_path_factory.mktemp("cluster"))


def lines_of_a_scheduler(
    folder: Path, kubeconfig: Path, kind: Kind, patch: pytest.MonkeyPatch
) -> list[dict[str, Any]]:
    patch.setenv("PYTHONPATH", str(install(folder, kind)[0].root))
    addresses = ("--metrics-bind-address=0", "--health-probe-bind-address=0")
    scheduler = Scheduler([f"--kubeconfig={kubeconfig}", *addresses])
    try:
        scheduler.says("deciding")
        assert scheduler.stop() == 0
        return scheduler.all_lines()
    finally:
        scheduler.kill()


@pytest.mark.parametrize("kind", LOGGED)
def test_a_schedulers_log_has_the_text_with_its_logger_and_level(
    tmp_path: Path, kubeconfig: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    lines = lines_of_a_scheduler(tmp_path, kubeconfig, LOGGED[kind], monkeypatch)
    assert [line for line in lines if "level" not in line] == [], "no JSON: said beside the log"
    said = [
        (line["level"], line["logger"].partition(".")[2] or line["logger"])
        for line in lines
        if line["message"] == "said"
    ]
    assert said == [
        {
            "print in the constructor": ("info", "Speaker.__init__ (plugin Speaker of acme 1.0)"),
            "a record of the root": ("error", "root"),
            "a quiet record": ("info", "acme"),
            "a detail": ("error", "acme"),
        }[kind]
    ]


@pytest.mark.parametrize("how", SILENCING)
def test_a_plugin_that_silences_logging_silences_nothing_of_the_host(
    tmp_path: Path, kubeconfig: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    kind = Kind("in_constructor", SILENCING[how], "")
    said = [line["message"] for line in lines_of_a_scheduler(tmp_path, kubeconfig, kind, monkeypatch)]
    assert {"started", "deciding", "stopped"} <= set(said)
