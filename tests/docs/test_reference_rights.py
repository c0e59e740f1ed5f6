"""The page on rights, the manifests and the list in the code are one."""

from __future__ import annotations

from kruntimes_core.cluster.permissions import REQUIRED
from realcluster.access import ELECTING_RULES, RULES, rights_of
from tests.docs.pages import first_column, page

RIGHTS = page("docs/reference/rights.md")


def test_the_manifests_grant_what_is_needed_and_nothing_else() -> None:
    rules = [*RULES, *ELECTING_RULES]
    assert rights_of(rules) == set(REQUIRED)
    assert sum(len(rule["verbs"]) for rule in rules) == len(REQUIRED)


def test_the_page_has_a_row_for_each_right() -> None:
    assert first_column(RIGHTS.text) == [f"{right.verb} {right.title}" for right in REQUIRED]
