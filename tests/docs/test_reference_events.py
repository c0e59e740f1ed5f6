"""What operators look up about Events is what the code sends."""

from kruntimes_core.cluster.event_recorder.event import CONTROLLER, EventOutcome, EventReason, Lane
from tests.docs.pages import first_column, page, rows

EVENTS = page("docs/reference/events.md")


def test_the_reasons_are_a_closed_set_with_type_and_action() -> None:
    said = [row[:3] for row in rows(EVENTS.text.partition("\n## ")[0])]
    assert said == [[one.value, one.type, one.action] for one in EventReason]


def test_the_controller_is_named() -> None:
    assert f"`reportingController` is `{CONTROLLER}`" in EVENTS.text


def test_the_outcomes_are_those_that_are_counted() -> None:
    assert first_column(EVENTS.section("outcome")) == [one.value for one in EventOutcome]


def test_the_lanes_are_named_beside_their_metric() -> None:
    (row,) = [row for row in rows(page("docs/reference/metrics.md").section("Events")) if "queue" in row[0]]
    assert all(f"`{lane.value}`" in row[2] or lane.value in row[2] for lane in Lane)
