"""The forms that clients ask for and send, and which answer leads them to a form that is served."""

from __future__ import annotations

from collections.abc import Iterable

from contract import Site, contract
from contract.site import METADATA_LIST, TABLE
from embedded.bodies import pod_body, run_body
from realcluster.client import JSON, NAMESPACES, PODS, RUNS

AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
OTHER_ORDER = "application/json;as=APIGroupDiscoveryList;v=v2;g=apidiscovery.k8s.io"
OLDER = "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList"
YAML = "application/yaml"
PROTOBUF = "application/vnd.kubernetes.protobuf"
V2 = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
V2_OLD = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"
GROUP = "/openapi/v3/apis/kruntimes.io/v1alpha1"
RUN_YAML = b"""
apiVersion: kruntimes.io/v1alpha1
kind: Run
metadata: {name: r1, annotations: {day: 2026-01-02, "on": "yes"}}
spec:
  runtime: py
  mode: {task: {entrypoint: a.py}}
"""


def heads(site: Site, path: str, accepts: Iterable[str], method: str = "GET") -> list[tuple[int, str]]:
    """(status, media type) of an answer for each `Accept`; of the documents no more is compared."""
    found = []
    for accept in accepts:
        reply = site.send(method, path, accept=accept)
        found.append((reply.status, reply.content_type))
        site.keep(None)
    return found


# OpenAPI


@contract
def test_the_openapi_document_in_version_2(site: Site) -> None:
    accepts = ("", JSON, "*/*", V2, V2_OLD, f"{V2_OLD},{JSON}", f"{V2};q=0.5,{JSON}")
    found = heads(site, "/openapi/v2", accepts)
    assert [kind for _, kind in found] == [JSON, JSON, JSON, V2, V2, V2, JSON]
    for accept in ("text/html", YAML, PROTOBUF):
        refused = site.send("GET", "/openapi/v2", accept=accept)
        assert (refused.status, refused.body) == (406, "")


@contract
def test_the_openapi_documents_in_version_3(site: Site) -> None:
    assert {status for status, _ in heads(site, "/openapi/v3", ("", JSON, "*/*", "text/html"))} == {200}
    assert heads(site, GROUP, ("", JSON, "*/*", f"text/html,{JSON}")) == [(200, JSON)] * 4
    for accept in ("text/html", YAML, PROTOBUF):
        refused = site.send("GET", GROUP, accept=accept)
        assert (refused.status, refused.body) == (406, "")
    for path in ("/openapi/v3/apis/nothing.io/v1", "/openapi/v3/api/v9", "/openapi/v3/nothing"):
        assert site.send("GET", path).body == ""


# Discovery


@contract
def test_all_groups_in_one_answer(site: Site) -> None:
    accepts = (
        f"{OLDER},{AGGREGATED},{JSON}",
        f"{JSON},{AGGREGATED}",
        f"{OTHER_ORDER},{JSON}",
        f"{AGGREGATED};q=0.4,{JSON};q=0.8",
        f"{OLDER},{JSON}",
        f"{OLDER},{YAML}",
    )
    for path in ("/api", "/apis"):
        assert [kind for _, kind in heads(site, path, accepts)] == [AGGREGATED] * 4 + [JSON, YAML]


@contract
def test_documents_about_kinds_in_forms_that_are_not_served(site: Site) -> None:
    for path in ("/api", "/apis", "/api/v1", "/apis/kruntimes.io", "/apis/kruntimes.io/v1alpha1"):
        assert heads(site, path, ("", "*/*", f"image/*,{JSON}")) == [(200, JSON)] * 3
        assert heads(site, path, (YAML, f"{YAML},{JSON}", f"{JSON},{YAML}"))[0] == (200, YAML)
        for accept in ("text/html", OLDER, TABLE):
            refused = site.send("GET", path, accept=accept)
            assert (refused.status, refused.reason) == (406, "NotAcceptable")
            site.keep(None)
    for path in ("/api/v1", "/apis/kruntimes.io", "/apis/kruntimes.io/v1alpha1"):
        assert heads(site, path, (AGGREGATED, f"{AGGREGATED},{JSON}"))[1] == (200, JSON)


@contract
def test_the_version_is_json(site: Site) -> None:
    assert heads(site, "/version", ("", "*/*", JSON, AGGREGATED)) == [(200, JSON)] * 4
    assert {status for status, _ in heads(site, "/version", ("text/html", "image/*"))} == {406}


@contract
def test_methods_of_documents(site: Site) -> None:
    for path in ("/api", "/api/v1", "/version"):
        for method in ("POST", "PUT", "DELETE", "HEAD"):
            assert site.send(method, path).status == 405
            site.keep(None)


# Objects


