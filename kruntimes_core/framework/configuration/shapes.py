"""What the fields of a configuration accept besides their own type, and how they say no."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, StringConstraints, model_validator
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

RuntimeName = Annotated[
    str,
    StringConstraints(
        strict=True,
        min_length=1,
        max_length=63,
        pattern=r"^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$",
    ),
]
"""`spec.runtime` of a Run: 1 to 63 characters of a label value (API contract)."""

Name = Annotated[str, StringConstraints(strict=True, min_length=1, max_length=253)]


class Section(BaseModel):
    """The common ground: camelCase keys, no unknown ones, null means absent, frozen when read."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        extra="forbid",
        frozen=True,
        strict=True,
        use_attribute_docstrings=True,
        validate_by_name=True,
    )

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, value: Any) -> Any:
        if isinstance(value, dict):
            return {key: item for key, item in value.items() if item is not None}
        if isinstance(value, BaseModel):
            return value
        raise PydanticCustomError(
            "mapping", "write a mapping, `key: value`, not {what}", {"what": what(value)}
        )


def what(value: object) -> str:
    """A value as an error shows it, with YAML's word for its type where the value would be long."""
    if isinstance(value, list | tuple | dict):
        kind = "mapping" if isinstance(value, dict) else "list"
        return f"a {kind}" if value else f"an empty {kind}"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return repr(value)[:60]


def _listed(value: Any) -> Any:
    """A list as it is; a bare string would be taken for its letters, so it is refused by name."""
    if isinstance(value, list | tuple):
        return tuple(value)
    shown = value if isinstance(value, str) else "Name"
    raise PydanticCustomError(
        "list", "write a list, as in [{shown}], not {what}", {"shown": shown, "what": what(value)}
    )


Listed = BeforeValidator(_listed)


def named(value: Any) -> Any:
    """A bare name stands for the mapping that has only this name."""
    return {"name": value} if isinstance(value, str) else value
