"""The measured scheduler: which command it is, its process, and what that costs."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import re
import shlex
import shutil
import signal
import socket
import sys
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kruntimes_core.cluster.plugin_thread import AttendedCalls
from kruntimes_core.framework.configuration import build_profiles, configuration_from
from kruntimes_core.framework.plugin_registry import PluginRegistry
from kruntimes_core.model.messages import InputError
from kruntimes_core.model.yaml_files import SETTINGS_BYTES, load_documents, read_file

PLACEHOLDERS: Mapping[str, str] = {
    "kubeconfig": "the path of a kubeconfig whose current context is the measured one",
    "namespaces": "the names of the bench's namespaces, with commas",
    "port": "a free port of 127.0.0.1; each time another one",
}
"""What a command may name in braces."""
_PLACEHOLDER = re.compile(r"\{([a-z_-]+)\}")
_STEADY = "heartbeatStalenessSeconds: 3600\n"
_DEFAULT_KUBECONFIG = "~/.kube/config"
_KUBECONFIG_PATHS = ("certificate-authority", "client-certificate", "client-key", "tokenFile")
_STOP_SECONDS = 15.0
_LINES = 20
_TAIL_BYTES = 16_384
_PROC = Path("/proc")
_KIB = 1024
_SCHEDULED = 2
"""Linux makes the clock of a process out of its number (clock_getcpuclockid(3)): finer than the ticks of
/proc, and threads that have ended are in it."""


# Which command it is


def command_of(text: str, kubeconfig: str | None, namespaces: Sequence[str]) -> list[str]:
    """The words of a command line as a shell would split it, placeholders filled in.

    kubeconfig: None where the connection is that of a Pod, and needs no file. Raises `InputError` for what
    cannot be split, an unknown placeholder, or one that stands for nothing.
    """
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise InputError(f"--scheduler-cmd: {error}: write it as for a shell") from error
    if not words:
        raise InputError("--scheduler-cmd is empty: write a command")
    return [_PLACEHOLDER.sub(lambda found: _value(found[1], kubeconfig, namespaces), word) for word in words]


def check_command(text: str) -> None:
    """Raises `InputError` for a command line that cannot be used, before anything is made for it."""
    program = command_of(text, "kubeconfig", ["namespace"])[0]
    if shutil.which(program) is None:
        # As it would be said when it is started.
        number = errno.EACCES if Path(program).exists() else errno.ENOENT
        raise InputError(f"cannot start {program}: {os.strerror(number)}: correct --scheduler-cmd")


def check_configuration(path: str) -> None:
    """Raises `InputError` for a configuration with which our scheduler would not start, in its own words."""
    configuration, registry = configuration_from(path), PluginRegistry()
    with closing(AttendedCalls(registry.current)) as calls:
        calls.call(lambda: build_profiles(configuration, registry))


def our_command(
    kubeconfig: str | None, namespaces: Sequence[str], config: str | None, folder: Path, *, steady: bool
) -> list[str]:
    """`kruntimes scheduler` of this Python, for the bench's namespaces alone.

    config: a configuration of the user's. steady: without one, let heartbeats be trusted for an hour.
    """
    if config is None and steady:
        path = folder / "scheduler.yaml"
        path.write_text(_STEADY)
        config = str(path)
    return [
        *(sys.executable, "-m", "kruntimes_core.cli", "scheduler"),
        *([f"--kubeconfig={kubeconfig}"] if kubeconfig is not None else []),
        *([f"--config={config}"] if config is not None else []),
        f"--namespaces={','.join(namespaces)}",
        "--metrics-bind-address=127.0.0.1:0",
        "--health-probe-bind-address=127.0.0.1:0",
    ]


def kubeconfig_for(
    path: str | None, context: str | None, environment: Mapping[str, str], folder: Path
) -> str:
    """The path of a kubeconfig for the scheduler: the user's, or a copy in which the context is current.

    path, context: as they were chosen, None by default. folder: where a copy may lie. Raises `InputError`
    where the kubeconfig is several files.
    """
    chosen = path or environment.get("KUBECONFIG") or _DEFAULT_KUBECONFIG
    if ":" in chosen:
        raise InputError("$KUBECONFIG names several files: name one for the scheduler by --kubeconfig FILE")
    source = Path(os.path.expanduser(chosen)).absolute()
    return str(source if context is None else _copy(source, context, folder / "kubeconfig"))


def _copy(source: Path, context: str, target: Path) -> Path:
    """Paths in a kubeconfig are relative to the folder in which it lies: in the copy they are absolute."""
    _, read = next(load_documents(read_file(source, SETTINGS_BYTES), str(source)))
    # The bench has connected by it: it is a kubeconfig.
    config: dict[str, Any] = dict(read)  # type: ignore[call-overload]
    for kind in ("cluster", "user"):
        for entry in (one.get(kind) or {} for one in config.get(f"{kind}s") or ()):
            entry.update(
                {key: str(source.parent / entry[key]) for key in _KUBECONFIG_PATHS if entry.get(key)}
            )
            command = (entry.get("exec") or {}).get("command", "")
            if "/" in command:
                entry["exec"]["command"] = str(source.parent / command)
    target.touch(mode=0o600)
    target.write_text(json.dumps({**config, "current-context": context}, default=str))
    return target


def _value(name: str, kubeconfig: str | None, namespaces: Sequence[str]) -> str:
    if name not in PLACEHOLDERS:
        known = ", ".join(f"{{{one}}}" for one in PLACEHOLDERS)
        raise InputError(f"--scheduler-cmd: no such placeholder {{{name}}}: there are {known}")
    if name == "port":
        with socket.create_server(("127.0.0.1", 0)) as listening:
            return str(listening.getsockname()[1])
    if name == "namespaces":
        return ",".join(namespaces)
    if kubeconfig is None:
        raise InputError("--scheduler-cmd: {kubeconfig} has no value in a Pod: give --kubeconfig FILE")
    return kubeconfig


# Its process: started in a session of its own, and ended with all that stays in its process group


class SchedulerEndedError(InputError):
    """The scheduler ended before it was told to. `lines`: what it said last."""

    def __init__(self, message: str, lines: Sequence[str]) -> None:
        super().__init__(message)
        self.lines = lines


class Running:
    """A scheduler that was started."""

    def __init__(self, process: asyncio.subprocess.Process, output: Path) -> None:
        self._process = process
        self._output = output

    def usage(self) -> Usage | None:
        """What it and its children have used so far."""
        return usage_of(self._process.pid)

    async def ended(self) -> None:
        """Raises `SchedulerEndedError` when it ends."""
        code = await self._process.wait()
        with self._output.open("rb") as said:
            said.seek(max(self._output.stat().st_size - _TAIL_BYTES, 0))
            lines = said.read().decode(errors="replace").splitlines()[-_LINES:]
        said_last = "its last lines are above" if lines else "it said nothing"
        raise SchedulerEndedError(
            f"the scheduler ended with {code} before it was told to: {said_last}", lines
        )

    async def stop(self) -> None:
        """Ask it to end, with all that it started; what is there after a while is killed."""
        self._signal(signal.SIGTERM)
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(_STOP_SECONDS):
                    await self._process.wait()
        finally:
            self._signal(signal.SIGKILL)
            await self._process.wait()

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, number)


@asynccontextmanager
async def running(command: Sequence[str], kubeconfig: str | None, output: Path) -> AsyncIterator[Running]:
    """Start a scheduler, and end it with the block.

    kubeconfig: what it finds as $KUBECONFIG. output: where all that it says goes. Raises `InputError` for
    a command that cannot be started.
    """
    environment = {**os.environ, **({"KUBECONFIG": kubeconfig} if kubeconfig is not None else {})}
    with output.open("wb") as said:
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                env=environment,
                # Ctrl-C in the terminal is for the bench, which then ends the scheduler.
                start_new_session=True,
            )
        except OSError as error:
            raise InputError(
                f"cannot start {command[0]}: {error.strerror}: correct --scheduler-cmd"
            ) from error
    scheduler = Running(process, output)
    try:
        yield scheduler
    finally:
        await scheduler.stop()


# What it costs, its children included, as Linux tells it; elsewhere that is unknown


@dataclass(frozen=True, slots=True)
class Usage:
    """What a process and its children have used so far."""

    processor_seconds: float
    resident_bytes: int
    peak_bytes: int
    """The sum of what each had at most."""


def check_process(pid: int) -> None:
    """Raises `InputError` for a process that is not there."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError as error:
        raise InputError(
            f"--scheduler-pid {pid}: no such process on this machine: name one that runs"
        ) from error
    except PermissionError:
        # It is there, and another user's.
        return


