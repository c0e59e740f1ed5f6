"""Merge, JSON and strategic merge patches, and the bodies that are none."""

from __future__ import annotations

from typing import Any

from contract import Site, contract
from embedded.bodies import pod_body, run_body
from realcluster.client import PODS, RUNS

MERGES: tuple[dict[str, Any], ...] = (
    {},
    {"metadata": {"labels": {"a": None, "b": "c"}}},
    {"metadata": {"labels": None}},
    {"metadata": {"annotations": {"n": "1"}, "finalizers": ["example.com/f"]}},
    {"spec": {"ttlSecondsAfterFinished": 5}},
    {"spec": {"ttlSecondsAfterFinished": None}},
    {"spec": {"cancelRequested": True, "unknown": 1}},
    {"status": {"phase": "Failed"}},
    {"unknown": True},
    {"metadata": {"finalizers": None}},
)
OPERATIONS: tuple[list[dict[str, Any]], ...] = (
    [],
    [{"op": "add", "path": "/metadata/labels", "value": {"a": "b"}}],
    [{"op": "replace", "path": "/metadata/labels/a", "value": "c"}],
    [{"op": "copy", "from": "/metadata/labels/a", "path": "/metadata/labels/x"}],
    [{"op": "move", "from": "/metadata/labels/x", "path": "/metadata/labels/y"}],
    [{"op": "remove", "path": "/metadata/labels/y"}],
    [{"op": "add", "path": "/metadata/annotations", "value": {"a~b/c": "d"}}],
    [{"op": "remove", "path": "/metadata/annotations/a~0b~1c"}],
    [{"op": "add", "path": "/spec/ttlSecondsAfterFinished", "value": 3}],
)
NOT_APPLICABLE: tuple[list[dict[str, Any]], ...] = (
    [{"op": "remove", "path": "/metadata/labels/none"}],
    [{"op": "add", "path": "/spec/none/below", "value": 1}],
    [{"op": "test", "path": "/spec/runtime", "value": "other"}],
    [{"op": "move", "from": "/spec/none", "path": "/spec/runtime"}],
    [{"op": "explode", "path": "/spec/runtime"}],
    [{"op": "add", "value": 1}],
    [{"op": "add", "path": "spec", "value": 1}],
    [{"op": "replace", "path": "", "value": 5}],
)


@contract
def test_merge_patches(site: Site) -> None:
    site.made(RUNS, run_body(labels={"a": "1"}))
    for patch in MERGES:
        assert site.patch(RUNS, "r1", patch).status == 200
    assert site.get(RUNS, "r1").body["metadata"]["annotations"] == {"n": "1"}


@contract
def test_json_patches(site: Site) -> None:
    site.made(RUNS, run_body())
    for operations in OPERATIONS:
        site.patch(RUNS, "r1", operations, kind="json")
    assert site.get(RUNS, "r1").body["metadata"]["labels"] == {"a": "c"}


@contract
def test_json_patches_that_do_not_apply(site: Site) -> None:
    site.made(RUNS, run_body(labels={"a": "b"}))
    for operations in NOT_APPLICABLE:
        site.patch(RUNS, "r1", operations, kind="json")


@contract
def test_json_patches_of_lists(site: Site) -> None:
    site.made(PODS, pod_body(finalizers=["example.com/a", "example.com/c"]))
    at = "/metadata/finalizers"
    for operation in (
        {"op": "add", "path": f"{at}/1", "value": "example.com/b"},
        {"op": "add", "path": f"{at}/-", "value": "example.com/d"},
        {"op": "replace", "path": f"{at}/0", "value": "example.com/e"},
        {"op": "remove", "path": f"{at}/1"},
        {"op": "remove", "path": f"{at}/9"},
    ):
        site.patch(PODS, "py-0", [operation], kind="json")
    assert site.get(PODS, "py-0").body["metadata"]["finalizers"] == [
        "example.com/e",
        "example.com/c",
        "example.com/d",
    ]


