"""Who this process is in an election, and where its Lease lies."""

from __future__ import annotations

import re
import socket
from collections.abc import Mapping
from pathlib import Path
from uuid import uuid4

from kruntimes_core.cluster.connection.incluster import SERVICE_ACCOUNT
from kruntimes_core.model.messages import InputError

_DNS_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")


def new_identity() -> str:
    """A name that no other process has or ever had; its first part says where to look for it."""
    return f"{socket.gethostname()}_{uuid4()}"


def lease_namespace(
    asked: str | None,
    environment: Mapping[str, str],
    of_context: str | None,
    service_account: Path = SERVICE_ACCOUNT,
) -> str:
    """The namespace of the Lease: `asked` (`--lease-namespace`), else $POD_NAMESPACE, else that of the
    ServiceAccount, else that of the kubeconfig's context. Raises `InputError` for none, or no name.
    """
    sources = (
        ("--lease-namespace", asked),
        ("POD_NAMESPACE", environment.get("POD_NAMESPACE") or None),
        (str(service_account / "namespace"), _read(service_account / "namespace")),
        ("the context's namespace", of_context or None),
    )
    for source, namespace in sources:
        if namespace is None:
            continue
        if _DNS_LABEL.fullmatch(namespace) is None:
            raise InputError(f"{source} {namespace!r} is no name of a namespace: give --lease-namespace")
        return namespace
    raise InputError("--leader-elect: nothing says in which namespace the Lease is: give --lease-namespace")


def _read(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8").strip() or None
    except (OSError, UnicodeDecodeError):
        return None
