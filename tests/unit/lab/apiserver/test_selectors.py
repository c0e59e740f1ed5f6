"""Label selectors and field selectors as texts."""

from __future__ import annotations

import pytest

from embedded.api import Site, new_api, refusal
from embedded.bodies import pod_body
from kruntimes_core.lab.apiserver.selectors import METADATA, FieldSelector, LabelRequirements

LABELS = {"app": "web", "tier": "front", "n": "5", "empty": ""}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "app=web",
        "app==web",
        " app = web , tier = front ",
        "app in (web,db)",
        "app notin (db)",
        "other notin (web)",
        "app",
        "!other",
        "app!=db",
        "other!=web",
        "n>4",
        "n > 4",
        "n<6",
        "empty=",
        "empty in (,)",
        "app.kubernetes.io/x!=y",
    ],
)
def test_these_match(text: str) -> None:
    assert LabelRequirements(text).matches(LABELS)


@pytest.mark.parametrize(
    "text",
    [
        "app=db",
        "app=web,tier=back",
        "app in (db)",
        "other in (web)",
        "app notin (web)",
        "other",
        "!app",
        "app!=web",
        "n>5",
        "app>1",
        "other<1",
        "app=",
        "app in ()",
    ],
)
def test_these_do_not(text: str) -> None:
    assert not LabelRequirements(text).matches(LABELS)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a in", "cannot read 'a in'"),
        ("a in (b", "cannot read 'a in (b'"),
        ("a b", "cannot read 'a b'"),
        ("x,a=b c", "cannot read 'a=b c'"),
        ("=b", "cannot read '=b'"),
        ("a,", "a requirement is missing at the end"),
        ("a>x", "must be an integer"),
    ],
)
def test_these_are_no_label_selectors(text: str, problem: str) -> None:
    error = refusal(lambda: LabelRequirements(text))
    assert error.code == 400
    assert problem in error.message


@pytest.mark.parametrize(
    ("text", "matches"),
    [
        ("", True),
        ("metadata.name=r1", True),
        ("metadata.name==r1,metadata.namespace=team-a", True),
        ("metadata.name!=r1", False),
        ("metadata.namespace!=other", True),
        ("metadata.name=", False),
    ],
)
def test_field_selectors(text: str, matches: bool) -> None:
    obj = {"metadata": {"name": "r1", "namespace": "team-a"}}
    assert FieldSelector(text, METADATA).matches(obj) is matches


def test_a_field_selector_may_name_what_its_kind_offers_only() -> None:
    error = refusal(lambda: FieldSelector("spec.runtime=py", METADATA))
    assert (error.code, error.message) == (400, "field label not supported: spec.runtime")
    error = refusal(lambda: FieldSelector("metadata.name", METADATA))
    assert error.message == "invalid field selector 'metadata.name': cannot read 'metadata.name'"


def test_an_escaped_comma_belongs_to_the_value() -> None:
    selector = FieldSelector(r"metadata.name=a\,b", METADATA)
    assert selector.matches({"metadata": {"name": "a,b"}})


def test_pods_are_selected_by_phase_and_node() -> None:
    pods = Site(new_api(), "pods")
    pods.create(pod_body("a", spec={"nodeName": "n1"}))
    pods.create(pod_body("b"))
    pods.merge("b", {"status": {"phase": "Running"}}, "status")
    assert pods.names(field_selector="status.phase=Pending") == ["a"]
    assert pods.names(field_selector="status.phase!=Pending,spec.nodeName=") == ["b"]
    assert pods.names(field_selector="spec.nodeName=n1") == ["a"]
