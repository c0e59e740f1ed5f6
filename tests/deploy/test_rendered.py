"""What the chart gives: objects that Kubernetes knows, and a host with no more than it needs."""

from __future__ import annotations

from typing import Any

import kubernetes_validate
import pytest

from deployment.chart import Object, Rendered, render
from kruntimes_core.cli.scheduler.command import SchedulerOptions, scheduler
from kruntimes_core.cli.scheduler.serve import durations_of
from kruntimes_core.framework.configuration import build_profiles, load_configuration
from kruntimes_core.framework.plugin_registry import PluginRegistry

KUBERNETES = "1.37"
OLDEST = "1.30"
"""Of the chart's `kubeVersion`."""
NOT_KUBERNETES = {"ServiceMonitor"}
CONFIGURATION = "--config=/etc/kruntimes/config.yaml"


def host(rendered: Rendered) -> Object:
    (container,) = rendered.pod["spec"]["containers"]
    return dict(container)


def options(rendered: Rendered) -> SchedulerOptions:
    """What the command makes of the arguments in the Deployment."""
    command, *arguments = host(rendered)["args"]
    assert command == "scheduler"
    return SchedulerOptions(**scheduler.make_context("scheduler", list(arguments)).params)


def test_every_object_is_as_kubernetes_describes_it(rendered: Rendered) -> None:
    for one in rendered.objects:
        if one["kind"] not in NOT_KUBERNETES:
            kubernetes_validate.validate(one, KUBERNETES, strict=True)


def test_the_oldest_kubernetes_knows_every_field_of_the_defaults() -> None:
    for one in render().objects:
        kubernetes_validate.validate(one, OLDEST, strict=True)


def test_names_are_unique_and_labels_are_on_everything(rendered: Rendered) -> None:
    known = {(o["kind"], o["metadata"].get("namespace"), o["metadata"]["name"]) for o in rendered.objects}
    assert len(known) == len(rendered.objects)
    selector = rendered.one("Deployment")["spec"]["selector"]["matchLabels"]
    labelled = [*(o["metadata"]["labels"] for o in rendered.objects), rendered.pod["metadata"]["labels"]]
    assert all(selector.items() <= labels.items() for labels in labelled)


def test_the_command_understands_the_arguments(rendered: Rendered, values: dict[str, Any]) -> None:
    asked = options(rendered)
    durations_of(asked)
    dry = values.get("dryRun", False)
    assert asked.dry_run is dry
    assert asked.leader_elect is (values.get("leaderElection", {}).get("enabled", True) and not dry)
    assert asked.namespaces == tuple(values.get("namespaces", ()))
    assert asked.config == CONFIGURATION.partition("=")[2]
    ports = {port["name"]: port["containerPort"] for port in host(rendered)["ports"]}
    assert asked.metrics_bind_address == f":{ports['metrics']}"
    assert asked.health_probe_bind_address == f":{ports['health']}"


def test_the_host_reads_the_configuration(rendered: Rendered, values: dict[str, Any]) -> None:
    text = rendered.one("ConfigMap")["data"]["config.yaml"]
    configuration = load_configuration(text, "config.yaml")
    build_profiles(configuration, PluginRegistry())
    expected = values.get("config", {}).get("heartbeatStalenessSeconds", 15)
    assert configuration.heartbeat_staleness_seconds == expected


def test_another_configuration_makes_other_pods_and_the_same_one_does_not() -> None:
    def mark(values: dict[str, Any]) -> str:
        return str(render(values).pod["metadata"]["annotations"]["checksum/files"])

    assert mark({"config": {"sweepIntervalSeconds": 31}}) != mark({})
    assert mark({"plugins": {"requirements": "a==1"}}) != mark({})
    assert mark({"service": {"annotations": {"a": "b"}}}) == mark({})


def test_two_decide_never_at_the_same_time() -> None:
    assert render().one("Deployment")["spec"]["replicas"] == 2
    assert render().one("Deployment")["spec"]["strategy"]["type"] == "RollingUpdate"
    for values in ({"replicas": 1, "leaderElection": {"enabled": False}}, {"dryRun": True}):
        alone = render(values).one("Deployment")["spec"]
        assert (alone["replicas"], alone["strategy"]) == (1, {"type": "Recreate"})
    assert render({"replicas": 0, "dryRun": True}).one("Deployment")["spec"]["replicas"] == 0


