"""The kubeconfig of the scheduler: the user's own, or a copy in which the chosen context is current."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kruntimes_core.model.messages import InputError
from kruntimes_core.model.yaml_files import SETTINGS_BYTES, load_documents, read_file

_DEFAULT = "~/.kube/config"
_PATHS = ("certificate-authority", "client-certificate", "client-key", "tokenFile")


def kubeconfig_for(
    path: str | None, context: str | None, environment: Mapping[str, str], folder: Path
) -> str:
    """The path of a kubeconfig for the scheduler. path, context: as they were chosen, None by default.

    folder: where a copy may lie. Raises `InputError` where a context of several files is to be current.
    """
    chosen = path or environment.get("KUBECONFIG") or _DEFAULT
    if context is None and ":" not in chosen:
        return str(_found(chosen))
    if ":" in chosen:
        raise InputError("$KUBECONFIG names several files: name one for the scheduler by --kubeconfig FILE")
    return str(_copy(_found(chosen), context, folder / "kubeconfig"))


def _found(path: str) -> Path:
    return Path(os.path.expanduser(path)).absolute()


def _copy(source: Path, context: str | None, target: Path) -> Path:
    _, read = next(load_documents(read_file(source, SETTINGS_BYTES), str(source)))
    # The bench has connected by it: it is a kubeconfig.
    config: dict[str, Any] = dict(read)  # type: ignore[call-overload]
    for kind in ("cluster", "user"):
        for entry in config.get(f"{kind}s") or ():
            _make_absolute(entry.get(kind) or {}, source.parent)
    target.touch(mode=0o600)
    target.write_text(json.dumps({**config, "current-context": context}, default=str))
    return target


def _make_absolute(entry: dict[str, Any], folder: Path) -> None:
    """Paths in a kubeconfig are relative to the folder in which it lies."""
    for key in _PATHS:
        if entry.get(key):
            entry[key] = str(folder / entry[key])
    command = (entry.get("exec") or {}).get("command", "")
    if "/" in command:
        entry["exec"]["command"] = str(folder / command)
