"""The faults of the soak. Each is made of a site, one of its schedulers, and chances drawn beforehand."""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable, Mapping
from contextlib import suppress
from random import Random

from faultproxy.faults import Fault, Match, refusal
from soak.site import LEASE_SECONDS, PODS, Member, Site

FaultFunction = Callable[[Site, Member, Random], None]
_HOPELESS = 20
_SOCKETS = 80
"""More than the scheduler keeps open."""


def kill(site: Site, member: Member, random: Random) -> None:
    """SIGKILL, and another process a moment later."""
    member.scheduler.kill()
    site.pause(random.uniform(0, 2))
    member.restart()


def stop(site: Site, member: Member, random: Random) -> None:
    """SIGTERM, and another process at once."""
    member.stop()
    member.restart()


def suspend(site: Site, member: Member, random: Random) -> None:
    """SIGSTOP for less than the Lease, or for more."""
    member.scheduler.send(signal.SIGSTOP)
    site.pause(random.uniform(0.2, 2 * LEASE_SECONDS))
    member.scheduler.send(signal.SIGCONT)


def reload(site: Site, member: Member, random: Random) -> None:
    """SIGHUP."""
    member.scheduler.send(signal.SIGHUP)


def kill_server(site: Site, member: Member, random: Random) -> None:
    """The API server is gone for a while, with all that it had in memory."""
    with site.cluster.server.killed():
        site.pause(random.uniform(0, LEASE_SECONDS))
    site.cluster.wait_until_ready()


def freeze_store(site: Site, member: Member, random: Random) -> None:
    """Etcd answers nothing for a while."""
    with site.cluster.etcd.frozen():
        site.pause(random.uniform(0.2, LEASE_SECONDS))
    site.cluster.wait_until_ready()


def cut_watches(site: Site, member: Member, random: Random) -> None:
    """Watches break, in the middle of an event too."""
    for plural in ("runs", "pods"):
        member.proxy.streams(plural).cut(after_bytes=random.randrange(4_000))


def hold_watch(site: Site, member: Member, random: Random) -> None:
    """The scheduler sees what happens to Runs, or to Pods, much later."""
    streams = member.proxy.streams(random.choice(["runs", "pods"]))
    streams.hold()
    site.pause(random.uniform(0.5, LEASE_SECONDS))
    streams.release()


def lose_answers(site: Site, member: Member, random: Random) -> None:
    """Writes arrive, and nothing says so."""
    member.proxy.disturb(Match("patch", "runs"), Fault(dropped=True), random.randint(1, 5))


def lose_requests(site: Site, member: Member, random: Random) -> None:
    """Writes do not arrive, and nothing says so."""
    member.proxy.disturb(Match("patch", "runs"), Fault(forwarded=False, dropped=True), random.randint(1, 5))


def delay_requests(site: Site, member: Member, random: Random) -> None:
    """Writes arrive late, perhaps when somebody else leads."""
    fault = Fault(holds_request=True, seconds=random.uniform(0.5, 2 * LEASE_SECONDS))
    member.proxy.disturb(Match("patch", "runs"), fault, random.randint(1, 3))


def refuse(site: Site, member: Member, random: Random) -> None:
    """The server says no, or fails."""
    code = random.choice([409, 429, 500, 503])
    kinds = [("patch", "runs"), ("list", "runs"), ("watch", "pods"), ("update", "leases")]
    match = Match(*random.choice(kinds))
    answer = refusal(code, "Conflict" if code == 409 else "")
    member.proxy.disturb(match, Fault(forwarded=False, answer=answer), random.randint(1, 4))


def fall_silent(site: Site, member: Member, random: Random) -> None:
    """Nothing passes any more on the connections that are open, and nothing says so."""
    member.proxy.black_hole()


def miss_heartbeats(site: Site, member: Member, random: Random) -> None:
    """A Pod is there, and does not beat until the next calm."""
    site.silent_pod = random.choice(PODS)


def delete_pod(site: Site, member: Member, random: Random) -> None:
    """A Pod goes, and another one of its name comes."""
    site.delete_pod(random.choice(PODS))


def hold_ports(site: Site, member: Member, random: Random) -> None:
    """Many connections to probes and metrics say nothing until the next calm."""
    for line in [one for one in list(member.scheduler.lines) if one["message"] == "listening"]:
        host, _, port = line["address"].rpartition(":")
        for _ in range(_SOCKETS):
            with suppress(OSError):
                site.sockets.append(socket.create_connection((host, int(port)), timeout=1))


def crowd(site: Site, member: Member, random: Random) -> None:
    """Runs that fit nowhere come, and others of them go."""
    site.replace_hopeless([f"{random.getrandbits(40):010x}" for _ in range(_HOPELESS)])


FAULTS: Mapping[str, FaultFunction] = {
    "scheduler killed": kill,
    "scheduler stopped": stop,
    "scheduler suspended": suspend,
    "scheduler reloaded": reload,
    "API server killed": kill_server,
    "etcd frozen": freeze_store,
    "watches cut": cut_watches,
    "watch held back": hold_watch,
    "answers lost": lose_answers,
    "requests lost": lose_requests,
    "requests delayed": delay_requests,
    "requests refused": refuse,
    "connections silent": fall_silent,
    "heartbeats missing": miss_heartbeats,
    "Pod deleted": delete_pod,
    "ports held open": hold_ports,
    "Runs that fit nowhere": crowd,
}
ENDING = frozenset({"scheduler killed", "scheduler stopped"})
"""The faults after which there is another process."""
