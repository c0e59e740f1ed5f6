"""The protocol over HTTP: status codes, headers, forms, streams."""

from __future__ import annotations

import json
from typing import Any

import aiohttp
import pytest

from embedded.api import Clock, new_api
from embedded.bodies import condition_body, event_body, lease_body, pod_body, run_body
from embedded.http import PODS, RUNS, TABLE, Serving, play, serving
from kruntimes_core.lab.apiserver.http.embedded import EmbeddedServer

METADATA = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"


def test_the_life_of_an_object() -> None:
    async def scene() -> None:
        async with serving() as site:
            created = await site.client.post(RUNS, run_body())
            assert created.status == 201
            assert created.headers["Content-Type"] == "application/json"
            assert (await site.client.post(RUNS, run_body())).status == 409
            bound = await site.client.merge(f"{RUNS}/r1/status", {"status": {"phase": "Scheduled"}})
            assert (bound.status, bound.body["status"]) == (200, {"phase": "Scheduled"})
            assert (await site.client.get(f"{RUNS}/r1")).body == bound.body
            assert (await site.client.get(f"{RUNS}/r1/status")).body == bound.body
            replaced = await site.client.send("PUT", f"{RUNS}/r1", bound.body)
            assert (replaced.status, replaced.body) == (200, bound.body)
            gone = await site.client.send("DELETE", f"{RUNS}/r1", {"propagationPolicy": "Background"})
            assert (gone.status, gone.body["status"]) == (200, "Success")
            missing = await site.client.get(f"{RUNS}/r1")
            assert (missing.status, missing.body["reason"], missing.body["code"]) == (404, "NotFound", 404)

    play(scene)


def test_a_put_that_creates_answers_201() -> None:
    async def scene() -> None:
        async with serving() as site:
            path = "/apis/coordination.k8s.io/v1/namespaces/team-a/leases/l1"
            assert (await site.client.send("PUT", path, lease_body())).status == 201

    play(scene)


def test_unknown_fields_are_told_in_a_header() -> None:
    async def scene() -> None:
        async with serving() as site:
            body = run_body(spec={"zone": 1})
            warned = await site.client.post(RUNS, body)
            assert warned.headers["Warning"] == '299 - "unknown field \\"spec.zone\\""'
            strict = await site.client.post(
                f"{RUNS}?fieldValidation=Strict", {**body, "metadata": {"name": "b"}}
            )
            assert (strict.status, strict.body["reason"]) == (400, "BadRequest")
            silent = await site.client.post(
                f"{RUNS}?fieldValidation=Ignore", {**body, "metadata": {"name": "c"}}
            )
            assert (silent.status, "Warning" in silent.headers) == (201, False)
            both = await site.client.post(RUNS, {**body, "metadata": {"name": "D"}})
            assert (both.status, "Warning" in both.headers) == (422, True)

    play(scene)


@pytest.mark.parametrize(
    ("method", "path", "body", "content_type", "status"),
    [
        ("POST", RUNS, b"{", "application/json", 400),
        ("POST", RUNS, b"[]", "application/json", 400),
        ("POST", RUNS, b"a: b", "application/yaml", 415),
        ("POST", RUNS + "?dryRun=All", b"{}", "application/json", 400),
        ("POST", RUNS + "?fieldValidation=Some", b"{}", "application/json", 422),
        ("POST", RUNS, b" " * (3 * 1024 * 1024 + 1), "application/json", 413),
        ("POST", "/api/v1/namespaces", b"k8s\x00", "application/vnd.kubernetes.protobuf", 400),
        ("PATCH", RUNS + "/r1", b"{}", "application/json", 415),
        ("PATCH", RUNS + "/r1", b"{}", "application/apply-patch+yaml", 415),
        ("PATCH", RUNS + "/r1", b"{", "application/merge-patch+json", 400),
        ("DELETE", RUNS + "/r1", b"{", "application/json", 400),
        ("DELETE", RUNS + "/r1?gracePeriodSeconds=x", b"", "application/json", 400),
        ("DELETE", RUNS + "/r1?dryRun=All", b"", "application/json", 400),
        ("GET", RUNS + "?limit=x", None, "", 400),
        ("GET", RUNS + "?watch=true&resourceVersion=x", None, "", 500),
        ("GET", RUNS + "?watch=true&labelSelector=a+b", None, "", 400),
        ("PUT", RUNS, b"{}", "application/json", 400),
        ("POST", RUNS + "/r1", b"{}", "application/json", 400),
        ("DELETE", RUNS + "/r1/status", b"", "application/json", 405),
        ("POST", PODS + "/py-0", b"{}", "application/json", 405),
        ("DELETE", "/api/v1/namespaces", b"", "application/json", 405),
        ("GET", RUNS + "/r1/scale", None, "", 404),
        ("GET", "/apis/kruntimes.io/v1alpha1/runs/r1", None, "", 404),
        ("GET", "/apis/kruntimes.io/v1alpha1/namespaces/team-a/jobs", None, "", 404),
        ("GET", "/apis/kruntimes.io/v2/namespaces/team-a/runs", None, "", 404),
        ("GET", "/apis/nothing.io/v1", None, "", 404),
        ("GET", "/apis/nothing.io", None, "", 404),
        ("GET", "/api/v1/namespaces/team-a/namespaces", None, "", 404),
        ("GET", "/openapi/v3/apis/nothing.io/v1", None, "", 404),
        ("GET", "/nothing", None, "", 404),
        ("GET", "/", None, "", 404),
    ],
)
def test_requests_that_fail(
    method: str, path: str, body: bytes | None, content_type: str, status: int
) -> None:
    async def scene() -> None:
        async with serving() as site:
            await site.client.post(RUNS, run_body())
            reply = await site.client.send(method, path, body, content_type)
            assert reply.status == status, reply.text

    play(scene)


