"""What is tested is what is installed: the wheels, and not the checkout that they were built from."""

from importlib.metadata import distribution, entry_points
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import kruntimes_core
from kruntimes_core.framework.plugin_registry import PluginRegistry

SUPPLIED = {
    "RuntimePodAvailability": "kruntimes-runtime-pod-availability",
    "RunAffinity": "kruntimes-run-affinity",
    "WorkspacePlacement": "kruntimes-workspace-placement",
    "PreferredRunAffinity": "kruntimes-preferred-run-affinity",
    "LeastLoaded": "kruntimes-least-loaded",
}
PLUGINS = {**SUPPLIED, "ZoneSpread": "kruntimes-example-zone-spread"}
PACKAGES = ["kruntimes_core", *(name.replace("-", "_") for name in PLUGINS.values())]


@pytest.mark.parametrize("package", PACKAGES)
def test_packages_lie_in_site_packages_and_are_typed(package: str) -> None:
    found = find_spec(package)
    assert found is not None
    assert found.origin is not None
    assert "site-packages" in Path(found.origin).parts
    assert files(package).joinpath("py.typed").is_file()


def test_the_version_is_told_once() -> None:
    assert distribution("kruntimes-core").version == kruntimes_core.__version__


def test_plugins_come_in_by_their_entry_points() -> None:
    found = {point.name: point.dist.name for point in entry_points(group="kruntimes.plugins") if point.dist}
    assert found == PLUGINS


@pytest.mark.parametrize("name", SUPPLIED.values())
def test_a_supplied_plugin_needs_the_host_alone_and_accepts_this_one(name: str) -> None:
    (line,) = distribution(name).requires or []
    requirement = Requirement(line)
    assert requirement.name == "kruntimes-core"
    assert requirement.specifier.contains(kruntimes_core.__version__)


def test_the_host_needs_no_plugin_and_brings_its_licence() -> None:
    host = distribution("kruntimes-core")
    assert not any("kruntimes" in Requirement(line).name for line in host.requires or [])
    assert host.metadata["License-Expression"] == "Apache-2.0"
    assert any(path.name == "LICENSE" for path in host.files or [])


@pytest.mark.parametrize("name", PLUGINS)
def test_the_host_accepts_every_installed_plugin(name: str) -> None:
    installed = PluginRegistry().load(name)
    assert installed.distribution == PLUGINS[name]
    assert installed.hooks
    assert installed.declaration.on_by_default is (name in SUPPLIED)
