"""CustomResourceDefinitions: what is served is what they say; a change of one changes it at once."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from kruntimes_core.lab.apiserver import meta
from kruntimes_core.lab.apiserver.field_errors import FieldError, invalid, not_supported, required
from kruntimes_core.lab.apiserver.objects import Object, metadata_of, without
from kruntimes_core.lab.apiserver.strategy import Decoded, Strategy, next_generation
from kruntimes_core.model.times import format_time

TABLE = "customresourcedefinitions.apiextensions.k8s.io"
_SCOPES = ("Cluster", "Namespaced")
API_VERSION = "apiextensions.k8s.io/v1"


class DefinitionStrategy(Strategy):
    """CustomResourceDefinitions, established as soon as they are there."""

    updates_unconditionally = False

    def decode(self, obj: Object, old: Object | None) -> Decoded:
        """Metadata cleaned; what the schema says is kept as it came."""
        spec = obj.get("spec")
        if not isinstance(spec, dict):
            raise meta.Misshapen("spec is required and must be an object")
        names = spec.get("names", {})
        if kind := names.get("kind"):
            names = {"listKind": f"{kind}List", "singular": str(kind).lower(), **names}
        filled = {"conversion": {"strategy": "None"}, **spec, "names": names}
        metadata = meta.clean(obj.get("metadata"), [], "CustomResourceDefinition")
        return Decoded({**obj, "metadata": metadata, "spec": filled})

    def prepare_create(self, obj: Object) -> Object:
        """Established in its first generation."""
        metadata = {**metadata_of(obj), "generation": 1}
        return {**obj, "metadata": metadata, "status": _established(obj, metadata["creationTimestamp"])}

    def prepare_update(self, obj: Object, old: Object) -> Object:
        """With the names that it is served under now."""
        since = old["status"]["conditions"][0]["lastTransitionTime"]
        kept = {**without(obj, "status"), "status": _established(obj, since)}
        return next_generation(kept, old, obj["spec"] != old["spec"])

    def prepare_status(self, obj: Object, old: Object) -> Object:
        """The standing definition, whose status only the server itself knows."""
        return old

    def problems(self, obj: Object, old: Object | None) -> Iterator[FieldError]:
        """What is wrong with the few fields that serving needs."""
        spec = obj["spec"]
        names = spec["names"]
        wanted = f"{names.get('plural')}.{spec.get('group')}"
        name = metadata_of(obj).get("name")
        if name != wanted:
            yield invalid("metadata.name", name, 'must be spec.names.plural+"."+spec.group')
        if not spec.get("group"):
            yield required("spec.group")
        if spec.get("scope") not in _SCOPES:
            yield not_supported("spec.scope", spec.get("scope", ""), _SCOPES)
        storing = [version for version in spec.get("versions") or () if version.get("storage")]
        if len(storing) != 1:
            problem = "must have exactly one version marked as storage version"
            yield invalid("spec.versions", spec.get("versions"), problem)
        for field in ("plural", "singular", "kind", "listKind"):
            if not names.get(field):
                yield required(f"spec.names.{field}")
        if not storing:
            yield invalid("status.storedVersions", None, "must have at least one stored version")


def _established(obj: Object, since: str) -> Object:
    def condition(kind: str, reason: str, message: str) -> dict[str, Any]:
        return {
            "lastTransitionTime": since,
            "message": message,
            "reason": reason,
            "status": "True",
            "type": kind,
        }

    versions = obj["spec"].get("versions") or ()
    return {
        "conditions": [
            condition("NamesAccepted", "NoConflicts", "no conflicts found"),
            condition("Established", "InitialNamesAccepted", "the initial names have been accepted"),
        ],
        "acceptedNames": obj["spec"]["names"],
        "storedVersions": [version["name"] for version in versions if version.get("storage")],
    }


def stamped(definition: Object, uid: str, now: datetime) -> Object:
    """A packaged definition as the server would have it after its creation."""
    metadata = {
        **metadata_of(definition),
        "uid": uid,
        "creationTimestamp": format_time(now),
        "generation": 1,
    }
    strategy = DefinitionStrategy(TABLE)
    return strategy.prepare_create({**strategy.decode(definition, None).object, "metadata": metadata})
