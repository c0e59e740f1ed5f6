"""Fixtures of the tests of `kruntimes dev`."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from devcluster import Dev, Stream, environment, running
from realcluster.assets import KUBECTL, locate, require

Kubectl = Callable[..., str]


@pytest.fixture(scope="session")
def kubectl_path() -> str:
    """A kubectl: the one of the tests on a real API server, else whichever is installed."""
    found = locate(KUBECTL)
    return str(found) if found else shutil.which("kubectl") or str(require(KUBECTL))


@pytest.fixture
def dev(tmp_path: Path) -> Iterator[Dev]:
    """A development cluster whose Runs take a second, with its kubeconfig in `kubeconfig`."""
    with running(tmp_path, "--duration", "1s", "--kubeconfig-out", str(tmp_path / "kubeconfig")) as started:
        started.url()
        yield started


class Client:
    """kubectl on a development cluster."""

    def __init__(self, program: str, folder: Path) -> None:
        self._program = program
        self._environment = environment(folder, KUBECONFIG=str(folder / "kubeconfig"))
        self._environment["HOME"] = str(folder)

    def __call__(self, *arguments: str, given: str = "", code: int = 0) -> str:
        """What it prints, errors after it."""
        done = subprocess.run(
            [self._program, *arguments],
            input=given,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=self._environment,
            timeout=30,
            check=False,
        )
        assert done.returncode == code, f"kubectl {' '.join(arguments)}: {done.stdout}"
        return done.stdout

    def following(self, *arguments: str) -> tuple[subprocess.Popen[bytes], Stream]:
        """One that goes on, and what it prints."""
        process = subprocess.Popen([self._program, *arguments], stdout=subprocess.PIPE, env=self._environment)
        assert process.stdout is not None
        stream = Stream(os.dup(process.stdout.fileno()))
        process.stdout.close()
        return process, stream


@pytest.fixture
def kubectl(kubectl_path: str, dev: Dev, tmp_path: Path) -> Client:
    """kubectl, on the development cluster of the test."""
    return Client(kubectl_path, tmp_path)
