"""What the documentation says to type at a cluster is typed: Helm's library and a real kubectl answer."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from kruntimes_core.crds import crds
from realcluster.access import install_crds
from realcluster.servers import Cluster, running_cluster
from tests.docs.pages import ROOT, Page, all_pages

pytestmark = pytest.mark.xdist_group("documented")

ROLE = "on a cluster"
PAGES = [
    page
    for page in all_pages()
    # Runbooks share a cluster: test_runbooks.py.
    if page.path.parent.name != "runbooks" and any(block.role == ROLE for block in page.blocks)
]


@pytest.fixture
def untouched(tmp_path: Path) -> Iterator[Cluster]:
    """A cluster for one page alone, with CRDs: the deletion of a namespace never ends here."""
    folder = tmp_path / "cluster"
    folder.mkdir()
    with running_cluster(folder) as started:
        install_crds(started, crds())
        yield started


@pytest.fixture
def environment(kubectl: str, untouched: Cluster, tmp_path: Path) -> dict[str, str]:
    """The environment of a reader who has `helm` and `kubectl`, and a cluster."""
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "kubectl").symlink_to(kubectl)
    helm = programs / "helm"
    helm.write_text(f'#!/bin/sh\nexec {sys.executable} -m deployment.helm "$@"\n')
    helm.chmod(0o755)
    path = f"{programs}:{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "KUBECONFIG": str(untouched.kubeconfig), "HOME": str(tmp_path)}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_commands_work_one_after_the_other(
    page: Page, environment: dict[str, str], tmp_path: Path
) -> None:
    _set(page, environment)
    checkout = tmp_path / "checkout"
    checkout.mkdir()
    (checkout / "deploy").symlink_to(ROOT / "deploy")
    for block in page.blocks:
        if block.role == "write":
            target = checkout / block.target
            target.parent.mkdir(exist_ok=True)
            target.write_text(block.text)
        if block.role == ROLE:
            script = ["/bin/bash", "-euc", block.text]
            done = subprocess.run(
                script, cwd=checkout, env=environment, capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, f"{block.text}{done.stdout}{done.stderr}"


def _set(page: Page, environment: dict[str, str]) -> None:
    """What a page finds in the cluster, if it says that there is something: `data/<its name>.yaml`."""
    found = Path(__file__).with_name("data") / f"{page.path.stem}.yaml"
    if found.exists():
        waiting = "kubectl wait --for=condition=Established crd --all"
        script = ["/bin/bash", "-euc", f"kubectl apply --filename {found}; {waiting}"]
        subprocess.run(script, env=environment, check=True)
