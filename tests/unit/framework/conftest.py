"""Fake distributions on disk: a module, and the `.dist-info` folder that an installer would leave."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from importlib.metadata import Distribution, distributions
from pathlib import Path

import pytest

from kruntimes_core.framework.plugin_registry import PluginRegistry

HEADER = """
from __future__ import annotations
import functools
from collections.abc import *
from typing import *
from pydantic import BaseModel
from kruntimes_core import *
"""

FILTER = """
class {name}:
    reasons = {"{name}Said": "{name}"}
    @hookimpl
    def filter(self, pod):
        return Reject("{name}Said")
"""

CAPACITY = """
class {name}:
    provides = {"capacity"}
    @hookimpl
    def filter(self, pod):
        return None
"""

SCORER = """
class {name}:
    @hookimpl
    def score(self, pod):
        return 7
"""

RAISES = 'raise RuntimeError("it was imported")'


class Environment:
    """What is installed, as far as a test is concerned."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.modules: list[str] = []

    def install(
        self,
        name: str,
        source: str = FILTER,
        *,
        distribution: str | None = None,
        version: str = "1.0",
        value: str | None = None,
    ) -> str:
        """Install one plugin; `{name}` in source stands for its name. Returns its module's name."""
        owner = distribution or f"acme-{name.lower()}"
        module = f"fake_{len(self.modules)}_{self.root.name.replace('-', '_')}"
        self.modules.append(module)
        (self.root / f"{module}.py").write_text(HEADER + source.replace("{name}", name))
        self.claim(
            owner, version, f"{name} = {module}:{name}" if value is None else f"{name} = {module}{value}"
        )
        return module

    def claim(self, distribution: str, version: str, entry: str, folder: str = "") -> None:
        """Leave the metadata of a distribution with one entry point."""
        info = self.root / folder / f"{distribution.replace('-', '_')}-{version}.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n")
        (info / "entry_points.txt").write_text(f"[kruntimes.plugins]\n{entry}\n")

    def supplied(self) -> None:
        """Install stand-ins for the specification's five."""
        self.install("RuntimePodAvailability", CAPACITY, distribution="kruntimes-runtime-pod-availability")
        self.install("RunAffinity")
        self.install("WorkspacePlacement")
        self.install("PreferredRunAffinity", SCORER)
        self.install("LeastLoaded", SCORER)

    def distributions(self, *folders: str) -> list[Distribution]:
        """What an installer left in these folders of the environment."""
        return list(distributions(path=[str(self.root / folder) for folder in folders or ("",)]))

    def registry(self, order: Sequence[Distribution] | None = None) -> PluginRegistry:
        """A registry of this environment and nothing else."""
        return PluginRegistry(self.distributions() if order is None else order)

    def imported(self) -> list[str]:
        """Which of the fake modules have been imported."""
        return [module for module in self.modules if module in sys.modules]


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Environment]:
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    made = Environment(tmp_path)
    yield made
    for module in made.modules:
        sys.modules.pop(module, None)