@contract
def test_the_order_of_what_a_client_accepts(site: Site) -> None:
    site.made(PODS, pod_body())
    site.made(RUNS, run_body())
    for resource, whole in ((PODS, "PodList"), (RUNS, "RunList")):
        for accept, kind in (
            (f"{TABLE},{JSON}", "Table"),
            (f"{JSON},{TABLE}", whole),
            (f"{TABLE};q=0.3,{JSON};q=0.6", whole),
            (f"*/*,{METADATA_LIST}", "PartialObjectMetadataList"),
            (f"{JSON};q=0.5,text/html", whole),
            (f"application/cbor,{JSON}", whole),
            ("application/json;stream=watch", whole),
        ):
            assert site.list(resource, accept=accept).body["kind"] == kind


@contract
def test_objects_as_yaml(site: Site) -> None:
    site.made(RUNS, run_body(annotations={"day": "2026-01-02", "yes": "no", "number": "1e3"}))
    for path in (site.path(RUNS), site.path(RUNS, "r1"), site.path(RUNS, "none"), "/api/v1/nothing"):
        assert heads(site, path, (YAML,))[0][1] == YAML
    one = site.send("GET", site.path(RUNS, "r1"), accept=f"{JSON};q=0.5,{YAML}").body
    site.keep(None)
    for line in ('day: "2026-01-02"', '"yes": "no"', 'number: "1e3"', "kind: Run"):
        assert line in one.replace("'", '"')
    assert heads(site, site.path(RUNS), (f"{YAML};as=Table;v=v1;g=meta.k8s.io",)) == [(200, YAML)]
    assert heads(site, site.path(RUNS), (YAML,), "DELETE") == [(200, YAML)]


@contract
def test_a_watch_as_yaml_is_refused(site: Site) -> None:
    for resource in (RUNS, PODS):
        for accept in (YAML, "text/html", f"{YAML},{JSON};stream=watch"):
            refused = site.send("GET", site.path(resource), accept=accept, watch="true", timeoutSeconds=1)
            site.keep(None)
            assert refused.status == 406
        with site.watching(resource, accept=f"{JSON};stream=watch,{YAML}", timeoutSeconds=1) as watch:
            assert watch.rest() == []


@contract
def test_bodies_in_yaml(site: Site) -> None:
    made = site.send("POST", site.path(RUNS), RUN_YAML, content_type=YAML)
    assert (made.status, made.body["metadata"]["annotations"]) == (201, {"day": "2026-01-02", "on": "yes"})
    changed = RUN_YAML.replace(b"name: r1", f"name: r1, resourceVersion: '{made.version}'".encode())
    assert site.send("PUT", site.path(RUNS, "r1"), changed, content_type=YAML).status == 200
    for wrong in (b"{", b"a: b: c", b'"text"', b"[1]"):
        assert site.send("POST", site.path(RUNS), wrong, content_type=YAML).status == 400
        site.keep(None)
    wrong = RUN_YAML.replace(b"runtime: py", b"runtime: 5")
    assert site.send("POST", site.path(RUNS), wrong, content_type=YAML).status == 422
    site.keep(None)
    namespaces = NAMESPACES.path(None)
    twice = f"metadata: {{name: {site.namespace}}}".encode()
    assert site.send("POST", namespaces, twice, content_type=YAML).status == 409
    assert site.send("PATCH", site.path(RUNS, "r1"), b"spec: {}", content_type=YAML).status == 415
    options = b"kind: DeleteOptions\napiVersion: v1\npropagationPolicy: Background\n"
    assert site.send("DELETE", site.path(RUNS, "r1"), options, content_type=YAML).status == 200


@contract
def test_media_types_of_the_options_of_a_deletion(site: Site) -> None:
    options = {"kind": "DeleteOptions", "apiVersion": "v1"}
    for resource, body in ((RUNS, run_body("one")), (PODS, pod_body("one"))):
        site.made(resource, body)
        for kind in ("text/plain", "application/cbor", "application/merge-patch+json"):
            refused = site.send("DELETE", site.path(resource, "one"), options, content_type=kind)
            assert (refused.status, refused.reason) == (415, "UnsupportedMediaType")
        assert site.send("DELETE", site.path(resource), options, content_type="text/plain").status == 415
        plain = "application/json;charset=utf-8"
        assert site.send("DELETE", site.path(resource, "one"), options, content_type=plain).status == 200


@contract
def test_a_body_without_a_media_type(site: Site) -> None:
    assert site.send("POST", site.path(RUNS), run_body(), content_type="").status == 201
    assert site.send("DELETE", site.path(RUNS, "r1"), {}, content_type="").status == 200
    assert site.send("PATCH", site.path(RUNS, "r1"), {}, content_type="").status == 415


@contract
def test_heads(site: Site) -> None:
    site.made(RUNS, run_body())
    for path in (site.path(RUNS), site.path(RUNS, "r1"), site.path(PODS), site.path(RUNS, "none")):
        site.send("HEAD", path)
