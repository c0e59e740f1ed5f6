"""A plugin's configured arguments beside its model: what they may not say, and what of them is never shown.

The walk follows the types of the model. Where these cannot be followed (a union, a validator that takes
another shape), all that lies below counts as secret if any of it may be.
"""

from __future__ import annotations

import dataclasses
import math
import typing
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import AliasChoices, AliasPath, BaseModel, RootModel, Secret, SecretBytes, SecretStr
from pydantic.fields import FieldInfo

MASK = "**********"
"""What is shown in the place of a secret, as pydantic shows it."""

_SECRETS = (Secret, SecretBytes, SecretStr)
_SEQUENCES = (list, tuple, set, frozenset, Sequence)

Path = tuple[str | int, ...]


def unusual_value(value: object, path: Path = ()) -> tuple[Path, str] | None:
    """The first part that JSON has no value for, with what to do; None where `config show` can print all."""
    if isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            if isinstance(value, dict) and not isinstance(key, str):
                return path, f"has the key {key!r}, which is not text: put it in quotes"
            if found := unusual_value(item, (*path, key)):
                return found
        return None
    if isinstance(value, float) and not math.isfinite(value):
        return path, f"is {value}, for which JSON has no number: give a finite one"
    if value is None or isinstance(value, str | int | float):
        if value == MASK:
            return path, "is the mask in the place of a secret: write the secret itself"
        return None
    return (
        path,
        f"is a {type(value).__name__}, which JSON does not have: give text, a number, a list or a mapping",
    )


def unknown_argument(model: Any, value: object) -> Path | None:
    """The first key that no field takes, of models that do not say (`extra`) what they do with such keys."""
    model = _unwrapped(model)
    if _is_model(model) and isinstance(value, Mapping) and refuses_unknown(model):
        fields = model.model_fields.items()
        names = {name for field_name, field in fields for name in _names(model, field_name, field)}
        unknown = next((key for key in value if key not in names), None)
        if unknown is not None:
            return (unknown,)
    for step, annotation, part in _parts(model, value) or ():
        if (below := unknown_argument(annotation, part)) is not None:
            return (step, *below)
    return None


def refuses_unknown(model: type[BaseModel]) -> bool:
    """Whether `unknown_argument` looks at the keys of that model itself."""
    return "extra" not in model.model_config and not _takes_other_shapes(model)


def known_arguments(model: Any, path: Path, value: object) -> list[str]:
    """The names of the fields beside the key at `path`."""
    for step in path[:-1]:
        model, value = _below(model, value, step) or (None, None)
    model = _unwrapped(model)
    fields = model.model_fields if _is_model(model) else {}
    return [_names(model, name, field)[0] for name, field in fields.items()]


def masked(model: Any, value: Any) -> Any:
    """The arguments as they may be shown: secrets, and all that a model hides, are `MASK`."""
    if not may_be_secret(model):
        return value
    parts = _parts(model, value)
    if parts is None:
        return _all_masked(value)
    known = {step: masked(annotation, part) for step, annotation, part in parts}
    if isinstance(value, Mapping):
        return {key: known[key] if key in known else _all_masked(part) for key, part in value.items()}
    return [known[place] for place in range(len(value))]


def hides(model: Any, path: Path, value: object) -> bool:
    """Whether the value at `path`, which pydantic names in an error, may be secret, or hold a secret."""
    for step in path:
        below = _below(model, value, step)
        if below is None:
            break
        model, value = below
    return may_be_secret(model)


def _below(model: Any, value: object, step: str | int) -> tuple[Any, Any] | None:
    """The part at `step` with its type; None where the type does not tell."""
    parts = _parts(model, value) or ()
    return next(((annotation, part) for at, annotation, part in parts if at == step), None)


def may_be_secret(annotation: Any, seen: frozenset[int] = frozenset()) -> bool:
    """Whether a value of that type is a secret, or may hold one."""
    if id(annotation) in seen:
        return False
    seen |= {id(annotation)}
    if isinstance(annotation, type) and issubclass(_origin(annotation), _SECRETS):
        return True
    if _hides(annotation):
        return True
    return any(may_be_secret(part, seen) for part in _inside(annotation))


def _inside(annotation: Any) -> Iterator[Any]:
    """The types that a type is made of: of its fields, its arguments, or what it is another name for."""
    if _is_model(annotation):
        yield from (field.annotation for field in annotation.model_fields.values())
    elif isinstance(annotation, type) and (
        dataclasses.is_dataclass(annotation) or typing.is_typeddict(annotation)
    ):
        try:
            yield from typing.get_type_hints(annotation).values()
        except (NameError, TypeError):
            return
    yield from typing.get_args(annotation)
    for name in ("__origin__", "__supertype__", "__value__"):
        if (other := getattr(annotation, name, None)) is not None:
            yield other


def _parts(annotation: Any, value: object) -> list[tuple[str | int, Any, Any]] | None:
    """The parts of a value with the type of each; None where the type does not tell."""
    annotation = _unwrapped(annotation)
    if _hides(annotation):
        return None
    if _is_model(annotation) and isinstance(value, Mapping) and not _takes_other_shapes(annotation):
        fields = {
            name: field.annotation
            for field_name, field in annotation.model_fields.items()
            for name in _names(annotation, field_name, field)
        }
        return [(key, fields[key], part) for key, part in value.items() if key in fields]
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (dict, Mapping) and isinstance(value, Mapping):
        return [(key, arguments[1], part) for key, part in value.items()]
    if origin in _SEQUENCES and isinstance(value, list) and len({*arguments} - {...}) == 1:
        return [(place, arguments[0], part) for place, part in enumerate(value)]
    return None


def _unwrapped(annotation: Any) -> Any:
    """The type itself where it is annotated or optional."""
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Annotated:
        return _unwrapped(arguments[0])
    present = [one for one in arguments if one is not type(None)]
    return _unwrapped(present[0]) if type(None) in arguments and len(present) == 1 else annotation


def _names(model: type[BaseModel], name: str, field: FieldInfo) -> list[str]:
    """The keys under which a field may be given, that of the documentation first."""
    alias = field.validation_alias
    choices = alias.choices if isinstance(alias, AliasChoices) else [] if alias is None else [alias]
    names = [str(one.path[0]) if isinstance(one, AliasPath) else str(one) for one in choices]
    by_name = model.model_config.get("validate_by_name") or model.model_config.get("populate_by_name")
    return names if names and not by_name else [*names, name]


def _takes_other_shapes(model: type[BaseModel]) -> bool:
    """Whether a validator of the whole model, or a root model, may read keys that are no fields."""
    validators = model.__pydantic_decorators__.model_validators.values()
    return issubclass(model, RootModel) or any(one.info.mode != "after" for one in validators)


def _hides(annotation: Any) -> bool:
    return _is_model(annotation) and bool(annotation.model_config.get("hide_input_in_errors"))


def _is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(_origin(annotation), BaseModel)


def _origin(annotation: type) -> type:
    """The class of a generic one as `list[int]`, which is a type and no class."""
    origin = typing.get_origin(annotation)
    return origin if isinstance(origin, type) else annotation


def _all_masked(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _all_masked(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_all_masked(part) for part in value]
    return value if value is None else MASK
