"""The columns of the smaller built-in kinds, as `kubectl get` shows them; Pods and Events have their own."""

from __future__ import annotations

from kruntimes_core.lab.apiserver.builtin.fields import spec_of, status_of
from kruntimes_core.lab.apiserver.columns import AGE_WORDS, Column, age_column, created, name_column

NAMESPACE = (
    name_column(),
    Column("Status", lambda obj, _: status_of(obj).get("phase"), description="The status of the namespace"),
    age_column(),
)

LEASE = (
    name_column(),
    Column(
        "Holder",
        lambda obj, _: spec_of(obj).get("holderIdentity", ""),
        description="holderIdentity contains the identity of the holder of a current lease. If Coordinated "
        "Leader Election is used, the holder identity must be equal to the elected "
        "LeaseCandidate.metadata.name field.",
    ),
    age_column(),
)

DEFINITION = (
    name_column(),
    Column("Scope", lambda obj, _: spec_of(obj).get("scope"), description="Cluster/Namespaced"),
    Column(
        "Versions",
        lambda obj, _: ",".join(
            version["name"] + ("(storage)" if version.get("storage") else "")
            for version in spec_of(obj).get("versions", ())
        ),
        description="Served versions",
    ),
    Column("Created At", lambda obj, _: created(obj), "date", description=AGE_WORDS),
    Column("Group", lambda obj, _: spec_of(obj).get("group"), description="API group", priority=1),
    Column(
        "Kind",
        lambda obj, _: spec_of(obj).get("names", {}).get("kind"),
        description="CustomResource kind",
        priority=1,
    ),
    Column(
        "ShortNames",
        lambda obj, _: ",".join(spec_of(obj).get("names", {}).get("shortNames", ())),
        description="Short names",
        priority=1,
    ),
    Column("Established", lambda obj, _: True, "boolean", description="Established status", priority=1),
)
