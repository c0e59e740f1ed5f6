"""CustomResourceDefinitions, and the custom resources that they describe; a changed one is served at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from kruntimes_core.lab.apiserver.errors import OMITTED, FieldError, invalid, not_supported, required
from kruntimes_core.lab.apiserver.kinds.strategy import Decoded, Resource, Strategy, next_generation
from kruntimes_core.lab.apiserver.metadata import (
    Misshapen,
    clean_metadata,
    problems_of_changed,
    problems_of_new,
)
from kruntimes_core.lab.apiserver.objects import Object, metadata_of, without
from kruntimes_core.lab.apiserver.schema import Node, fill, prune, read_schema
from kruntimes_core.lab.apiserver.table_printers import custom_columns
from kruntimes_core.lab.apiserver.validation import ABSENT, Checker, broken_rules, repeated

DEFINITIONS_TABLE = "customresourcedefinitions.apiextensions.k8s.io"
_SCOPES = ("Cluster", "Namespaced")


class DefinitionStrategy(Strategy):
    """CustomResourceDefinitions, established as soon as they are there."""

    updates_unconditionally = False

    def decode(self, obj: Object, old: Object | None) -> Decoded:
        """Metadata cleaned; what the schema says is kept as it came."""
        spec = obj.get("spec")
        if not isinstance(spec, dict):
            raise Misshapen("spec is required and must be an object")
        names = spec.get("names", {})
        if kind := names.get("kind"):
            names = {"listKind": f"{kind}List", "singular": str(kind).lower(), **names}
        filled = {"conversion": {"strategy": "None"}, **spec, "names": names}
        metadata = clean_metadata(obj.get("metadata"), [])
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


_UNCHECKED = (
    "validation rules were not checked, because the object is invalid: correct the other errors first"
)
_VERBS = ("delete", "deletecollection", "get", "list", "patch", "create", "update", "watch")


class CustomStrategy(Strategy):
    """What the schema says, and a status that only its subresource writes."""

    def __init__(self, table: str, kind: str, api_version: str, schema: Node, has_status: bool) -> None:
        super().__init__(table)
        self._kind = kind
        self._api_version = api_version
        self._schema = schema
        self._has_status = has_status

    def decode(self, obj: Object, old: Object | None) -> Decoded:
        """Metadata cleaned, unknown fields dropped, defaults filled in."""
        unknown: list[str] = []
        metadata = clean_metadata(obj.get("metadata"), unknown)
        kept = prune(self._schema, obj, old or {}, "", unknown)
        return Decoded({**fill(self._schema, kept, old or {}), "metadata": metadata}, tuple(sorted(unknown)))

    def prepare_create(self, obj: Object) -> Object:
        """Without a status, in its first generation."""
        metadata = {**metadata_of(obj), "generation": 1}
        return {**(without(obj, "status") if self._has_status else obj), "metadata": metadata}

    def prepare_update(self, obj: Object, old: Object) -> Object:
        """With the standing status; the generation counts changes beside the metadata."""
        if self._has_status:
            obj = without(obj, "status")
            obj = {**obj, "status": old["status"]} if "status" in old else obj
        return next_generation(obj, old, without(obj, "metadata") != without(old, "metadata"))

    def prepare_status(self, obj: Object, old: Object) -> Object:
        """The standing object with the new status."""
        kept = without(old, "status")
        return {**kept, "status": obj["status"]} if "status" in obj else kept

    def problems_of_new(self, obj: Object) -> Iterable[FieldError]:
        """Metadata, schema, keys of lists, and then the rules."""
        if wrong := list(self._type_problems(obj)):
            return wrong
        metadata = problems_of_new(metadata_of(obj), self.name_problems)
        return self._with_rules([*metadata, *self.problems(obj, None)], obj, None)

    def problems_of_update(self, obj: Object, old: Object) -> Iterable[FieldError]:
        """The same for a change."""
        if wrong := list(self._type_problems(obj)):
            return wrong
        metadata = problems_of_changed(metadata_of(obj), metadata_of(old))
        return self._with_rules([*metadata, *self.problems(obj, old)], obj, old)

    def problems_of_status(self, obj: Object, old: Object) -> Iterable[FieldError]:
        """The schema of the status alone, as its subresource judges it."""
        checker = Checker("status")
        node = self._schema.properties.get("status")
        if node is not None and "status" in obj:
            checker.check(node, obj["status"], old.get("status", ABSENT), "status")
        return self._with_rules([*checker.errors, *repeated(self._schema, obj, old, "")], obj, old)

    def warnings(self, obj: Object, old: Object | None) -> tuple[str, ...]:
        """New finalizers without a domain."""
        known = metadata_of(old or {}).get("finalizers", ())
        added = [name for name in metadata_of(obj).get("finalizers", ()) if name not in known]
        return tuple(
            f"metadata.finalizers: {name!r}: prefer a name with a domain, such as example.com/{name}"
            for name in added
            if "/" not in name
        )

    def problems(self, obj: Object, old: Object | None) -> Iterator[FieldError]:
        """Schema and keys of lists."""
        checker = Checker()
        checker.check(self._schema, obj, ABSENT if old is None else old, "")
        yield from checker.errors
        yield from repeated(self._schema, obj, old, "")

    def _type_problems(self, obj: Object) -> Iterator[FieldError]:
        if obj.get("kind") != self._kind:
            yield invalid("kind", obj.get("kind"), f"must be {self._kind}")
        if obj.get("apiVersion") != self._api_version:
            yield invalid("apiVersion", obj.get("apiVersion"), f"must be {self._api_version}")

    def _with_rules(self, found: list[FieldError], obj: Object, old: Object | None) -> list[FieldError]:
        if not self._schema.has_rules:
            return found
        if any(error.stops_rules for error in found):
            return [*found, invalid("", OMITTED, _UNCHECKED)]
        return [*found, *broken_rules(self._schema, obj, old)]


def _as_resource(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema with what every object has beside it; the metadata is not the schema's affair."""
    own = {
        "apiVersion": {"type": "string"},
        "kind": {"type": "string"},
        "metadata": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
    }
    return {**schema, "properties": {**schema.get("properties", {}), **own}}


def resources_of(definition: Mapping[str, Any]) -> Iterator[Resource]:
    """The resources that a CustomResourceDefinition describes, one for each version that it serves."""
    spec = definition["spec"]
    names = spec["names"]
    for version in spec["versions"]:
        if not version.get("served"):
            continue
        schema = version["schema"]["openAPIV3Schema"]
        has_status = "status" in version.get("subresources", {})
        api_version = f"{spec['group']}/{version['name']}"
        table = f"{names['plural']}.{spec['group']}"
        node = read_schema(_as_resource(schema))
        yield Resource(
            group=spec["group"],
            version=version["name"],
            plural=names["plural"],
            singular=names.get("singular", names["kind"].lower()),
            kind=names["kind"],
            strategy=CustomStrategy(table, names["kind"], api_version, node, has_status),
            columns=custom_columns(version.get("additionalPrinterColumns", ())),
            namespaced=spec["scope"] == "Namespaced",
            has_status=has_status,
            short_names=tuple(names.get("shortNames", ())),
            categories=tuple(names.get("categories", ())),
            verbs=_VERBS,
            typed=False,
            schema=schema,
        )
