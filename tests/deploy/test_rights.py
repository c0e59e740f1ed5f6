"""What the host may do: to the API server what it does, in its Pod next to nothing."""

from __future__ import annotations

from deployment.chart import Object, Rendered, render
from kruntimes_core.cluster.client.resources import LEASE, LEASES
from kruntimes_core.cluster.permissions import REQUIRED, Permission
from realcluster.access import rights_of

READING = ("get", "list", "watch")


def for_election(right: Permission) -> bool:
    """Whether it is about the Lease, and so needed with an election, in one namespace, alone."""
    return (right.resource, right.group) == (LEASES.plural, LEASES.group)


def dry_run(rendered: Rendered) -> bool:
    return "--dry-run" in rendered.pod["spec"]["containers"][0]["args"]


def elects(rendered: Rendered) -> bool:
    return "--leader-elect" in rendered.pod["spec"]["containers"][0]["args"]


def rights(role: Object) -> set[Permission]:
    """What a role grants."""
    return rights_of(role["rules"])


def own_cluster_roles(rendered: Rendered) -> list[Object]:
    """Those that the host itself gets, without those that are added to Kubernetes' own for people."""
    return [role for role in rendered.of("ClusterRole") if not aggregated_to(role)]


def aggregated_to(role: Object) -> set[str]:
    """Which of Kubernetes' own roles grant what a role grants."""
    prefix = "rbac.authorization.k8s.io/aggregate-to-"
    return {name.removeprefix(prefix) for name in role["metadata"]["labels"] if name.startswith(prefix)}


def test_the_host_has_the_rights_that_it_uses_and_no_other(rendered: Rendered) -> None:
    cluster_wide, roles = own_cluster_roles(rendered), rendered.of("Role")
    placing = [role for role in (*cluster_wide, *roles) if not role["metadata"]["name"].endswith("-election")]
    assert placing
    reads_alone = dry_run(rendered)
    needed = {one for one in REQUIRED if not for_election(one) and (one.verb in READING or not reads_alone)}
    assert all(rights(role) == needed for role in placing)


def test_the_lease_is_in_the_own_namespace_and_nobody_elses_is_touched(rendered: Rendered) -> None:
    election = [role for role in rendered.of("Role") if role["metadata"]["name"].endswith("-election")]
    assert len(election) == elects(rendered)
    for role in election:
        assert role["metadata"]["namespace"] == "kruntimes-system"
        assert rights(role) == set(filter(for_election, REQUIRED))
        named = [rule for rule in role["rules"] if rule.get("resourceNames") == [LEASE]]
        assert [rule["verbs"] for rule in role["rules"] if rule not in named] == [["create"]]


def test_rights_end_at_the_namespaces_that_are_named() -> None:
    rendered = render({"namespaces": ["team-a", "team-b"]})
    assert rendered.of("ClusterRole") == rendered.of("ClusterRoleBinding") == []
    places = [one["metadata"]["namespace"] for one in rendered.of("RoleBinding")]
    assert sorted(places) == ["kruntimes-system", "team-a", "team-b"]


def test_every_binding_leads_to_a_role_and_to_the_account_of_the_pods(rendered: Rendered) -> None:
    roles = {
        (role["kind"], role["metadata"].get("namespace"), role["metadata"]["name"])
        for role in (*own_cluster_roles(rendered), *rendered.of("Role"))
    }
    account = rendered.one("ServiceAccount")["metadata"]
    bindings = [*rendered.of("ClusterRoleBinding"), *rendered.of("RoleBinding")]
    for binding in bindings:
        reference, place = binding["roleRef"], binding["metadata"].get("namespace")
        roles.remove((reference["kind"], place, reference["name"]))
        (subject,) = binding["subjects"]
        assert (subject["name"], subject["namespace"]) == (account["name"], account["namespace"])
    assert not roles
    assert rendered.pod["spec"]["serviceAccountName"] == account["name"]


def test_an_account_and_rights_of_others_may_be_used() -> None:
    rendered = render({"serviceAccount": {"create": False, "name": "theirs"}, "rbac": {"create": False}})
    made = {one["kind"] for one in rendered.objects}
    assert not made & {"ServiceAccount", "Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"}
    assert rendered.pod["spec"]["serviceAccountName"] == "theirs"


def test_people_get_rights_on_runs_only_where_that_is_asked_for() -> None:
    assert len(own_cluster_roles(render())) == len(render().of("ClusterRole"))
    asked = {"rbac": {"aggregateClusterRoles": True}, "namespaces": ["team-a"]}
    view, edit = render(asked).of("ClusterRole")
    assert aggregated_to(view) == {"view", "edit", "admin"}
    assert aggregated_to(edit) == {"edit", "admin"}
    assert {right.verb for right in rights(view)} == set(READING)
    assert not {right.verb for right in rights(edit)} & set(READING)
    assert not any("status" in right.resource for right in rights(edit))
    assert render({"rbac": {"create": False, "aggregateClusterRoles": True}}).of("ClusterRole") == []


def test_no_container_is_root_or_writes_to_its_root(rendered: Rendered) -> None:
    spec = rendered.pod["spec"]
    for container in (*spec["containers"], *spec.get("initContainers", ())):
        said = container["securityContext"]
        assert said["readOnlyRootFilesystem"]
        assert said["runAsNonRoot"]
        # The image says which user; a cluster that gives each namespace its own range may choose another.
        assert "runAsUser" not in said
        written = {mount["name"] for mount in container["volumeMounts"] if not mount.get("readOnly")}
        volumes = {volume["name"]: volume for volume in spec["volumes"]}
        assert all("emptyDir" in volumes[name] for name in written)
    assert not {"hostNetwork", "hostPID", "hostIPC"} & spec.keys()
