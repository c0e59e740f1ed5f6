"""CustomResourceDefinitions, as a real server treats them."""

from __future__ import annotations

from typing import Any

from embedded.api import Site, causes, refusal
from embedded.bodies import Object, run_body
from kruntimes_core.lab.apiserver.server import ApiServer


def test_the_definitions_are_there_and_established(api: ApiServer) -> None:
    definitions = Site(api, "customresourcedefinitions")
    assert definitions.names() == [
        "persistentworkspaces.kruntimes.io",
        "runs.kruntimes.io",
        "runtimes.kruntimes.io",
    ]
    status = definitions.get("runs.kruntimes.io")["status"]
    assert {one["type"]: one["status"] for one in status["conditions"]} == {
        "NamesAccepted": "True",
        "Established": "True",
    }
    assert status["storedVersions"] == ["v1alpha1"]
    assert status["acceptedNames"]["plural"] == "runs"


def test_a_changed_definition_is_served_at_once(api: ApiServer) -> None:
    definitions = Site(api, "customresourcedefinitions")
    before = definitions.get("runs.kruntimes.io")
    assert definitions.update(before) == before
    version: dict[str, Any] = before["spec"]["versions"][0]
    schema = version["schema"]["openAPIV3Schema"]
    properties = {**schema["properties"]["spec"]["properties"], "zone": {"type": "string"}}
    spec = {**schema["properties"]["spec"], "properties": properties}
    changed = {**schema, "properties": {**schema["properties"], "spec": spec}}
    versions = [{**version, "schema": {"openAPIV3Schema": changed}}]
    definitions.merge("runs.kruntimes.io", {"spec": {"versions": versions}})
    assert Site(api, "runs").create(run_body(spec={"zone": "a"}))["spec"]["zone"] == "a"
    again = refusal(lambda: definitions.create({**before, "metadata": {"name": "runs.kruntimes.io"}}))
    assert again.code == 409


def test_a_definition_may_be_added_and_is_judged(api: ApiServer) -> None:
    definitions = Site(api, "customresourcedefinitions")
    body: Object = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "jobs.x.io"},
        "spec": {
            "group": "x.io",
            "scope": "Cluster",
            "names": {"kind": "Job", "plural": "jobs"},
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": {"type": "object"}},
                },
                {"name": "v0", "served": False},
            ],
        },
    }
    error = refusal(lambda: definitions.create({**body, "metadata": {"name": "job"}}))
    assert causes(error) == {("metadata.name", "FieldValueInvalid")}
    definitions.create(body)
    jobs = Site(api, "jobs")
    assert (
        jobs.create({"apiVersion": "x.io/v1", "kind": "Job", "metadata": {"name": "j"}})["metadata"]["name"]
        == "j"
    )
    assert api.resources.find("x.io", "v0", "jobs") is None
    assert refusal(lambda: definitions.create({**body, "spec": 3})).code == 400
