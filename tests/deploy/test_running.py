"""The host works with the arguments, the configuration and the rights that the chart gives it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from deployment.chart import render
from deployment.image import Image
from deployment.site import Site
from realcluster.client import Resource
from realcluster.scheduler import COMMAND
from realcluster.workload import placed, workload_in

pytestmark = [pytest.mark.xdist_group("image"), pytest.mark.timeout(300)]

LEASES = Resource("coordination.k8s.io", "v1", "leases")
TEAMS = ("team-a", "team-b")

Works = Callable[[dict[str, Any], Sequence[str]], None]


@pytest.fixture
def works(site: Site, place: str, tmp_path: Path) -> Works:
    """Apply the chart with some values, start its host, and let it place a Run in each namespace."""

    def check(values: dict[str, Any], program: Sequence[str]) -> None:
        rendered, client = render(values, release=place, namespace=place), site.cluster.client()
        site.apply(rendered.objects)
        with site.started(rendered, tmp_path, program) as scheduler:
            scheduler.says("deciding")
            scheduler.wait_until(lambda: scheduler.get("probes", "/readyz")[0] == 200)
            for team in TEAMS:
                with workload_in(client, team) as work:
                    work.pod("py-0")
                    work.run("r-0")
                    work.wait_for("r-0", placed)
                    work.delete("r-0")
                    work.delete_pod("py-0")
            assert client.get(LEASES, "kruntimes-scheduler.kruntimes.com", place).status == 200
            assert scheduler.stop() == 0
            assert {line["level"] for line in scheduler.all_lines()} == {"info"}

    return check


@pytest.mark.parametrize("asked", [{}, {"namespaces": list(TEAMS)}], ids=["everywhere", "in two namespaces"])
def test_it_places_runs_where_it_may(works: Works, asked: dict[str, Any]) -> None:
    works(asked, (COMMAND,))


def test_it_does_so_in_its_image_as_another_user_and_writes_no_file(works: Works, image: Image) -> None:
    works({}, image.process(*image.entry_point))


def test_a_dry_run_reads_with_rights_to_read_and_reports(site: Site, place: str, tmp_path: Path) -> None:
    rendered, client = render({"dryRun": True}, release=place, namespace=place), site.cluster.client()
    site.apply(rendered.objects)
    with site.started(rendered, tmp_path) as scheduler, workload_in(client, TEAMS[0]) as work:
        work.pod("py-0")
        work.run("r-0")
        scheduler.says("deciding")
        scheduler.wait_until(lambda: "1 open" in scheduler.get("debug", "/dry-run")[1])
        assert scheduler.get("probes", "/readyz")[0] == 200
        assert work.phases() == {"r-0": ""}
        work.delete("r-0")
        work.delete_pod("py-0")
        assert scheduler.stop() == 0
        assert not [line for line in scheduler.all_lines() if line.get("level") in ("warning", "error")]
    assert client.get(LEASES, "kruntimes-scheduler.kruntimes.com", place).status == 404
