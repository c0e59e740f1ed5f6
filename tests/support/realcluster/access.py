"""ServiceAccounts with their rules and kubeconfigs, and the rules that `deploy/manifests` has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from kruntimes_core.cluster.permissions import Permission
from realcluster.client import CRDS, NAMESPACES, SERVICE_ACCOUNTS, Answer, Client, Object, Resource
from realcluster.servers import Cluster

Rule = Mapping[str, Sequence[str]]
"""One RBAC rule: apiGroups, resources, verbs, and so on."""


def _rules(manifest: str) -> list[Rule]:
    role: dict[str, Any] = yaml.safe_load((_MANIFESTS / manifest).read_text())
    return list(role["rules"])


_MANIFESTS = Path(__file__).parents[3] / "deploy" / "manifests"
RULES = _rules("clusterrole.yaml")
"""What the scheduler needs where Runs are: everywhere, or in each namespace that it is told."""
ELECTING_RULES = _rules("role.yaml")
"""What it needs in the namespace of the Lease."""

_RBAC = "rbac.authorization.k8s.io"
_SECONDS = 20
_REVIEWS = Resource("authorization.k8s.io", "v1", "selfsubjectrulesreviews")


@dataclass(frozen=True)
class ServiceAccount:
    """A ServiceAccount and a token of it; what it may do is what its rules say."""

    name: str
    namespace: str
    token: str


def make_namespace(client: Client) -> str:
    """A new namespace; nobody finishes its deletion here, so it stays until the server is thrown away."""
    namespace = {"apiVersion": "v1", "kind": "Namespace", **_named("test-")}
    made = _made(client.create(NAMESPACES, namespace))
    return str(made["metadata"]["name"])


def install_crds(cluster: Cluster, crds: Iterable[Object]) -> None:
    """Create CRDs, and wait until their resources are served."""
    client, listed = cluster.client(), list(crds)
    for crd in listed:
        _made(client.create(CRDS, crd))
    for crd in listed:
        served = partial(_is_served, client, crd)
        cluster.server.wait_until(served, _SECONDS, f"established {crd['metadata']['name']}")


def make_service_account(
    cluster: Cluster, namespace: str, rules: Sequence[Rule], *, cluster_wide: bool = False
) -> ServiceAccount:
    """A ServiceAccount of `namespace` with these rules, there or (`cluster_wide`) everywhere."""
    client = cluster.client()
    name = str(_made(client.create(SERVICE_ACCOUNTS, _named("account-"), namespace))["metadata"]["name"])
    account = ServiceAccount(name, namespace, _token(client, name, namespace))
    if rules:
        grant(cluster, account, rules, cluster_wide=cluster_wide)
    return account


def grant(
    cluster: Cluster, account: ServiceAccount, rules: Sequence[Rule], *, cluster_wide: bool = False
) -> None:
    """Give an account these rights too, in its namespace or everywhere."""
    _bind(cluster.client(), account.name, account.namespace, rules, cluster_wide=cluster_wide)
    _wait_until_in_force(cluster, account, rules, [])


def change_rules(cluster: Cluster, account: ServiceAccount, rules: Sequence[Rule]) -> None:
    """Let an account have these rights in its namespace from now on; they are in force when it returns."""
    client = cluster.client()
    (role,) = (
        role
        for role in client.list(_rbac("Role"), account.namespace).body["items"]
        if role["metadata"]["name"].startswith(f"{account.name}-")
    )
    answer = client.replace(_rbac("Role"), {**role, "rules": list(rules)}, account.namespace)
    assert answer.status == 200, answer
    _wait_until_in_force(cluster, account, rules, [rule for rule in role["rules"] if rule not in rules])


def _token(client: Client, name: str, namespace: str) -> str:
    request = {"metadata": {"name": name}, "spec": {"expirationSeconds": 3600}}
    return str(_made(client.create(SERVICE_ACCOUNTS, request, namespace, "token"))["status"]["token"])


def _bind(client: Client, account: str, namespace: str, rules: Sequence[Rule], *, cluster_wide: bool) -> None:
    prefix, place = ("Cluster", None) if cluster_wide else ("", namespace)
    role = {**_named(f"{account}-"), "rules": list(rules)}
    name = _made(client.create(_rbac(f"{prefix}Role"), role, place))["metadata"]["name"]
    subject = {"kind": "ServiceAccount", "name": account, "namespace": namespace}
    reference = {"apiGroup": _RBAC, "kind": f"{prefix}Role", "name": name}
    binding = {**_named(f"{account}-"), "roleRef": reference, "subjects": [subject]}
    _made(client.create(_rbac(f"{prefix}RoleBinding"), binding, place))


def _rbac(kind: str) -> Resource:
    return Resource(_RBAC, "v1", f"{kind.lower()}s")


def _wait_until_in_force(
    cluster: Cluster, account: ServiceAccount, rules: Sequence[Rule], taken: Sequence[Rule]
) -> None:
    """The authorizer follows roles by a watch: ask it what it knows."""
    bearer = cluster.client(account.token)
    wanted = [rule for rule in rules if "nonResourceURLs" not in rule]

    def in_force() -> bool:
        answer = bearer.create(_REVIEWS, {"spec": {"namespace": account.namespace}})
        known = answer.body.get("status", {}).get("resourceRules", [])
        given = all(any(_equal(rule, other) for other in known) for rule in wanted)
        return given and not any(_equal(rule, other) for rule in taken for other in known)

    cluster.server.wait_until(in_force, _SECONDS, f"rights of {account.name} in force")


def _equal(rule: Rule, other: Mapping[str, Any]) -> bool:
    parts = ("apiGroups", "resources", "verbs", "resourceNames")
    return all(sorted(rule.get(part, [])) == sorted(other.get(part) or []) for part in parts)


def _is_served(client: Client, crd: Object) -> bool:
    name, spec = crd["metadata"]["name"], crd["spec"]
    conditions = client.get(CRDS, name).body.get("status", {}).get("conditions") or []
    if not any(each["type"] == "Established" and each["status"] == "True" for each in conditions):
        return False
    resource = Resource(spec["group"], spec["versions"][0]["name"], spec["names"]["plural"])
    return client.list(resource, limit=1).status == 200


def _named(prefix: str) -> Object:
    return {"metadata": {"generateName": prefix}}


def _made(answer: Answer) -> Object:
    assert answer.status == 201, answer.body
    made: Object = answer.body
    return made


def rights_of(rules: Sequence[Rule]) -> set[Permission]:
    """Every right that some rules grant."""
    return {
        Permission(verb, resource, group)
        for rule in rules
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }


def without(right: Permission, rules: Sequence[Rule]) -> list[Rule]:
    """The rules that grant all but one right; each of the manifests' names one resource."""
    left = []
    for rule in rules:
        if rule["apiGroups"] == [right.group] and rule["resources"] == [right.resource]:
            rule = {**rule, "verbs": [verb for verb in rule["verbs"] if verb != right.verb]}
        if rule["verbs"]:
            left.append(rule)
    assert rights_of(left) == rights_of(rules) - {right}
    return left
