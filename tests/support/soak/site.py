"""What the soak strikes: schedulers behind proxies, Pods that beat, and Runs that come and go."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from http.client import HTTPException
from pathlib import Path
from random import Random

from faultproxy.proxy import FaultProxy, fault_proxy
from kruntimes_core.lab.bench.objects import near, rather_near
from realcluster.client import RUNS, Client, KeptClient, Object
from realcluster.ledger import Ledger, Statuses
from realcluster.scheduler import Scheduler, running_scheduler
from realcluster.servers import Cluster
from realcluster.workload import Workload, now_text, run_object

LEASE_SECONDS = 6.0
_ELECTION = (
    "--leader-elect",
    f"--leader-elect-lease-duration={LEASE_SECONDS:g}s",
    "--leader-elect-renew-deadline=4s",
    "--leader-elect-retry-period=1s",
)
_CONFIGURATION = "heartbeatStalenessSeconds: 12\n"
_BEAT_SECONDS = 2.0
_ROUND_SECONDS = 0.2
_AWAY = (OSError, HTTPException, AssertionError)
"""What a server that is away, or that has forgotten an object, comes to in a client of the tests."""

PODS = tuple(f"py-{number}" for number in range(6))
SLOTS = 3
_OPEN = 24
"""More Runs than there are slots, so that some always wait."""
HOPELESS = "hopeless"
FOLLOWED = ("runs", "pods", "persistentworkspaces")


class SoakError(Exception):
    """Something that must hold did not."""


class Member:
    """One of the schedulers, behind a proxy of its own. A new process takes the place of one that ended."""

    def __init__(self, name: str, proxy: FaultProxy, folder: Path, namespace: str) -> None:
        self.name = name
        self.proxy = proxy
        self._folder = folder
        self._where = (f"--namespaces={namespace}", f"--lease-namespace={namespace}", *_ELECTION)
        self._running = ExitStack()
        self.scheduler = self._started()

    def restart(self) -> None:
        """Start it again; what still runs is killed."""
        self.close()
        self.scheduler = self._started()

    def revive(self) -> None:
        """Start it again if it gave up because it found no API server, as a kubelet would.

        Raises `SoakError` for a scheduler that ended after it had begun.
        """
        if not self.scheduler.ended:
            return
        if self.scheduler.said("started"):
            raise SoakError(f"{self.name} ended by itself: {self.scheduler.lines[-3:]}")
        self.restart()

    def stop(self) -> None:
        """SIGTERM. Raises `SoakError` for a scheduler that does not end as it should."""
        began = self.scheduler.said("started")
        code = self.scheduler.stop()
        # Before its first line, a signal may come before Python takes signals.
        if began and code != 0:
            raise SoakError(f"{self.name} ended with {code} after SIGTERM: {self.scheduler.lines[-3:]}")

    def close(self) -> None:
        """End it."""
        self._running.close()

    def _started(self) -> Scheduler:
        cluster = self.proxy.cluster
        return self._running.enter_context(
            running_scheduler(
                cluster, cluster.token, self._folder, *self._where, configuration=_CONFIGURATION
            )
        )


class Load:
    """Keeps Runs of several shapes open, lets those that are placed end, and deletes some in any state.

    Each round is one of a thread's own. Nothing here is judged: the owner of a Run may do all of it.
    """

    def __init__(self, client: KeptClient, namespace: str, ledger: Ledger, random: Random) -> None:
        self.ended = 0
        """How many Runs were placed, and have ended or were deleted since."""
        self.width = _OPEN
        """How many are open at a time."""
        self.spares_waiting = False
        """Whether no Run is deleted while it waits: else one that a scheduler forgot would soon be gone."""
        self._client = client
        self._namespace = namespace
        self._ledger = ledger
        self._random = random
        self._made = 0

    def round(self) -> None:
        """End and delete some, and create as many as are missing."""
        now = {name: status for name, status in self._ledger.now.items() if not name.startswith(HOPELESS)}
        still_open = 0
        for name, status in now.items():
            phase = status.get("phase", "Pending")
            if phase in ("Succeeded", "Failed"):
                self._client.delete(RUNS, name, self._namespace)
            elif phase == "Scheduled" and self._random.random() < 0.5:
                self._end(name)
            elif self._random.random() < 0.002 and not (self.spares_waiting and phase == "Pending"):
                self._client.delete(RUNS, name, self._namespace)
            else:
                still_open += 1
        for _ in range(min(self.width - still_open, _OPEN)):
            self._made += 1
            self._client.create(RUNS, _run(self._made), self._namespace)

    def _end(self, name: str) -> None:
        if self._random.random() < 0.1:
            answer = self._client.delete(RUNS, name, self._namespace)
        else:
            status = {"phase": "Succeeded", "completionTime": now_text()}
            answer = self._client.patch(RUNS, name, {"status": status}, self._namespace, "status")
        self.ended += answer.status == 200


def _run(number: int) -> Object:
    """One of the shapes in turn: plain, two slots, beside its cohort, rather beside its cohort."""
    name, cohort = f"r{number:06}", f"c{number % 3}"
    labels = {"cohort": cohort}
    match number % 5:
        case 1:
            return run_object(name, resources={"requests": {"runs": 2}})
        case 2:
            return run_object(name, labels=labels, affinity=near("cohort", cohort))
        case 3:
            return run_object(name, labels=labels, affinity=rather_near("cohort", cohort))
    return run_object(name)


class Site:
    """All of it, and what outlasts a single fault."""

    def __init__(
        self, cluster: Cluster, client: Client, namespace: str, ledger: Ledger, members: list[Member]
    ) -> None:
        """client: for the thread of the soak."""
        self.cluster = cluster
        self.ledger = ledger
        self.members = members
        self.stopped = threading.Event()
        self.silent_pod = ""
        """One that misses its heartbeats."""
        self.sockets: list[socket.socket] = []
        self._work = Workload(client, namespace, ledger)
        self._hopeless: list[str] = []

    def pause(self, seconds: float) -> None:
        """Let time go by, unless the soak is over."""
        self.stopped.wait(seconds)

    def beat(self, work: Workload) -> None:
        """A heartbeat of each Pod; one that is gone comes again with another UID."""
        for pod in PODS:
            if pod == self.silent_pod:
                continue
            try:
                work.beat(pod)
            except AssertionError:
                work.pod(pod, runs=SLOTS)

    def delete_pod(self, name: str) -> None:
        """End a Pod at once, with all that it carries."""
        self._work.delete_pod(name)

    def replace_hopeless(self, names: list[str]) -> None:
        """Runs that fit nowhere, in the place of those before, which are deleted as they stand."""
        before, self._hopeless = self._hopeless, [f"{HOPELESS}-{name}" for name in names]
        for name in before:
            self._work.client.delete(RUNS, name, self._work.namespace)
        for name in self._hopeless:
            self._work.run(name, resources={"requests": {"runs": SLOTS + 1}})

    def be_calm(self) -> None:
        """End what outlasts a fault."""
        self.silent_pod = ""
        for one in self.sockets:
            one.close()
        self.sockets.clear()
        for member in self.members:
            for plural in FOLLOWED:
                member.proxy.streams(plural).release()


def hopeless_have_texts(now: Statuses) -> bool:
    """Whether each Run that fits nowhere says what it waits for."""
    return all(status.get("message") for name, status in now.items() if name.startswith(HOPELESS))


@contextmanager
def site_on(
    cluster: Cluster, namespace: str, ledger: Ledger, folder: Path, random: Random
) -> Iterator[tuple[Site, Load]]:
    """Three schedulers, and the threads that beat and load, until the block ends."""
    client = cluster.client()
    with ExitStack() as running:
        own, beating, loading = (running.enter_context(closing(KeptClient(client))) for _ in range(3))
        members: list[Member] = []
        for name in ("a", "b", "c"):
            place = folder / name
            place.mkdir()
            proxy = running.enter_context(fault_proxy(cluster, place))
            members.append(running.enter_context(closing(Member(name, proxy, place, namespace))))
        site = Site(cluster, own, namespace, ledger, members)
        load = Load(loading, namespace, ledger, Random(random.random()))
        work = Workload(beating, namespace, ledger)
        running.enter_context(_repeated(lambda: site.beat(work), _BEAT_SECONDS, beating))
        running.enter_context(_repeated(load.round, _ROUND_SECONDS, loading))
        yield site, load


@contextmanager
def _repeated(action: Callable[[], None], seconds: float, client: KeptClient) -> Iterator[None]:
    """Do it again and again on a thread until the block ends, also while the server is away."""
    over = threading.Event()

    def run() -> None:
        while not over.wait(seconds):
            try:
                action()
            except _AWAY:
                client.close()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        over.set()
        with suppress(RuntimeError):
            thread.join(60)
