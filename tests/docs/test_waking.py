"""The numbers of a batched retry are those of the code."""

from __future__ import annotations

import re

from kruntimes_core.engine import batch_retry, work
from tests.docs.pages import page

BATCHED_RETRY = page("docs/explanation/waking.md").section("Batched retry")


def test_a_batch_has_the_bounds_that_are_said() -> None:
    said = re.findall(r"\b\d[\d,]*\b", BATCHED_RETRY)
    assert said == [f"{batch_retry._BATCH_SIZE:,}", f"{work._BATCH_CALLS:,}"]
