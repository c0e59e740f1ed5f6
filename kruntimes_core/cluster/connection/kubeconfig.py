"""The connection that a kubeconfig describes, read by the official client: it knows all ways to log in.

Importing that client takes most of a second and 54 MB, so it is imported when a connection opens.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kruntimes_core.cluster.clock import Clock
from kruntimes_core.cluster.connection.connection import Connection
from kruntimes_core.cluster.connection.kubeconfig_files import check_file, chosen_context
from kruntimes_core.cluster.connection.proxies import choose_proxy
from kruntimes_core.cluster.connection.tls import client_context
from kruntimes_core.engine.clock import SECOND
from kruntimes_core.model.messages import InputError

_DEFAULT = "~/.kube/config"
_LOOK_TICKS = 30 * SECOND
_RENEW_TICKS = 5 * SECOND
"""How often credentials are read anew at most, however often they are refused."""
_PLUGIN_SECONDS = 60.0
"""How long a program that fetches credentials may take."""


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
        from kubernetes.aio.client import Configuration
        from kubernetes.aio.config import ConfigException, load_kube_config

        configuration = Configuration()
        load: Any = load_kube_config
        self._read_at = self._looked_at = self._clock.now().ticks
        context = chosen_context(self._paths.split(":"), self._context)
        with _complaints() as complaints:
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
        if complaints:
            raise self._unusable("; ".join(complaints))
        self.configuration = configuration
        loaded: Mapping[str, Any] = self._loader.current_context
        return loaded

    async def authorization(self) -> str | None:
        """The header as it is valid now. It waits for no program: a token is fetched anew in good time."""
        now = self._clock.now().ticks
        if getattr(self._loader, "exec_plugin_expiry", None) and now - self._looked_at >= _LOOK_TICKS:
            self._looked_at = now
            if self._fetching is None or self._fetching.done():
                self._fetching = asyncio.create_task(self._fetch())
        token = self.configuration.api_key.get("BearerToken")
        return str(token) if token else None

    async def renew(self) -> None:
        """Log in again; what cannot be read leaves what is known."""
        async with self._lock:
            if self._clock.now().ticks - self._read_at < _RENEW_TICKS:
                return
            try:
                await self.load()
            except InputError as error:
                _not_renewed(error)
            # After a program that took its time, those who waited for it do not start it again.
            self._read_at = self._clock.now().ticks

    async def _fetch(self) -> None:
        """Run the program once more if the token expires soon (the client looks five minutes ahead)."""
        with _complaints() as complaints:
            try:
                async with asyncio.timeout(_PLUGIN_SECONDS):
                    await self._loader.load_from_exec_plugin()
            except TimeoutError:
                complaints.append(f"no credentials after {_PLUGIN_SECONDS:g} s")
        if complaints:
            _not_renewed("; ".join(complaints))
        self.configuration.api_key["BearerToken"] = self._loader.token

    def _unusable(self, problem: str) -> InputError:
        where = f"context {self._context} of " if self._context else ""
        return InputError(f"kubeconfig: {where}{self._paths} cannot be used: {problem}")


async def connect_by_kubeconfig(
    path: str | None, context: str | None, environment: Mapping[str, str], clock: Clock
) -> Connection:
    """The connection of a context. path: `--kubeconfig`, else $KUBECONFIG, else ~/.kube/config.

    context: None for the current one. Raises `InputError`.
    """
    paths = _existing(path, environment)
    credentials = KubeconfigCredentials(paths, context, clock)
    chosen = await credentials.load()
    found = credentials.configuration
    origin = f"context {chosen['name']} of {paths}"
    server = str(found.host)
    secure = server.startswith("https://")
    return Connection(
        server=server,
        credentials=credentials,
        tls=client_context(
            authorities=found.ssl_ca_cert,
            certificate=found.cert_file,
            key=found.key_file,
            verified=bool(found.verify_ssl),
            origin=origin,
        )
        if secure
        else None,
        server_name=found.tls_server_name,
        proxy=choose_proxy(server, environment, found.proxy),
        origin=origin,
        namespace=chosen["context"].get("namespace"),
    )


def _existing(path: str | None, environment: Mapping[str, str]) -> str:
    """The kubeconfig files that are there, joined as $KUBECONFIG is. Raises `InputError` for none."""
    if path == "":
        raise InputError("--kubeconfig is empty: name a kubeconfig")
    if path is not None:
        # Not `Path.expanduser`, which raises for a user whose home nobody knows, as in many containers.
        expanded = os.path.expanduser(path)
        check_file(expanded, f"--kubeconfig {path}")
        return expanded
    named = environment.get("KUBECONFIG", "")
    paths = [os.path.expanduser(one) for one in (named or _DEFAULT).split(":") if one]
    found = [one for one in paths if Path(one).exists()]
    if not found:
        tried = named or _DEFAULT
        raise InputError(
            f"no cluster: this is no Pod and there is no kubeconfig at {tried}: give --kubeconfig FILE"
        )
    for one in found:
        check_file(one, f"kubeconfig {one}")
    # As kubectl does it, an empty one adds nothing; the official client fails at it.
    return ":".join([one for one in found if Path(one).stat().st_size] or found)


@contextmanager
def _complaints() -> Iterator[list[str]]:
    """What the official client says only to its log: that a program for credentials failed."""
    said: list[str] = []

    class Collector(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            said.append(" ".join(record.getMessage().split()))

    logger, handler = logging.getLogger("kubernetes"), Collector(logging.ERROR)
    logger.addHandler(handler)
    try:
        yield said
    finally:
        logger.removeHandler(handler)


def _not_renewed(why: object) -> None:
    """What stays known is used on; the API server will say when it is no good any more."""
    logging.getLogger(__name__).debug("credentials were not renewed: %s", why)
