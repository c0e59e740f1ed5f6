"""The contrast table of the CRDs, on the embedded server: the real one is held to the same lines."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from contrast import CREATIONS, OTHER_CREATIONS, STATUS_WRITES, UPDATES, Create, Update, Write
from contrast.cases import REMOVED, at_path, named, run_spec
from embedded.api import Site, causes, new_api, refusal
from embedded.bodies import Object
from realcluster.client import RUNS, WORKSPACES, Resource

ALL_CREATIONS = [*CREATIONS, *OTHER_CREATIONS]
SPECS = {RUNS: run_spec(), WORKSPACES: {"runtime": "python"}}
RULES_UNCHECKED = "<nil>"


def titles(cases: Sequence[Create | Update | Write]) -> list[str]:
    return [case.title for case in cases]


@pytest.fixture(scope="module")
def sites() -> dict[str, Site]:
    api = new_api()
    return {one.plural: Site(api, one.plural) for one in api.resources if not one.typed}


def made(sites: dict[str, Site], resource: Resource, spec: Object) -> tuple[Site, str]:
    site = sites[resource.plural]
    return site, site.create(named(resource, spec))["metadata"]["name"]


def check_refusal(call: Callable[[], object], at: str) -> None:
    error = refusal(call)
    assert (error.code, error.reason) == (422, "Invalid")
    assert {field for field, _ in causes(error)} - {RULES_UNCHECKED} == {at}, error.message


def check_filled(stored: Object, filled: object) -> None:
    assert isinstance(filled, dict)
    for path, value in filled.items():
        assert (REMOVED if value is REMOVED else value) == at_path(stored, path), path


@pytest.mark.parametrize("case", ALL_CREATIONS, ids=titles(ALL_CREATIONS))
def test_creation(sites: dict[str, Site], case: Create) -> None:
    site = sites[case.resource.plural]
    if case.at is not None:
        check_refusal(lambda: site.create(case.object), case.at)
    else:
        check_filled(site.create(case.object)["spec"], dict(case.filled))


@pytest.mark.parametrize("case", UPDATES, ids=titles(UPDATES))
def test_update(sites: dict[str, Site], case: Update) -> None:
    site, name = made(sites, RUNS, case.before)
    before = site.get(name)
    if case.at is not None:
        check_refusal(lambda: site.merge(name, {"spec": case.change}), case.at)
        assert site.get(name) is before
    else:
        assert site.merge(name, {"spec": case.change}) == site.get(name)


@pytest.mark.parametrize("case", STATUS_WRITES, ids=titles(STATUS_WRITES))
def test_status_write(sites: dict[str, Site], case: Write) -> None:
    site, name = made(sites, case.resource, SPECS[case.resource])
    if case.at is not None:
        check_refusal(lambda: site.merge(name, {"status": case.status}, "status"), case.at)
    else:
        check_filled(site.merge(name, {"status": case.status}, "status")["status"], dict(case.filled))
