"""What a plugin raised is shown with the line of its own code, wherever it comes to light."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from kruntimes_core.testing import pod_object, run_object
from tests.scenarios.site import Site

PLUGIN = """
import json

def nested(text):
    return json.loads(text)

class {name}:
    @hookimpl
    def HOOK(self, ARGUMENTS):
        BODY
"""
KINDS = {
    "a filter": ("filter", "pod", "return {}[pod.name]", "KeyError: 'py-0'", 10),
    "a prefilter": ("prefilter", "run", "raise ValueError('no')", "ValueError: no", 10),
    "a score": ("score", "pod", "return 1 // 0", "ZeroDivisionError", 10),
    "a function that the hook calls": ("filter", "pod", "nested(None)", "TypeError: the JSON object", 5),
    "a library that the plugin calls": ("score", "pod", "return nested('?')", "JSONDecodeError", 5),
    "a loop without end": ("filter", "pod", "return self.filter(pod)", "RecursionError", 10),
}


@pytest.fixture
def cluster(tmp_path: Path) -> Path:
    file = tmp_path / "cluster.yaml"
    file.write_text(yaml.safe_dump_all([pod_object(), run_object("r1")]))
    return file


def install(site: Site, kind: str) -> tuple[str, str]:
    """A plugin that raises: its module, and its line that raises with what it says."""
    hook, arguments, body, raised, line = KINDS[kind]
    source = PLUGIN.replace("HOOK", hook).replace("ARGUMENTS", arguments).replace("BODY", body)
    module = site.install("acme", {"Broken": source})
    # The prelude is a line, too.
    return f"plugin Broken (acme 1.0) failed in {hook}: {raised}", f"{module}.py:{line + 1}"


@pytest.mark.parametrize("kind", KINDS)
def test_plan_names_the_line_of_the_plugins_own_code(tmp_path: Path, cluster: Path, kind: str) -> None:
    site = Site(tmp_path / "site")
    says, place = install(site, kind)
    shown = site.run("plan", "-f", cluster)
    error, _ = shown.stderr.splitlines()
    assert error.startswith(f"error: {says}")
    assert f", at {place}; its Runs stay Pending" in error
    assert (shown.returncode, "Traceback" in shown.stderr) == (2, False)


@pytest.mark.parametrize("kind", list(KINDS)[:3])
def test_who_debugs_sees_the_traceback(tmp_path: Path, cluster: Path, kind: str) -> None:
    site = Site(tmp_path / "site")
    says, place = install(site, kind)
    shown = site.run("plan", "-f", cluster, variables={"KRUNTIMES_DEBUG": "1"})
    first, *frames, error, _ = shown.stderr.splitlines()
    file, line = place.split(":")
    assert first == "Traceback (most recent call last):"
    assert any(f'/{file}", line {line}, in ' in frame for frame in frames)
    assert error.startswith(f"error: {says}")


def test_dev_says_it_at_once_and_ends_though_no_run_can_be_placed(tmp_path: Path) -> None:
    site = Site(tmp_path / "site")
    says, place = install(site, "a filter")
    shown = site.run("dev", "--runs=2", "--exit-when-done")
    warning, last = shown.stderr.splitlines()
    assert f" WARNING {says}" in warning
    assert warning.endswith(f" at={place} run=default/run-0001")
    assert last == "error: no Run has moved for 10 s, and 2 Runs cannot be placed: Broken fails in filter"
    assert (shown.returncode, shown.stdout.splitlines()[-1][:21]) == (1, "2 Runs: 2 not ended; ")


SIGNALS = {
    "a handler": "import signal; signal.signal(signal.SIGTERM, print)",
    "a descriptor for wakeups": "import signal; signal.set_wakeup_fd(-1)",
    "a handler of a loop": (
        "import asyncio; asyncio.Runner(loop_factory=asyncio.SelectorEventLoop)"
        ".get_loop().add_signal_handler(15, print)"
    ),
}
LOADING = {
    "plan": "plan -f {cluster}",
    "dev": "dev --runs 1 --exit-when-done",
    "scheduler": "scheduler --kubeconfig {cluster}",
}
OF_SIGNALS = "it handles signals, which belong to the host: remove that"
HANDLER = """
{at_import}

class {{name}}:
    def __init__(self):
        {in_constructor}

    @hookimpl
    def filter(self, pod):
        {in_hook}
"""


def handler(folder: Path, place: str, kind: str) -> Site:
    site = Site(folder / "site")
    places = dict.fromkeys(("at_import", "in_constructor", "in_hook"), "pass") | {place: SIGNALS[kind]}
    site.install("acme", {"Handler": HANDLER.format(**places)})
    return site


@pytest.mark.parametrize(
    ("kind", "command", "place"),
    [
        *((kind, "plan", "in_constructor") for kind in SIGNALS),
        *(("a handler", command, "at_import") for command in LOADING),
        *(("a handler", command, "in_constructor") for command in ("dev", "scheduler")),
    ],
)
def test_who_sets_a_signal_handler_is_told_at_the_start(
    tmp_path: Path, cluster: Path, command: str, kind: str, place: str
) -> None:
    site = handler(tmp_path, place, kind)
    shown = site.run(*LOADING[command].format(cluster=cluster).split())
    (error,) = shown.stderr.splitlines()
    assert "cannot load plugin Handler (acme 1.0, " in error
    assert OF_SIGNALS in error
    assert (shown.returncode, shown.stdout) == (2, "")


@pytest.mark.parametrize("place", ["at_import", "in_constructor"])
def test_the_list_of_plugins_says_it_too(tmp_path: Path, place: str) -> None:
    shown = handler(tmp_path, place, "a handler").run("plugins", "list", "-o", "json")
    (state,) = (one for one in json.loads(shown.stdout)["plugins"] if one["name"] == "Handler")
    assert (shown.returncode, state["state"]) == (1, "broken")
    assert OF_SIGNALS in state["why"]


@pytest.mark.parametrize("kind", SIGNALS)
def test_who_does_it_in_a_hook_is_told_then(tmp_path: Path, cluster: Path, kind: str) -> None:
    shown = handler(tmp_path, "in_hook", kind).run("plan", "-f", cluster)
    error, _ = shown.stderr.splitlines()
    assert error.startswith(f"error: plugin Handler (acme 1.0) failed in filter: {OF_SIGNALS}, at ")
    assert shown.returncode == 2


def test_a_plugin_may_open_a_database_in_its_constructor(tmp_path: Path, cluster: Path) -> None:
    """sqlite3 takes calls from the thread alone that opened it: hooks run where the instance was built."""
    site = Site(tmp_path / "site")
    source = """
    import sqlite3

    class {name}:
        def __init__(self):
            self.database = sqlite3.connect(":memory:")

        @hookimpl
        def filter(self, pod):
            self.database.execute("select 1")
    """
    site.install("acme", {"Reader": source})
    shown = site.run("plan", "-f", cluster)
    assert (shown.returncode, shown.stderr) == (0, "1 Run: 1 Scheduled\n")
