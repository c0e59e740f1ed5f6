"""That a write was made from the object that stands: its uid and its version guard it."""

from __future__ import annotations

from kruntimes_core.lab.apiserver.field_errors import invalid as invalid_field
from kruntimes_core.lab.apiserver.go_text import quote
from kruntimes_core.lab.apiserver.objects import Object, metadata_of, version_of, with_metadata
from kruntimes_core.lab.apiserver.resources import Resource
from kruntimes_core.lab.apiserver.status import ApiError, conflict, invalid
from kruntimes_core.lab.apiserver.strategy import Decoded


def as_new(decoded: Decoded) -> Decoded:
    """An object that a PUT creates: the version that it says is not looked at."""
    return Decoded(with_metadata(decoded.object, resourceVersion=None, uid=None), decoded.unknown)


def check_uid(resource: Resource, obj: Object, old: Object) -> None:
    """That a write is about the object that stands. Raises `ApiError` (409)."""
    wanted, uid = metadata_of(obj).get("uid"), metadata_of(old).get("uid")
    if wanted and wanted != uid:
        metadata = metadata_of(old)
        place = "/".join(filter(None, (metadata.get("namespace"), metadata.get("name"))))
        group = "" if resource.typed else resource.group
        key = "/".join(filter(None, ("/registry", group, resource.plural, place)))
        why = (
            f"StorageError: invalid object, Code: 4, Key: {key}, ResourceVersion: 0, AdditionalErrorMsg: "
            f"Precondition failed: UID in precondition: {wanted}, UID in object meta: {uid}"
        )
        raise conflict(resource.group, resource.plural, metadata["name"], why)


def check_version(resource: Resource, obj: Object, old: Object) -> None:
    """That a write was made from the standing version. Raises `ApiError`: 409, 422 without a version."""
    said = version_of(obj)
    name = metadata_of(old)["name"]
    if said in ("", "0"):
        if resource.strategy.updates_unconditionally:
            return
        error = invalid_field("metadata.resourceVersion", 0, "must be specified for an update")
        raise invalid(resource.group, resource.plural, name, [error])
    if not (said.isascii() and said.isdigit()):
        raise ApiError(500, "", f"strconv.ParseUint: parsing {quote(said)}: invalid syntax")
    if said != version_of(old):
        raise conflict(resource.group, resource.plural, name)
