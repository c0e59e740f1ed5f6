"""Tokens and rules, in the words of RBAC."""

from __future__ import annotations

from embedded.bodies import run_body
from embedded.http import PODS, RUNS, Reply, play, serving
from kruntimes_core.testing.access_rules import AccessRules, PolicyRule


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


def as_user(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def test_who_is_not_known_is_unauthorized() -> None:
    async def scene() -> None:
        async with serving(access=access()) as site:
            for headers in ({}, as_user("wrong"), {"Authorization": "Basic x"}):
                reply = await site.client.get(RUNS, **headers)
                assert (reply.status, reply.body["reason"]) == (401, "Unauthorized")

    play(scene)


def test_who_is_known_may_do_what_a_rule_allows() -> None:
    async def scene() -> None:
        async with serving(access=access()) as site:
            host, admin = as_user("t-host"), as_user("t-admin")
            assert (await site.client.post(RUNS, run_body(), **admin)).status == 201
            assert (await site.client.get(RUNS, **host)).status == 200
            assert (await site.client.get(f"{RUNS}/r1", **host)).status == 200
            assert (await site.client.get("/apis/kruntimes.io/v1alpha1/runs", **host)).status == 200
            assert (await site.client.get("/apis", **as_user("t-nobody"))).status == 200

            async def send(method: str, path: str) -> Reply:
                return await site.client.send(method, path, {}, "application/merge-patch+json", **host)

            assert (await send("PATCH", f"{RUNS}/r1/status")).status == 200
            refused = await send("PATCH", f"{RUNS}/r1")
            assert (refused.status, refused.body["reason"]) == (403, "Forbidden")
            assert refused.body["message"] == (
                'runs.kruntimes.io "r1" is forbidden: User "host" cannot patch resource "runs" '
                'in API group "kruntimes.io" in the namespace "team-a"'
            )
            other = await send("PATCH", f"{RUNS.replace('team-a', 'default')}/r1/status")
            assert 'resource "runs/status"' in other.body["message"]
            leases = "/apis/coordination.k8s.io/v1/namespaces/team-a/leases"
            assert (await site.client.get(f"{leases}/mine", **host)).status == 404
            assert (await site.client.get(f"{leases}/yours", **host)).status == 403

    play(scene)


def test_a_list_may_be_allowed_and_its_watch_not() -> None:
    async def scene() -> None:
        allowed = access()
        async with serving(access=allowed) as site:
            host = as_user("t-host")
            assert (await site.client.get(PODS, **host)).status == 200
            refused = await site.client.get("/api/v1/pods?watch=true", **host)
            assert refused.body["message"] == (
                'pods is forbidden: User "host" cannot watch resource "pods" in API group "" '
                "at the cluster scope"
            )
            allowed.rules = {**allowed.rules, "host": [rule("list watch", "core", "pods")]}
            async with site.client.watch("/api/v1/pods", **host):
                pass

    play(scene)
