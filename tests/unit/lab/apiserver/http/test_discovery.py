"""What a client asks before it asks for anything: kinds, schemas, health and version."""

from __future__ import annotations

import json

from embedded.place import serving
from realcluster.client import RUNS, Client


def test_what_kubectl_reads_before_it_applies() -> None:
    with serving() as server:
        client = Client(server.url)
        paths = json.loads(client.request("GET", "/openapi/v3").body)["paths"]
        where = paths["apis/kruntimes.io/v1alpha1"]["serverRelativeURL"]
        document = client.request("GET", where).body
        patch = document["paths"][RUNS.path("{namespace}", "{name}")]["patch"]
        assert "fieldValidation" in {parameter["name"] for parameter in patch["parameters"]}
        assert patch["x-kubernetes-group-version-kind"]["kind"] == "Run"
        schema = document["components"]["schemas"]["io.kruntimes.v1alpha1.Run"]
        assert "runtime" in schema["properties"]["spec"]["properties"]
        assert client.request("GET", "/openapi/v2").body["swagger"] == "2.0"
        protobuf = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"
        old = client.request("GET", "/openapi/v2", accept=protobuf)
        assert old.body == "\n\x032.0"
        # Go takes no `@` in a media type, and reads nothing of an answer with one.
        assert old.content_type == "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"


def test_the_version_says_that_this_is_not_a_real_server() -> None:
    with serving() as server:
        version = Client(server.url).request("GET", "/version").body
        assert version["gitVersion"].endswith("+kruntimes-dev")
