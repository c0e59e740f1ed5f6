"""Requests that are none: wrong paths, methods, media types and bodies."""

from __future__ import annotations

from contract import Site, contract
from embedded.bodies import pod_body, run_body
from realcluster.client import NAMESPACES, PODS, RUNS

BODIES = (
    b"",
    b"{",
    b"[]",
    b"5",
    b"null",
    b"{}",
    b'{"kind":"Run"}',
    b'{"apiVersion":"kruntimes.io/v1alpha1"}',
    b'{"apiVersion":"kruntimes.io/v1alpha1","kind":"Run"}',
    b'{"apiVersion":"kruntimes.io/v1alpha1","kind":"Runtime","metadata":{"name":"r"}}',
    b'{"apiVersion":"kruntimes.io/v1","kind":"Run","metadata":{"name":"r"}}',
    b'{"apiVersion":"v1","kind":"Pod","metadata":{"name":"r"}}',
    b'{"apiVersion":"kruntimes.io/v1alpha1","kind":"Run","metadata":5}',
    b'{"apiVersion":"kruntimes.io/v1alpha1","kind":"Run","metadata":{"name":5}}',
    b'{"apiVersion":"kruntimes.io/v1alpha1","kind":"Run","metadata":{"name":"r"},"spec":5}',
)
WITHOUT_A_NAME = (BODIES[8], BODIES[9], BODIES[14])


@contract
def test_bodies_that_are_no_run(site: Site) -> None:
    for body in BODIES:
        refused = site.send("POST", site.path(RUNS), body)
        assert refused.status == (422 if body in WITHOUT_A_NAME else 400), body


@contract
def test_bodies_that_are_no_pod(site: Site) -> None:
    for body in BODIES[:9]:
        refused = site.send("POST", site.path(PODS), body)
        assert refused.status == (422 if body in (b"null", b"{}") else 400), body
    assert site.send("POST", site.path(PODS), {**pod_body(), "spec": 5}).status == 400
    assert site.send("POST", site.path(PODS), pod_body(spec={"containers": [5]})).status == 400
    assert site.send("POST", site.path(PODS), pod_body(spec={"containers": []})).status == 422
    assert site.send("POST", site.path(PODS), pod_body(spec={"nodeName": 5})).status == 400


@contract
def test_an_object_of_another_name_than_the_path(site: Site) -> None:
    site.made(RUNS, run_body())
    site.made(RUNS, run_body("r2"))
    other = site.get(RUNS, "r2").body
    assert site.send("PUT", site.path(RUNS, "r1"), other).status == 400
    assert site.send("PUT", site.path(RUNS, "r1"), run_body(name=None)).status == 400
    elsewhere = {**other, "metadata": {**other["metadata"], "namespace": "elsewhere"}}
    assert site.send("PUT", site.path(RUNS, "r2"), elsewhere).status == 400
    site.made(PODS, pod_body())
    assert site.send("PUT", site.path(PODS, "py-0"), pod_body("other")).status == 400


@contract
def test_media_types_of_bodies(site: Site) -> None:
    for kind in ("text/plain", "application/xml", "application/x-www-form-urlencoded"):
        refused = site.send("POST", site.path(RUNS), run_body(), content_type=kind)
        assert (refused.status, refused.reason) == (415, "UnsupportedMediaType")
    assert site.send("POST", site.path(PODS), pod_body(), content_type="text/plain").status == 415
    plain = "application/json; charset=utf-8"
    assert site.send("POST", site.path(RUNS), run_body(), content_type=plain).status == 201


@contract
def test_media_types_of_answers(site: Site) -> None:
    site.made(RUNS, run_body())
    for accept in ("text/html", "application/xml", "application/json;as=Table;v=v9;g=meta.k8s.io", "image/*"):
        for path in (site.path(RUNS), site.path(RUNS, "r1"), site.path(PODS)):
            assert site.send("GET", path, accept=accept).status == 406
    for accept in ("*/*", "application/*", "text/html,application/json;q=0.5", ""):
        assert site.send("GET", site.path(RUNS, "r1"), accept=accept).status == 200


@contract
def test_methods_that_paths_do_not_have(site: Site) -> None:
    site.made(RUNS, run_body())
    for method, path in (
        ("PUT", site.path(RUNS)),
        ("PATCH", site.path(RUNS)),
        ("POST", site.path(RUNS, "r1")),
        ("PUT", site.path(PODS)),
        ("PATCH", site.path(PODS)),
        ("POST", site.path(PODS, "py-0")),
        ("POST", RUNS.path(None)),
        ("POST", PODS.path(None)),
        ("DELETE", NAMESPACES.path(None)),
        ("DELETE", PODS.path(None)),
        ("DELETE", RUNS.path(None)),
        ("OPTIONS", site.path(RUNS)),
        ("TRACE", site.path(RUNS)),
    ):
        body = None if method in ("DELETE", "OPTIONS", "TRACE") else run_body()
        kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
        site.send(method, path, body, content_type=kind)


@contract
def test_paths_that_lead_nowhere(site: Site) -> None:
    for path in (
        "/nothing",
        "/api/v2",
        "/api/v1/nothing",
        "/api/v1/nothing/x",
        f"/api/v1/namespaces/{site.namespace}/nothing",
        f"/api/v1/namespaces/{site.namespace}/nothing/x",
        "/apis/nothing.io",
        "/apis/nothing.io/v1",
        "/apis/nothing.io/v1/things",
        "/apis/kruntimes.io/v9",
        "/apis/kruntimes.io/v9/runs",
        "/apis/kruntimes.io/v1alpha1/nothing",
        f"/apis/kruntimes.io/v1alpha1/namespaces/{site.namespace}/nothing",
        f"/apis/kruntimes.io/v1alpha1/namespaces/{site.namespace}/runs/r1/status/more",
        "/apis/kruntimes.io/v1alpha1/runs/r1",
        "/apis/coordination.k8s.io/v1/nothing",
        "/api/v1/pods/py-0",
    ):
        assert site.send("GET", path).status == 404


@contract
def test_objects_that_are_not_there(site: Site) -> None:
    for path in (
        site.path(RUNS, "none"),
        site.path(PODS, "none"),
        NAMESPACES.path(None, "none"),
        RUNS.path("none", "none"),
        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/none",
        f"/apis/coordination.k8s.io/v1/namespaces/{site.namespace}/leases/none",
        f"/apis/events.k8s.io/v1/namespaces/{site.namespace}/events/none",
    ):
        reply = site.send("GET", path)
        assert (reply.status, reply.reason) == (404, "NotFound")


@contract
def test_a_body_that_is_too_large(site: Site) -> None:
    padding = b" " * (3 * 1024 * 1024 + 1)
    reply = site.send("POST", site.path(RUNS), padding)
    assert reply.status == 413


@contract
def test_dry_runs(site: Site) -> None:
    site.made(RUNS, run_body())
    site.patch(RUNS, "r1", {"spec": {"cancelRequested": True}}, dryRun="All")
    site.send("DELETE", site.path(RUNS, "r1"), dryRun="All")
    assert site.get(RUNS, "r1").body["metadata"]["generation"] == 1
    site.create(RUNS, run_body("r2"), dryRun="All")
    assert site.get(RUNS, "r2").status == 404


@contract
def test_health(site: Site) -> None:
    for path in ("/healthz", "/livez", "/readyz"):
        assert site.send("GET", path, accept="*/*").body == "ok"
