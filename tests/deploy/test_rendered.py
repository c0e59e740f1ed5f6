"""What the chart gives: objects that Kubernetes knows, and a host with no more than it needs."""

from __future__ import annotations

from typing import Any

import kubernetes_validate
import pytest

from deployment.chart import Object, Rendered, is_test, render
from kruntimes_core.cli.scheduler.command import SchedulerOptions, scheduler
from kruntimes_core.cli.scheduler.serve import durations_of
from kruntimes_core.framework.configuration import build_profiles, load_configuration
from kruntimes_core.framework.plugin_registry import PluginRegistry

KUBERNETES = "1.37"
OLDEST = "1.30"
"""Of the chart's `kubeVersion`."""
NOT_KUBERNETES = {"PrometheusRule", "ServiceMonitor"}
CONFIGURATION = "--config=/etc/kruntimes/config.yaml"


SHARED = {"example.com/team": "runs"}


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
    labelled = [*(o["metadata"]["labels"] for o in rendered.installed), rendered.pod["metadata"]["labels"]]
    assert all(selector.items() <= labels.items() for labels in labelled)


def test_common_labels_are_on_everything_and_nearer_ones_win(values: dict[str, Any]) -> None:
    rendered = render({**values, "commonLabels": SHARED, "extraObjects": [], "podLabels": {}})
    labelled = [*(one["metadata"]["labels"] for one in rendered.objects), rendered.pod["metadata"]["labels"]]
    assert all(SHARED.items() <= labels.items() for labels in labelled)
    selector = rendered.one("Deployment")["spec"]["selector"]["matchLabels"]
    assert not SHARED.keys() & selector.keys()
    nearer = dict.fromkeys(SHARED, "other")
    pod = render({"commonLabels": SHARED, "podLabels": nearer}).pod
    assert nearer.items() <= pod["metadata"]["labels"].items()


def test_more_objects_are_installed_as_objects_and_as_texts_with_templates() -> None:
    def named(name: object) -> Object:
        return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}}

    text = "apiVersion: v1\nkind: Secret\nmetadata: {name: {{ .Release.Name }}-text}\n"
    rendered = render({"extraObjects": [named("plain"), named("{{ .Release.Name }}-object"), text]})
    assert [one["metadata"]["name"] for one in rendered.of("Secret")] == [
        "plain",
        "kruntimes-scheduler-object",
        "kruntimes-scheduler-text",
    ]


def test_the_pod_of_helm_test_is_no_replica_and_has_no_rights(rendered: Rendered) -> None:
    (tested,) = filter(is_test, rendered.objects)
    assert tested["kind"] == "Pod"
    assert tested["spec"]["automountServiceAccountToken"] is False
    selectors = [
        rendered.one("Deployment")["spec"]["selector"]["matchLabels"],
        rendered.one("Service")["spec"]["selector"],
    ]
    assert not any(one.items() <= tested["metadata"]["labels"].items() for one in selectors)
    assert render({"replicas": 0}).of("Pod") == []


def test_helm_test_asks_the_service_and_may_reach_it() -> None:
    rendered = render({"networkPolicy": {"enabled": True, "metricsFrom": [{"podSelector": {}}]}})
    (tested,) = rendered.of("Pod")
    service = rendered.one("Service")
    _, *asked = tested["spec"]["containers"][0]["args"]
    assert asked[:3] == [
        f"{service['metadata']['name']}.{service['metadata']['namespace']}.svc",
        str(service["spec"]["ports"][0]["port"]),
        str(rendered.one("Deployment")["spec"]["replicas"]),
    ]
    *_, allowed = rendered.one("NetworkPolicy")["spec"]["ingress"][0]["from"]
    assert allowed["podSelector"]["matchLabels"].items() <= tested["metadata"]["labels"].items()


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
    text = rendered.files["config.yaml"]
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


def test_what_can_be_chosen_of_a_deployment_arrives_there() -> None:
    chosen = render({"deploymentAnnotations": {"a": "b"}, "revisionHistoryLimit": 0}).one("Deployment")
    assert chosen["metadata"]["annotations"] == {"a": "b"}
    assert chosen["spec"]["revisionHistoryLimit"] == 0
    assert render().one("Deployment")["spec"]["revisionHistoryLimit"] == 10
    assert "revisionHistoryLimit" not in render({"revisionHistoryLimit": None}).one("Deployment")["spec"]


def test_more_volumes_stand_beside_those_of_the_chart() -> None:
    volume = {"name": "prices", "secret": {"secretName": "prices"}}
    mount = {"name": "prices", "mountPath": "/etc/prices", "readOnly": True}
    rendered = render(
        {
            "extraVolumes": [volume],
            "extraVolumeMounts": [mount],
            "plugins": {"requirements": "a==1"},
        }
    )
    names = [one["name"] for one in rendered.pod["spec"]["volumes"]]
    assert names == ["configuration", "plugins", "temporary", "prices"]
    assert rendered.pod["spec"]["volumes"][-1] == volume
    assert host(rendered)["volumeMounts"][-1] == mount
    assert mount not in rendered.pod["spec"]["initContainers"][0]["volumeMounts"]


