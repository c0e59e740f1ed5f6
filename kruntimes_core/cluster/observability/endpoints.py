"""Health checks, metrics and debug pages, served over HTTP."""

from __future__ import annotations

import errno
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from aiohttp import web

from kruntimes_core.cluster.observability.http_server import (
    BoundedServer,
    RequestProblems,
    foreign_page,
    is_loopback,
    listen,
)
from kruntimes_core.model.messages import InputError


@dataclass(frozen=True, slots=True)
class HealthCheck:
    """One thing that must hold."""

    name: str
    why: str = ""
    """Why it does not hold, in one line; empty while it holds."""
    note: str = ""
    """What there is to say while it holds, in one line."""
    without_names: str = ""
    """What a probe shows in the place of `why` or `note`, to whoever reaches it: counts and kinds, and no
    name of a namespace, a Run or a Pod. Empty where `why` and `note` have none.
    """

    @property
    def holds(self) -> bool:
        """Whether it holds."""
        return not self.why


def probe_text(checks: Sequence[HealthCheck], verbose: bool, *, names: bool = False) -> str:
    """The checks in the form of Kubernetes' own components; failed checks are always listed."""
    lines = [_line(check, names) for check in checks if verbose or not check.holds]
    verdict = "ok" if all(check.holds for check in checks) else "not ok"
    return "\n".join([*lines, verdict]) + "\n"


def _line(check: HealthCheck, names: bool) -> str:
    text = ("" if names else check.without_names) or check.why or check.note
    if not check.holds:
        return f"[-]{check.name} failed: {text}"
    return f"[+]{check.name} ok: {text}" if text else f"[+]{check.name} ok"


Checks = Callable[[], Sequence[HealthCheck]]
Page = Callable[[Mapping[str, str]], tuple[str, str]]
"""From a query to a text and its type."""
Exposition = Callable[[str], tuple[bytes, str]]
"""From an `Accept` header to metrics and their type."""
_Pages = Mapping[str, Callable[[web.BaseRequest], web.Response]]
_METHODS = ("GET", "HEAD")


class Endpoints:
    """Serves `/healthz`, `/livez` and `/readyz` on one address and `/metrics` on another, or on the same.

    Whoever reaches these is told counts and kinds. What has names of Runs and namespaces is on the debug
    address, which is on loopback.
    """

    def __init__(
        self,
        *,
        alive: Checks,
        ready: Checks,
        metrics: Exposition,
        problems: RequestProblems,
        debug: Mapping[str, Page] | None = None,
    ) -> None:
        """alive, ready, metrics: called for each request. problems: learns of requests without an answer.

        debug: further pages of the debug address, by path; it has `/checks` in any case.
        """
        self._probes: _Pages = {
            "/healthz": _probe(alive),
            "/livez": _probe(alive),
            "/readyz": _probe(ready),
        }
        self._metrics: _Pages = {"/metrics": _exposition(metrics)}
        pages = {"/checks": _checks_page(alive, ready), **(debug or {})}
        self._debug: _Pages = {path: _shown(page) for path, page in pages.items()}
        self._problems = problems
        self._runners: list[web.ServerRunner] = []
        self.listening: dict[str, tuple[str, int]] = {}
        """The host and port that `probes`, `metrics` and `debug` really listen on."""

    async def open(
        self,
        probes: ListenAddress | None,
        metrics: ListenAddress | None,
        debug: ListenAddress | None = None,
    ) -> None:
        """Listen; None leaves an endpoint out. Raises `InputError` for an address that cannot be used."""
        if probes is not None and metrics is not None and _same(probes, metrics):
            await self._serve(probes, ("probes", "metrics"), {**self._probes, **self._metrics})
        else:
            await self._serve(probes, ("probes",), self._probes)
            await self._serve(metrics, ("metrics",), self._metrics)
        await self._serve(debug, ("debug",), self._debug)

    async def close(self) -> None:
        """Stop listening."""
        for runner in self._runners:
            await runner.cleanup()

    async def _serve(self, address: ListenAddress | None, parts: Sequence[str], pages: _Pages) -> None:
        if address is None:
            return

        async def answer(request: web.BaseRequest) -> web.Response:
            refused = foreign_page(request) if "debug" in parts else ""
            return web.Response(text=f"{refused}\n", status=403) if refused else _answer(pages, request)

        try:
            runner = await listen(BoundedServer(answer, self._problems), address.host, address.port)
        except OSError as error:
            raise InputError(
                f"cannot listen on {address}: {_why(error)}: choose another {address.flag}"
            ) from error
        self._runners.append(runner)
        self.listening |= dict.fromkeys(parts, runner.addresses[0][:2])


