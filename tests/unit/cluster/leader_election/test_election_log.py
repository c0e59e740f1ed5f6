"""What a standby says: whom it stands by for, once, and when that changes."""

from __future__ import annotations

from replicas.replica import Replica
from replicas.server import NAMESPACE
from replicas.site import Site

from tests.unit.cluster.played import election_scene

TEXTS = ("standing by", "new leader elected", "leading ", "not leading any more")


def said(replica: Replica) -> list[str]:
    """Its lines about who leads, without the time."""
    lines = [line.split(maxsplit=2)[2] for line in replica.log.splitlines() if " INFO " in line]
    return [line for line in lines if line.startswith(TEXTS)]


@election_scene()
async def test_a_standby_says_once_who_leads_and_since_when(site: Site) -> None:
    _, second = await site.pair()
    acquired = site.leases.spec["acquireTime"]
    await site.passes(60)
    assert said(second) == [f"standing by namespace={NAMESPACE} holder=first since={acquired}"]


@election_scene()
async def test_it_says_when_another_leads_and_when_it_does_itself(site: Site) -> None:
    first, second = await site.pair()
    third = site.replica("third")
    await site.passes(2)
    await first.stop()
    await site.until(lambda: second.leading or third.leading, 3)
    await site.passes(5)
    taker, other = (second, third) if second.leading else (third, second)
    assert [line.split(" namespace=")[0] for line in said(taker)] == ["standing by", "leading"]
    assert said(other)[1:] == [
        f"new leader elected namespace={NAMESPACE} holder={taker.identity}"
        f" since={site.leases.spec['acquireTime']}"
    ]


@election_scene()
async def test_a_leader_that_lost_the_lease_says_to_whom(site: Site) -> None:
    first = site.replica("first")
    await site.passes(5)
    assert first.leading
    site.leases.write(holderIdentity="usurper")
    await site.passes(5)
    standing_by = said(first)[-1]
    assert standing_by.startswith(f"standing by namespace={NAMESPACE} holder=usurper")


@election_scene()
async def test_a_record_without_a_time_leaves_it_out(site: Site) -> None:
    site.leases.write(holderIdentity="odd", leaseDurationSeconds=15, acquireTime=None)
    ours = site.replica("ours")
    await site.passes(2)
    assert said(ours) == [f"standing by namespace={NAMESPACE} holder=odd"]


@election_scene()
async def test_nobody_is_stood_by_for_where_the_lease_is_free(site: Site) -> None:
    ours = site.replica("ours")
    await site.until(lambda: ours.leading, 17)
    assert [line.split()[0] for line in said(ours)] == ["leading"]
