"""Dumps that plans are made from could have come from a cluster with our CRDs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kruntimes_core.model.yaml_files import load_documents
from realcluster.client import RUNS, WORKSPACES, Client, Object

ROOT = Path(__file__).parents[2]
RESOURCES = {"Run": RUNS, "PersistentWorkspace": WORKSPACES}


def objects(path: Path) -> Iterator[Object]:
    for _, document in load_documents(path.read_bytes(), path.name):
        given: Any = document
        for obj in given.get("items", [given]):
            if obj["kind"] in RESOURCES:
                yield obj


@pytest.mark.parametrize("dump", ["tests/data/dump.yaml", "docs/examples/cluster-dump.yaml"])
def test_every_object_of_a_dump_is_taken_as_it_is(server: Client, namespace: str, dump: str) -> None:
    found = list(objects(ROOT / dump))
    assert found
    for obj in found:
        new = {**obj, "metadata": {"generateName": "dumped-", "labels": obj["metadata"].get("labels", {})}}
        made = server.create(RESOURCES[obj["kind"]], new, namespace)
        assert made.status == 201, made.body
        answer = server.patch(
            RESOURCES[obj["kind"]],
            made.body["metadata"]["name"],
            {"status": obj.get("status", {})},
            namespace,
            "status",
        )
        assert answer.status == 200, answer.body
        for part in ("spec", "status"):
            assert obj.get(part, {}).items() <= answer.body.get(part, {}).items()
