"""What a process costs, its children included, as Linux tells it; elsewhere nobody knows."""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from kruntimes_core.model.messages import InputError

_PROC = Path("/proc")
_KIB = 1024
# Linux makes the clock of a process out of its number (clock_getcpuclockid(3)): finer than the ticks of
# /proc, and threads that have ended are in it.
_SCHEDULED = 2


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
        raise InputError(f"--scheduler-pid {pid}: no such process on this machine: look again") from error
    except PermissionError:
        # It is there, and somebody else's.
        return


def usage_of(pid: int) -> Usage | None:
    """The usage of a process and of all that descend from it; None where that cannot be known."""
    if not sys.platform.startswith("linux") or not (_PROC / str(pid)).exists():
        return None
    seconds, resident, peak = 0.0, 0, 0
    for one in family(pid):
        # A child may end at any moment; what it used is then its parent's children's.
        with suppress(OSError):
            seconds += time.clock_gettime((~one << 3) | _SCHEDULED) + _ended_children_seconds(one)
            sizes = _sizes(one)
            resident += sizes.get("VmRSS", 0)
            peak += sizes.get("VmHWM", 0)
    return Usage(seconds, resident, peak)


def family(pid: int) -> list[int]:
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


def _ended_children_seconds(pid: int) -> float:
    """What children used that have ended and were waited for."""
    fields = _stat(pid)
    return (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK")


def _stat(pid: int) -> list[str]:
    """The fields of proc(5) from the third on: before them is a name, in which anything may be."""
    return (_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()


def _sizes(pid: int) -> dict[str, int]:
    lines = (_PROC / str(pid) / "status").read_text().splitlines()
    pairs = (line.partition(":") for line in lines if line.startswith(("VmRSS", "VmHWM")))
    return {name: int(value.split()[0]) * _KIB for name, _, value in pairs}
