"""Broken metadata of other people's distributions, met by the whole command with all that it imports."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from kruntimes_core.testing import pod_object, run_object
from tests.scenarios.site import Site, run_command

NAMED = b"Metadata-Version: 2.1\nName: oldtool\nVersion: 1\n"
FOREIGN = b"[console_scripts]\nold = oldtool:main\n"
BROKEN = {
    "not UTF-8": (NAMED + b"Summary: caf\xe9\n", FOREIGN),
    "no equals sign": (NAMED, b"[console_scripts]\nthis line has no equals sign\n"),
    "no METADATA": (None, FOREIGN),
    "no name": (b"Metadata-Version: 2.1\n", FOREIGN),
    "entry points not UTF-8": (NAMED, FOREIGN + b"# caf\xe9\n"),
}


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path / "site")


@pytest.fixture
def cluster(tmp_path: Path) -> Path:
    file = tmp_path / "cluster.yaml"
    file.write_text(yaml.safe_dump_all([pod_object(), run_object("r1"), run_object("r2")]))
    return file


@pytest.mark.parametrize("kind", BROKEN)
def test_no_command_dies_of_it_and_lists_are_whole(site: Site, cluster: Path, kind: str) -> None:
    info = site.root / "oldtool-1.dist-info"
    info.mkdir()
    for name, content in zip(("METADATA", "entry_points.txt"), BROKEN[kind], strict=True):
        if content is not None:
            (info / name).write_bytes(content)
    planned = site.run("plan", "-f", cluster)
    assert (planned.returncode, planned.stderr) == (0, "2 Runs: 2 Scheduled\n")
    listed = site.run("plugins", "list", "-o", "json")
    assert listed.stdout == run_command("plugins", "list", "-o", "json").stdout
    assert site.run("config", "show", "-o", "json").returncode == 0


def test_what_may_be_a_plugin_is_a_broken_row_with_its_folder(site: Site, cluster: Path) -> None:
    site.install("acme", {"Alpha": "class {name}:\n    @hookimpl\n    def filter(self, pod): ...\n"})
    info = site.root / "acme-1.0.dist-info"
    (info / "METADATA").write_bytes(b"Name: acme\nSummary: caf\xe9\n")
    listed = site.run("plugins", "list", "-o", "json")
    [row] = [one for one in json.loads(listed.stdout)["plugins"] if one["name"] == "Alpha"]
    assert (listed.returncode, row["state"]) == (1, "broken")
    assert str(info) in row["why"]
    planned = site.run("plan", "-f", cluster)
    assert (planned.returncode, planned.stdout) == (2, "")
    assert str(info) in planned.stderr