@contract
def test_documents_that_are_no_patch(site: Site) -> None:
    site.made(RUNS, run_body())
    site.made(PODS, pod_body())
    for kind in ("merge", "json"):
        for body in (b"{", b"", b"5", b'"x"', b"null", b"[]", b"{}"):
            site.patch(RUNS, "r1", body, kind=kind)
            site.patch(PODS, "py-0", body, kind=kind)
    for body in (b"{", b"", b"5", b"[]"):
        assert site.patch(PODS, "py-0", body, kind="strategic").status == 400


@contract
def test_patches_to_wrong_types(site: Site) -> None:
    site.made(RUNS, run_body())
    site.made(PODS, pod_body())
    for patch in (
        {"metadata": {"labels": {"a": 1}}},
        {"metadata": 5},
        {"spec": 5},
        {"spec": None},
        {"kind": "X"},
    ):
        site.patch(RUNS, "r1", patch)
        site.patch(PODS, "py-0", patch)


@contract
def test_what_names_an_object_cannot_be_patched(site: Site) -> None:
    site.made(RUNS, run_body())
    for patch, status in (
        ({"metadata": {"name": "other"}}, 400),
        ({"metadata": {"name": None}}, 400),
        ({"metadata": {"namespace": "elsewhere"}}, 400),
        ({"apiVersion": "v1"}, 422),
        ({"apiVersion": None}, 500),
    ):
        assert site.patch(RUNS, "r1", patch).status == status


@contract
def test_strategic_patches_of_pods(site: Site) -> None:
    container = {"name": "runtime", "image": "a:1"}
    tolerations = [{"key": "k", "operator": "Exists"}]
    site.made(PODS, pod_body(labels={"a": "b"}, spec={"containers": [container], "tolerations": tolerations}))
    for patch in (
        {"spec": {"containers": [{"name": "runtime", "image": "a:2"}]}},
        {"metadata": {"labels": {"a": None, "c": "d"}}},
        {"metadata": {"annotations": {"$patch": "replace", "x": "y"}}},
        {"metadata": {"finalizers": ["example.com/a"]}},
        {"metadata": {"finalizers": ["example.com/b"]}},
        {"metadata": {"$deleteFromPrimitiveList/finalizers": ["example.com/a"]}},
        {"spec": {"containers": [{"name": "new", "image": "a:1"}]}},
        {"spec": {"containers": [{"image": "a:1"}]}},
        {"spec": {"$setElementOrder/containers": [{"name": "runtime"}], "containers": []}},
    ):
        site.patch(PODS, "py-0", patch, kind="strategic")
    assert site.get(PODS, "py-0").body["spec"]["containers"][0]["image"] == "a:2"


@contract
def test_strategic_patches_of_a_pods_status(site: Site) -> None:
    site.made(PODS, pod_body())
    ready = {"type": "Ready", "status": "True", "lastTransitionTime": "2001-02-03T04:05:06Z"}
    probed = {"type": "kruntimes.io/RuntimedReady", "status": "True", "lastProbeTime": "2001-02-03T04:05:06Z"}
    for status in (
        {"phase": "Running", "conditions": [ready]},
        {"conditions": [probed]},
        {"conditions": [{"type": "Ready", "status": "False"}]},
        {"conditions": [{"type": "Ready", "$patch": "delete"}]},
        {"$setElementOrder/conditions": [{"type": "kruntimes.io/RuntimedReady"}, {"type": "Ready"}]},
    ):
        assert site.patch(PODS, "py-0", {"status": status}, "status", "strategic").status == 200
    conditions = site.get(PODS, "py-0").body["status"]["conditions"]
    assert [condition["type"] for condition in conditions] == ["kruntimes.io/RuntimedReady"]


@contract
def test_forms_of_patches_that_are_not_taken(site: Site) -> None:
    site.made(RUNS, run_body())
    for kind in (
        "application/json",
        "text/plain",
        "application/yaml",
        "application/strategic-merge-patch+json",
    ):
        refused = site.send("PATCH", site.path(RUNS, "r1"), {}, content_type=kind)
        assert (refused.status, refused.reason) == (415, "UnsupportedMediaType")
    site.made(PODS, pod_body())
    assert site.send("PATCH", site.path(PODS, "py-0"), {}, content_type="application/json").status == 415


@contract
def test_server_side_apply(site: Site) -> None:
    site.patch(RUNS, "r1", run_body(), kind="apply", fieldManager="me")
