"""Kubeconfigs for those who act for a ServiceAccount."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Protocol


class Reachable(Protocol):
    """An API server: a `Cluster`, or another one."""

    @property
    def url(self) -> str:
        """Its base URL."""

    @property
    def ca_file(self) -> Path | None:
        """Who signed its certificate; None for plain HTTP."""


def kubeconfig_of(cluster: Reachable, token: str, folder: Path) -> Path:
    """A kubeconfig for the bearer of a token."""
    path = folder / "kubeconfig"
    authority = {"server": cluster.url}
    if cluster.ca_file is not None:
        authority["certificate-authority"] = str(cluster.ca_file)
    path.write_text(
        json.dumps(
            {
                "apiVersion": "v1",
                "kind": "Config",
                "current-context": "test",
                "clusters": [{"name": "test", "cluster": authority}],
                "users": [{"name": "test", "user": {"token": token}}],
                "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}],
            }
        )
    )
    return path
