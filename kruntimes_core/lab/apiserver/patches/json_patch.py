"""JSON patch, RFC 6902, as the library behind a kube-apiserver understands it."""

from __future__ import annotations

from typing import Any

MAX_OPERATIONS = 10_000


class CannotApply(Exception):  # noqa: N818 - it says what happened, as the API's answer does
    """The patch is well formed, but does not fit the object."""


def patched(target: Any, operations: list[Any]) -> Any:
    """`target` after all operations. Raises `CannotApply` when one of them cannot be done."""
    for operation in operations:
        if not isinstance(operation, dict):
            raise CannotApply("an operation must be an object")
        target = _apply(target, operation)
    return target


def _apply(target: Any, operation: dict[str, Any]) -> Any:
    kind, path = operation.get("op"), _path(operation, "path")
    if kind == "test":
        if _get(target, path, missing=None) != operation.get("value"):
            raise CannotApply(f"testing value {operation.get('path')} failed")
        return target
    if kind in ("add", "replace"):
        if "value" not in operation:
            raise CannotApply(f"{kind} needs a value")
        return _set(target, path, operation["value"], insert=kind == "add")
    if kind == "remove":
        return _remove(target, path)
    if kind in ("move", "copy"):
        source = _path(operation, "from")
        # A field that is not there is copied as a null.
        parent = _get(target, source[:-1])
        value = None if kind == "copy" and isinstance(parent, dict) else _RAISE
        value = _get(target, source, missing=value)
        return _set(_remove(target, source) if kind == "move" else target, path, value, insert=True)
    raise CannotApply(f"unexpected kind: {kind}")


def _path(operation: dict[str, Any], name: str) -> list[str]:
    text = operation.get(name)
    if not isinstance(text, str) or (text and "/" not in text):
        raise CannotApply(f"{name} must be a JSON pointer")
    # What stands before the first slash is not looked at.
    return [part.replace("~1", "/").replace("~0", "~") for part in text.split("/")[1:]]


_RAISE = object()


def _get(target: Any, path: list[str], missing: Any = _RAISE) -> Any:
    for part in path:
        if isinstance(target, dict) and part in target:
            target = target[part]
        elif isinstance(target, list) and _is_place(part, len(target)):
            target = target[int(part)]
        elif missing is _RAISE:
            raise CannotApply(f"missing path: {part}")
        else:
            return missing
    return target


def _is_place(part: str, length: int) -> bool:
    return part.isdigit() and int(part) < length


def _set(target: Any, path: list[str], value: Any, *, insert: bool) -> Any:
    if not path:
        return value
    part, rest = path[0], path[1:]
    if isinstance(target, dict):
        if rest and part not in target:
            raise CannotApply(f"missing path: {part}")
        return {**target, part: _set(target.get(part), rest, value, insert=insert) if rest else value}
    if not isinstance(target, list):
        raise CannotApply(f"missing path: {part}")
    return _set_item(target, part, rest, value, insert=insert)


def _set_item(target: list[Any], part: str, rest: list[str], value: Any, *, insert: bool) -> list[Any]:
    if insert and not rest:
        if part != "-" and not _is_place(part, len(target) + 1):
            raise CannotApply(f"no place {part} in the list")
        place = len(target) if part == "-" else int(part)
        return [*target[:place], value, *target[place:]]
    if not _is_place(part, len(target)):
        raise CannotApply(f"no place {part} in the list")
    place = int(part)
    item = _set(target[place], rest, value, insert=insert) if rest else value
    return [*target[:place], item, *target[place + 1 :]]


def _remove(target: Any, path: list[str]) -> Any:
    if not path:
        raise CannotApply("the whole object cannot be removed")
    part, rest = path[0], path[1:]
    if isinstance(target, dict) and part in target:
        if rest:
            return {**target, part: _remove(target[part], rest)}
        return {name: value for name, value in target.items() if name != part}
    if isinstance(target, list) and _is_place(part, len(target)):
        place = int(part)
        middle = [_remove(target[place], rest)] if rest else []
        return [*target[:place], *middle, *target[place + 1 :]]
    raise CannotApply(f"missing path: {part}")
