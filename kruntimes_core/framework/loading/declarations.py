"""What a plugin says about itself by plain attributes, read once and checked."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from pydantic import BaseModel

from kruntimes_core.framework.loading.failures import Refusal, describe_exception
from kruntimes_core.framework.loading.host import HOST_API
from kruntimes_core.framework.runtime.calls import safe_repr
from kruntimes_core.model.messages import did_you_mean

CAPACITY = "capacity"
"""What a filter provides that rejects Pods without room for the Run."""

_REASON = re.compile(r"[A-Z][A-Za-z0-9]*")
# metav1.Condition takes a reason of 1,024 characters; a text of that length fits every message.
_LONGEST = 1_024


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """The attributes of a plugin; see the guide for plugin authors."""

    reasons: Mapping[str, str] = field(default_factory=dict)
    arguments: type[BaseModel] | None = None
    stateful: bool = False
    provides: frozenset[str] = frozenset()
    normalize_keeps_best: bool = False
    on_by_default: bool = True


def is_off_by_default(plugin: object) -> bool:
    """Whether a plugin says that only a configuration which names it wants it. Runs none of its code."""
    return inspect.getattr_static(plugin, "on_by_default", True) is False


def read_declaration(plugin: object) -> Declaration:
    """The declaration of a class, a module or an object. Raises `Refusal` naming the attribute."""
    _check_host_api(_attribute(plugin, "host_api", None))
    return Declaration(
        reasons=_reasons(_attribute(plugin, "reasons", {})),
        arguments=_arguments(_attribute(plugin, "Arguments", None)),
        stateful=_flag(plugin, "stateful", default=False),
        provides=_provides(_attribute(plugin, "provides", ())),
        normalize_keeps_best=_flag(plugin, "normalize_keeps_best", default=False),
        on_by_default=_flag(plugin, "on_by_default", default=True),
    )


def _attribute(plugin: object, name: str, default: Any) -> Any:
    """The attribute's value; a property of a class is known when the plugin is built, not before."""
    try:
        value = getattr(plugin, name, default)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise Refusal(f"its attribute {name} cannot be read: {describe_exception(error)}") from error
    return default if isinstance(value, property) else value


def _flag(plugin: object, name: str, *, default: bool) -> bool:
    value = _attribute(plugin, name, default)
    if not isinstance(value, bool):
        raise Refusal(f"{name} is {_short(value)}: make it True or False")
    return value


def _reasons(value: Any) -> Mapping[str, str]:
    if not isinstance(value, Mapping):
        raise Refusal(f"reasons is a {type(value).__name__}: make it a mapping of CamelCase names to texts")
    for reason, text in value.items():
        if not isinstance(reason, str) or len(reason) > _LONGEST or not _REASON.fullmatch(reason):
            raise Refusal(
                f"the reason {_short(reason)} is no CamelCase name of at most {_LONGEST} letters and digits"
            )
        _check_text(reason, text)
    return dict(value)


def _check_text(reason: str, text: Any) -> None:
    if not isinstance(text, str) or not text.strip():
        raise Refusal(f"the reason {reason} has no text: say what completes 'waiting for ...'")
    if len(text) > _LONGEST:
        raise Refusal(f"the text of reason {reason} has {len(text)} characters: use at most {_LONGEST}")
    if re.search(r"[{}]", text.replace("{runtime}", "")):
        raise Refusal(
            f"the text of reason {reason} has other braces than the placeholder {{runtime}}: remove them"
        )


def _provides(value: Any) -> frozenset[str]:
    if isinstance(value, str) or not isinstance(value, set | frozenset | tuple | list):
        raise Refusal(f'provides is {_short(value)}: make it a set of names, as in {{"{CAPACITY}"}}')
    for name in value:
        if name != CAPACITY:
            raise Refusal(
                f"it provides {_short(name)}, which this host does not know"
                f"{did_you_mean(str(name), [CAPACITY])}"
            )
    return frozenset(value)


def _arguments(model: Any) -> type[BaseModel] | None:
    if model is None:
        return None
    if not (isinstance(model, type) and issubclass(model, BaseModel)):
        raise Refusal(f"Arguments is {_short(model)}: make it a subclass of pydantic.BaseModel")
    return model


def _check_host_api(value: Any) -> None:
    if value is None:
        return
    try:
        accepted = SpecifierSet(value)
    except (InvalidSpecifier, TypeError, AttributeError) as error:
        raise Refusal(f'host_api is {_short(value)}: make it a version range, as in ">=1,<2"') from error
    if not accepted.contains(HOST_API, prereleases=True):
        raise Refusal(
            f"it works with host API {value}, but this host has {HOST_API}: install a matching version"
        )


def _short(value: object) -> str:
    return safe_repr(value)[:60]
