"""Kubeconfig files: checked, because the official client explains few mistakes, then read by that client.

The client knows all ways to log in. Its import takes most of a second and 54 MB, so `load` imports it.
"""

from __future__ import annotations

import asyncio
import base64
import logging
import os
import re
import shutil
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from kruntimes_core.cluster.clock import Clock
from kruntimes_core.engine.clock import SECOND
from kruntimes_core.model.messages import InputError, did_you_mean
from kruntimes_core.model.yaml_files import SETTINGS_BYTES, load_documents, read_file

_DEFAULT = "~/.kube/config"
_LOOK_TICKS = 30 * SECOND
_RENEW_TICKS = 5 * SECOND
"""The shortest time between two reads of credentials that were refused."""
_PLUGIN_SECONDS = 60.0
"""How long a program that fetches credentials may take."""
_ENCODED = "-data"
"""How the keys end whose values are base64."""
_LONGEST_PROBLEM = 300
_SERVER_NAME = re.compile(r"[A-Za-z0-9_.:*-]{1,253}", re.ASCII)
_PLAIN_ERRORS = (
    "exec: process returned ",
    "exec: malformed re",
    "exec: missing ",
    "exec: the output of the program is not ",
    "Invalid kube-config file",
    "oidc: ",
    "[Errno ",
)
"""How messages of the official client begin that repeat nothing of a program's standard output."""
_ERRORS: ContextVar[list[str] | None] = ContextVar("errors of the official client", default=None)


class KubeconfigCredentials:
    """The bearer token or password of a context, refreshed before it expires and when it is refused."""

    def __init__(self, paths: str, context: str | None, clock: Clock) -> None:
        self._paths = paths
        self._context = context
        self._clock = clock
        self._loader: Any = None
        self._looked_at = self._read_at = 0
        self._lock = asyncio.Lock()
        self._fetching: asyncio.Task[None] | None = None
        self.configuration: Any = None
        """The official client's configuration, after `load`."""

    async def load(self) -> Mapping[str, Any]:
        """Read everything; returns the context. Raises `InputError`."""
        try:
            from kubernetes.aio.client import Configuration
            from kubernetes.aio.config import ConfigException, load_kube_config
        except RuntimeError as error:  # it looks for the home folder of the user
            raise self._unusable("this user has no home folder: set HOME") from error

        configuration = Configuration()
        load: Any = load_kube_config
        self._read_at = self._looked_at = self._clock.now().ticks
        context = chosen_context(self._paths.split(":"), self._context)
        with _logged_errors() as errors:
            try:
                async with asyncio.timeout(_PLUGIN_SECONDS):
                    self._loader = await load(
                        config_file=self._paths,
                        context=context,
                        client_configuration=configuration,
                        persist_config=False,
                    )
            except TimeoutError as error:
                raise self._unusable(f"no credentials after {_PLUGIN_SECONDS:g} s") from error
            except (ConfigException, OSError, ValueError, TypeError, KeyError, AttributeError) as error:
                raise self._unusable(str(error) or type(error).__name__) from error
        if errors:
            raise self._unusable("; ".join(errors))
        self.configuration = configuration
        loaded: Mapping[str, Any] = self._loader.current_context
        return loaded

    async def authorization(self) -> str | None:
        """The header as it is valid now, without a wait for a program: a task fetches a new token in time."""
        now = self._clock.now().ticks
        if getattr(self._loader, "exec_plugin_expiry", None) and now - self._looked_at >= _LOOK_TICKS:
            self._looked_at = now
            if self._fetching is None or self._fetching.done():
                self._fetching = asyncio.create_task(self._fetch())
        token = self.configuration.api_key.get("BearerToken")
        return str(token) if token else None

    async def renew(self) -> None:
        """Log in again; where that fails, the last credentials stay."""
        async with self._lock:
            if self._clock.now().ticks - self._read_at < _RENEW_TICKS:
                return
            try:
                await self.load()
            except InputError as error:
                _not_renewed(error)
            # Counted from its end: callers that waited at the lock do not start a slow program again.
            self._read_at = self._clock.now().ticks

    async def _fetch(self) -> None:
        """Run the program once more if the token expires soon (the client looks five minutes ahead)."""
        with _logged_errors() as errors:
            try:
                async with asyncio.timeout(_PLUGIN_SECONDS):
                    await self._loader.load_from_exec_plugin()
            except TimeoutError:
                errors.append(f"no credentials after {_PLUGIN_SECONDS:g} s")
        if errors:
            _not_renewed("; ".join(errors))
        self.configuration.api_key["BearerToken"] = self._loader.token

    def _unusable(self, problem: str) -> InputError:
        where = f"context {self._context} of " if self._context else ""
        return InputError(f"kubeconfig: {where}{self._paths} cannot be used: {_bounded(problem)}")


