"""The connection of a Pod: its ServiceAccount's token and the cluster's own address."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from kruntimes_core.cluster.clock import Clock
from kruntimes_core.cluster.connection.connection import Connection
from kruntimes_core.cluster.connection.proxies import choose_proxy
from kruntimes_core.cluster.connection.tls import client_context
from kruntimes_core.engine.clock import SECOND
from kruntimes_core.model.messages import InputError

SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
HOST, PORT = "KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"
_ORIGIN = "in-cluster"
# The kubelet replaces a token long before it ends; client-go looks as often.
_TOKEN_TICKS = 10 * SECOND


class TokenFile:
    """A token that others replace in its file. A file that cannot be read leaves the last token."""

    def __init__(self, path: Path, clock: Clock) -> None:
        """Raises `InputError` if there is no token to begin with."""
        self._path = path
        self._clock = clock
        self._token = self._read()
        if not self._token:
            raise InputError(f"{_ORIGIN}: no token in {path}: mount the token of a ServiceAccount")
        self._read_at = clock.now().ticks

    async def authorization(self) -> str | None:
        """The header with the token that stands in the file, or stood there seconds ago."""
        if self._clock.now().ticks - self._read_at >= _TOKEN_TICKS:
            await self.renew()
        return f"Bearer {self._token}"

    async def renew(self) -> None:
        """Read the file now."""
        self._read_at = self._clock.now().ticks
        self._token = self._read() or self._token

    def _read(self) -> str:
        try:
            return self._path.read_text(encoding="ascii").strip()
        except (OSError, UnicodeDecodeError):
            return ""


def in_cluster(environment: Mapping[str, str]) -> bool:
    """Whether this process runs in a Pod."""
    return bool(environment.get(HOST) and environment.get(PORT))


def connect_in_cluster(
    environment: Mapping[str, str], clock: Clock, folder: Path = SERVICE_ACCOUNT
) -> Connection:
    """The connection that the Pod's ServiceAccount gives. Raises `InputError`."""
    host = environment[HOST]
    server = f"https://{f'[{host}]' if ':' in host else host}:{environment[PORT]}"
    authorities = folder / "ca.crt"
    namespace = folder / "namespace"
    return Connection(
        server=server,
        credentials=TokenFile(folder / "token", clock),
        tls=client_context(
            authorities=str(authorities), certificate=None, key=None, verified=True, origin=_ORIGIN
        ),
        proxy=choose_proxy(server, environment),
        origin=_ORIGIN,
        namespace=namespace.read_text(encoding="ascii").strip() if namespace.is_file() else None,
    )
