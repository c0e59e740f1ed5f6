"""What a plugin leaves running holds up the end of no command for long, and is named."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from embedded.place import ADMINISTRATOR, embedded_place
from kruntimes_core.testing import pod_object, run_object
from realcluster.scheduler import Scheduler
from tests.scenarios.site import Completed, Site, run_together

PLUGIN = """
import asyncio, atexit, multiprocessing, queue, threading
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

never = threading.Event()
fork = multiprocessing.get_context("fork")

def work():
    never.wait()

def thread(target, **options):
    threading.Thread(target=target, **{{"daemon": False, "name": "worker"}} | options).start()

async def wait():
    await asyncio.get_running_loop().create_future()

def loop():
    loop = asyncio.new_event_loop()
    loop.tasks = [loop.create_task(wait())]
    return loop

{at_import}

class {{name}}:
    def __init__(self):
        {in_constructor}

    @hookimpl
    def filter(self, pod):
        {in_hook}
"""
PLACES = ("at_import", "in_constructor", "in_hook")
OF_PLUGIN = r" \(plugin Leaver of acme 1\.0\)"


@dataclass(frozen=True)
class Kind:
    """What a plugin leaves, where it starts that, and how that is named."""

    place: str
    statement: str
    named: str


LEFT = {
    "a thread": Kind("at_import", "thread(work)", r"thread worker in \w+\.work" + OF_PLUGIN),
    "a thread in a library": Kind(
        "in_hook", "thread(queue.Queue().get)", r"thread worker in queue\.Queue\.get"
    ),
    "a pool": Kind(
        "in_constructor",
        "ThreadPoolExecutor(2, 'pool').submit(work)",
        r"thread pool_0 in \w+\.work" + OF_PLUGIN,
    ),
    "a loop": Kind("in_constructor", "thread(loop().run_forever)", r"thread worker in \w+\.wait" + OF_PLUGIN),
    "a process": Kind("in_hook", "fork.Process(target=work).start()", r"process \d+ \(ForkProcess-1\)"),
    "a pool of processes": Kind(
        "in_constructor",
        "ProcessPoolExecutor(1, fork).submit(work)",
        r"process \d+ \(ForkProcess-1\)",
    ),
    "an exit handler": Kind("at_import", "atexit.register(work)", r"the exit handler \w+\.work" + OF_PLUGIN),
    "a queue between processes": Kind(
        "in_constructor",
        "fork.Queue().put(bytes(10 ** 7))",
        r"the exit handler multiprocessing\.queues\.Queue\._finalize_join",
    ),
}
HARMLESS = {
    "a daemon thread": Kind("in_constructor", "thread(work, daemon=True)", ""),
    "an idle pool": Kind("in_constructor", "ThreadPoolExecutor().submit(int).result()", ""),
    "a pool that ends soon": Kind("in_hook", "ThreadPoolExecutor().submit(never.wait, 0.2)", ""),
    "an exit handler that does its work": Kind(
        "at_import", "atexit.register(lambda: open(__file__ + '.done', 'w').close())", ""
    ),
}
COMMANDS = {
    "plan": ("plan", "-f", "{cluster}"),
    "dev": ("dev", "--runs=1", "--duration=10ms", "--exit-when-done"),
    "plugins list": ("plugins", "list"),
}
SAID = r"ends without waiting any longer for (.+): let plugins end what they start"


def install(folder: Path, kind: Kind) -> Site:
    site = Site(folder / "site")
    places = dict.fromkeys(PLACES, "pass") | {kind.place: kind.statement}
    site.install("acme", {"Leaver": PLUGIN.format(**places)})
    return site


def cluster_file(folder: Path, *more: dict[str, object]) -> Path:
    file = folder / "cluster.yaml"
    file.write_text(yaml.safe_dump_all([pod_object(), run_object("r1"), *more]))
    return file


def sites_of(folder: Path, kinds: Iterable[str], table: Mapping[str, Kind]) -> dict[str, Site]:
    return {name: install(_made(folder / name.replace(" ", "_")), table[name]) for name in kinds}


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


@pytest.fixture(scope="module")
def planned(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Completed]:
    """A plan with each kind of what is left."""
    folder = tmp_path_factory.mktemp("left")
    return run_together(sites_of(folder, LEFT, LEFT), "plan", "-f", cluster_file(folder), "-o", "name")


@pytest.mark.parametrize("kind", LEFT)
def test_a_plan_ends_as_it_should_and_names_what_was_left(planned: dict[str, Completed], kind: str) -> None:
    ended = planned[kind]
    assert (ended.returncode, ended.stdout) == (0, "run.kruntimes.io/r1 -n team-a\n")
    (line,) = ended.stderr.splitlines()
    said = re.fullmatch(SAID, line)
    assert said is not None, line
    assert any(re.fullmatch(LEFT[kind].named, one) for one in said[1].split("; ")), line


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_ends(tmp_path: Path, command: str) -> None:
    cluster = cluster_file(tmp_path)
    arguments = [one.format(cluster=cluster) for one in COMMANDS[command]]
    kinds = ["a thread", "a pool", "an exit handler"]
    for kind, ended in run_together(sites_of(tmp_path, kinds, LEFT), *arguments).items():
        assert ended.returncode == 0, (kind, ended)
        assert "r1" in ended.stdout or "1 Succeeded" in ended.stdout or "Leaver" in ended.stdout
        assert any(re.fullmatch(f"{SAID}", line) for line in ended.stderr.splitlines()), (kind, ended)


def test_the_exit_code_stays_a_no(tmp_path: Path) -> None:
    cluster = cluster_file(tmp_path, run_object("r2", runtime="none"))
    for ended in run_together(
        sites_of(tmp_path, ["a thread", "a process"], LEFT), "plan", "-f", cluster
    ).values():
        assert ended.returncode == 1
        assert re.fullmatch(SAID, ended.stderr.splitlines()[-1])


def test_what_ends_by_itself_is_waited_for_in_silence(tmp_path: Path) -> None:
    sites = sites_of(tmp_path, HARMLESS, HARMLESS)
    for kind, ended in run_together(sites, "plan", "-f", cluster_file(tmp_path)).items():
        assert (ended.returncode, ended.stderr.splitlines()) == (0, ["1 Run: 1 Scheduled"]), kind
    done = [
        path for path in sites["an exit handler that does its work"].root.iterdir() if path.suffix == ".done"
    ]
    assert len(done) == 1


# The scheduler


@pytest.fixture(scope="module")
def kubeconfig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with embedded_place() as place:
        yield place.kubeconfig_of(ADMINISTRATOR, tmp_path_factory.mktemp("cluster"))


@pytest.mark.parametrize("kind", ["a thread", "a pool", "a process", "an exit handler"])
def test_a_scheduler_ends_after_sigterm(
    tmp_path: Path, kubeconfig: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    # A process is started by a constructor here: there is no Run.
    left = Kind("in_constructor", LEFT[kind].statement, LEFT[kind].named)
    monkeypatch.setenv("PYTHONPATH", str(install(tmp_path, left).root))
    addresses = ("--metrics-bind-address=0", "--health-probe-bind-address=0")
    scheduler = Scheduler([f"--kubeconfig={kubeconfig}", *addresses])
    try:
        scheduler.says("deciding")
        assert scheduler.stop() == 0
        *_, stopped, last = scheduler.all_lines()
        assert (stopped["message"], last["level"]) == ("stopped", "warning")
        assert re.fullmatch(left.named, last["left"])
    finally:
        scheduler.kill()
