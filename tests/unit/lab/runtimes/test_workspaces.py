"""Workspaces lie on a ready Pod of their Runtime, and are lost with it."""

from __future__ import annotations

from kruntimes_core.lab.dev import workload
from tests.unit.lab.runtimes.scene import Site, passes, play


def test_a_workspace_is_bound_once_a_pod_is_ready() -> None:
    async def scene(site: Site) -> None:
        site.create("persistentworkspaces", workload.workspace("data", "py"))
        await passes(5)
        assert "status" not in site.get("persistentworkspaces", "data")
        site.runtime("sql")
        await passes(5)
        assert "status" not in site.get("persistentworkspaces", "data")
        site.runtime("py")
        await passes(2)
        status = site.get("persistentworkspaces", "data")["status"]
        assert (status["phase"], status["boundPod"], status["runtime"]) == ("Bound", "py-0", "py")

    play(scene)


def test_workspaces_spread_over_the_pods() -> None:
    async def scene(site: Site) -> None:
        site.runtime("py", 2)
        await passes(2)
        for name in "abcd":
            site.create("persistentworkspaces", workload.workspace(name, "py"))
            await passes(1)
        pods = [site.get("persistentworkspaces", name)["status"]["boundPod"] for name in "abcd"]
        assert pods == ["py-0", "py-1", "py-0", "py-1"]

    play(scene)


def test_a_workspace_is_lost_with_its_pod() -> None:
    async def scene(site: Site) -> None:
        site.runtime()
        site.create("persistentworkspaces", workload.workspace("data", "py"))
        await passes(2)
        site.delete("runtimes", "py")
        await passes(3)
        assert site.get("persistentworkspaces", "data")["status"]["phase"] == "Lost"

    play(scene)
