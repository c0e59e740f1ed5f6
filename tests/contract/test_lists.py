"""Lists: whole, in pages, at a version, and selected."""

from __future__ import annotations

from contract import Site, contract
from embedded.bodies import pod_body, run_body
from realcluster.client import PODS, RUNS

LETTERS = ("a", "b", "c", "d", "e")
FAR = 10**12


def filled(site: Site) -> list[str]:
    """Five Runs; returns the versions at which they came."""
    return [site.made(RUNS, run_body(name))["metadata"]["resourceVersion"] for name in LETTERS]


@contract
def test_an_empty_list(site: Site) -> None:
    assert site.list(RUNS).body["items"] == []
    assert site.list(PODS).body["items"] == []
    assert site.send("GET", RUNS.path("no-such-namespace")).body["items"] == []


@contract
def test_a_list_goes_by_name_and_says_its_version(site: Site) -> None:
    for name in ("b", "a-b", "a", "a.b", "ab"):
        site.made(RUNS, run_body(name))
    assert site.list(RUNS).names == ["a", "a-b", "a.b", "ab", "b"]
    site.made(PODS, pod_body())
    assert "kind" not in site.list(PODS).body["items"][0]


@contract
def test_pages(site: Site) -> None:
    filled(site)
    first = site.list(RUNS, limit=2)
    assert first.names == ["a", "b"]
    assert first.body["metadata"]["remainingItemCount"] == 3
    # Pages are of one version: what comes later is not on them.
    site.gone(RUNS, "d")
    site.made(RUNS, run_body("f"))
    second = site.list(RUNS, limit=2, **{"continue": first.body["metadata"]["continue"]})
    assert second.names == ["c", "d"]
    last = site.list(RUNS, limit=2, **{"continue": second.body["metadata"]["continue"]})
    assert last.names == ["e"]
    assert not last.body["metadata"].get("continue")
    assert first.version == last.version


@contract
def test_a_page_that_holds_everything(site: Site) -> None:
    filled(site)
    for limit in (5, 6, 500):
        assert "remainingItemCount" not in site.list(RUNS, limit=limit).body["metadata"]
    assert site.list(RUNS, limit=0).names == list(LETTERS)


@contract
def test_pages_of_a_selection_do_not_say_how_many_remain(site: Site) -> None:
    for name in LETTERS:
        site.made(RUNS, run_body(name, labels={"odd": str(LETTERS.index(name) % 2)}))
    page = site.list(RUNS, limit=1, labelSelector="odd=0")
    assert "remainingItemCount" not in page.body["metadata"]
    token = page.body["metadata"]["continue"]
    rest = site.list(RUNS, labelSelector="odd=0", **{"continue": token})
    assert page.names + rest.names == ["a", "c", "e"]


@contract
def test_pages_of_pods(site: Site) -> None:
    for name in LETTERS:
        site.made(PODS, pod_body(name))
    page = site.list(PODS, limit=3)
    assert page.body["metadata"]["remainingItemCount"] == 2
    assert site.list(PODS, limit=3, **{"continue": page.body["metadata"]["continue"]}).names == ["d", "e"]


@contract
def test_limits_and_tokens_that_are_none(site: Site) -> None:
    filled(site)
    for query in (
        {"limit": "few"},
        {"limit": "-1"},
        {"continue": "x"},
        {"continue": "e30"},
        {"continue": "eyJ2IjoibWV0YS5rOHMuaW8vdjkiLCJydiI6MSwic3RhcnQiOiJhIn0"},
    ):
        site.list(RUNS, **query)
    token = site.list(RUNS, limit=1).body["metadata"]["continue"]
    refused = site.list(RUNS, limit=1, resourceVersion="5", **{"continue": token})
    assert (refused.status, refused.reason) == (400, "BadRequest")


@contract
def test_versions_of_lists(site: Site) -> None:
    versions = filled(site)
    # A real server keeps its objects in memory too, and brings them up to date for this.
    assert site.list(RUNS).names == list(LETTERS)
    assert site.list(RUNS, resourceVersion=versions[2]).names == list(LETTERS)
    assert site.list(RUNS, resourceVersion=versions[2], resourceVersionMatch="NotOlderThan").names == list(
        LETTERS
    )
    exact = site.list(RUNS, resourceVersion=versions[2], resourceVersionMatch="Exact")
    assert exact.names == ["a", "b", "c"]
    assert exact.version == versions[2]
    assert site.list(RUNS, resourceVersion=versions[2], limit=2).names == ["a", "b"]
    assert site.list(RUNS, resourceVersion="0", limit=2).names == list(LETTERS)


@contract
def test_versions_of_lists_that_are_none(site: Site) -> None:
    filled(site)
    for version in ("now", "-1"):
        assert site.list(RUNS, resourceVersion=version).status == 400
    for query in (
        {"resourceVersionMatch": "Exact"},
        {"resourceVersionMatch": "Exact", "resourceVersion": "0"},
        {"resourceVersionMatch": "Close", "resourceVersion": "5"},
        {"resourceVersionMatch": "NotOlderThan"},
        {"sendInitialEvents": "true"},
        {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan"},
    ):
        assert site.list(RUNS, **query).status == 422


@contract
def test_a_version_that_is_not_reached(site: Site) -> None:
    reply = site.list(RUNS, resourceVersion=FAR, resourceVersionMatch="Exact")
    assert reply.status == 504


@contract
def test_a_list_of_everywhere(site: Site) -> None:
    site.made(RUNS, run_body(labels={"of": site.namespace}))
    assert site.send("GET", RUNS.path(None), labelSelector=f"of={site.namespace}").names == ["r1"]
