"""What a filter answers is made of plain types: the host compares, counts and prints it later."""

from __future__ import annotations

from datetime import UTC, timedelta, timezone
from enum import StrEnum
from typing import Any

import pytest

from kruntimes_core import Reject
from kruntimes_core.framework.profile import Profile
from kruntimes_core.framework.runtime import Runner
from kruntimes_core.testing import make_pod, make_run, make_snapshot
from kruntimes_core.testing.builders import NOW
from kruntimes_core.testing.plugins import fake_plugin


class Reason(StrEnum):
    FULL = "Full"


class Text(str):
    """A text that says something else when it is shown."""

    def __str__(self) -> str:
        raise RuntimeError("not shown")


class Refusal(Reject):
    """A rejection of an author's own making."""


def rejected(answer: Reject) -> Reject:
    plugin = fake_plugin(filter=lambda pod: answer, reasons=["Full"])
    runner = Runner(Profile(plugins=(plugin,)), records=True)
    verdicts, _ = runner.explain(make_run("r"), make_snapshot(make_pod("py-0")))
    verdict = verdicts["py-0"]
    assert verdict is not None
    return verdict[1]


@pytest.mark.parametrize(
    ("answer", "plain"),
    [
        (Reject("Full"), Reject("Full")),
        (Reject("Full", "1 in use"), Reject("Full", "1 in use")),
        (Reject("Full", pinned_elsewhere=True), Reject("Full", pinned_elsewhere=True)),
        (Reject(Reason.FULL), Reject("Full")),
        (Reject("Full", Text("1 in use")), Reject("Full", "1 in use")),
        (
            Reject("Full", Text("1 in use"), pinned_elsewhere=True),
            Reject("Full", "1 in use", pinned_elsewhere=True),
        ),
        (Refusal("Full", "1 in use"), Reject("Full", "1 in use")),
        (Reject("Full", retry_at=NOW.astimezone(timezone(timedelta(hours=2)))), Reject("Full", retry_at=NOW)),
    ],
    ids=range(8),
)
def test_parts_of_a_rejection_are_made_plain(answer: Any, plain: Reject) -> None:
    found = rejected(answer)
    assert found == plain
    assert (type(found), type(found.reason)) == (Reject, str)
    assert type(found.detail) is type(plain.detail)
    assert found.retry_at is None or found.retry_at.tzinfo is UTC