def test_an_unknown_resource_is_a_plain_not_found() -> None:
    async def scene() -> None:
        async with serving() as site:
            assert (await site.client.get("/apis/kruntimes.io/v1alpha1/jobs")).text == "404 page not found\n"
            core = await site.client.get("/api/v1/nodes")
            assert core.body["message"] == "the server could not find the requested resource"

    play(scene)


def test_pages_go_over_the_wire() -> None:
    async def scene() -> None:
        async with serving() as site:
            for number in range(3):
                await site.client.post(RUNS, run_body(f"r{number}"))
            first = (await site.client.get(f"{RUNS}?limit=2")).body
            assert (first["kind"], first["apiVersion"]) == ("RunList", "kruntimes.io/v1alpha1")
            assert first["metadata"]["remainingItemCount"] == 1
            rest = (await site.client.get(f"{RUNS}?limit=2&continue={first['metadata']['continue']}")).body
            assert rest["metadata"] == {
                "continue": "",
                "resourceVersion": first["metadata"]["resourceVersion"],
            }
            names = [one["metadata"]["name"] for one in first["items"] + rest["items"]]
            assert names == ["r0", "r1", "r2"]
            future = await site.client.get(f"{RUNS}?resourceVersion=999")
            assert (future.status, future.headers["Retry-After"]) == (504, "1")

    play(scene)


def test_items_of_go_types_leave_their_kind_to_the_list() -> None:
    async def scene() -> None:
        async with serving() as site:
            await site.client.post(PODS, pod_body())
            await site.client.post(RUNS, run_body())
            pods = (await site.client.get(PODS)).body
            assert (pods["kind"], "kind" in pods["items"][0]) == ("PodList", False)
            assert "continue" not in pods["metadata"]
            assert (await site.client.get(RUNS)).body["items"][0]["kind"] == "Run"
            assert (await site.client.get(f"{PODS}/py-0")).body["kind"] == "Pod"

    play(scene)


def test_a_collection_is_deleted_by_a_query() -> None:
    async def scene() -> None:
        async with serving() as site:
            for name, app in (("a", "web"), ("b", "db")):
                await site.client.post(RUNS, run_body(name, labels={"app": app}))
            gone = await site.client.send("DELETE", f"{RUNS}?labelSelector=app%3Dweb")
            assert [one["metadata"]["name"] for one in gone.body["items"]] == ["a"]
            assert len((await site.client.get(RUNS)).body["items"]) == 1

    play(scene)


def columns(table: dict[str, Any]) -> list[str]:
    return [column["name"] for column in table["columnDefinitions"]]


