"""The connection to the API server: by kubeconfig or in-cluster, with its TLS and proxy, and a first try."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

import pydantic_core

from kruntimes_core.cluster.client.kubeconfig import KubeconfigCredentials, address_problem, existing_files
from kruntimes_core.cluster.client.transport import Call, Response, Transport, TransportError
from kruntimes_core.cluster.clock import Clock
from kruntimes_core.engine.clock import SECOND
from kruntimes_core.model.messages import InputError

SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
HOST, PORT = "KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"
_ORIGIN = "in-cluster"
# The kubelet replaces a token long before it ends; client-go looks as often.
_TOKEN_TICKS = 10 * SECOND
_CALL_SECONDS = 5.0
_PAUSE_SECONDS = 0.5
PATIENCE_SECONDS = 5.0
"""How long `try_connection` waits for a server that is still starting."""
_NO_API_SERVER = (400, 404)
"""No API server answers GET /version with these; a TLS port that is addressed without TLS does."""
_QUOTED = 80
"""How many bytes of an unexpected answer an error quotes."""


class Credentials(Protocol):
    """What authenticates the scheduler, beside a client certificate."""

    async def authorization(self) -> str | None:
        """The value of the header `Authorization`; None without one."""

    async def renew(self) -> None:
        """The API server refused the credentials: read them anew before their next use."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """Address, credentials, TLS and proxy of an API server, as plain values."""

    server: str
    """Base URL, without a slash at its end."""
    credentials: Credentials
    tls: ssl.SSLContext | None = None
    """None for plain HTTP."""
    server_name: str | None = None
    """The name in the server's certificate, where the URL has another."""
    proxy: str | None = None
    origin: str = ""
    """Where these values were read, for errors: a context and its file, or the Pod."""
    namespace: str | None = None
    """The namespace of the Pod or of the context."""


class TokenFile:
    """The ServiceAccount token, which the kubelet replaces in its file.

    While the file cannot be read, the last token stays.
    """

    def __init__(self, path: Path, clock: Clock) -> None:
        """Raises `InputError` for a file without a token."""
        self._path = path
        self._clock = clock
        self._token = self._read()
        if not self._token:
            raise InputError(f"{_ORIGIN}: no token in {path}: mount the token of a ServiceAccount")
        self._read_at = clock.now().ticks

    async def authorization(self) -> str | None:
        """The header with the token of the file, read at most 10 s ago."""
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


async def connect(
    kubeconfig: str | None, context: str | None, environment: Mapping[str, str], clock: Clock
) -> Connection:
    """The connection of the named kubeconfig or context, else of the Pod, else of the default kubeconfig.

    Raises `InputError`.
    """
    if kubeconfig is None and context is None and in_cluster(environment):
        return connect_in_cluster(environment, clock)
    return await connect_by_kubeconfig(kubeconfig, context, environment, clock)


def in_cluster(environment: Mapping[str, str]) -> bool:
    """Whether this process runs in a Pod."""
    return bool(environment.get(HOST) and environment.get(PORT))


def connect_in_cluster(
    environment: Mapping[str, str], clock: Clock, folder: Path = SERVICE_ACCOUNT
) -> Connection:
    """The connection of the Pod's ServiceAccount. Raises `InputError`."""
    host = environment[HOST]
    server = f"https://{f'[{host}]' if _is_ipv6(host) else host}:{environment[PORT]}"
    if problem := address_problem(server) or ("holds a path" if server.count("/") > 2 else ""):
        raise InputError(f"{_ORIGIN}: the API server that ${HOST} and ${PORT} name {problem}: correct them")
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


async def connect_by_kubeconfig(
    path: str | None, context: str | None, environment: Mapping[str, str], clock: Clock
) -> Connection:
    """The connection of a context. path: `--kubeconfig`, else $KUBECONFIG, else ~/.kube/config.

    context: None for the current one. Raises `InputError`.
    """
    paths = existing_files(path, environment)
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


def client_context(
    *, authorities: str | None, certificate: str | None, key: str | None, verified: bool, origin: str
) -> ssl.SSLContext:
    """The TLS context for connections to the API server.

    authorities, certificate, key: files. verified: False only with `insecure-skip-tls-verify`. origin: what
    errors name. Raises `InputError` for files that cannot be used.
    """
    try:
        context = ssl.create_default_context(cafile=authorities)
    except (OSError, ssl.SSLError) as error:
        raise InputError(
            f"{origin}: the certificate authority cannot be read: {error}: correct it"
        ) from error
    if certificate:
        try:
            context.load_cert_chain(certificate, key)
        except (OSError, ssl.SSLError) as error:
            raise InputError(
                f"{origin}: the client certificate cannot be used: {error}: correct it"
            ) from error
    if not verified:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


async def try_connection(transport: Transport, connection: Connection, clock: Clock) -> None:
    """Ask the server for its version; a server that is still starting gets `PATIENCE_SECONDS`.

    A refusal such as 403 or 503 will do. Raises `InputError` for a server that is not reached, does not
    accept the credentials, or is no API server.
    """
    where = f"the API server at {connection.server} ({connection.origin})"
    response = await _version_response(transport, where, clock)
    if response.status == 401:
        raise InputError(f"{where} does not accept the credentials: log in again, or choose another context")
    if response.status in _NO_API_SERVER or (response.status < 400 and not _is_version(response)):
        said = " ".join(response.body[:_QUOTED].decode(errors="replace").split())
        answer = f"{response.status}: {said}" if said else f"{response.status}"
        raise InputError(f"{where} does not answer like an API server ({answer}): name the right server")


def _is_version(response: Response) -> bool:
    """Whether a response is that of an API server: an object with its version."""
    try:
        answer = pydantic_core.from_json(response.body)
    except ValueError:
        return False
    return response.status == 200 and isinstance(answer, dict) and "major" in answer


async def _version_response(transport: Transport, where: str, clock: Clock) -> Response:
    given_up_at = clock.now().ticks + round(PATIENCE_SECONDS * SECOND)
    call = Call(method="GET", path="/version", timeout_seconds=_CALL_SECONDS)
    while True:
        try:
            return await transport.request(call)
        except TransportError as error:
            if error.lasting or clock.now().ticks >= given_up_at:
                raise InputError(f"cannot reach {where}: {error}") from error
        await asyncio.sleep(_PAUSE_SECONDS)


_DEFAULT_PORTS = {"http": 80, "https": 443}


def choose_proxy(server: str, environment: Mapping[str, str], given: str | None = None) -> str | None:
    """The proxy for `server`: `given` (of a kubeconfig), else by the environment; None for no proxy.

    Raises `InputError` for a kind of proxy that is not supported, and for an invalid address.
    """
    proxy, named = given, "the proxy-url of the kubeconfig"
    if proxy is None and not bypasses(server, _variable(environment, "no_proxy")):
        name = f"{urlsplit(server).scheme}_proxy"
        proxy, named = _variable(environment, name) or None, f"the proxy that ${name.upper()} names"
    if not proxy:
        return None
    if "://" not in proxy:
        proxy = f"http://{proxy}"
    # It may hold a password, for the proxy itself: no error quotes anything of it.
    if not _is_address(proxy):
        raise InputError(f"{named} is not a valid address: write http://HOST:PORT")
    if urlsplit(proxy).scheme not in ("http", "https"):
        raise InputError(f"{named} is of a kind that is not supported: use an HTTP proxy")
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
        return bool(url.hostname) and url.port != 0 and proxy.isprintable() and " " not in proxy
    except ValueError:
        return False


def _is_ipv6(host: str) -> bool:
    return isinstance(_address(host), IPv6Address)
