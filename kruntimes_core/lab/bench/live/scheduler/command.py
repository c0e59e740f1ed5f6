"""Which command is the scheduler: one that the user wrote, with placeholders, or ours."""

from __future__ import annotations

import errno
import os
import re
import shlex
import shutil
import socket
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kruntimes_core.cluster.attended_calls import AttendedCalls
from kruntimes_core.framework.configuration import build_profiles, configuration_from
from kruntimes_core.framework.plugin_registry import PluginRegistry
from kruntimes_core.model.messages import InputError

PLACEHOLDERS: Mapping[str, str] = {
    "kubeconfig": "the path of a kubeconfig whose current context is the measured one",
    "namespaces": "the names of the bench's namespaces, with commas",
    "port": "a free port of 127.0.0.1; each time another one",
}
"""What a command may name in braces."""

_PLACEHOLDER = re.compile(r"\{([a-z_-]+)\}")
_STEADY = "heartbeatStalenessSeconds: 3600\n"


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What placeholders stand for."""

    kubeconfig: str | None
    """None: the connection is that of a Pod, and needs no file."""
    namespaces: Sequence[str]


def command_of(text: str, around: Surroundings) -> list[str]:
    """The words of a command line as a shell would split it, placeholders filled in.

    Raises `InputError` for what cannot be split, an unknown placeholder, or one that stands for nothing.
    """
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise InputError(f"--scheduler-cmd: {error}: write it as for a shell") from error
    if not words:
        raise InputError("--scheduler-cmd is empty: write a command")
    return [_PLACEHOLDER.sub(lambda found: _value(found[1], around), word) for word in words]


def check_command(text: str) -> None:
    """Raises `InputError` for a command line that cannot be used, before anything is made for it."""
    program = command_of(text, Surroundings("kubeconfig", ["namespace"]))[0]
    if shutil.which(program) is None:
        # As it would be said when it is started.
        number = errno.EACCES if Path(program).exists() else errno.ENOENT
        raise InputError(f"cannot start {program}: {os.strerror(number)}: correct --scheduler-cmd")


def check_configuration(path: str) -> None:
    """Raises `InputError` for a configuration with which our scheduler would not start, in its own words."""
    configuration, registry = configuration_from(path), PluginRegistry()
    AttendedCalls(registry.current).call(lambda: build_profiles(configuration, registry))


def our_command(around: Surroundings, config: str | None, folder: Path, *, steady: bool) -> list[str]:
    """`kruntimes scheduler` of this Python, for the bench's namespaces alone.

    config: a configuration of the user's. steady: without one, let heartbeats be trusted for an hour.
    """
    if config is None and steady:
        path = folder / "scheduler.yaml"
        path.write_text(_STEADY)
        config = str(path)
    return [
        *(sys.executable, "-m", "kruntimes_core.cli", "scheduler"),
        *([f"--kubeconfig={around.kubeconfig}"] if around.kubeconfig is not None else []),
        *([f"--config={config}"] if config is not None else []),
        f"--namespaces={','.join(around.namespaces)}",
        "--metrics-bind-address=127.0.0.1:0",
        "--health-probe-bind-address=127.0.0.1:0",
    ]


def _value(name: str, around: Surroundings) -> str:
    if name not in PLACEHOLDERS:
        known = ", ".join(f"{{{one}}}" for one in PLACEHOLDERS)
        raise InputError(f"--scheduler-cmd: no such placeholder {{{name}}}: there are {known}")
    if name == "port":
        return str(_free_port())
    if name == "namespaces":
        return ",".join(around.namespaces)
    if around.kubeconfig is None:
        raise InputError("--scheduler-cmd: {kubeconfig} stands for nothing in a Pod: give --kubeconfig FILE")
    return around.kubeconfig


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])