def test_tables_of_all_kinds() -> None:
    async def scene() -> None:
        clock = Clock()
        async with serving(new_api(clock)) as site:
            await site.client.post(RUNS, run_body())
            await site.client.merge(
                f"{RUNS}/r1/status", {"status": {"phase": "Running", "assignedPod": "py-0"}}
            )
            await site.client.post(PODS, pod_body())
            events = "/apis/events.k8s.io/v1/namespaces/team-a/events"
            await site.client.post(events, event_body())
            leases = "/apis/coordination.k8s.io/v1/namespaces/team-a/leases"
            await site.client.post(leases, lease_body(holderIdentity="me"))
            clock.move(3 * 60 + 20)
            runs = (await site.client.get(RUNS, Accept=TABLE)).body
            assert (runs["kind"], runs["apiVersion"]) == ("Table", "meta.k8s.io/v1")
            assert columns(runs) == ["Name", "Phase", "Assigned Pod", "Runtime", "Age"]
            assert runs["rows"][0]["cells"] == ["r1", "Running", "py-0", "py", "3m20s"]
            assert runs["rows"][0]["object"]["kind"] == "PartialObjectMetadata"
            pods = (await site.client.get(f"{PODS}/py-0", Accept=TABLE)).body
            assert columns(pods)[:5] == ["Name", "Ready", "Status", "Restarts", "Age"]
            assert pods["rows"][0]["cells"][:5] == ["py-0", "0/1", "Pending", "0", "3m20s"]
            assert pods["rows"][0]["cells"][5:] == ["<none>"] * 4
            (event,) = (await site.client.get("/api/v1/events", Accept=TABLE)).body["rows"]
            assert event["cells"][:4] == ["3m20s", "Normal", "Assigned", "run/r1"]
            assert event["cells"][8] == 1
            (lease,) = (await site.client.get(leases, Accept=TABLE)).body["rows"]
            assert lease["cells"] == ["l1", "me", "3m20s"]
            namespaces = (await site.client.get("/api/v1/namespaces", Accept=TABLE)).body
            assert namespaces["rows"][2]["cells"] == ["team-a", "Active", "3m20s"]
            definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
            cells = (await site.client.get(definitions, Accept=TABLE)).body["rows"][1]["cells"]
            assert cells[:3] == ["runs.kruntimes.io", "Namespaced", "v1alpha1(storage)"]

    play(scene)


def test_a_row_shows_as_much_of_its_object_as_asked_for() -> None:
    async def scene() -> None:
        async with serving() as site:
            await site.client.post(RUNS, run_body())
            path = f"{RUNS}/r1?includeObject="
            whole = (await site.client.get(path + "Object", Accept=TABLE)).body["rows"][0]["object"]
            assert whole["kind"] == "Run"
            assert (await site.client.get(path + "None", Accept=TABLE)).body["rows"][0]["object"] is None

    play(scene)


def test_metadata_alone() -> None:
    async def scene() -> None:
        async with serving() as site:
            await site.client.post(RUNS, run_body(labels={"a": "b"}))
            one = (await site.client.get(f"{RUNS}/r1", Accept=METADATA)).body
            assert set(one) == {"kind", "apiVersion", "metadata"}
            assert (one["kind"], one["metadata"]["labels"]) == ("PartialObjectMetadata", {"a": "b"})
            many = (await site.client.get(RUNS, Accept=METADATA.replace("Metadata;", "MetadataList;"))).body
            assert (many["kind"], many["items"]) == ("PartialObjectMetadataList", [one])
            version = many["metadata"]["resourceVersion"]
            async with site.client.watch(RUNS, f"resourceVersion={version}", Accept=METADATA) as stream:
                await site.client.merge(f"{RUNS}/r1", {"metadata": {"labels": {"a": "c"}}})
                event = await stream.event()
                assert (event["object"]["kind"], "spec" in event["object"]) == (
                    "PartialObjectMetadata",
                    False,
                )

    play(scene)


@pytest.mark.parametrize("accept", ["text/html", "application/yaml", "application/vnd.kubernetes.protobuf"])
def test_what_cannot_be_spoken_is_not_acceptable(accept: str) -> None:
    async def scene() -> None:
        async with serving() as site:
            reply = await site.client.get(RUNS, Accept=accept)
            assert (reply.status, reply.body["reason"]) == (406, "NotAcceptable")
            assert (await site.client.get(RUNS, Accept=f"{accept},*/*")).status == 200

    play(scene)


def test_a_watch_tells_what_happens() -> None:
    async def scene() -> None:
        async with serving() as site:
            version = (await site.client.get(RUNS)).body["metadata"]["resourceVersion"]
            async with site.client.watch(RUNS, f"resourceVersion={version}") as stream:
                created = await site.client.post(RUNS, run_body())
                assert await stream.event() == {"type": "ADDED", "object": created.body}
                patched = await site.client.merge(f"{RUNS}/r1/status", {"status": {"message": "ü"}})
                assert await stream.event() == {"type": "MODIFIED", "object": patched.body}
                await site.client.send("DELETE", f"{RUNS}/r1")
                assert (await stream.event())["type"] == "DELETED"

    play(scene)


