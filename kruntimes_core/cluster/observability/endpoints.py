"""Health checks and metrics, served over HTTP. The only file that serves with aiohttp."""

from __future__ import annotations

import errno
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from aiohttp import web

from kruntimes_core.model.messages import InputError


@dataclass(frozen=True, slots=True)
class HealthCheck:
    """One thing that must hold. `why`: why it does not, in one line; empty while it holds."""

    name: str
    why: str = ""
    note: str = ""
    """What a probe shows beside it while it holds, in one line."""

    @property
    def holds(self) -> bool:
        """Whether it holds."""
        return not self.why


def probe_text(checks: Sequence[HealthCheck], verbose: bool) -> str:
    """The checks in the form of Kubernetes' own components; failed checks are always listed."""
    lines = [_line(check) for check in checks if verbose or not check.holds]
    verdict = "ok" if all(check.holds for check in checks) else "not ok"
    return "\n".join([*lines, verdict]) + "\n"


def _line(check: HealthCheck) -> str:
    if not check.holds:
        return f"[-]{check.name} failed: {check.why}"
    return f"[+]{check.name} ok: {check.note}" if check.note else f"[+]{check.name} ok"


Checks = Callable[[], Sequence[HealthCheck]]
PageHandler = Callable[[Mapping[str, str]], tuple[str, str]]
"""From a query to a text and its type."""
_Handler = Callable[[web.Request], Awaitable[web.Response]]
_METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Endpoints:
    """Serves `/healthz`, `/livez` and `/readyz` on one address and `/metrics` on another, or on the same."""

    def __init__(
        self,
        *,
        alive: Checks,
        ready: Checks,
        metrics: Callable[[], bytes],
        pages: Mapping[str, PageHandler] | None = None,
    ) -> None:
        """alive, ready, metrics: called for each request. pages: what else is served with them, by path."""
        self._alive = alive
        self._ready = ready
        self._metrics = metrics
        self._pages = pages or {}
        self._runners: list[web.AppRunner] = []
        self.listening: dict[str, tuple[str, int]] = {}
        """The host and port that `probes` and `metrics` really listen on."""

    async def open(self, probes: ListenAddress | None, metrics: ListenAddress | None) -> None:
        """Listen; None leaves an endpoint out. Raises `InputError` for an address that cannot be used."""
        together = probes is not None and metrics is not None and _same(probes, metrics)
        if probes is not None:
            await self._serve(probes, {"probes", "metrics"} if together else {"probes"})
        if metrics is not None and not together:
            await self._serve(metrics, {"metrics"})

    async def close(self) -> None:
        """Stop listening."""
        for runner in self._runners:
            await runner.cleanup()

    async def _serve(self, address: ListenAddress, parts: set[str]) -> None:
        app = web.Application()
        if "probes" in parts:
            app.router.add_get("/healthz", self._answer(self._alive))
            app.router.add_get("/livez", self._answer(self._alive))
            app.router.add_get("/readyz", self._answer(self._ready))
        if "metrics" in parts:
            app.router.add_get("/metrics", self._scrape)
            for path, page in self._pages.items():
                app.router.add_get(path, _shown(page))
        runner = web.AppRunner(app, access_log=None, handle_signals=False, shutdown_timeout=1.0)
        await runner.setup()
        self._runners.append(runner)
        site = web.TCPSite(runner, address.host, address.port)
        try:
            await site.start()
        except OSError as error:
            raise InputError(
                f"cannot listen on {address}: {_why(error)}: choose another {address.flag}"
            ) from error
        host, port = runner.addresses[0][:2]
        self.listening |= dict.fromkeys(parts, (host, port))

    def _answer(self, checks: Checks) -> _Handler:
        async def answer(request: web.Request) -> web.Response:
            found = checks()
            status = 200 if all(check.holds for check in found) else 503
            return web.Response(text=probe_text(found, "verbose" in request.query), status=status)

        return answer

    async def _scrape(self, request: web.Request) -> web.Response:
        return web.Response(body=self._metrics(), headers={"Content-Type": _METRICS_TYPE})


def _shown(page: PageHandler) -> _Handler:
    async def answer(request: web.Request) -> web.Response:
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
