"""Addresses to listen on, written as Go programs take them: `:8080`, `127.0.0.1:8080`, `[::1]:8080`, `0`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from kruntimes_core.model.messages import InputError

_ADDRESS = re.compile(r"(?:\[([0-9a-fA-F:.]+)\]|([^:\[\]\s]*)):([0-9]{1,5})", re.ASCII)
_HIGHEST_PORT = 65_535


@dataclass(frozen=True, slots=True)
class Address:
    """Where to listen. `host` None: on all interfaces. `port` 0: on any free one."""

    host: str | None
    port: int
    flag: str
    """The option that it came from, for errors."""

    def __str__(self) -> str:
        host = f"[{self.host}]" if self.host and ":" in self.host else self.host or ""
        return f"{host}:{self.port}"


def parse_address(text: str, flag: str) -> Address | None:
    """The address of an option; None for `0` and `false`: the endpoint is off. Raises `InputError`."""
    if text in ("0", "false"):
        return None
    match = _ADDRESS.fullmatch(text)
    if match is None or int(match.group(3)) > _HIGHEST_PORT:
        raise InputError(f"{flag} {text!r} is no address: write host:port or :port, or 0 to switch it off")
    return Address(match.group(1) or match.group(2) or None, int(match.group(3)), flag)