def test_a_watch_begins_with_what_is_there_and_ends_in_time() -> None:
    async def scene() -> None:
        async with serving() as site:
            await site.client.post(RUNS, run_body("b"))
            await site.client.post(RUNS, run_body("a"))
            async with site.client.watch(RUNS, "timeoutSeconds=1") as stream:
                events = await stream.rest()
            assert [(one["type"], one["object"]["metadata"]["name"]) for one in events] == [
                ("ADDED", "a"),
                ("ADDED", "b"),
            ]

    play(scene)


def test_a_watch_can_say_where_the_beginning_ends() -> None:
    async def scene() -> None:
        async with serving() as site:
            await site.client.post(PODS, pod_body())
            query = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
            async with site.client.watch(PODS, query) as stream:
                assert (await stream.event())["type"] == "ADDED"
                mark = await stream.event()
                assert mark["type"] == "BOOKMARK"
                assert mark["object"]["metadata"] == {
                    "resourceVersion": str(site.api.store.version),
                    "annotations": {"k8s.io/initial-events-end": "true"},
                }
                assert (mark["object"]["spec"], mark["object"]["status"]) == ({"containers": None}, {})

    play(scene)


def test_bookmarks_come_by_themselves_and_at_the_end() -> None:
    async def scene() -> None:
        async with serving(bookmark_seconds=0.01) as site:
            version = site.api.store.version
            query = f"resourceVersion={version}&allowWatchBookmarks=true"
            async with site.client.watch(RUNS, query) as stream:
                mark = await stream.event()
                assert mark == {
                    "type": "BOOKMARK",
                    "object": {
                        "kind": "Run",
                        "apiVersion": "kruntimes.io/v1alpha1",
                        "metadata": {"resourceVersion": str(version)},
                    },
                }
        async with serving() as site:
            query = f"resourceVersion={version}&allowWatchBookmarks=true&timeoutSeconds=1"
            async with site.client.watch(RUNS, query) as stream:
                assert [one["type"] for one in await stream.rest()] == ["BOOKMARK"]

    play(scene)


def test_an_expired_version_is_an_event_in_a_good_answer() -> None:
    async def scene() -> None:
        async with serving() as site:
            start = site.api.store.version
            await site.client.post(RUNS, run_body())
            site.api.store.forget()
            async with site.client.watch(RUNS, f"resourceVersion={start}") as stream:
                (event,) = await stream.rest()
            assert (event["type"], event["object"]["code"], event["object"]["reason"]) == (
                "ERROR",
                410,
                "Expired",
            )

    play(scene)


def test_a_watch_of_tables_shows_its_columns_once() -> None:
    async def scene() -> None:
        async with serving() as site:
            await site.client.post(RUNS, run_body("a"))
            await site.client.post(RUNS, run_body("b"))
            async with site.client.watch(RUNS, Accept=TABLE) as stream:
                first, second = [(await stream.event())["object"] for _ in range(2)]
            assert columns(first)[0] == "Name"
            assert second["columnDefinitions"] is None
            assert [table["rows"][0]["cells"][0] for table in (first, second)] == ["a", "b"]

    play(scene)


def test_the_old_form_of_a_watch_is_understood() -> None:
    async def scene() -> None:
        async with serving() as site:
            await site.client.post(RUNS, run_body())
            old = RUNS.replace("/v1alpha1/", "/v1alpha1/watch/")
            async with site.client.watch(old) as stream:
                assert (await stream.event())["type"] == "ADDED"

    play(scene)


def test_a_client_that_goes_away_leaves_nothing_behind() -> None:
    async def scene() -> None:
        async with serving() as site:
            listeners = site.api.store.table("runs.kruntimes.io").history.listeners
            async with site.client.watch(RUNS):
                assert len(listeners) == 1
            # The next request is served after the server has noticed that the first connection is gone.
            while listeners:
                await site.client.get("/healthz")

    play(scene)


