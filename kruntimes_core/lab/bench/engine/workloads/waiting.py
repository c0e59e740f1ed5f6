"""A slot is freed, and many wait for it: one of them gets it."""

from __future__ import annotations

from kruntimes_core.lab.bench.engine.lives import Life
from kruntimes_core.lab.bench.engine.objects import on_pod
from kruntimes_core.lab.bench.engine.shape import Shape
from kruntimes_core.lab.bench.engine.site import Means, Site, prepared
from kruntimes_core.lab.bench.engine.stopwatch import Stopwatch


def full(shape: Shape, means: Means) -> Site:
    """A site without a free slot, where Runs wait for one."""
    return prepared(shape, means, full=True)


def freed_slot(site: Site, watch: Stopwatch) -> int:
    """A repeat in which one Run after another ends, and its slot goes to one that waits."""
    runs = site.cluster.shape.runs
    for place in range(runs):
        ending = site.running.popleft()
        taken = _free(site, watch, ending)
        site.tell(ending.gone())
        del site.lives[ending.name]
        site.running.append(taken or _intruder(site, ending))
        if taken is not None:
            # Where one waited less: every pool keeps as many as it had.
            request = {"cpu": 1 + place % site.cluster.shape.requests}
            (arrived,) = site.known([site.cluster.life(taken.pool, place, request)])
            site.tell(arrived.seen())
        site.settle()
    return runs


def _free(site: Site, watch: Stopwatch, ending: Life) -> Life | None:
    """End a Run. Returns the Run that got its slot."""
    ended = ending.ended()
    watch.start()
    site.tell(ended)
    watch.lap("end")
    site.work()
    watch.lap("decide")
    written = site.send()
    watch.lap("send")
    taken = None
    for taken in site.bound(written):
        echo = taken.seen()
        watch.start()
        site.tell(echo)
        site.work()
        watch.lap("echo")
    return taken


def _intruder(site: Site, former: Life) -> Life:
    """Nobody who waits may have the slot: somebody else takes it, so that the site stays full."""
    status = on_pod(former.pod or "", "Running")
    (life,) = site.known([site.cluster.life(former.pool, 0, {"cpu": 1}, status=status)])
    site.tell(life.seen())
    return life
