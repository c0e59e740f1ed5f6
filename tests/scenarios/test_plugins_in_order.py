"""Plugins are asked in the order of the configuration, then of the alphabet, and of nothing else."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from importlib.metadata import Distribution, distributions
from pathlib import Path
from random import Random

import pytest

from kruntimes_core.framework.configuration import build_profiles, configuration_from
from kruntimes_core.framework.plugin_registry import PluginRegistry
from kruntimes_core.testing import pod_object, run_object
from tests.scenarios.conftest import Configure, Write
from tests.scenarios.planning import Object, document_of
from tests.scenarios.site import Site

REJECTING = """
class {name}:
    reasons = {"{name}Says": "what {name} wants", "{name}Insists": "{name}"}
    @hookimpl
    def filter(self, pod, run):
        return Reject("{name}Says") if run.name == "unwanted" else None
"""
SCORING = """
class {name}:
    @hookimpl
    def score(self, pod):
        return 60
"""
MARKED = """
class {name}:
    reasons = {"{name}Says": "what {name} wants"}
    @hookimpl({mark}=True)
    def filter(self, pod):
        return Reject("{name}Says")
"""
NAMES = ("Alpha", "Beta", "ScoreOne", "ScoreTwo")
OBJECTS: list[Object] = [
    pod_object("py-1"),
    pod_object("py-0"),
    run_object("unwanted"),
    run_object("r1", labels={"app": "a"}),
    run_object("r2", labels={"b": "1", "a": "2", "c": "3"}),
    run_object("x", pod="py-1", labels={"app": "a", "tier": "b"}),
]


def install_all(site: Site, order: Random) -> None:
    names = list(NAMES)
    order.shuffle(names)
    for name in names:
        source = REJECTING if name in ("Alpha", "Beta") else SCORING
        site.install(f"acme-{name.lower()}", {name: source})


@pytest.fixture
def here(site: Site, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """The fake distributions, importable in this process."""
    monkeypatch.syspath_prepend(site.root)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    before = set(sys.modules)
    yield site
    for name in set(sys.modules) - before:
        del sys.modules[name]


def test_the_order_of_installation_is_never_seen(here: Site) -> None:
    install_all(here, Random(1))
    installed: list[Distribution] = list(distributions())
    configuration = configuration_from(None)

    def plan_text(order: Random) -> str:
        order.shuffle(installed)
        profiles = build_profiles(configuration, PluginRegistry(installed))
        objects = order.sample(OBJECTS, len(OBJECTS))
        return json.dumps(document_of(objects, profiles, explain=True))

    texts = {plan_text(Random(seed)) for seed in range(20)}
    (text,) = texts
    document = json.loads(text)
    assert [one["name"] for one in document["plugins"]][-4:] == list(NAMES)
    unwanted = document["decisions"][-1]
    assert (unwanted["run"], unwanted["reason"]) == ("unwanted", "AlphaSays")


def test_the_hash_seed_the_zone_and_the_folder_are_never_seen(tmp_path: Path, manifests: Write) -> None:
    file = manifests(*OBJECTS)
    outputs = set()
    for seed in range(3):
        other = Site(tmp_path / f"site-{seed}")
        install_all(other, Random(seed))
        variables = {"PYTHONHASHSEED": str(seed), "TZ": ["UTC", "Asia/Kathmandu", "America/Lima"][seed]}
        result = other.run("plan", "-f", file, "--explain", "-o", "json", variables=variables)
        assert result.returncode == 1
        outputs.add(result.stdout)
    assert len(outputs) == 1


def test_the_configuration_comes_before_the_alphabet(here: Site, configured: Configure) -> None:
    install_all(here, Random(3))
    configuration = configuration_from(str(configured("plugins: {enabled: [ScoreTwo, Beta]}")))
    profiles = build_profiles(configuration, PluginRegistry())
    document = document_of(OBJECTS, profiles)
    assert [one["name"] for one in document["plugins"]][-4:] == ["ScoreTwo", "Beta", "Alpha", "ScoreOne"]
    assert document["decisions"][-1]["reason"] == "BetaSays"


@pytest.mark.parametrize("mark", ["tryfirst", "trylast", "wrapper", "hookwrapper", "optionalhook"])
def test_a_marker_that_would_change_the_order_is_refused(site: Site, manifests: Write, mark: str) -> None:
    site.install("acme-pushy", {"Pushy": MARKED.replace("{mark}", mark)})
    result = site.run("plan", "-f", manifests(*OBJECTS))
    assert (result.returncode, result.stdout) == (2, "")
    (line,) = result.stderr.splitlines()
    assert "acme-pushy 1.0" in line


def test_a_plan_leaves_no_trace_in_its_folder(site: Site, manifests: Write, tmp_path: Path) -> None:
    file = manifests(*OBJECTS)
    before = sorted(tmp_path.rglob("*"))
    assert site.run("plan", "-f", file, variables={"PYTHONDONTWRITEBYTECODE": "1"}).returncode == 0
    assert sorted(tmp_path.rglob("*")) == before
