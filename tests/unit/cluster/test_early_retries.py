"""A plugin that asks to be called again too soon is counted, and named in the log: once, then seldom."""

from __future__ import annotations

from datetime import timedelta

from virtual.site import Site, play

from kruntimes_core import Reject, RuntimePod, Snapshot
from kruntimes_core.testing.plugins import fake_plugin, profiles_of

TOO_SOON = "a plugin asks to be called again too soon"


def hasty(pod: RuntimePod, snapshot: Snapshot) -> Reject:
    return Reject("Naps", retry_at=snapshot.now + timedelta(microseconds=1))


def patient(pod: RuntimePod, snapshot: Snapshot) -> Reject | None:
    return Reject("Later", retry_at=snapshot.now + timedelta(seconds=1)) if pod.name == "py-1" else None


PROFILES = profiles_of(
    fake_plugin("Patient", filter=patient, reasons=["Later"]),
    fake_plugin("Hasty", filter=hasty, reasons=["Naps"]),
)


def retries(site: Site, plugin: str) -> float:
    series = f'kruntimes_scheduler_plugin_early_retries_total{{plugin="{plugin}"}} '
    lines = site.host.metrics.exposition().decode().splitlines()
    return float(next(line for line in lines if line.startswith(series)).removeprefix(series))


def test_it_is_named_at_once_and_then_once_a_minute() -> None:
    async def scene(site: Site) -> None:
        site.start()
        assert retries(site, "Hasty") == 0
        site.pod("py-0")
        site.pod("py-1")
        site.run("r")
        await site.passes(1)
        named = [line for line in site.log.splitlines() if TOO_SOON in line]
        assert len(named) == 1
        assert "plugin=Hasty" in named[0]
        assert 10 <= retries(site, "Hasty") <= 11
        assert retries(site, "Patient") == 0
        await site.passes(120)
        named = [line for line in site.log.splitlines() if TOO_SOON in line]
        assert len(named) == 3
        assert all("unsaid=" in line for line in named[1:])

    play(PROFILES, scene)
