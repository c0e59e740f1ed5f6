"""Where the binaries are: the variables of controller test suites, or what was built here before.

The versions are those of `tests/cluster/go.mod`, and stand nowhere else.
"""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

MODULE = Path(__file__).parents[2] / "cluster"
"""The Go module that names the tools and their versions."""

_KUBERNETES = "k8s.io/kubernetes"
_ETCD = "go.etcd.io/etcd/server/v3"


class AssetsError(Exception):
    """A binary that is needed and not there, with what to do about it."""


@dataclass(frozen=True)
class Tool:
    """One binary: its file name, the Go package that it is built from, and that package's module."""

    name: str
    package: str
    module: str

    @property
    def variable(self) -> str:
        """The environment variable that names a binary to be used, as in controller test suites."""
        return f"TEST_ASSET_{self.name.upper().replace('-', '_')}"


ETCD = Tool("etcd", _ETCD, _ETCD)
KUBE_APISERVER = Tool("kube-apiserver", f"{_KUBERNETES}/cmd/kube-apiserver", _KUBERNETES)
KUBECTL = Tool("kubectl", f"{_KUBERNETES}/cmd/kubectl", _KUBERNETES)
TOOLS = (ETCD, KUBE_APISERVER, KUBECTL)


def version_of(tool: Tool) -> str:
    """The version that the Go module requires, such as `v1.37.2`."""
    text = (MODULE / "go.mod").read_text()
    found = re.search(rf"^\s*{re.escape(tool.module)} (v\S+)", text, re.MULTILINE)
    if found is None:
        raise AssetsError(f"{MODULE / 'go.mod'} requires no version of {tool.module}: add it")
    return found[1]


def cached(tool: Tool, environment: Mapping[str, str] = os.environ) -> Path:
    """Where a built binary is kept, whether or not it is there: a folder for each version and machine."""
    root = Path(environment.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    machine = f"{platform.system()}-{platform.machine()}".lower()
    return root / "kruntimes" / "test-assets" / machine / f"{tool.name}-{version_of(tool)}" / tool.name


def locate(tool: Tool, environment: Mapping[str, str] = os.environ) -> Path | None:
    """The binary to use, or None when there is none. A variable that names no file is an error."""
    if named := _named(tool, environment):
        variable, path = named
        if not os.access(path, os.X_OK):
            raise AssetsError(f"{variable} leads to {path}, which is no program: correct or unset it")
        return path
    path = cached(tool, environment)
    return path if path.exists() else None


def _named(tool: Tool, environment: Mapping[str, str]) -> tuple[str, Path] | None:
    if value := environment.get(tool.variable):
        return tool.variable, Path(value)
    if folder := environment.get("KUBEBUILDER_ASSETS"):
        return "KUBEBUILDER_ASSETS", Path(folder) / tool.name
    return None


def require(tool: Tool, environment: Mapping[str, str] = os.environ) -> Path:
    """The binary to use; an AssetsError that says how to get it when there is none."""
    path = locate(tool, environment)
    if path is None:
        raise AssetsError(
            f"no {tool.name}: install Go and run `tox -e cluster`, which builds it once,"
            f" or set {tool.variable} or KUBEBUILDER_ASSETS"
        )
    return path
