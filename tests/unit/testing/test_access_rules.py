"""Tokens and rules, in the words of RBAC."""

from __future__ import annotations

from contextlib import closing

from embedded.bodies import NAMESPACE, run_body
from embedded.place import serving
from kruntimes_core.lab.apiserver.http.embedded import EmbeddedServer
from kruntimes_core.testing.access_rules import AccessRules, PolicyRule
from realcluster.client import PODS, RUNS, Client
from realcluster.leases import LEASES


def rule(verbs: str, groups: str, resources: str, **more: frozenset[str]) -> PolicyRule:
    return PolicyRule(
        frozenset(verbs.split()),
        frozenset("" if group == "core" else group for group in groups.split()),
        frozenset(resources.split()),
        **more,
    )


def access() -> AccessRules:
    return AccessRules(
        tokens={"t-admin": "admin", "t-host": "host", "t-nobody": "nobody"},
        rules={
            "admin": [rule("*", "*", "*")],
            "host": [
                rule("get list watch", "kruntimes.io", "runs"),
                rule("patch", "kruntimes.io", "runs/status", namespaces=frozenset({"team-a"})),
                rule("list", "core", "pods"),
                rule("get", "coordination.k8s.io", "leases", names=frozenset({"mine"})),
            ],
        },
    )


def client_of(server: EmbeddedServer, user: str) -> Client:
    return Client(server.url, token=f"t-{user}")


def test_who_is_not_known_is_unauthorized() -> None:
    with serving(authorizer=access()) as server:
        basic = Client(server.url)
        basic.headers = {"Authorization": "Basic x"}
        for client in (Client(server.url), client_of(server, "wrong"), basic):
            reply = client.list(RUNS, NAMESPACE)
            assert (reply.status, reply.reason) == (401, "Unauthorized")


def test_who_is_known_may_do_what_a_rule_allows() -> None:
    with serving(authorizer=access()) as server:
        host, admin, nobody = (client_of(server, user) for user in ("host", "admin", "nobody"))
        assert admin.create(RUNS, run_body(), NAMESPACE).status == 201
        assert host.list(RUNS, NAMESPACE).status == 200
        assert host.get(RUNS, "r1", NAMESPACE).status == 200
        assert host.list(RUNS).status == 200
        assert nobody.request("GET", "/apis").status == 200
        assert host.patch(RUNS, "r1", {}, NAMESPACE, "status").status == 200
        refused = host.patch(RUNS, "r1", {}, NAMESPACE)
        assert (refused.status, refused.reason) == (403, "Forbidden")
        assert refused.message == (
            'runs.kruntimes.io "r1" is forbidden: User "host" cannot patch resource "runs" '
            'in API group "kruntimes.io" in the namespace "team-a"'
        )
        other = host.patch(RUNS, "r1", {}, "default", "status")
        assert 'resource "runs/status"' in other.message
        assert host.get(LEASES, "mine", NAMESPACE).status == 404
        assert host.get(LEASES, "yours", NAMESPACE).status == 403


def test_a_list_may_be_allowed_and_its_watch_not() -> None:
    allowed = access()
    with serving(authorizer=allowed) as server:
        host = client_of(server, "host")
        assert host.list(PODS, NAMESPACE).status == 200
        refused = host.list(PODS, watch="true")
        assert refused.message == (
            'pods is forbidden: User "host" cannot watch resource "pods" in API group "" at the cluster scope'
        )
        allowed.rules = {**allowed.rules, "host": [rule("list watch", "core", "pods")]}
        with closing(host.watch(PODS)) as watch:
            assert watch.status == 200
