"""Forms of an answer: tables, metadata alone, and what cannot be spoken."""

from __future__ import annotations

from typing import Any

import pytest

from embedded.api import Clock, new_api
from embedded.bodies import event_body, lease_body, pod_body, run_body
from embedded.http import PODS, RUNS, TABLE, play, serving

METADATA = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"


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
            assert cells == ["runs.kruntimes.io", "3m20s"]

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
