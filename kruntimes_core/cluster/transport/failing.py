"""Why there is no answer, in words that say what to do about it."""

from __future__ import annotations

import asyncio

import aiohttp

from kruntimes_core.cluster.transport.protocol import Call, MaybeSentError, NotSentError, TransportError


def worded(error: Exception, call: Call, *, sent: bool) -> TransportError:
    """What aiohttp raised, as an error of ours. sent: whether the server may have acted on the request."""
    kind = MaybeSentError if sent else NotSentError
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return kind(f"its certificate is not trusted: {_distrust(error.certificate_error)}", True)
    if isinstance(error, aiohttp.ClientConnectorSSLError):
        why = getattr(error.os_error, "reason", None) or error.os_error
        return kind(f"no TLS with it ({why}): an address with http:// has none")
    if isinstance(error, aiohttp.ClientProxyConnectionError):
        return kind(f"no connection to its proxy {error.host}:{error.port}: {_reason(error.os_error)}")
    if isinstance(error, aiohttp.ClientConnectorError):
        return kind(f"no connection: {_reason(error.os_error)}")
    if isinstance(error, aiohttp.ClientHttpProxyError):
        return kind(f"its proxy refused with {error.status}: name the server in NO_PROXY, or log in there")
    if isinstance(error, aiohttp.ClientResponseError):
        return kind("it does not speak HTTP: name the right port")
    if isinstance(error, aiohttp.ClientPayloadError):
        return kind("the connection broke before the answer was whole")
    if isinstance(error, asyncio.TimeoutError):
        return kind(f"no answer within {call.timeout_seconds:g} s")
    return kind(f"the connection broke: {str(error) or type(error).__name__}")


def _reason(error: OSError) -> str:
    return error.strerror or str(error)


def _distrust(error: Exception) -> str:
    """Why a certificate is not trusted, and what to do about it."""
    why = str(getattr(error, "verify_message", "") or error).rstrip(".")
    if "expired" in why or "not yet valid" in why:
        return f"{why}: renew it, or set the clock"
    if "mismatch" in why:
        return f"{why}: name the server as its certificate does, or set tls-server-name"
    return f"{why}: name the right certificate authority"
