"""The proxy for an API server. NO_PROXY takes hosts, domains, addresses, ports and CIDR, as in Go."""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from urllib.parse import urlsplit

from kruntimes_core.model.messages import InputError

_DEFAULT_PORTS = {"http": 80, "https": 443}


def choose_proxy(server: str, environment: Mapping[str, str], given: str | None = None) -> str | None:
    """The proxy for `server`: `given` (of a kubeconfig), else by the environment; None for no proxy.

    Raises `InputError` for a kind of proxy that is not supported, and for what is no address.
    """
    url = urlsplit(server)
    proxy = given
    if proxy is None and not bypasses(server, _variable(environment, "no_proxy")):
        proxy = _variable(environment, f"{url.scheme}_proxy") or None
    if not proxy:
        return None
    if "://" not in proxy:
        proxy = f"http://{proxy}"
    if not _is_address(proxy):
        raise InputError(
            "the proxy of the kubeconfig or the environment is no address: write http://HOST:PORT"
        )
    if urlsplit(proxy).scheme not in ("http", "https"):
        raise InputError(
            f"proxy {_without_password(proxy)} is of a kind that is not supported: use an HTTP proxy"
        )
    return proxy


def bypasses(server: str, no_proxy: str) -> bool:
    """Whether `server` is reached directly: it is this machine, or an entry of `no_proxy` covers it."""
    url = urlsplit(server)
    host, port = (url.hostname or "").lower(), url.port or _DEFAULT_PORTS.get(url.scheme, 0)
    address = _address(host)
    if host == "localhost" or (address is not None and address.is_loopback):
        return True
    return any(_covers(entry.strip().lower(), host, port, address) for entry in no_proxy.split(","))


def _covers(entry: str, host: str, port: int, address: IPv4Address | IPv6Address | None) -> bool:
    if entry in ("", "*"):
        return entry == "*"
    if "/" in entry:
        return address is not None and _in_network(address, entry)
    name, _, wanted_port = entry.rpartition(":") if _has_port(entry) else (entry, "", "")
    if wanted_port and int(wanted_port) != port:
        return False
    name = name.strip("[]")
    if address is not None:
        return _address(name) == address
    name = name.removeprefix("*")
    return host.endswith(name) if name.startswith(".") else host == name or host.endswith(f".{name}")


def _has_port(entry: str) -> bool:
    """Whether an entry ends with a port; an IPv6 address without brackets has none."""
    name, colon, port = entry.rpartition(":")
    return bool(colon) and port.isascii() and port.isdigit() and (":" not in name or name.endswith("]"))


def _address(text: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(text)
    except ValueError:
        return None


def _in_network(address: IPv4Address | IPv6Address, entry: str) -> bool:
    try:
        return address in ip_network(entry, strict=False)
    except ValueError:
        return False


def _variable(environment: Mapping[str, str], name: str) -> str:
    return environment.get(name.upper()) or environment.get(name) or ""


def _is_address(proxy: str) -> bool:
    try:
        url = urlsplit(proxy)
        return bool(url.hostname) and url.port != 0
    except ValueError:
        return False


def _without_password(proxy: str) -> str:
    url = urlsplit(proxy)
    return f"{url.scheme}://{url.hostname or ''}"