def _answer(pages: _Pages, request: web.BaseRequest) -> web.Response:
    page = pages.get(request.path)
    if page is None:
        return web.Response(text="404: Not Found\n", status=404)
    if request.method not in _METHODS:
        return web.Response(
            text="405: Method Not Allowed\n", status=405, headers={"Allow": ", ".join(_METHODS)}
        )
    return page(request)


def _probe(checks: Checks) -> Callable[[web.BaseRequest], web.Response]:
    def answer(request: web.BaseRequest) -> web.Response:
        found = checks()
        status = 200 if all(check.holds for check in found) else 503
        return web.Response(text=probe_text(found, "verbose" in request.query), status=status)

    return answer


def _checks_page(alive: Checks, ready: Checks) -> Page:
    """All checks, with the names that probes leave out."""

    def page(_: Mapping[str, str]) -> tuple[str, str]:
        return probe_text([*alive(), *ready()], verbose=True, names=True), "text/plain"

    return page


def _exposition(metrics: Exposition) -> Callable[[web.BaseRequest], web.Response]:
    def answer(request: web.BaseRequest) -> web.Response:
        body, content_type = metrics(",".join(request.headers.getall("Accept", [])))
        return web.Response(body=body, headers={"Content-Type": content_type})

    return answer


def _shown(page: Page) -> Callable[[web.BaseRequest], web.Response]:
    def answer(request: web.BaseRequest) -> web.Response:
        text, content_type = page(request.query)
        return web.Response(text=text, content_type=content_type)

    return answer


def _same(one: ListenAddress, other: ListenAddress) -> bool:
    return (one.host, one.port) == (other.host, other.port) and one.port != 0


def _why(error: OSError) -> str:
    known = {
        errno.EADDRINUSE: "the port is in use",
        errno.EACCES: "it is not allowed",
        errno.EADDRNOTAVAIL: "this machine has no such address",
    }
    return known.get(error.errno or 0, error.strerror or str(error))


_ADDRESS = re.compile(r"(?:\[([0-9a-fA-F:.]+)\]|([^:\[\]\s]*)):([0-9]{1,5})", re.ASCII)
_HIGHEST_PORT = 65_535


@dataclass(frozen=True, slots=True)
class ListenAddress:
    """Where to listen. `host` None: on all interfaces. `port` 0: on any free one."""

    host: str | None
    port: int
    flag: str
    """The option that it came from, for errors."""

    @property
    def on_loopback(self) -> bool:
        """Whether this machine alone reaches it."""
        return is_loopback(self.host or "")

    def __str__(self) -> str:
        host = f"[{self.host}]" if self.host and ":" in self.host else self.host or ""
        return f"{host}:{self.port}"


def parse_address(text: str, flag: str) -> ListenAddress | None:
    """The address of an option; None for `0` and `false`: the endpoint is off. Raises `InputError`."""
    if text in ("0", "false"):
        return None
    match = _ADDRESS.fullmatch(text)
    if match is None or int(match.group(3)) > _HIGHEST_PORT:
        raise InputError(
            f"{flag} {text!r} is not a valid address: write host:port or :port, or 0 to switch it off"
        )
    return ListenAddress(match.group(1) or match.group(2) or None, int(match.group(3)), flag)
