"""What a client asks before it asks for anything: kinds, schemas, health and version."""

from __future__ import annotations

from embedded.http import play, serving


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


def test_the_version_says_that_this_is_not_a_real_server() -> None:
    async def scene() -> None:
        async with serving() as site:
            assert (await site.client.get("/version")).body["gitVersion"].endswith("+kruntimes-dev")

    play(scene)
