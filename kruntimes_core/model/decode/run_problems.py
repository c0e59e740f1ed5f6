"""What makes a Run object itself invalid, whatever it asks for."""

from __future__ import annotations

from collections.abc import Mapping

from kruntimes_core.model.decode.fields import members, texts
from kruntimes_core.model.decode.problems import FieldError
from kruntimes_core.model.decode.workspace import workspace_name
from kruntimes_core.model.messages import quoted
from kruntimes_core.model.run import InvalidInput, Run


def object_problem(fields: Mapping[str, object], run: Run) -> InvalidInput | None:
    """Why an object is no Run (InvalidObject), or None. `run` is what was read of it."""
    try:
        metadata = members(fields.get("metadata"))
        if not (run.namespace and run.name):
            _check_name(metadata, "namespace")
            _check_name(metadata, "name")
        if not run.uid and metadata.get("uid") is not None:
            raise FieldError("metadata.uid", f"{quoted(metadata['uid'])} is no UID: write a string")
        _check_texts(metadata, "labels", len(run.labels))
        _check_texts(metadata, "annotations", None)
        if not run.runtime:
            _check_runtime(fields.get("spec"))
        if not isinstance(fields.get("status"), Mapping | None):
            raise FieldError("status", f"{quoted(fields['status'])} stands where an object must")
    except FieldError as error:
        return error.as_invalid("InvalidObject")
    return None


def workspace_or_problem(value: object) -> tuple[str | None, InvalidInput | None]:
    """The workspace that a Run names, and why it cannot be placed on any (InvalidWorkspace)."""
    try:
        return workspace_name(value), None
    except FieldError as error:
        return None, error.as_invalid("InvalidWorkspace")


def _check_name(metadata: Mapping[str, object], field: str) -> None:
    value = metadata.get(field)
    if not isinstance(value, str) or not value:
        raise FieldError(f"metadata.{field}", f"{quoted(value)} is no {field}: write a string")


def _check_texts(metadata: Mapping[str, object], field: str, readable: int | None) -> None:
    value = metadata.get(field)
    if value is None:
        return
    count = len(texts(value)) if readable is None else readable
    if not isinstance(value, Mapping) or len(value) != count:
        problem = "they must be strings, by strings: quote numbers, true, false and null"
        raise FieldError(f"metadata.{field}", problem)


def _check_runtime(spec: object) -> None:
    if not isinstance(spec, Mapping):
        raise FieldError("spec", f"{quoted(spec)} stands where an object must: write spec.runtime and more")
    raise FieldError("spec.runtime", f"{quoted(spec.get('runtime'))} is no Runtime: write the name of one")