def existing_files(path: str | None, environment: Mapping[str, str]) -> str:
    """The kubeconfig files that exist, joined as in $KUBECONFIG. Raises `InputError` for none.

    Their paths are absolute: they are read again where plugins may have changed the working directory.
    """
    if path == "":
        raise InputError("--kubeconfig is empty: name a kubeconfig")
    if path is not None:
        # Not `Path.expanduser`, which raises for a user without a home, as in many containers.
        expanded = os.path.expanduser(path)
        check_file(expanded, f"--kubeconfig {path}")
        return os.path.abspath(expanded)
    named = environment.get("KUBECONFIG", "")
    paths = [os.path.expanduser(one) for one in (named or _DEFAULT).split(":") if one]
    found = [one for one in paths if Path(one).exists()]
    if not found:
        tried = named or _DEFAULT
        raise InputError(
            f"no cluster: not in a Pod, and there is no kubeconfig at {tried}: give --kubeconfig FILE"
        )
    for one in found:
        check_file(one, f"kubeconfig {one}")
    # An empty file adds nothing, as with kubectl; the official client would fail at one.
    return ":".join(map(os.path.abspath, [one for one in found if Path(one).stat().st_size] or found))


@contextmanager
def _logged_errors() -> Iterator[list[str]]:
    """Errors that the official client only logs: that a program for credentials failed."""
    from kubernetes.aio.config import kube_config

    said: list[str] = []
    client: Any = kube_config
    client.logger = _ClientLogger()
    token = _ERRORS.set(said)
    try:
        yield said
    finally:
        _ERRORS.reset(token)


class _ClientLogger:
    """Stands in for the official client's logger, and gives its errors to the task that called the client.

    Plugins can disable any logger of `logging`. A program that failed would then count as one that gave no
    credentials, and none would replace those in use.
    """

    def error(self, message: str) -> None:
        """Keep an error."""
        if (said := _ERRORS.get()) is not None:
            said.append(_without_output(" ".join(message.split())))

    def warning(self, *_: object) -> None:
        """Say nothing."""

    debug = info = warning


def _without_output(message: str) -> str:
    """A message of the official client, without a program's standard output, which may hold tokens."""
    if message.startswith("exec: failed to decode process output"):
        return "exec: the output of the program is not JSON"
    if not message.startswith(_PLAIN_ERRORS):
        return "exec: the output of the program is not a valid ExecCredential"
    return _bounded(message)


def _bounded(text: str) -> str:
    return text if len(text) <= _LONGEST_PROBLEM else f"{text[: _LONGEST_PROBLEM - 3]}..."


def _not_renewed(why: object) -> None:
    """The last credentials stay in use; the API server answers 401 when they have expired."""
    # Plugins may have replaced what makes records, and what takes them.
    with suppress(Exception):
        logging.getLogger(__name__).debug("credentials were not renewed: %s", why)


@dataclass(frozen=True, slots=True)
class _MergedFiles:
    """The kubeconfig files as one, merged as kubectl does it.

    Of entries with one name, and of `current-context`, the first one counts.
    """

    paths: Sequence[str]
    files: Sequence[Mapping[str, Any]]

    def entry(self, kind: str, name: str, named_by: str) -> Mapping[str, Any]:
        """The cluster, context or user `name`. Raises `InputError` where there is none."""
        entries: dict[str, Any] = {}
        for file in self.files:
            for one in file.get(f"{kind}s") or ():
                entries.setdefault(str(one["name"]), one.get(kind))
        if name not in entries:
            raise self.error(
                f"{named_by} names the {kind} {name!r}, which is not there{did_you_mean(name, entries)}"
            )
        found = entries[name]
        if not isinstance(found, Mapping):
            raise self.error(f"the {kind} {name} is not a mapping: write what it consists of")
        return found

    def error(self, problem: str) -> InputError:
        return InputError(f"kubeconfig {':'.join(self.paths)}: {problem}")


def check_file(path: str, named: str) -> None:
    """Raises `InputError` for a path that cannot be a kubeconfig. named: what the error calls it."""
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
    # The null device reads as an empty file: `_read` says what that means.
    return "" if stat.S_ISREG(mode) or path == os.devnull else "it is not a file: name a kubeconfig"


