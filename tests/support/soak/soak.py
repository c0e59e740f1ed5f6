"""Strikes a site until its time is over. Between the faults are calms, in which all that fits is placed."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass, field
from http.client import HTTPException
from pathlib import Path
from random import Random
from statistics import median

from kruntimes_core.crds import crds
from kruntimes_core.lab.invariants import Invariant, InvariantChecker
from realcluster.access import install_crds, make_namespace
from realcluster.client import RUNS
from realcluster.ledger import Ledger, Statuses
from realcluster.servers import running_cluster
from soak.faults import ENDING, FAULTS
from soak.site import HOPELESS, Load, Site, SoakError, hopeless_have_texts, site_on

_FAULTS_SECONDS = 40.0
"""From one calm to the next."""
_CALM_SECONDS = 100.0
"""What a calm may take on a machine that does ten things at once: an election, lists, and all placements."""
_WARM_SECONDS = 600.0
_MAY_GROW = 1.1
_LOOKS = 5
"""So many looks give one figure of the memory: a single one may meet a list that is being read."""
RULES = frozenset(
    {
        Invariant.OVERCOMMITTED,
        Invariant.BOUND_TWICE,
        Invariant.OTHER_RUNTIME,
        Invariant.RUN_LOST,
        Invariant.EMPTY_WRITE,
    }
)


@dataclass(slots=True)
class Usage:
    """What the scheduler that is never ended takes. Memory is resident, in MB."""

    warm: float = 0.0
    """The median of the first five looks after its first ten minutes; 0 before."""
    steady: float = 0.0
    """The median of the last five looks."""
    last: float = 0.0
    descriptors: int = 0
    threads: int = 0


@dataclass(slots=True)
class Figures:
    """What happened."""

    seed: int
    seconds: float = 0.0
    placements: int = 0
    faults: dict[str, int] = field(default_factory=lambda: dict.fromkeys(FAULTS, 0))
    calms: int = 0
    slowest_calm: float = 0.0
    """Seconds from the end of all faults until all Runs that were open then had been placed."""
    usage: Usage = field(default_factory=Usage)
    broken: list[str] = field(default_factory=list)


class Judge:
    """Checks the invariants over all versions of Runs and Pods, in the order of the store."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        # A bind may be on its way while its Pod goes.
        self._checker = InvariantChecker(pods_may_go=True)

    @property
    def placements(self) -> int:
        """How many binds there were."""
        return self._checker.binds.total()

    def broken(self, version: int, seconds: float) -> list[str]:
        """What was broken up to a version of the store, since the last call."""
        return [
            f"{one.invariant}: {one.text}"
            for event in self._ledger.take(version, seconds)
            # The load deletes Runs, as their owners may.
            for one in self._checker.take(event.seen, judged=event.type != "DELETED")
            if one.invariant in RULES
        ]


class Soak:
    """One run of it."""

    def __init__(
        self, site: Site, load: Load, figures: Figures, random: Random, say: Callable[[str], None]
    ) -> None:
        self._site = site
        self._load = load
        self._judge = Judge(site.ledger)
        self._memory: list[float] = []
        """Each look at it since the first ten minutes, in MB."""
        self._figures = figures
        self._random = random
        self._say = say
        self._began = time.monotonic()

    @property
    def _seconds(self) -> float:
        return time.monotonic() - self._began

    def run(self, seconds: float) -> None:
        """Strike for so long. Raises `SoakError`, or `AssertionError` for what was waited for in vain."""
        while self._seconds < seconds:
            until = min(self._seconds + _FAULTS_SECONDS, seconds)
            while self._seconds < until:
                self._strike()
                for member in self._site.members:
                    member.revive()
                self._site.pause(self._random.uniform(0.1, 1.5))
            self._calm()
        self._load.width = 0
        self._load.spares_waiting = True
        self._site.ledger.wait(lambda now: all(name.startswith(HOPELESS) for name in now), _CALM_SECONDS)
        self._figures.seconds = round(self._seconds, 1)

    def _strike(self) -> None:
        """One fault. Its chances are drawn from a seed of its own, so that what it meets changes no other."""
        name, number = self._random.choice(list(FAULTS)), self._random.randrange(3)
        chances = Random(self._random.random())
        # The first scheduler is spared, so that its memory can be followed.
        member = self._site.members[max(number, 1) if name in ENDING else number]
        self._figures.faults[name] += 1
        # A server that is away, or a Pod that is gone already: then the fault does less.
        with suppress(OSError, HTTPException, AssertionError):
            FAULTS[name](self._site, member, chances)

    def _calm(self) -> None:
        """All Runs that are open now are placed, those that fit nowhere say so, and no rule was broken."""
        self._site.be_calm()
        self._load.spares_waiting = True
        began = time.monotonic()
        waiting = fitting(self._site.ledger.now)
        self._site.ledger.wait(lambda now: not waiting & fitting(now), _CALM_SECONDS)
        self._site.ledger.wait(hopeless_have_texts, _CALM_SECONDS)
        took = time.monotonic() - began
        self._load.spares_waiting = False
        self._measure()
        figures = self._figures
        figures.broken += self._judge.broken(self._site.cluster.version_of(RUNS), _CALM_SECONDS)
        figures.placements = self._judge.placements
        figures.calms += 1
        figures.slowest_calm = round(max(figures.slowest_calm, took), 1)
        self._say(
            f"{self._seconds:.0f} s: {sum(figures.faults.values())} faults, {figures.placements} placements,"
            f" {took:.1f} s until all was placed, {figures.usage.last:.0f} MB, {len(figures.broken)} broken"
        )
        if figures.broken:
            raise SoakError("a rule was broken")

    def _measure(self) -> None:
        """Look at the scheduler that is never ended, without the connections that a fault made."""
        process = Path(f"/proc/{self._site.members[0].scheduler.pid}")
        usage = self._figures.usage
        pages = int((process / "statm").read_text().split()[1])
        usage.last = round(pages * os.sysconf("SC_PAGE_SIZE") / 1e6, 1)
        usage.descriptors = len(list((process / "fd").iterdir()))
        usage.threads = len(list((process / "task").iterdir()))
        if self._seconds >= _WARM_SECONDS:
            self._memory.append(usage.last)
        if len(self._memory) >= _LOOKS:
            usage.warm, usage.steady = median(self._memory[:_LOOKS]), median(self._memory[-_LOOKS:])
            if usage.steady > usage.warm * _MAY_GROW:
                raise SoakError(f"the memory grew from {usage.warm} to {usage.steady} MB")


def fitting(now: Statuses) -> set[str]:
    """The Runs that fit somewhere and are not placed."""
    return {
        name
        for name, status in now.items()
        if status.get("phase", "Pending") == "Pending" and not name.startswith(HOPELESS)
    }


def soak(seconds: float, seed: int, say: Callable[[str], None], folder: Path) -> Figures:
    """Run it; what was broken is in the figures."""
    figures, random = Figures(seed), Random(seed)
    with running_cluster(folder) as cluster:
        install_crds(cluster, crds())
        namespace = make_namespace(cluster.client())
        with (
            closing(Ledger(cluster.client(), namespace)) as ledger,
            site_on(cluster, namespace, ledger, folder, random) as (site, load),
        ):
            try:
                Soak(site, load, figures, random, say).run(seconds)
            except (SoakError, AssertionError) as error:
                figures.broken.append(str(error)[:4_000])
    return figures
