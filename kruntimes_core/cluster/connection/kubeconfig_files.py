"""A look at kubeconfig files before the official client reads them: it says little, or nothing, of mistakes.

Merged as kubectl does it: of entries with one name, and of `current-context`, the first one counts.
"""

from __future__ import annotations

import base64
import os
import shutil
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from kruntimes_core.model.input_files import SETTINGS_BYTES, read_file
from kruntimes_core.model.messages import InputError, did_you_mean
from kruntimes_core.model.yaml_text import load_documents

_ENCODED = "-data"
"""How the keys end whose values are base64."""


@dataclass(frozen=True, slots=True)
class _Merged:
    """The files as one, and where they lie."""

    paths: Sequence[str]
    files: Sequence[Mapping[str, Any]]

    def entry(self, kind: str, name: str, asked_by: str) -> Mapping[str, Any]:
        """The cluster, context or user `name`. Raises `InputError` where there is none."""
        entries: dict[str, Any] = {}
        for file in self.files:
            for one in file.get(f"{kind}s") or ():
                entries.setdefault(str(one["name"]), one.get(kind))
        if name not in entries:
            raise self.error(
                f"{asked_by} names the {kind} {name!r}, which is not there{did_you_mean(name, entries)}"
            )
        found = entries[name]
        if not isinstance(found, Mapping):
            raise self.error(f"the {kind} {name} is no mapping: write what it consists of")
        return found

    def error(self, problem: str) -> InputError:
        return InputError(f"kubeconfig {':'.join(self.paths)}: {problem}")


def check_file(path: str, named: str) -> None:
    """Raises `InputError` for what is no kubeconfig, whatever it holds. named: what the error calls it."""
    if problem := _unfit(path):
        raise InputError(f"{named}: {problem}")


def _unfit(path: str) -> str:
    try:
        mode = os.stat(path).st_mode
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return "no such file: name a kubeconfig"
    except OSError as error:
        return f"{(error.strerror or '').lower()}: name another"
    if stat.S_ISDIR(mode):
        return "it is a directory: name a kubeconfig in it"
    if stat.S_ISFIFO(mode):
        return "it is a pipe, which can be read only once, and credentials expire: write it to a file"
    # The null device is an empty file: what that means is said when it is read.
    return "" if stat.S_ISREG(mode) or path == os.devnull else "it is no file: name a kubeconfig"


def chosen_context(paths: Sequence[str], context: str | None) -> str:
    """The name of the context that is meant; the files hold all that it needs.

    paths: the files, which exist. context: None for the current one, which is that of the first file
    that names one (the official client takes the last). Raises `InputError`, in one line, for what a
    connection cannot be made of.
    """
    merged = _Merged(paths, [_read(path) for path in paths])
    try:
        return _checked(merged, context)
    except (TypeError, AttributeError, KeyError) as error:
        raise merged.error(
            "clusters, users and contexts are no lists of named entries: compare with another kubeconfig"
        ) from error


def _read(path: str) -> Mapping[str, Any]:
    """Raises: `YamlError` for no YAML, `InputError` for all else."""
    try:
        documents = [value for _, value in load_documents(read_file(path, SETTINGS_BYTES), path)]
    except OSError as error:
        raise InputError(f"kubeconfig {path}: {(error.strerror or '').lower()}: name another") from error
    first = documents[0] if documents else None
    if first is None:
        raise InputError(f"kubeconfig {path} is empty: name another")
    if not isinstance(first, Mapping):
        raise InputError(f"kubeconfig {path} is no mapping of clusters, users and contexts: name another")
    return first


def _checked(merged: _Merged, context: str | None) -> str:
    asked_by = "--context" if context else "current-context"
    name = context or next(filter(None, (file.get("current-context") for file in merged.files)), None)
    if name is None:
        raise merged.error("it has no current-context: give --context NAME")
    chosen = merged.entry("context", str(name), asked_by)
    cluster = merged.entry("cluster", str(chosen["cluster"]), f"the context {name}")
    _check_server(merged, str(chosen["cluster"]), str(cluster.get("server") or ""))
    _check_encoded(merged, f"cluster {chosen['cluster']}", cluster)
    if chosen.get("user"):
        user = merged.entry("user", str(chosen["user"]), f"the context {name}")
        _check_encoded(merged, f"user {chosen['user']}", user)
        _check_program(merged, str(chosen["user"]), user.get("exec"))
        _check_token_file(merged, str(chosen["user"]), user.get("tokenFile"))
    return str(name)


def _check_server(merged: _Merged, cluster: str, server: str) -> None:
    try:
        url = urlsplit(server)
        usable = url.scheme in ("http", "https") and bool(url.hostname) and url.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise merged.error(
            f"the server {server!r} of the cluster {cluster} is no address: write https://HOST:PORT"
        )


def _check_encoded(merged: _Merged, owner: str, entry: Mapping[str, Any]) -> None:
    for key, value in entry.items():
        if key.endswith(_ENCODED) and isinstance(value, str):
            try:
                base64.b64decode("".join(value.split()), validate=True)
            except ValueError as error:
                raise merged.error(f"{key} of the {owner} is no base64: copy it anew") from error


def _check_program(merged: _Merged, user: str, program: Mapping[str, Any] | None) -> None:
    """A program that logs in must be there; one with a path is looked for by the client."""
    command = str(program["command"]) if program else ""
    if command and "/" not in command and shutil.which(command) is None:
        raise merged.error(f"the user {user} logs in with {command}, which is not installed: install it")


def _check_token_file(merged: _Merged, user: str, named: str | None) -> None:
    """The client reads it to its end, which a device does not have. One that is missing is its affair."""
    for path in merged.paths:
        file = Path(path).parent / (named or "")
        if named and file.exists() and (not file.is_file() or file.stat().st_size > SETTINGS_BYTES):
            raise merged.error(f"the tokenFile {file} of the user {user} holds no token: name another")
