import os
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest

from kruntimes_core import __version__
from kruntimes_core.cli import main as entry
from kruntimes_core.cli.main import main
from kruntimes_core.model.messages import InputError

EXAMPLE = Path(__file__).parents[3] / "docs" / "examples" / "first-plan.yaml"


@pytest.mark.parametrize("arguments", [["--version"], ["version"]])
def test_the_version_is_that_of_the_package(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 0
    assert capsys.readouterr().out.startswith(f"kruntimes {__version__}")


@pytest.mark.parametrize("arguments", [[], ["--help"], ["-h"], ["plugins"], ["plan", "-h"]])
def test_help_is_an_answer(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 0
    shown = capsys.readouterr()
    assert shown.out.startswith("Usage: kruntimes")
    assert shown.err == ""


@pytest.mark.parametrize(
    ("invoked", "name"),
    [
        ("/usr/bin/kruntimes", "kruntimes"),
        ("/usr/bin/kubectl-kruntimes", "kubectl kruntimes"),
        ("kubectl-kruntimes.exe", "kubectl kruntimes"),
        ("/x/kruntimes_core/cli/__main__.py", "kruntimes"),
    ],
)
def test_help_and_errors_call_the_command_as_the_user_does(
    invoked: str, name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", [invoked])
    assert main(["plan", "-h"]) == 0
    assert capsys.readouterr().out.startswith(f"Usage: {name} plan -f FILE [OPTIONS]")
    assert main(["plan"]) == 2
    assert capsys.readouterr().err.endswith(f"(see {name} plan --help)\n")


def test_help_beside_a_file_without_its_option_is_an_answer(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "x.yaml", "--help"]) == 0
    assert capsys.readouterr().out.startswith("Usage: kruntimes plan")


def test_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    main([])
    listed = capsys.readouterr().out.partition("Commands:")[2]
    assert [line.split()[0] for line in listed.strip().splitlines()] == [
        "bench",
        "config",
        "dev",
        "plan",
        "plugins",
        "scheduler",
        "version",
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["plann"], "no such command 'plann': did you mean plan? (see kruntimes --help)"),
        (["plugins", "lst"], "no such command 'lst': did you mean list? (see kruntimes plugins --help)"),
        (["frob"], "no such command 'frob': known are bench, config, dev, plan, "),
        (["--frob"], "no such option '--frob' (see kruntimes --help)"),
        (["plan"], "missing option '-f' / '--filename' (see kruntimes plan --help)"),
        (["plan", "-f"], "option '-f' requires an argument (see kruntimes"),
        (
            ["plan", "a b.yaml"],
            "unexpected argument 'a b.yaml': did you mean -f 'a b.yaml'? (see kruntimes plan --help)",
        ),
        (
            ["plan", "-f", "x", "y", "z"],
            "unexpected argument 'y': did you mean -f y? (see kruntimes plan --help)",
        ),
        (
            ["plan", "-f", "x", "--explain", "-o", "name"],
            "--explain does not work with -o name: leave one of them",
        ),
        (["plan", "-f", "x", "-A", "-n", "a"], "-n and -A exclude each other: choose one"),
        (
            ["plan", "-f", "x", "-n", ""],
            "invalid value for '-n' / '--namespace': '' is not a valid namespace name",
        ),
        (
            ["plan", "-f", "x", "-n", "\x1b[2J"],
            "invalid value for '-n' / '--namespace': '\\x1b[2J' is not a valid",
        ),
        (["config", "validate"], "missing argument 'FILE' (see kruntimes config validate --help)"),
        (["config", "validate", "a", "b"], "got unexpected extra argument"),
        (["config", "valdate"], "no such command 'valdate': did you mean validate?"),
        (
            ["config", "show", "-o", "wide"],
            "invalid value for '-o' / '--output': 'wide' is not one of 'table', 'yaml', 'json'",
        ),
        (["plan", "-f", "x", "-o", "xml"], "invalid value for '-o' / '--output': 'xml' is not one of"),
    ],
)
def test_a_wrong_call_is_one_line(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith(f"error: {message}")
    assert shown.err.count("\n") == 1


@pytest.mark.parametrize(
    ("raised", "code", "line"),
    [
        (InputError("x.yaml:3: is wrong: mend it"), 2, "error: x.yaml:3: is wrong: mend it\n"),
        (InputError("\x1b[31m is foreign"), 2, "error: \\x1b[31m is foreign\n"),
        (click.ClickException("Could not open it."), 2, "error: could not open it\n"),
        (KeyError("x"), 2, "error: unexpected KeyError: 'x' (set KRUNTIMES_DEBUG=1 to see where)\n"),
        (OSError(28, "No space left"), 2, "error: cannot read input or write output: no space left\n"),
        (OSError(28, "No space left", "/var/x"), 2, "error: cannot use /var/x: no space left\n"),
        (OSError("odd"), 2, "error: cannot read input or write output: odd\n"),
        (MemoryError(), 2, "error: there is not enough memory: give less input, or allow more memory\n"),
        (KeyboardInterrupt(), 130, ""),
        (click.Abort(), 130, ""),
        (BrokenPipeError(), 141, ""),
    ],
)
def test_whatever_happens_is_one_line_and_a_code(
    raised: BaseException,
    code: int,
    line: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def broken(*_: object) -> int:
        raise raised

    monkeypatch.delenv("KRUNTIMES_DEBUG", raising=False)
    monkeypatch.setattr(entry, "_invoke", broken)
    assert main([]) == code
    shown = capsys.readouterr().err
    assert shown.startswith(line)
    assert shown.count("\n") == bool(line)


def test_the_traceback_is_there_for_who_asks(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KRUNTIMES_DEBUG", "1")
    assert main(["plann"]) == 2
    shown = capsys.readouterr().err
    assert shown.startswith("Traceback (most recent call last):\n")
    assert shown.endswith("error: no such command 'plann': did you mean plan? (see kruntimes --help)\n")


def test_a_reader_that_goes_away_is_no_failure() -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "kruntimes_core.cli", "plan", "--help"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONUNBUFFERED": ""},
    )
    assert process.stdout
    assert process.stderr
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(50) == 141


def test_a_terminal_that_goes_away_in_the_middle_of_a_write_is_no_failure() -> None:
    ours, theirs = os.openpty()
    code = (
        "import sys\n"
        "from kruntimes_core.cli import main as entry\n"
        "def talk(*_):\n"
        "    print('begun', flush=True)\n"
        "    sys.stdin.readline()\n"
        "    while True: print('more', flush=True)\n"
        "entry._invoke = talk\n"
        "sys.exit(entry.main([]))\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=theirs, stderr=subprocess.PIPE
    )
    os.close(theirs)
    assert os.read(ours, 5) == b"begun"
    os.close(ours)
    _, said = process.communicate(b"\n", timeout=50)
    assert (process.returncode, said) == (141, b"")


def test_a_broken_disk_is_no_reader_that_went_away(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object) -> int:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(entry, "_invoke", broken)
    assert main([]) == 2
    assert capsys.readouterr().err == "error: cannot read input or write output: input/output error\n"


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize(
    "arguments", [["plann"], ["plan", "-f", "/none"], ["config", "validate", "/none"], ["plan", "-f", "-"]]
)
def test_an_error_that_nobody_can_read_still_has_its_code(arguments: list[str], full: bool) -> None:
    """1 would say that a Run does not fit."""
    reader, writer = os.pipe()
    os.close(reader)
    with open("/dev/full", "wb") as nowhere:
        process = subprocess.run(
            [sys.executable, "-m", "kruntimes_core.cli", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=nowhere if full else writer,
            check=False,
            timeout=50,
        )
    os.close(writer)
    assert (process.returncode, process.stdout) == (2, b"")


@pytest.mark.parametrize(("closed", "code"), [("<&-", 2), (">&-", 1), ("2>&-", 1)])
def test_a_stream_that_the_caller_closed_is_no_defect(closed: str, code: int) -> None:
    file = "-" if code == 2 else shlex.quote(str(EXAMPLE))
    shown = subprocess.run(  # noqa: S602 - only a shell closes a stream
        f"{shlex.quote(sys.executable)} -m kruntimes_core.cli plan -f {file} {closed}",
        shell=True,
        capture_output=True,
        text=True,
        check=False,
        timeout=50,
    )
    assert shown.returncode == code
    assert shown.stderr.startswith({"<&-": "error: the input is empty", ">&-": "4 Runs: "}.get(closed, ""))
    assert bool(shown.stdout) == (closed == "2>&-")


def test_output_that_has_no_room_is_an_error() -> None:
    with open("/dev/full", "w") as full:
        shown = subprocess.run(
            [sys.executable, "-m", "kruntimes_core.cli", "version"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            timeout=50,
        )
    assert shown.returncode == 2
    assert shown.stderr == "error: cannot read input or write output: no space left on device\n"
