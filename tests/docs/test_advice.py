"""What texts tell people to type is safe to type, and the same everywhere: pages, helps and errors."""

import re
from pathlib import Path

import pytest

from kruntimes_core.lab.offline_plan.sources import DUMP_COMMAND
from tests.docs.pages import ROOT, all_pages

TEXTS = [
    *(page.path for page in all_pages()),
    *sorted((ROOT / "docs" / "examples").rglob("*.md")),
    *sorted((ROOT / "kruntimes_core").rglob("*.py")),
    *sorted((ROOT / "plugins").glob("*/src/**/*.py")),
]


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_nobody_is_sent_to_an_index_for_our_names(path: Path) -> None:
    text = path.read_text()
    # Our distributions are on no index: whoever claims a name there would be installed instead.
    assert not re.search(r"pip install[^\n&|;]*\s[\"']?kruntimes", text)
    assert not re.search(r"pypi\.org/project/kruntimes", text)


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_dump_is_taken_with_all_that_a_plan_reads(path: Path) -> None:
    named = re.findall(r"kubectl get ((?:runs|pods),[\w,]*)", path.read_text())
    assert set(named) <= {DUMP_COMMAND.split()[2]}
