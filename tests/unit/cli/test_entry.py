"""The first and the last moments of the process: a signal that comes then is no traceback."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from kruntimes_core import __version__

# In the place of click, which is the first that `main` imports.
INTERRUPTED = "import signal\nsignal.raise_signal(signal.{name})\nraise SystemExit(7)\n"
CONSOLE_SCRIPT = "import sys\nfrom kruntimes_core.cli.start import start\n{before}\nsys.exit(start())\n"
IGNORE = partial(signal.signal, signal.SIGINT, signal.SIG_IGN)


def ended(folder: Path, *command: str, ignore: bool = False) -> tuple[int, str, str]:
    """Code, output and errors of a Python that finds modules in `folder` first."""
    done = subprocess.run(
        [sys.executable, *command],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join((str(folder), os.environ.get("PYTHONPATH", "")))},
        preexec_fn=IGNORE if ignore else None,
        timeout=50,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("command", [("-m", "kruntimes_core.cli"), ("-c", CONSOLE_SCRIPT.format(before=""))])
def test_ctrl_c_while_the_command_is_imported_ends_it_quietly(
    tmp_path: Path, command: tuple[str, str]
) -> None:
    (tmp_path / "click.py").write_text(INTERRUPTED.format(name="SIGINT"))
    assert ended(tmp_path, *command, "version") == (130, "", "")


def test_one_who_started_it_without_ctrl_c_keeps_it_so(tmp_path: Path) -> None:
    """As `nohup` and `&` do."""
    (tmp_path / "click.py").write_text(INTERRUPTED.format(name="SIGINT"))
    assert ended(tmp_path, "-m", "kruntimes_core.cli", "version", ignore=True) == (7, "", "")


def test_ctrl_c_after_the_last_line_ends_it_quietly(tmp_path: Path) -> None:
    late = "import atexit, signal; atexit.register(signal.raise_signal, signal.SIGINT)"
    code, shown, said = ended(tmp_path, "-c", CONSOLE_SCRIPT.format(before=late), "--version")
    assert (code, shown, said) == (130, f"kruntimes {__version__}\n", "")


@pytest.mark.parametrize(("pid", "code"), [(1, 143), (2, -signal.SIGTERM)])
def test_the_first_process_of_a_container_ends_at_sigterm_before_it_is_ready(
    tmp_path: Path, pid: int, code: int
) -> None:
    """For any other the kernel does it, and says by which signal; for the first it drops the signal."""
    (tmp_path / "click.py").write_text(INTERRUPTED.format(name="SIGTERM"))
    as_pid = f"import os; os.getpid = lambda: {pid}"
    assert ended(tmp_path, "-c", CONSOLE_SCRIPT.format(before=as_pid)) == (code, "", "")


def test_next_to_nothing_is_imported_before_signals_are_seen_to(tmp_path: Path) -> None:
    program = (
        "import sys\n"
        "of_python = set(sys.modules)\n"
        "import kruntimes_core.cli.start\n"
        "print(sorted({'click', 'pluggy', 'typing', 're', 'pathlib'} & (set(sys.modules) - of_python)))\n"
    )
    assert ended(tmp_path, "-c", program) == (0, "[]\n", "")
