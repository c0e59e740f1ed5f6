"""What a command imports: a start-up time is the sum of these, and does not depend on the machine."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[3] / "docs" / "examples" / "first-plan.yaml"
# Slow to import, or the network's business; installed or not, an attempt to import one would succeed.
HEAVY = ("kubernetes", "aiohttp", "prometheus_client", "rich")
Imported = Callable[..., tuple[int, list[str]]]

PROGRAM = """
import sys
from kruntimes_core.cli.main import main
code = main(sys.argv[1:])
print("code", code, "imported", sorted({name.partition(".")[0] for name in sys.modules}))
"""


@pytest.fixture
def imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Imported:
    for name in HEAVY:
        (tmp_path / f"{name}.py").touch()

    def run(*arguments: str) -> tuple[int, list[str]]:
        monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=":")
        shown = subprocess.run(
            [sys.executable, "-c", PROGRAM, *arguments],
            capture_output=True,
            text=True,
            check=True,
            timeout=50,
        ).stdout.splitlines()[-1]
        _, code, _, names = shown.split(maxsplit=3)
        return int(code), names.strip("[]").replace("'", "").split(", ")

    return run


def test_a_plan_needs_neither_network_nor_drawing(imported: Imported) -> None:
    code, names = imported("plan", "-f", str(EXAMPLE), "--explain")
    assert code == 1
    assert "pydantic" in names
    assert not set(HEAVY) & set(names)


@pytest.mark.parametrize(
    "arguments",
    [
        ["plan", "--help"],
        ["--help"],
        ["plugins", "list", "-h"],
        ["scheduler", "-h"],
        ["bench", "-h"],
        ["bench", "engine", "-h"],
        ["--version"],
    ],
)
def test_help_needs_no_work_to_be_imported(imported: Imported, arguments: list[str]) -> None:
    code, names = imported(*arguments)
    assert code == 0
    assert "click" in names
    assert not {*HEAVY, "pydantic", "yaml"} & set(names)
