"""A plugin may change what belongs to the whole process: the host does what it would do without that."""

from __future__ import annotations

import signal
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
import yaml

from devcluster import running
from embedded.place import ADMINISTRATOR, embedded_place
from kruntimes_core.testing import pod_object, run_object
from realcluster.scheduler import Scheduler
from tests.scenarios.site import Site, run_together

PLUGIN = """
import asyncio, decimal, faulthandler, locale, os, resource, signal, sys, tempfile, time, warnings

class Policy(asyncio.DefaultEventLoopPolicy):
    def new_event_loop(self):
        raise RuntimeError("no loop")

def vendor(*modules):
    folder = tempfile.mkdtemp()
    for module in modules:
        with open(folder + "/" + module + ".py", "w") as file:
            file.write("raise ImportError('of another version')")
    sys.path.insert(0, folder)

def change():
    {change}

{at_import}

class {{name}}:
    on_by_default = True
    reasons = {{"Full": "a slot"}}

    def __init__(self):
        {in_constructor}

    @hookimpl
    def filter(self, pod):
        {in_hook}
        if pod.name == "py-1":
            return Reject("Full")
"""
PLACES = ("at_import", "in_constructor", "in_hook")
CHANGES = {
    "the working directory": "os.chdir('/')",
    "a working directory that is gone": "os.chdir(tempfile.mkdtemp()); os.rmdir(os.getcwd())",
    "no environment": "os.environ.clear()",
    "another environment": (
        "os.environ.update(dict.fromkeys(['HOME', 'KUBECONFIG', 'TMPDIR', 'SSL_CERT_FILE', 'SSL_CERT_DIR',"
        " 'XDG_CACHE_HOME', 'XDG_RUNTIME_DIR', 'SSLKEYLOGFILE'], '/none/of/ours'),"
        " HTTP_PROXY='http://127.0.0.1:9', http_proxy='http://127.0.0.1:9', NO_PROXY='', POD_NAMESPACE='?',"
        " KUBERNETES_SERVICE_HOST='127.0.0.1', KUBERNETES_SERVICE_PORT='9')"
    ),
    "the time zone": "os.environ['TZ'] = 'UTC-5:45'; time.tzset()",
    "the locale": "locale.setlocale(locale.LC_ALL, 'C')",
    "no umask": "os.umask(0)",
    "a strict umask": "os.umask(0o777)",
    "the recursion limit": "sys.setrecursionlimit(10 ** 6)",
    "the search path": "vendor('aiohttp', 'jinja2', 'kubernetes', 'rich', 'yaml')",
    "the filters of warnings": "warnings.simplefilter('error')",
    "the precision of decimals": "decimal.DefaultContext.prec = decimal.getcontext().prec = 1",
    "the kind of event loop": "asyncio.set_event_loop_policy(Policy())",
    "what a signal does": "faulthandler.register(signal.SIGTERM, os.open('/dev/null', 1), chain=False)",
    "nothing": "pass",
}
OF_FILES = (
    "the working directory",
    "a working directory that is gone",
    "no environment",
    "another environment",
    "no umask",
    "a strict umask",
)
OF_SCHEDULERS = (
    *OF_FILES[:4],
    "the locale",
    "the search path",
    "the filters of warnings",
    "the kind of event loop",
    "what a signal does",
)
ALL = "; ".join(change for name, change in CHANGES.items() if name != "what a signal does")


def install(folder: Path, place: str, change: str) -> Site:
    site = Site(folder / "site")
    places = dict.fromkeys(PLACES, "pass") | {place: "change()"}
    site.install("acme", {"Changer": PLUGIN.format(change=change, **places)})
    return site


@pytest.fixture(autouse=True)
def _in_a_folder_with_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All paths are relative."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cluster.yaml").write_text(
        yaml.safe_dump_all([pod_object("py-0"), pod_object("py-1"), run_object("r-ü"), run_object("r2")])
    )
    (tmp_path / "config.yaml").write_text("backoff: {initialSeconds: 2}\n")


# A plan


@pytest.mark.parametrize(
    ("place", "form", "names"),
    [
        ("in_constructor", "json", list(CHANGES)[:7]),
        ("in_constructor", "json", list(CHANGES)[7:]),
        ("in_constructor", "table", ["the time zone", "the locale"]),
        ("at_import", "json", OF_FILES),
        ("in_hook", "json", OF_FILES),
    ],
)
def test_a_plan_is_the_same_whatever_was_changed(
    tmp_path: Path, place: str, form: str, names: Sequence[str]
) -> None:
    sites = {}
    changes = {name: CHANGES[name] for name in names}
    for name, change in {**changes, "all of that": ALL, "nothing": "pass"}.items():
        (folder := tmp_path / name.replace(" ", "_")).mkdir()
        sites[name] = install(folder, place, change)
    options = ("--config=config.yaml", "--explain", "-o", form)
    plans = run_together(sites, "plan", "-f", "cluster.yaml", *options)
    shown = {name: (plan.returncode, plan.stdout, plan.stderr) for name, plan in plans.items()}
    expected = shown["nothing"]
    assert (expected[0], "py-0" in expected[1]) == (0, True)
    assert {name: one for name, one in shown.items() if one != expected} == {}


