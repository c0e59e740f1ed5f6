"""The numbers of a round of offers are those of the code."""

from __future__ import annotations

import re

from kruntimes_core.engine import batch_retry, work
from tests.docs.pages import page

ROUNDS = page("docs/explanation/waking.md").section("Rounds")


def test_a_round_has_the_bounds_that_are_said() -> None:
    said = re.findall(r"\b\d[\d,]*\b", ROUNDS)
    assert said == [f"{batch_retry._BATCH_SIZE:,}", f"{work._BATCH_CALLS:,}"]
