"""TLS contexts, and one line for each way in which certificates are wrong."""

from __future__ import annotations

import ssl

from kruntimes_core.model.messages import InputError


def client_context(
    *, authorities: str | None, certificate: str | None, key: str | None, verified: bool, origin: str
) -> ssl.SSLContext:
    """A context for connections to the API server.

    authorities, certificate, key: files. verified: False only where a kubeconfig says so. Raises
    `InputError` for files that cannot be used; origin: what errors name.
    """
    try:
        context = ssl.create_default_context(cafile=authorities)
    except (OSError, ssl.SSLError) as error:
        raise InputError(f"{origin}: the certificate authority cannot be read: {error}: mend it") from error
    if certificate:
        try:
            context.load_cert_chain(certificate, key)
        except (OSError, ssl.SSLError) as error:
            raise InputError(f"{origin}: the client certificate cannot be used: {error}: mend it") from error
    if not verified:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context
