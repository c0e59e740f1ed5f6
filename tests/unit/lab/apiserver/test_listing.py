"""Lists: order, selection, pages of one version, and versions that are out of reach."""

from __future__ import annotations

from typing import Any

import pytest

from embedded.api import Site, new_api, refusal
from embedded.bodies import namespace_body, run_body
from kruntimes_core.lab.apiserver.requests import ListOptions
from kruntimes_core.lab.apiserver.watch_cache import Page, read_token, write_token


@pytest.fixture
def runs() -> Site:
    site = Site(new_api(), "runs")
    for number in (3, 1, 4, 0, 2):
        site.create(run_body(f"r{number}", labels={"app": "odd" if number % 2 else "even"}))
    return site


def page(runs: Site, namespace: str | None = "team-a", **options: Any) -> Page:
    return runs.api.page(runs.resource, namespace, ListOptions(**options))


def names(found: Page) -> list[str]:
    return [str(stored.object["metadata"]["name"]) for stored in found.items]


def test_a_list_of_all_namespaces_is_in_the_order_of_the_paths(runs: Site) -> None:
    for namespace in ("team", "team-b"):
        Site(runs.api, "namespaces").create(namespace_body(namespace))
        runs.api.create(runs.resource, namespace, run_body("x"))
    keys = [stored.object["metadata"]["namespace"] for stored in page(runs, None).items]
    assert keys == ["team-a"] * 5 + ["team-b", "team"]


def test_a_list_of_a_namespace_that_is_not_there_is_empty(runs: Site) -> None:
    assert names(page(runs, "nowhere")) == []


def test_pages_show_one_version_whatever_happens_meanwhile(runs: Site) -> None:
    first = page(runs, limit=2)
    assert (names(first), first.remaining) == (["r0", "r1"], 3)
    runs.delete("r2")
    runs.create(run_body("r25"))
    runs.merge("r3", {"metadata": {"labels": {"new": "1"}}})
    second = page(runs, limit=2, continue_token=first.continue_token)
    assert (names(second), second.version) == (["r2", "r3"], first.version)
    assert "new" not in second.items[1].object["metadata"]["labels"]
    third = page(runs, limit=2, continue_token=second.continue_token)
    assert (names(third), third.continue_token) == (["r4"], "")
    assert names(page(runs)) == ["r0", "r1", "r25", "r3", "r4"]


def test_a_token_whose_version_is_forgotten_offers_an_inconsistent_one(runs: Site) -> None:
    first = page(runs, limit=2)
    runs.delete("r3")
    runs.api.store.forget()
    error = refusal(lambda: page(runs, limit=2, continue_token=first.continue_token))
    assert (error.code, error.reason) == (410, "Expired")
    assert error.message.startswith("the continue token is too old")
    rest = page(runs, continue_token=error.as_object()["metadata"]["continue"])
    assert (names(rest), rest.version) == (["r2", "r4"], runs.api.store.version)


def test_an_exact_version_shows_the_past(runs: Site) -> None:
    version = str(runs.api.store.version)
    runs.delete("r0")
    assert names(page(runs, resource_version=version, resource_version_match="Exact"))[0] == "r0"
    found = page(runs, resource_version=version, resource_version_match="NotOlderThan")
    assert names(found)[0] == "r1"
    runs.api.store.forget()
    error = refusal(lambda: page(runs, resource_version=version, resource_version_match="Exact"))
    assert (error.code, error.message) == (410, "The resourceVersion for the provided list is too old.")


def test_a_token_says_where_to_go_on() -> None:
    assert read_token(write_token(12, "team-a/r1\0")) == (12, "team-a/r1\0")


def test_the_history_is_bounded() -> None:
    runs = Site(new_api(history_limit=10), "runs")
    versions = [runs.create(run_body(f"r{number:02}"))["metadata"]["resourceVersion"] for number in range(40)]
    assert len(page(runs, resource_version=versions[29], resource_version_match="Exact").items) == 30
    error = refusal(lambda: page(runs, resource_version=versions[28], resource_version_match="Exact"))
    assert error.code == 410


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"label_selector": "x,a=b c"}, "invalid label selector 'x,a=b c': cannot read 'a=b c'"),
        ({"label_selector": "a,"}, "invalid label selector 'a,': a requirement is missing at the end"),
        (
            {"label_selector": "a>x"},
            "invalid label selector: 'x': the value of '<' and '>' must be an integer",
        ),
        ({"field_selector": "spec.runtime=py"}, "field label not supported: spec.runtime"),
        ({"field_selector": "a"}, "invalid field selector 'a': cannot read 'a'"),
    ],
)
def test_a_selector_that_cannot_be_read_says_where(runs: Site, options: dict[str, str], problem: str) -> None:
    error = refusal(lambda: page(runs, **options))
    assert (error.code, error.message) == (400, problem)
