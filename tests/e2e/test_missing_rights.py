"""Each right of the manifests is taken in turn: that is named, visible, and over when it is given again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import count

import pytest

from faultproxy.faults import Fault, Match, refusal
from faultproxy.proxy import FaultProxy, fault_proxy
from kruntimes_core.cluster.permissions import REQUIRED, Permission
from realcluster.access import (
    ELECTING_RULES,
    RULES,
    ServiceAccount,
    change_rules,
    make_namespace,
    make_service_account,
    without,
)
from realcluster.electing import SHORT
from realcluster.leases import LEASE, LEASES
from realcluster.scheduler import HASTY, Scheduler, running_scheduler
from realcluster.servers import Cluster
from realcluster.workload import Workload, placed, workload_in

LONGEST_SECONDS = 30
"""Much longer than the longest pause after what fails in these tests."""


@dataclass
class Site:
    """One scheduler, which outlives all tests of a process: nothing here is mended by a restart."""

    cluster: Cluster
    account: ServiceAccount
    proxy: FaultProxy
    scheduler: Scheduler
    work: Workload

    def __post_init__(self) -> None:
        self.numbers = count()

    def grant(self, *missing: Permission) -> None:
        """Let the account have all rights of the manifests but these."""
        rules = [*RULES, *ELECTING_RULES]
        for right in missing:
            rules = without(right, rules)
        change_rules(self.cluster, self.account, rules)

    def checks(self) -> str:
        """All checks with the names that probes leave out."""
        return self.scheduler.get("debug", "/checks")[1]

    def missing(self, right: Permission) -> float:
        return self.scheduler.metric("missing_permissions", verb=right.verb, resource=right.title)

    def place_one(self) -> None:
        """Place a Run, and end it."""
        name = f"r-{next(self.numbers)}"
        self.work.run(name)
        self.work.wait_for(name, placed, LONGEST_SECONDS)
        self.work.end([name])


@pytest.fixture(scope="module")
def site(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    namespace = make_namespace(cluster.client())
    account = make_service_account(cluster, namespace, [*RULES, *ELECTING_RULES])
    folder = tmp_path_factory.mktemp("scheduler")
    where = (f"--namespaces={namespace}", f"--lease-namespace={namespace}")
    with ExitStack() as running:
        proxy = running.enter_context(fault_proxy(cluster, folder))
        scheduler = running.enter_context(
            running_scheduler(proxy.cluster, account.token, folder, *where, *SHORT.flags, configuration=HASTY)
        )
        scheduler.says("deciding")
        work = running.enter_context(workload_in(cluster.client(), namespace))
        work.pod("py-0")
        yield Site(cluster, account, proxy, scheduler, work)


# What makes the scheduler use a right


def watch_again(site: Site, right: Permission) -> None:
    site.proxy.streams(right.resource).cut()


def list_again(site: Site, right: Permission) -> None:
    site.proxy.disturb(Match("watch", right.resource), Fault(forwarded=False, answer=refusal(410, "Expired")))
    site.proxy.streams(right.resource).cut()


def bind(site: Site, right: Permission) -> None:
    site.work.run("to-bind")


def doubt(site: Site, right: Permission) -> None:
    """A bind whose answer is lost, while no watch tells of it."""
    site.work.run("doubtful", runtime="js")
    site.work.wait_for("doubtful", lambda now: "message" in now)
    site.proxy.streams("runs").hold()
    site.proxy.disturb(Match("patch", "runs", "doubtful"), Fault(dropped=True))
    site.work.pod("js-0", runtime="js")


def announce(site: Site, right: Permission) -> None:
    """Another Run waits for long, and then for longer."""
    site.work.run(f"waits-{next(site.numbers)}", runtime="none")


def renew(site: Site, right: Permission) -> None:
    """It is due at any time."""


def look(site: Site, right: Permission) -> None:
    """Somebody else wrote the Lease: the leader has to read it."""
    labels = {"metadata": {"labels": {"seen": "yes"}}}
    assert site.cluster.client().patch(LEASES, LEASE, labels, site.work.namespace).status == 200


def create(site: Site, right: Permission) -> None:
    """There is no Lease any more."""
    assert site.cluster.client().delete(LEASES, LEASE, site.work.namespace).status == 200


USES: dict[str, Callable[[Site, Permission], None]] = {
    "get runs.kruntimes.io": doubt,
    "patch runs/status.kruntimes.io": bind,
    "create events.events.k8s.io": announce,
    "patch events.events.k8s.io": announce,
    "get leases.coordination.k8s.io": look,
    "create leases.coordination.k8s.io": create,
    "update leases.coordination.k8s.io": renew,
}


def use(site: Site, right: Permission) -> None:
    named = USES.get(f"{right.verb} {right.title}")
    (named or {"list": list_again, "watch": watch_again}[right.verb])(site, right)


def said_since(site: Site, count: int, text: str) -> bool:
    return any(text in line["message"] for line in site.scheduler.lines[count:])


@pytest.mark.parametrize("right", REQUIRED, ids=[f"{right.verb} {right.title}" for right in REQUIRED])
def test_a_right_that_is_taken_is_named_until_it_is_given_again(site: Site, right: Permission) -> None:
    site.grant()
    site.scheduler.wait_until(lambda: site.checks().endswith("\nok\n"), LONGEST_SECONDS)
    said = len(site.scheduler.lines)
    site.grant(right)
    use(site, right)
    named = f"cannot {right.verb} {right.title} in {site.work.namespace}: forbidden: grant the verb"
    site.scheduler.wait_until(lambda: named in site.checks())
    status, why = site.scheduler.get("probes", "/readyz")
    needed = right.resource != "events"
    told = f"cannot {right.verb} {right.title}: forbidden: grant the verb"
    assert (status, told in why) == ((503, True) if needed else (200, False))
    assert site.work.namespace not in why
    assert site.scheduler.get("probes", "/livez")[0] == 200
    assert site.missing(right) == 1
    if needed:
        site.scheduler.wait_until(lambda: said_since(site, said, named))
    else:
        # Of Events at most one line a minute, whatever is refused.
        site.scheduler.says_like(f"cannot (create|patch) {right.title} in {site.work.namespace}: forbidden")

    site.grant()
    site.scheduler.wait_until(lambda: site.missing(right) == 0, LONGEST_SECONDS)
    site.proxy.streams("runs").release()
    site.scheduler.wait_until(lambda: site.checks().endswith("\nok\n"), LONGEST_SECONDS)
    site.place_one()
