"""The numbers of a round of offers are those of the code."""

from __future__ import annotations

import re

from kruntimes_core.engine.cycle import offers
from kruntimes_core.engine.cycle.work import offering
from tests.docs.pages import page

ROUNDS = page("docs/explanation/waking.md").section("Rounds")


def test_a_round_has_the_bounds_that_are_said() -> None:
    said = re.findall(r"\b\d[\d,]*\b", ROUNDS)
    assert said == [f"{offers._AT_ONCE:,}", f"{offering._QUESTIONS:,}"]
