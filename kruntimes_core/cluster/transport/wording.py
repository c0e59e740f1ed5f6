"""What an operator reads when there is no way to a server: one wording, whatever noticed it."""

from __future__ import annotations


def no_connection(error: OSError) -> str:
    """Nobody answers there."""
    return f"no connection: {reason(error)}"


def no_tls(error: OSError) -> str:
    """Somebody answers there, but not with TLS."""
    return f"no TLS with it ({getattr(error, 'reason', None) or error}): an address with http:// has none"


def not_trusted(error: Exception) -> str:
    """A certificate is not trusted: why, and what to do about it."""
    why = str(getattr(error, "verify_message", "") or error).rstrip(".")
    return f"its certificate is not trusted: {why}: {_remedy(why)}"


def reason(error: OSError) -> str:
    """What the system says of it."""
    return error.strerror or str(error)


def _remedy(why: str) -> str:
    if "expired" in why or "not yet valid" in why:
        return "renew it, or set the clock"
    if "mismatch" in why:
        return "name the server as its certificate does, or set tls-server-name"
    return "name the right certificate authority"