def test_security_contexts_are_changed_key_by_key() -> None:
    before = render().pod["spec"]
    asked = {
        "podSecurityContext": {"fsGroup": 7, "seccompProfile": None},
        "containerSecurityContext": {"runAsUser": 1000, "capabilities": {"add": ["NET_ADMIN"]}},
        "plugins": {"requirements": "a==1"},
    }
    spec = render(asked).pod["spec"]
    assert spec["securityContext"] == {"fsGroup": 7, "runAsNonRoot": True}
    (container,) = before["containers"]
    for one in (*spec["initContainers"], *spec["containers"]):
        assert one["securityContext"] == {
            **container["securityContext"],
            "runAsUser": 1000,
            "capabilities": {"add": ["NET_ADMIN"], "drop": ["ALL"]},
        }
    bare = render({"podSecurityContext": None, "containerSecurityContext": None})
    assert not [one for one in (bare.pod["spec"], host(bare)) if "securityContext" in one]


def test_probes_are_tuned_key_by_key_and_keep_what_they_ask() -> None:
    def probes(values: dict[str, Any]) -> tuple[Object, Object]:
        container = host(render(values))
        return container["livenessProbe"], container["readinessProbe"]

    live, ready = probes({})
    tuned = {"livenessProbe": {"initialDelaySeconds": 60}, "readinessProbe": {"failureThreshold": 9}}
    assert probes(tuned) == ({**live, "initialDelaySeconds": 60}, {**ready, "failureThreshold": 9})


def test_an_image_with_a_digest_is_that_image() -> None:
    digest = "sha256:" + "a" * 64
    image = {"repository": "r.example.com/x", "tag": "v1", "digest": digest}
    assert host(render({"image": image}))["image"] == f"r.example.com/x:v1@{digest}"


def test_the_probes_ask_the_endpoints_of_the_host(rendered: Rendered) -> None:
    container = host(rendered)
    assert container["livenessProbe"]["httpGet"] == {"path": "/livez", "port": "health"}
    assert container["readinessProbe"]["httpGet"] == {"path": "/readyz", "port": "health"}


def test_prometheus_scrapes_the_port_of_the_service() -> None:
    rendered = render(
        {
            "serviceMonitor": {
                "enabled": True,
                "interval": "5s",
                "scrapeTimeout": "5s",
                "labels": {"team": "a"},
            }
        }
    )
    monitor, service = rendered.one("ServiceMonitor"), rendered.one("Service")
    assert monitor["spec"]["endpoints"] == [
        {"port": service["spec"]["ports"][0]["name"], "interval": "5s", "scrapeTimeout": "5s"}
    ]
    assert monitor["spec"]["selector"]["matchLabels"].items() <= service["metadata"]["labels"].items()
    assert monitor["metadata"]["labels"]["team"] == "a"


def test_labels_are_changed_before_and_after_a_scrape() -> None:
    node = {"sourceLabels": ["__meta_kubernetes_pod_node_name"], "targetLabel": "node"}
    dropped = {"sourceLabels": ["__name__"], "regex": ".*_bucket", "action": "drop"}
    asked = {"enabled": True, "relabelings": [node], "metricRelabelings": [dropped]}
    (endpoint,) = render({"serviceMonitor": asked}).one("ServiceMonitor")["spec"]["endpoints"]
    assert endpoint["relabelings"] == [node]
    assert endpoint["metricRelabelings"] == [dropped]
    (plain,) = render({"serviceMonitor": {"enabled": True}}).one("ServiceMonitor")["spec"]["endpoints"]
    assert plain.keys() == {"port", "interval"}


def test_a_fenced_host_reaches_the_api_server_and_names_and_nothing_else() -> None:
    policy = render({"networkPolicy": {"enabled": True}}).one("NetworkPolicy")["spec"]
    assert policy["policyTypes"] == ["Ingress", "Egress"]
    assert policy["ingress"] == [{"ports": [{"port": "metrics"}]}]
    assert [[port["port"] for port in rule["ports"]] for rule in policy["egress"]] == [[443, 6443], [53, 53]]


def test_the_notes_say_what_runs_where_and_how_to_ask_it(rendered: Rendered) -> None:
    notes = rendered.notes
    name = rendered.one("Deployment")["metadata"]["name"]
    assert "helm test kruntimes-scheduler --namespace kruntimes-system" in notes
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
    configuration = load_configuration(rendered.files["config.yaml"], "config.yaml")
    assert configuration.plugins.enabled[0].arguments == {"limit": 10_000_000}