@pytest.mark.parametrize("place", ["at_import", "in_constructor"])
def test_a_manifest_that_is_nested_deeply_is_one_line(tmp_path: Path, place: str) -> None:
    """It is read where the limit of recursion is Python's own: beyond it, the interpreter would crash."""
    site = install(tmp_path, place, CHANGES["the recursion limit"])
    (tmp_path / "deep.json").write_text("[" * 200_000)
    shown = site.run("plan", "-f", "deep.json")
    assert (shown.returncode, shown.stdout) == (2, "")
    assert shown.stderr == "error: deep.json: this is not valid JSON: nested too deeply\n"


WARNER = """
class {name}:
    def __init__(self):
        import warnings
        warnings.warn("old", DeprecationWarning)

    @hookimpl
    def filter(self, pod):
        return None
"""


@pytest.mark.parametrize("place", ["at_import", "in_constructor"])
@pytest.mark.parametrize(
    "filters", ["simplefilter('error')", "filterwarnings('error', '', DeprecationWarning)"]
)
def test_a_warning_is_an_error_for_the_plugin_alone_that_wants_it(
    tmp_path: Path, place: str, filters: str
) -> None:
    site = install(tmp_path, place, f"warnings.{filters}")
    site.install("later", {"Warner": WARNER})
    shown = site.run("plan", "-f", "cluster.yaml", "-o", "name")
    assert (shown.returncode, len(shown.stdout.splitlines())) == (0, 2)


# A development cluster


@pytest.mark.parametrize("change", [*OF_FILES, "the kind of event loop", "what a signal does", "all"])
@pytest.mark.parametrize("given", [True, False], ids=["a path", "the default path"])
def test_the_kubeconfig_of_dev_is_where_it_should_be_for_the_user_alone(
    tmp_path: Path, change: str, given: bool
) -> None:
    site = install(tmp_path, "in_constructor", CHANGES.get(change, ALL))
    home = tmp_path / "home"
    home.mkdir()
    arguments = ["--kubeconfig-out=made/here/config"] if given else []
    with running(home, *arguments, PYTHONPATH=str(site.root)) as dev:
        dev.url()
        (file,) = (path for path in [*tmp_path.glob("made/here/*"), *home.rglob("*")] if path.is_file())
        assert file.parent == (tmp_path / "made/here" if given else home / "kruntimes")
        modes = [stat.S_IMODE(path.stat().st_mode) for path in (file, file.parent)]
        assert modes == [0o600, 0o700]
        assert dev.end(signal.SIGTERM) == 0
        assert dev.errors.whole() == ""
    assert not file.exists()


# A scheduler


@pytest.fixture(scope="module")
def kubeconfig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with embedded_place() as place:
        yield place.kubeconfig_of(ADMINISTRATOR, tmp_path_factory.mktemp("cluster"))


@pytest.mark.parametrize("change", [*OF_SCHEDULERS, "all"])
def test_a_scheduler_works_reloads_and_ends(
    tmp_path: Path, kubeconfig: Path, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    site = install(tmp_path, "in_constructor", CHANGES.get(change, ALL))
    (tmp_path / "kubeconfig").write_text(kubeconfig.read_text())
    monkeypatch.setenv("PYTHONPATH", str(site.root))
    monkeypatch.setenv("KUBECONFIG", "kubeconfig")
    monkeypatch.setenv("POD_NAMESPACE", "default")
    addresses = ("--metrics-bind-address=0", "--health-probe-bind-address=0")
    scheduler = Scheduler(["--leader-elect", "--config=config.yaml", *addresses])
    try:
        scheduler.says("deciding")
        (tmp_path / "config.yaml").write_text("plugins: {disabled: [LeastLoaded]}\n")
        scheduler.send(signal.SIGHUP)
        scheduler.says("the configuration was reloaded")
        assert scheduler.stop() == 0
        lines = scheduler.all_lines()
    finally:
        scheduler.kill()
    assert [line for line in lines if line.get("level") != "info"] == []
    assert all(line["time"].endswith("Z") for line in lines)
