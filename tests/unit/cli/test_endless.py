"""A file that never ends is one line and the code 2, whichever command was given it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import IO

import pytest

from kruntimes_core.cli.main import main

ZERO = "/dev/zero"
COMMANDS = [
    ["plan", "-f", ZERO],
    ["plan", "-f", ZERO, "-o", "json"],
    ["plan", "-f", "folder"],
    ["plan", "-f", "run.yaml", "--config", ZERO],
    ["config", "validate", ZERO],
    ["config", "show", "--config", ZERO],
    ["plugins", "list", "-o", "name", "--config", ZERO],
    ["scheduler", "--config", ZERO],
    ["scheduler", "--kubeconfig", ZERO],
    ["dev", "--config", ZERO],
    ["bench", "--config", ZERO],
    ["bench", "--kubeconfig", ZERO],
    ["bench", "engine", "--config", ZERO],
]


@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_a_file_without_end_is_refused(
    arguments: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("folder").mkdir()
    Path("folder/a.yaml").symlink_to(ZERO)
    Path("run.yaml").touch()
    assert main(arguments) == 2
    said = capsys.readouterr().err
    assert said.startswith("error: ")
    assert said.count("\n") == 1
    assert ("folder/a.yaml:1: " if "folder" in arguments else ZERO) in said


@pytest.mark.parametrize(
    ("arguments", "source"),
    [(["plan", "-f", "-"], "<stdin>"), (["config", "validate", "-"], "standard input")],
)
def test_standard_input_without_end_is_refused(arguments: list[str], source: str) -> None:
    with open(ZERO, "rb") as zero:
        done = subprocess.run(
            [sys.executable, "-m", "kruntimes_core.cli", *arguments],
            stdin=zero,
            capture_output=True,
            text=True,
            check=False,
            timeout=50,
        )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"error: {source}:1: this is not YAML text: there is a null byte in it")


def test_a_configuration_that_goes_on_is_left_at_its_bound() -> None:
    """Whoever writes it sees that nobody reads on."""
    with subprocess.Popen(
        [sys.executable, "-m", "kruntimes_core.cli", "config", "validate", "-"],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
    ) as running:
        with pytest.raises(BrokenPipeError):
            write_without_end(running.stdin)
        assert running.stderr
        said = running.stderr.read().decode()
    assert said == "error: standard input holds more than 16 MiB: name a smaller file\n"
    assert running.returncode == 2


def write_without_end(pipe: IO[bytes] | None) -> None:
    assert pipe
    while True:
        pipe.write(b"# and so on\n" * 1000)
