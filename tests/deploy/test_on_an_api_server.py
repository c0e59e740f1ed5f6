"""A real API server takes what the chart gives, and lets its Pods be made where only restricted ones may."""

from __future__ import annotations

from typing import Any

import pytest

from deployment.chart import MANIFESTS, NAMESPACE, Object, Release, Rendered, render
from deployment.site import Site
from realcluster.client import CRDS, PODS, Resource

pytestmark = pytest.mark.xdist_group("cluster")

DEPLOYMENTS = Resource("apps", "v1", "deployments")
CLUSTER_ROLES = Resource("rbac.authorization.k8s.io", "v1", "clusterroles")


def pod_of(rendered: Rendered) -> Object:
    metadata = {**rendered.pod["metadata"], "name": "scheduler-0"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": rendered.pod["spec"]}


def test_it_takes_every_object(site: Site, place: str, values: dict[str, Any]) -> None:
    rendered = render(values, release=place, namespace=place)
    site.apply(rendered.objects)
    name = rendered.one("Deployment")["metadata"]["name"]
    assert site.cluster.client().get(DEPLOYMENTS, name, place).status == 200


def test_a_restricted_namespace_takes_the_pod(site: Site, place: str, values: dict[str, Any]) -> None:
    pod = pod_of(render(values, release=place, namespace=place))
    answer = site.cluster.client().create(PODS, pod, place)
    assert answer.status == 201, answer


@pytest.mark.parametrize("container", ["initContainers", "containers"])
@pytest.mark.parametrize(
    "setting", ["allowPrivilegeEscalation", "capabilities"], ids=["escalation", "capabilities"]
)
def test_a_restricted_namespace_refuses_a_pod_that_asks_for_more(
    site: Site, place: str, container: str, setting: str
) -> None:
    pod = pod_of(render({"plugins": {"requirements": "a==1"}}, release=place, namespace=place))
    del pod["spec"][container][0]["securityContext"][setting]
    answer = site.cluster.client().create(PODS, pod, place)
    assert answer.status == 403
    assert 'violates PodSecurity "restricted' in answer.body["message"]


def test_the_plain_manifests_are_applied_as_they_are(site: Site) -> None:
    site.kubectl(
        "apply", "--server-side", "--validate=strict", "--force-conflicts", f"--kustomize={MANIFESTS}"
    )
    there = site.cluster.client().get(DEPLOYMENTS, "kruntimes-scheduler", NAMESPACE)
    assert there.body["spec"]["replicas"] == 2


def test_helm_installs_upgrades_and_removes_it(site: Site, place: str) -> None:
    client, release = site.cluster.client(), Release(site.cluster.kubeconfig, place, place)
    name = f"{place}-kruntimes-scheduler"

    def mark() -> str:
        template = client.get(DEPLOYMENTS, name, place).body["spec"]["template"]
        return str(template["metadata"]["annotations"]["checksum/files"])

    release.install({})
    before = mark()
    release.upgrade({"config": {"sweepIntervalSeconds": 20}, "namespaces": [place]})
    assert mark() != before
    assert client.get(CLUSTER_ROLES, name).status == 404
    # Without any value, Helm keeps those of before.
    for values in ({"dryRun": True}, {"dryRun": False}):
        release.upgrade(values)
        said = render(values).one("Deployment")["spec"]
        there = client.get(DEPLOYMENTS, name, place).body["spec"]
        assert (there["strategy"], there["replicas"]) == (said["strategy"], said["replicas"])
    release.uninstall()
    assert client.get(DEPLOYMENTS, name, place).status == 404
    assert client.get(CRDS, "runs.kruntimes.io").status == 200