def test_discovery() -> None:
    async def scene() -> None:
        async with serving() as site:
            assert (await site.client.get("/api")).body["versions"] == ["v1"]
            groups = [group["name"] for group in (await site.client.get("/apis")).body["groups"]]
            assert groups == [
                "events.k8s.io",
                "apiextensions.k8s.io",
                "coordination.k8s.io",
                "kruntimes.io",
            ]
            group = (await site.client.get("/apis/kruntimes.io")).body
            assert group["preferredVersion"]["groupVersion"] == "kruntimes.io/v1alpha1"
            listed = (await site.client.get("/apis/kruntimes.io/v1alpha1")).body["resources"]
            by_name = {resource["name"]: resource for resource in listed}
            assert set(by_name) == {
                *("runs", "runs/status", "runtimes", "runtimes/status"),
                *("persistentworkspaces", "persistentworkspaces/status"),
            }
            assert (by_name["runs"]["shortNames"], by_name["runs"]["namespaced"]) == (["rn"], True)
            core = (await site.client.get("/api/v1")).body["resources"]
            assert {resource["name"] for resource in core} == {
                *("events", "namespaces", "namespaces/status", "pods", "pods/status")
            }

    play(scene)


def test_discovery_in_one_answer() -> None:
    async def scene() -> None:
        accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"
        async with serving() as site:
            reply = await site.client.get("/apis", Accept=accept)
            assert reply.headers["Content-Type"] == accept.split(",")[0]
            (group,) = [one for one in reply.body["items"] if one["metadata"]["name"] == "kruntimes.io"]
            (runs,) = [one for one in group["versions"][0]["resources"] if one["resource"] == "runs"]
            assert runs["subresources"][0]["subresource"] == "status"
            assert runs["scope"] == "Namespaced"
            core = (await site.client.get("/api", Accept=accept)).body
            assert core["items"][0]["metadata"] == {}

    play(scene)


def test_what_kubectl_reads_before_it_applies() -> None:
    async def scene() -> None:
        async with serving() as site:
            paths = (await site.client.get("/openapi/v3")).body["paths"]
            where = paths["apis/kruntimes.io/v1alpha1"]["serverRelativeURL"]
            document = (await site.client.get(where)).body
            patch = document["paths"]["/apis/kruntimes.io/v1alpha1/namespaces/{namespace}/runs/{name}"][
                "patch"
            ]
            assert "fieldValidation" in {parameter["name"] for parameter in patch["parameters"]}
            assert patch["x-kubernetes-group-version-kind"]["kind"] == "Run"
            schema = document["components"]["schemas"]["io.kruntimes.v1alpha1.Run"]
            assert "runtime" in schema["properties"]["spec"]["properties"]
            assert (await site.client.get("/openapi/v2")).body["swagger"] == "2.0"
            old = await site.client.get(
                "/openapi/v2", Accept="application/com.github.proto-openapi.spec.v2@v1.0+protobuf"
            )
            assert old.text == "\n\x032.0"

    play(scene)


def test_health_and_version() -> None:
    async def scene() -> None:
        async with serving() as site:
            for path in ("/healthz", "/livez", "/readyz", "/readyz/ping"):
                assert (await site.client.get(path)).text == "ok"
            version = (await site.client.get("/version")).body
            assert (version["major"], version["minor"]) == ("1", "37")
            assert version["gitVersion"].endswith("+kruntimes-dev")

    play(scene)


def test_a_port_that_is_taken_is_said_at_once() -> None:
    async def scene() -> None:
        async with serving() as site:
            port = int(site.server.url.rpartition(":")[2])
            with pytest.raises(OSError, match="address already in use"):
                await EmbeddedServer(new_api(), port=port).__aenter__()

    play(scene)


def test_stopping_ends_open_watches() -> None:
    async def scene() -> None:
        async with aiohttp.ClientSession() as session:
            async with EmbeddedServer(new_api()) as server:
                response = await session.get(f"{server.url}{RUNS}?watch=true")
            assert await response.content.read() == b""

    play(scene)


async def _patched(site: Serving, number: int) -> dict[str, Any]:
    condition = condition_body(f"C{number}")
    reply = await site.client.merge(f"{RUNS}/r1/status", {"status": {"conditions": [condition]}})
    found: dict[str, Any] = json.loads(reply.text)
    return found


def test_texts_of_any_language_come_through() -> None:
    async def scene() -> None:
        async with serving() as site:
            await site.client.post(RUNS, run_body(annotations={"a": "äß漢字\U0001f680"}))
            assert (await site.client.get(f"{RUNS}/r1")).body["metadata"]["annotations"][
                "a"
            ] == "äß漢字\U0001f680"
            assert (await _patched(site, 1))["status"]["conditions"][0]["type"] == "C1"

    play(scene)