def usage_of(pid: int) -> Usage | None:
    """The usage of a process and of all that descend from it; None where that cannot be known."""
    if not sys.platform.startswith("linux") or not (_PROC / str(pid)).exists():
        return None
    seconds, resident, peak = 0.0, 0, 0
    for one in _family(pid):
        # A child may end at any moment; what it used is then its parent's children's.
        with suppress(OSError):
            stat, status = _stat(one), (_PROC / str(one) / "status").read_text()
            ended_children = (int(stat[13]) + int(stat[14])) / os.sysconf("SC_CLK_TCK")
            seconds += time.clock_gettime((~one << 3) | _SCHEDULED) + ended_children
            sizes = {key: int(size) * _KIB for key, size in re.findall(r"(VmRSS|VmHWM):\s*(\d+)", status)}
            resident += sizes.get("VmRSS", 0)
            peak += sizes.get("VmHWM", 0)
    return Usage(seconds, resident, peak)


def _family(pid: int) -> list[int]:
    """A process and all that descend from it, itself first."""
    children: dict[int, list[int]] = {}
    for folder in _PROC.iterdir():
        if folder.name.isdigit():
            with suppress(OSError):
                children.setdefault(int(_stat(int(folder.name))[1]), []).append(int(folder.name))
    found = [pid]
    for one in found:
        found += children.get(one, [])
    return found


def _stat(pid: int) -> list[str]:
    """The fields of proc(5) from the third on: before them is a name, in which anything may be."""
    return (_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