def chosen_context(paths: Sequence[str], context: str | None) -> str:
    """The name of the chosen context, after a check that the files hold all that it needs.

    paths: the files, which exist. context: None for the current one, which is that of the first file
    that names one (the official client takes the last). Raises `InputError`, in one line, for a
    context that gives no connection.
    """
    merged = _MergedFiles(paths, [_read(path) for path in paths])
    try:
        return _checked(merged, context)
    except (TypeError, AttributeError, KeyError) as error:
        raise merged.error(
            "clusters, users and contexts are not lists of named entries: compare with another kubeconfig"
        ) from error


def _read(path: str) -> Mapping[str, Any]:
    """Raises: `YamlError` for invalid YAML, `InputError` for everything else."""
    try:
        documents = [value for _, value in load_documents(read_file(path, SETTINGS_BYTES), path)]
    except OSError as error:
        raise InputError(f"kubeconfig {path}: {(error.strerror or '').lower()}: name another") from error
    first = documents[0] if documents else None
    if first is None:
        raise InputError(f"kubeconfig {path} is empty: name another")
    if not isinstance(first, Mapping):
        raise InputError(f"kubeconfig {path} is not a mapping of clusters, users and contexts: name another")
    return first


def _checked(merged: _MergedFiles, context: str | None) -> str:
    named_by = "--context" if context else "current-context"
    name = context or next(filter(None, (file.get("current-context") for file in merged.files)), None)
    if name is None:
        raise merged.error("it has no current-context: give --context NAME")
    chosen = merged.entry("context", str(name), named_by)
    cluster = merged.entry("cluster", str(chosen["cluster"]), f"the context {name}")
    _check_server(merged, str(chosen["cluster"]), str(cluster.get("server") or ""))
    _check_server_name(merged, str(chosen["cluster"]), cluster.get("tls-server-name"))
    _check_encoded(merged, f"cluster {chosen['cluster']}", cluster)
    if chosen.get("user"):
        user = merged.entry("user", str(chosen["user"]), f"the context {name}")
        _check_encoded(merged, f"user {chosen['user']}", user)
        _check_program(merged, str(chosen["user"]), user.get("exec"))
        _check_token_file(merged, str(chosen["user"]), user.get("tokenFile"))
    return str(name)


def _check_server(merged: _MergedFiles, cluster: str, server: str) -> None:
    if problem := address_problem(server):
        raise merged.error(f"the server of the cluster {cluster} {problem}: write https://HOST:PORT")


def _check_server_name(merged: _MergedFiles, cluster: str, name: object) -> None:
    """An error about the server's certificate quotes the name, so it must be one."""
    if name and not (isinstance(name, str) and _SERVER_NAME.fullmatch(name)):
        raise merged.error(
            f"the tls-server-name of the cluster {cluster} is not a valid name:"
            " write the one in the server's certificate"
        )


def address_problem(address: str) -> str:
    """Why this cannot be the address of an API server; empty if it can.

    It quotes nothing of it, and errors quote what can be an address: so that holds no user and no token.
    """
    if "@" in address:
        return "holds a user, a password or a token, which belong into `users`"
    try:
        url = urlsplit(address)
        usable = url.scheme in ("http", "https") and bool(url.hostname) and url.port != 0
    except ValueError:
        usable = False
    if not usable or not address.isprintable() or " " in address:
        return "is not a valid address"
    return "holds a query or a fragment" if "?" in address or "#" in address else ""


def _check_encoded(merged: _MergedFiles, owner: str, entry: Mapping[str, Any]) -> None:
    for key, value in entry.items():
        if key.endswith(_ENCODED) and isinstance(value, str):
            try:
                base64.b64decode("".join(value.split()), validate=True)
            except ValueError as error:
                raise merged.error(f"{key} of the {owner} is not valid base64: copy it again") from error


def _check_program(merged: _MergedFiles, user: str, program: Mapping[str, Any] | None) -> None:
    """A program that logs in must be installed; the client itself looks for one with a path."""
    command = str(program["command"]) if program else ""
    if command and "/" not in command and shutil.which(command) is None:
        raise merged.error(f"the user {user} logs in with {command}, which is not installed: install it")


def _check_token_file(merged: _MergedFiles, user: str, named: str | None) -> None:
    """The client reads a token file to its end, and a device has none. The client reports a missing file."""
    for path in merged.paths:
        file = Path(path).parent / (named or "")
        if named and file.exists() and (not file.is_file() or file.stat().st_size > SETTINGS_BYTES):
            raise merged.error(f"the tokenFile {file} of the user {user} holds no token: name another")
