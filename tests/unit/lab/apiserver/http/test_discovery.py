"""What a client asks before it asks for anything: kinds, schemas, health and version."""

from __future__ import annotations

from embedded.http import play, serving


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
