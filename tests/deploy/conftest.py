"""Every set of values is a case of every test that asks for one; the cluster is a real one."""

import pytest

from deployment.chart import DEPLOY, Rendered, render, value_sets
from deployment.image import Image
from deployment.scratch import Builder
from realcluster.fixtures import cluster, kubectl, namespace

__all__ = ["cluster", "image", "kubectl", "namespace", "rendered"]

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
