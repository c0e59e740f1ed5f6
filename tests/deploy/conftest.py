"""Every set of values is a case of every test that asks for one; the cluster is a real one."""

from pathlib import Path

import pytest
import yaml

from deployment.chart import DEPLOY, NAMESPACE, Rendered, render, value_sets
from deployment.image import Image
from deployment.scratch import Builder
from deployment.site import Site
from realcluster.fixtures import cluster, kubectl, namespace
from realcluster.servers import Cluster

__all__ = ["cluster", "image", "kubectl", "namespace", "place", "rendered", "site"]

BASE = f"python:3.11-slim-bookworm@sha256:{'0' * 64}"
"""Stands for a base image, and is none."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "values" in metafunc.fixturenames:
        sets = value_sets()
        metafunc.parametrize("values", list(sets.values()), ids=list(sets))


@pytest.fixture
def rendered(values: dict[str, object]) -> Rendered:
    """What the chart gives for one of the sets of values."""
    return render(values)


@pytest.fixture(scope="session")
def image(tmp_path_factory: pytest.TempPathFactory) -> Image:
    """The image of the host, without the folders of its build; nobody may change it."""
    builder = Builder(DEPLOY.parent, tmp_path_factory.mktemp("image") / "root", {"BASE_IMAGE": BASE}, {})
    return builder.build(DEPLOY / "Dockerfile")


@pytest.fixture(scope="session")
def site(cluster: Cluster, kubectl: str) -> Site:
    """An API server with all that the sets of values ask for."""
    site = Site(cluster, kubectl)
    operator = Path(__file__).with_name("data") / "monitor.yaml"
    for crd in yaml.safe_load_all(operator.read_text()):
        site.install_crd(crd)
    site.have_namespace(NAMESPACE, restricted=True)
    for name in ("team-a", "team-b"):
        site.have_namespace(name, restricted=False)
    return site


@pytest.fixture
def place(site: Site, namespace: str) -> str:
    """A namespace of the test's own, for restricted Pods alone."""
    site.have_namespace(namespace, restricted=True)
    return namespace
