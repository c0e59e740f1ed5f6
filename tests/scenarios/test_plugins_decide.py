"""The installed plugins are what decides: one more or one less changes plans, and none says so."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kruntimes_core.testing import (
    affinity_object,
    pod_object,
    run_object,
    term_object,
    workspace_object,
)
from tests.scenarios.conftest import Command, Configure, Write
from tests.scenarios.planning import Object
from tests.scenarios.site import Completed, Site, Without

ZONE = "topology.kubernetes.io/zone"
SUPPLIED = {
    "RuntimePodAvailability": "kruntimes-runtime-pod-availability",
    "RunAffinity": "kruntimes-run-affinity",
    "WorkspacePlacement": "kruntimes-workspace-placement",
    "PreferredRunAffinity": "kruntimes-preferred-run-affinity",
    "LeastLoaded": "kruntimes-least-loaded",
}
EXAMPLE = "kruntimes-example-zone-spread"


def placed(result: Completed) -> dict[str, Any]:
    return {one["run"]: one["pod"] for one in json.loads(result.stdout)["decisions"]}


class TestZoneSpread:
    """The example of a third party, installed in every test environment and off by default."""

    @pytest.fixture
    def zones(self, manifests: Write) -> Path:
        pods = [
            pod_object(name, labels={ZONE: zone}, capacity={"runs": runs})
            for name, zone, runs in (("py-a1", "a", "8"), ("py-a2", "a", "8"), ("py-b1", "b", "2"))
        ]
        there = run_object("x", pod="py-a1", labels={"app": "shop"})
        return manifests(*pods, there, run_object("r", labels={"app": "shop"}), run_object("s"))

    def test_it_moves_a_run_to_the_emptier_zone(
        self, zones: Path, kruntimes: Command, configured: Configure
    ) -> None:
        config = configured("plugins: {enabled: [{name: ZoneSpread, weight: 3}]}")
        without = kruntimes("plan", "-f", zones, "-o", "json")
        spread = kruntimes("plan", "-f", zones, "-o", "json", "--config", config)
        assert placed(without)["r"] == "py-a2"
        assert placed(spread)["r"] == "py-b1"
        assert "ZoneSpread" not in without.stdout
        assert json.loads(spread.stdout)["plugins"][-1] == {
            "name": "ZoneSpread",
            "distribution": EXAMPLE,
            "version": "0.1.0",
            "weight": 3,
        }

    def test_its_argument_says_which_label(
        self, zones: Path, kruntimes: Command, configured: Configure
    ) -> None:
        entry = "{name: ZoneSpread, weight: 3, arguments: {label: team}}"
        config = configured(f"plugins: {{enabled: [{entry}]}}")
        assert placed(kruntimes("plan", "-f", zones, "-o", "json", "--config", config))["r"] == "py-a2"

    def test_the_explanation_shows_what_it_gave(
        self, zones: Path, kruntimes: Command, configured: Configure
    ) -> None:
        config = configured("plugins: {enabled: [ZoneSpread]}")
        told = kruntimes("plan", "-f", zones, "-o", "json", "--explain", "--config", config)
        candidates = json.loads(told.stdout)["decisions"][0]["candidates"]
        given = {one["pod"]: one["scores"]["ZoneSpread"]["normalized"] for one in candidates}
        assert given == {"py-a1": 0, "py-a2": 0, "py-b1": 100}


def story() -> list[Object]:
    """A cluster in which each supplied plugin has one Run that only it keeps in its place."""
    near = affinity_object(required=[term_object({"app": "a"})])
    liking = affinity_object(preferred=[(100, term_object({"app": "a"}))])
    return [
        *[pod_object(name, capacity={"runs": "8"}) for name in ("py-0", "py-1")],
        *[pod_object(name, runtime="go", capacity={"runs": "8"}) for name in ("go-0", "go-1")],
        pod_object("ill-0", runtime="ill", ready=False),
        run_object("x", pod="py-1", labels={"app": "a"}),
        run_object("y", pod="go-0", labels={"app": "a"}, runtime="go"),
        workspace_object("ws", bound_pod="py-1"),
        run_object("r1-load"),
        run_object("r2-ill", runtime="ill"),
        run_object("r3-near", affinity=near),
        run_object("r4-tied", workspace="ws"),
        run_object("r5-liking", runtime="go", affinity=liking),
        run_object("r6-load", runtime="go"),
    ]


ALL = {
    "r1-load": "py-0",
    "r2-ill": None,
    "r3-near": "py-1",
    "r4-tied": "py-1",
    "r5-liking": "go-0",
    "r6-load": "go-1",
}
# What is decided otherwise without one of them. r5: go-0 is liked, go-1 is less loaded, equal: by name.
WITHOUT = {
    "RuntimePodAvailability": {"r2-ill": "ill-0"},
    "RunAffinity": {"r3-near": "py-0"},
    "WorkspacePlacement": {"r4-tied": "py-0"},
    "PreferredRunAffinity": {"r5-liking": "go-1"},
    "LeastLoaded": {"r6-load": "go-0"},
}


class TestTheSupplied:
    """Each of the five decides something, whether it is disabled or not there at all."""

    @pytest.fixture
    def cluster(self, manifests: Write) -> Path:
        return manifests(*story())

    def test_with_all_of_them(self, cluster: Path, kruntimes: Command) -> None:
        assert placed(kruntimes("plan", "-f", cluster, "-o", "json")) == ALL

    @pytest.mark.parametrize("name", WITHOUT)
    def test_disabled_and_absent_are_one_to_the_plan(
        self, name: str, cluster: Path, kruntimes: Command, configured: Configure, tmp_path: Path
    ) -> None:
        without_capacity = "allowNoCapacityFilter: true"
        disabling = configured(f"plugins: {{disabled: [{name}]}}\n{without_capacity}\n", "disabling.yaml")
        absent = configured(without_capacity, "absent.yaml")
        arguments = ("plan", "-f", cluster, "-o", "json", "--explain")
        disabled = kruntimes(*arguments, "--config", disabling)
        removed = Without(tmp_path / "without", SUPPLIED[name], EXAMPLE).run(*arguments, "--config", absent)
        assert removed.stderr == ""
        assert json.loads(removed.stdout) == json.loads(disabled.stdout)
        assert name not in {one["name"] for one in json.loads(removed.stdout)["plugins"]}
        changed = {run: pod for run, pod in placed(disabled).items() if pod != ALL[run]}
        assert WITHOUT[name].items() <= changed.items()

    def test_without_load_the_smallest_name_takes_all(
        self, manifests: Write, kruntimes: Command, configured: Configure
    ) -> None:
        file = manifests(pod_object("py-0"), pod_object("py-1"), run_object("r1"), run_object("r2"))
        config = configured("plugins: {disabled: [LeastLoaded]}")
        assert set(placed(kruntimes("plan", "-f", file, "-o", "json")).values()) == {"py-0", "py-1"}
        alone = kruntimes("plan", "-f", file, "-o", "json", "--config", config)
        assert set(placed(alone).values()) == {"py-0"}

    def test_no_capacity_filter_is_refused_with_the_remedy(
        self, cluster: Path, kruntimes: Command, configured: Configure, tmp_path: Path
    ) -> None:
        config = configured("plugins: {disabled: [RuntimePodAvailability]}")
        disabled = kruntimes("plan", "-f", cluster, "--config", config)
        assert (disabled.returncode, disabled.stdout) == (2, "")
        assert "enable RuntimePodAvailability, or set allowNoCapacityFilter: true" in disabled.stderr
        removed = Without(tmp_path / "without", SUPPLIED["RuntimePodAvailability"]).run("plan", "-f", cluster)
        assert (removed.returncode, removed.stdout) == (2, "")
        assert "kruntimes-runtime-pod-availability, or set" in removed.stderr
        assert len(removed.stderr.splitlines()) == len(disabled.stderr.splitlines()) == 1

    def test_the_host_sells_no_place_twice_whoever_is_asked(
        self, manifests: Write, kruntimes: Command, configured: Configure
    ) -> None:
        file = manifests(pod_object("py-0", capacity={"runs": "1"}), run_object("r1"), run_object("r2"))
        config = configured("plugins: {disabled: ['*']}\nallowNoCapacityFilter: true")
        made = json.loads(kruntimes("plan", "-f", file, "--config", config, "-o", "json").stdout)
        assert [(one["pod"], one["reason"]) for one in made["decisions"]] == [
            ("py-0", "Assigned"),
            (None, "InsufficientCapacity"),
        ]

    def test_a_configuration_that_names_what_is_not_installed(
        self, cluster: Path, configured: Configure, tmp_path: Path
    ) -> None:
        config = configured("plugins:\n  enabled: [RunAffinity]\n")
        without = Without(tmp_path / "without", SUPPLIED["RunAffinity"])
        result = without.run("plan", "-f", cluster, "--config", config)
        assert (result.returncode, result.stdout) == (2, "")
        (line,) = result.stderr.splitlines()
        assert line.startswith(
            f"error: {config}:2: plugins.enabled[0]: plugin RunAffinity is not installed: "
        )
        assert line.endswith("kruntimes-run-affinity")


def test_a_host_without_any_plugin_works_and_says_what_is_missing(
    manifests: Write, configured: Configure, tmp_path: Path
) -> None:
    bare = Without(tmp_path / "without", *SUPPLIED.values(), EXAMPLE)
    file = manifests(pod_object("py-0"), run_object("r"))
    refused = bare.run("plan", "-f", file)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "kruntimes-runtime-pod-availability, or set allowNoCapacityFilter: true" in refused.stderr
    listed = bare.run("plugins", "list")
    assert (listed.returncode, listed.stdout) == (1, "")
    assert all(f" {distribution}" in listed.stderr for distribution in SUPPLIED.values())
    assert bare.run("--version").stdout == "kruntimes 0.1.0\n"
    config = configured("allowNoCapacityFilter: true")
    document = json.loads(bare.run("plan", "-f", file, "--config", config, "-o", "json").stdout)
    assert document["plugins"] == []
    assert document["decisions"][0]["pod"] == "py-0"


def test_a_stranger_may_bring_the_capacity(manifests: Write, tmp_path: Path) -> None:
    without = Without(tmp_path / "without", SUPPLIED["RuntimePodAvailability"], EXAMPLE)
    source = """
    class {name}:
        provides = {"capacity"}
        reasons = {"Full": "room"}
        @hookimpl
        def filter(self, pod, state):
            return None if pod.fits(state) else Reject("Full")
        @hookimpl
        def prefilter(self, request):
            return request
    """
    Site(without.root).install("acme-room", {"Room": source})
    file = manifests(pod_object("py-0", capacity={"runs": "1"}), run_object("r1"), run_object("r2"))
    result = without.run("plan", "-f", file, "-o", "json")
    decided = json.loads(result.stdout)["decisions"]
    assert [(one["run"], one["reason"], one["message"]) for one in decided] == [
        ("r1", "Assigned", ""),
        ("r2", "Full", "waiting for room"),
    ]


def test_the_host_itself_imports_no_plugin() -> None:
    code = """
import sys
import kruntimes_core, kruntimes_core.testing
from kruntimes_core.cli.main import main
main(["--help"]); main(["plan", "--help"]); main(["plugins", "list", "--help"])
import kruntimes_core.lab.offline_plan.planner, kruntimes_core.framework.configuration
print(sorted(name for name in sys.modules if name.startswith("kruntimes_") and "core" not in name))
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.splitlines()[-1] == "[]"
