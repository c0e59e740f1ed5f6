"""Under the manifests' rights all kinds of work are done without one 403, and no right is there for nothing.

What was asked, and how it was answered, is read from the API server's audit log.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import pytest

from faultproxy.faults import Fault, Match, refusal
from faultproxy.proxy import FaultProxy
from realcluster.access import (
    ELECTING_RULES,
    RULES,
    ServiceAccount,
    grant,
    make_service_account,
    rights_of,
)
from realcluster.audit import Audited
from realcluster.electing import SHORT, standby
from realcluster.scheduler import HASTY, Scheduler, running_scheduler
from realcluster.servers import Cluster
from realcluster.workload import BASE_TEXT, Workload, placed, saying

Join = Callable[[], Scheduler]
FOLLOWED = ("runs", "pods", "persistentworkspaces")


@pytest.fixture(params=[False, True], ids=["in a namespace", "in all namespaces"])
def everywhere(request: pytest.FixtureRequest) -> bool:
    """Whether a ClusterRole gives the rights on Runs and Pods, or a Role."""
    return bool(request.param)


@pytest.fixture
def account(cluster: Cluster, namespace: str, everywhere: bool) -> ServiceAccount:
    account = make_service_account(cluster, namespace, ELECTING_RULES)
    grant(cluster, account, RULES, cluster_wide=everywhere)
    return account


@pytest.fixture
def join(proxy: FaultProxy, account: ServiceAccount, tmp_path: Path, everywhere: bool) -> Iterator[Join]:
    """Start one more scheduler of the account."""
    with ExitStack() as running:

        def started() -> Scheduler:
            folder = tmp_path / f"scheduler-{len(list(tmp_path.iterdir()))}"
            folder.mkdir()
            named = () if everywhere else (f"--namespaces={account.namespace}",)
            where = (*named, f"--lease-namespace={account.namespace}", *SHORT.flags)
            return running.enter_context(
                running_scheduler(proxy.cluster, account.token, folder, *where, configuration=HASTY)
            )

        yield started


def test_a_days_work_needs_every_right_and_no_other(
    cluster: Cluster, work: Workload, proxy: FaultProxy, join: Join, account: ServiceAccount
) -> None:
    first = join()
    first.says("deciding")
    second = join()
    standby(second)
    place_and_end(work)
    lose_an_answer(work, proxy, first)
    list_again(work, proxy, first)
    announce(work, first)
    assert first.stop() == 0
    second.says("deciding")
    work.end(["later"])
    work.run("after")
    work.wait_for("after", placed)
    assert second.stop() == 0
    requests = asked(cluster, account)
    assert [one for one in requests if one.code == 403] == []
    used = {one.right for one in requests if one.resource and one.agent.startswith("kruntimes-scheduler/")}
    assert used == rights_of([*RULES, *ELECTING_RULES])
    leases = {(one.verb, one.namespace) for one in requests if one.resource == "leases"}
    assert leases == {(verb, account.namespace) for verb in ("get", "create", "update")}


def place_and_end(work: Workload) -> None:
    """A bind, one to a workspace, a text, an invalid Run, and a cancellation."""
    work.pod("py-0", runs=2)
    work.run("bound")
    work.wait_for("bound", placed)
    work.run("tied", workspace={"name": "ws"})
    work.wait_for("tied", lambda now: "message" in now)
    work.workspace("ws", "py-0")
    work.wait_for("tied", placed)
    work.run("waits")
    work.wait_for("waits", saying(BASE_TEXT))
    work.cancel("waits")
    work.wait_for("waits", lambda now: now.get("phase") == "Cancelled")
    work.run("invalid", resources={"requests": {"gpu": "500m"}})
    work.wait_for("invalid", lambda now: now.get("phase") == "Failed")


def lose_an_answer(work: Workload, proxy: FaultProxy, scheduler: Scheduler) -> None:
    """A bind of which only a read can tell that it was applied."""
    work.run("doubtful", runtime="js")
    work.wait_for("doubtful", lambda now: "message" in now)
    proxy.streams("runs").hold()
    proxy.disturb(Match("patch", "runs", "doubtful"), Fault(dropped=True))
    work.pod("js-0", runtime="js")
    scheduler.wait_until(lambda: scheduler.metric("requests_total", request="read", outcome="Found") == 1)
    proxy.streams("runs").release()


def list_again(work: Workload, proxy: FaultProxy, scheduler: Scheduler) -> None:
    """Watches that broke, from versions that are gone."""
    for plural in FOLLOWED:
        listed = partial(_more, proxy, plural, proxy.count("list", plural))
        proxy.disturb(Match("watch", plural), Fault(forwarded=False, answer=refusal(410, "Expired")))
        proxy.streams(plural).cut()
        scheduler.wait_until(listed)
    scheduler.wait_until(lambda: scheduler.metric("deciding") == 1)
    work.end(["bound"])
    work.run("later")
    work.wait_for("later", placed)


def announce(work: Workload, scheduler: Scheduler) -> None:
    """Something lasts, and goes on."""
    work.run("lasts", runtime="none")
    work.wait_for("lasts", lambda now: "message" in now)
    for outcome in ("created", "updated"):
        scheduler.wait_until(partial(_announced, scheduler, outcome))


def _announced(scheduler: Scheduler, outcome: str) -> bool:
    return scheduler.metric("events_total", reason="FailedScheduling", outcome=outcome) > 0


def _more(proxy: FaultProxy, plural: str, than: int) -> bool:
    return proxy.count("list", plural) > than


def asked(cluster: Cluster, account: ServiceAccount) -> list[Audited]:
    """All that the account asked for, once the log has it."""
    last = "/version?last"
    assert cluster.client(account.token).request("GET", last).status == 200

    def requests() -> list[Audited]:
        return cluster.audit.of(account.namespace, account.name)

    cluster.server.wait_until(lambda: any(one.path == last for one in requests()), 20, "audit log")
    return requests()
