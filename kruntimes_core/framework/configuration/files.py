"""Reading a configuration file: a consistent `Configuration`, or one line that says what to correct."""

from __future__ import annotations

import typing
from collections.abc import Iterator
from typing import Any

from pydantic import ValidationError

from kruntimes_core.framework.configuration.arguments import unusual_value
from kruntimes_core.framework.configuration.models import (
    DEFAULT_PROFILE,
    EVERY,
    Configuration,
    ConfigurationError,
    ConfiguredProfile,
    Origin,
    Path,
    Section,
    configured_profiles,
    dotted,
    what,
)
from kruntimes_core.model.messages import did_you_mean
from kruntimes_core.model.yaml_files import SETTINGS_BYTES, load_documents, read_file

# How pydantic begins its sentences, and how this host's errors go on after a path.
_OPENINGS = (("Input should ", "must "), ("String should ", "must "), ("Tuple should ", "must "))
_PLAINER = {"too_short": "must have at least one entry", "dict_type": "must be a mapping"}
_ADVICE = "name a readable configuration file"
_ARGUMENTS = "arguments"
_COMPLETE = frozenset({"list", "mapping"})


def configuration_from(path: str | None) -> Configuration:
    """The configuration in the file at `path`; the defaults when None.

    Raises `ConfigurationError` for a file that cannot be opened, and what `read_file` and
    `load_configuration` raise.
    """
    if path is None:
        return Configuration()
    if not path:
        raise ConfigurationError(f"the file's name is empty: {_ADVICE}")
    try:
        text = read_file(path, SETTINGS_BYTES)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise ConfigurationError(f"{path}: {reason.lower()}: {_ADVICE}") from error
    return load_configuration(text, path)


def load_configuration(text: str | bytes, source: str) -> Configuration:
    """Read and check a configuration; an empty text means all defaults.

    source: what errors call the file. Raises `YamlError` for a text that is not YAML, `ConfigurationError`
    for every other mistake that shows without the installed plugins.
    """
    origin = Origin(source, text)
    documents = list(load_documents(text, source))
    if len(documents) > 1:
        line = documents[1][0]
        raise ConfigurationError(f"{source}:{line}: a second document: a configuration is one, remove it")
    value = documents[0][1] if documents else None
    try:
        configuration = Configuration.model_validate(
            {} if value is None else value, by_alias=True, by_name=False
        ).read_from(origin)
    except ValidationError as error:
        raise _first_mistake(error, origin) from error
    check_consistency(configuration)
    return configuration


def check_consistency(configuration: Configuration) -> None:
    """Raises `ConfigurationError` for the first mistake that no single field shows."""
    for profile in configured_profiles(configuration):
        _check_plugins(configuration, profile)
    _check_profiles(configuration)
    backoff = configuration.backoff
    if backoff.initial_seconds > backoff.max_seconds:
        problem = f"must not exceed backoff.maxSeconds ({backoff.max_seconds:g})"
        raise configuration.origin.error(("backoff", "initialSeconds"), problem)


def _first_mistake(error: ValidationError, origin: Origin) -> ConfigurationError:
    details = error.errors(include_url=False)[0]
    path = details["loc"]
    if details["type"] == "missing":
        return origin.error(path, "is required: add it")
    if details["type"] == "extra_forbidden":
        return origin.error(path, f"unknown key{did_you_mean(str(path[-1]), _known_keys(path[:-1]))}")
    hidden = _ARGUMENTS in path
    return origin.error(path, worded(details["msg"], details["input"], details["type"], hidden=hidden))


def worded(message: str, value: object, kind: str = "", *, hidden: bool = False) -> str:
    """The message of pydantic as the rest of a sentence, with the value that it is about.

    kind: pydantic's name of the error; ours, which name the value themselves, stay as they are. hidden: the
    value may be secret, and a validator may quote it in its message: neither is shown.
    """
    if hidden and isinstance(value, str | bytes | int | float) and _quotes(message, value):
        message = "is not valid"
    for opening, ours in _OPENINGS:
        message = message.replace(opening, ours)
    message = message[:1].lower() + message[1:]
    if hidden and not isinstance(value, list | dict):
        return _PLAINER.get(kind, message)
    return message if kind in _COMPLETE else f"{_PLAINER.get(kind, message)}, not {what(value)}"


def _quotes(message: str, value: str | bytes | float) -> bool:
    text = value.decode(errors="replace") if isinstance(value, bytes) else str(value)
    return bool(text) and text in message


def _known_keys(path: Path) -> list[str]:
    """The keys of the section at `path`, as written in the file."""
    section: type[Section] = Configuration
    for step in path:
        for name, field in section.model_fields.items():
            if step == (field.alias or name):
                section = next(_sections(field.annotation), section)
    return [field.alias or name for name, field in section.model_fields.items()]


def _sections(annotation: Any) -> Iterator[type[Section]]:
    if isinstance(annotation, type) and issubclass(annotation, Section):
        yield annotation
    for part in typing.get_args(annotation):
        yield from _sections(part)


def _check_plugins(configuration: Configuration, profile: ConfiguredProfile) -> None:
    first: dict[str, Path] = {}
    for index, entry in enumerate(profile.plugins.enabled):
        path = (*profile.path, "enabled", index)
        problem = None
        if entry.name == EVERY:
            problem = '"*" stands in disabled only: name each plugin here'
        elif entry.name in profile.plugins.disabled:
            problem = f"{entry.name} is both enabled and disabled: remove one of the two"
        elif entry.name in first:
            problem = f"{entry.name} is enabled twice ({dotted(first[entry.name])} too): keep one entry"
        if problem is not None:
            raise configuration.origin.error(path, problem)
        first[entry.name] = path
        if (unusual := unusual_value(entry.arguments)) is not None:
            below, problem = unusual
            raise configuration.origin.error((*path, _ARGUMENTS, *below), problem)


def _check_profiles(configuration: Configuration) -> None:
    names = {DEFAULT_PROFILE: "the profile of all other Runs"}
    owners: dict[str, str] = {}
    for index, section in enumerate(configuration.profiles):
        if section.name in names:
            problem = f"{section.name} is already the name of {names[section.name]}: choose another"
            raise configuration.origin.error(("profiles", index, "name"), problem)
        names[section.name] = f"profiles[{index}]"
        for place, runtime in enumerate(section.runtimes):
            if runtime in owners:
                problem = f"runtime {runtime} already belongs to profile {owners[runtime]}: name it once"
                raise configuration.origin.error(("profiles", index, "runtimes", place), problem)
            owners[runtime] = section.name