def test_replicas_spread_and_a_constraint_without_a_selector_means_them() -> None:
    constraints = render().pod["spec"]["topologySpreadConstraints"]
    assert [one["topologyKey"] for one in constraints] == [
        "kubernetes.io/hostname",
        "topology.kubernetes.io/zone",
    ]
    asked = {"topologyKey": "rack", "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule"}
    (own,) = render({"topologySpreadConstraints": [asked]}).pod["spec"]["topologySpreadConstraints"]
    assert own == {**asked, "labelSelector": constraints[0]["labelSelector"]}


def test_what_can_be_chosen_of_a_pod_arrives_there() -> None:
    chosen: dict[str, Any] = {
        "nodeSelector": {"a": "b"},
        "tolerations": [{"operator": "Exists"}],
        "affinity": {"nodeAffinity": {}},
        "priorityClassName": "high",
        "imagePullSecrets": [{"name": "s"}],
        "terminationGracePeriodSeconds": 7,
    }
    spec = render(chosen).pod["spec"]
    assert {name: spec[name] for name in chosen} == chosen


def test_an_image_with_a_digest_is_that_image() -> None:
    digest = "sha256:" + "a" * 64
    image = {"repository": "r.example.com/x", "tag": "v1", "digest": digest}
    assert host(render({"image": image}))["image"] == f"r.example.com/x:v1@{digest}"


def test_the_probes_ask_the_endpoints_of_the_host(rendered: Rendered) -> None:
    container = host(rendered)
    assert container["livenessProbe"]["httpGet"] == {"path": "/livez", "port": "health"}
    assert container["readinessProbe"]["httpGet"] == {"path": "/readyz", "port": "health"}


def test_prometheus_scrapes_the_port_of_the_service() -> None:
    rendered = render({"serviceMonitor": {"enabled": True, "interval": "5s", "labels": {"team": "a"}}})
    monitor, service = rendered.one("ServiceMonitor"), rendered.one("Service")
    assert monitor["spec"]["endpoints"] == [{"port": service["spec"]["ports"][0]["name"], "interval": "5s"}]
    assert monitor["spec"]["selector"]["matchLabels"].items() <= service["metadata"]["labels"].items()
    assert monitor["metadata"]["labels"]["team"] == "a"


def test_a_fenced_host_reaches_the_api_server_and_names_and_nothing_else() -> None:
    policy = render({"networkPolicy": {"enabled": True}}).one("NetworkPolicy")["spec"]
    assert policy["policyTypes"] == ["Ingress", "Egress"]
    assert policy["ingress"] == [{"ports": [{"port": "metrics"}]}]
    assert [[port["port"] for port in rule["ports"]] for rule in policy["egress"]] == [[443, 6443], [53, 53]]


def test_the_notes_say_what_runs_where_and_how_to_ask_it(rendered: Rendered) -> None:
    notes = rendered.notes
    name = rendered.one("Deployment")["metadata"]["name"]
    for verb in ("rollout status", "exec", "port-forward", "logs"):
        assert f"kubectl --namespace kruntimes-system {verb} deployment/{name}" in notes
    assert ("get lease" in notes) is options(rendered).leader_elect
    assert ("/dry-run" in notes) is options(rendered).dry_run
    assert f":{host(rendered)['ports'][1]['containerPort']}/readyz" in notes


@pytest.mark.parametrize("repository", ["registry.example.com/kruntimes-scheduler", "registry.internal/x"])
def test_the_notes_say_when_no_image_was_named(repository: str) -> None:
    notes = render({"image": {"repository": repository}}).notes
    assert ("image.repository is not set" in notes) is repository.startswith("registry.example.com/")


def test_large_numbers_arrive_as_numbers() -> None:
    rendered = render(
        {
            "terminationGracePeriodSeconds": 1_000_000,
            "config": {"plugins": {"enabled": [{"name": "A", "arguments": {"limit": 10_000_000}}]}},
        }
    )
    assert rendered.pod["spec"]["terminationGracePeriodSeconds"] == 1_000_000
    configuration = load_configuration(rendered.one("ConfigMap")["data"]["config.yaml"], "config.yaml")
    assert configuration.plugins.enabled[0].arguments == {"limit": 10_000_000}
