"""Events within the bounds of the API, whatever goes into them."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from embedded.bodies import namespace_body
from kruntimes_core.cluster.event_recorder.event import (
    EventContent,
    EventReason,
    ObjectReference,
    bounded,
    reference_to_run,
    series,
)
from kruntimes_core.lab.apiserver.kinds.strategy import MERGE
from kruntimes_core.lab.apiserver.requests import Patch
from kruntimes_core.lab.apiserver.server import ApiServer

NOW = datetime(2026, 1, 2, 3, 4, 5, 678_900, tzinfo=UTC)
NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")

names = st.from_regex(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?", fullmatch=True).filter(NAME.fullmatch)
texts = st.text(st.characters() | st.characters(categories=["Cs"]), max_size=2_000)


@given(texts, st.integers(3, 1_024))
def test_a_bounded_text_can_be_sent_and_is_no_longer(text: str, length: int) -> None:
    cut = bounded(text, length).encode("utf-8")
    assert len(cut) <= length


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("a" * 1_024, "a" * 1_024),
        ("a" * 1_025, "a" * 1_021 + "..."),
        ("é" * 513, "é" * 510 + "..."),
        ("\U0001f600" * 257, "\U0001f600" * 255 + "..."),
        ("half \ud83d", "half ?"),
        ("", ""),
    ],
)
def test_a_note_is_cut_between_characters(text: str, kept: str) -> None:
    assert bounded(text, 1_024) == kept


@given(names, st.integers(0, 2**63))
def test_a_name_is_one_of_the_api_and_begins_as_the_objects_does(name: str, number: int) -> None:
    made = EventContent(EventReason.INVALID_RUN, reference_to_run("team-a", name, ""), "").name(number)
    assert len(made) <= 253
    assert NAME.fullmatch(made)
    start, _, suffix = made.rpartition(".")
    assert name.startswith(start)
    assert int(suffix, 16) == number


@pytest.mark.parametrize("reason", EventReason)
def test_an_api_server_takes_every_event_at_its_longest(reason: EventReason) -> None:
    server = ApiServer(now=lambda: NOW, uid=lambda: "u")
    server.create(server.resources.named("namespaces"), None, namespace_body("team-a"))
    name = "a" * 250 + ".b1"
    pod = ObjectReference("v1", "Pod", "team-a", name, "u" * 36)
    content = EventContent(reason, reference_to_run("team-a", name, "u" * 36), "\u20ac" * 4_096, pod)
    event = content.event(content.name(2**63 - 1), "i" * 300, NOW)
    events = server.resources.named("events", "events.k8s.io")
    made = server.create(events, "team-a", event).object
    assert len(made["note"].encode()) <= 1_024
    assert made["eventTime"] == "2026-01-02T03:04:05.678900Z"
    server.patch(events, "team-a", made["metadata"]["name"], Patch(MERGE, series(2, NOW)))
    (stored,) = server.list(events)
    assert stored["series"] == {"count": 2, "lastObservedTime": "2026-01-02T03:04:05.678900Z"}
