"""A way to an API server, as plain values."""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from typing import Protocol


class Credentials(Protocol):
    """What proves who we are, beside a client certificate."""

    async def authorization(self) -> str | None:
        """The value of the header `Authorization`; None without one."""

    async def renew(self) -> None:
        """The API server refused them: read them anew before they are used again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """Everything that a transport needs to know."""

    server: str
    """Base URL, without a slash at its end."""
    credentials: Credentials
    tls: ssl.SSLContext | None = None
    """None for plain HTTP."""
    server_name: str | None = None
    """The name that the server's certificate must bear, if it is not that of the URL."""
    proxy: str | None = None
    origin: str = ""
    """Where all this was read, for errors: a context and its file, or the Pod."""
    namespace: str | None = None
    """The namespace that it names: of the Pod, or of the context."""
