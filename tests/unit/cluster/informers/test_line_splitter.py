"""Events cut at any byte are the same events."""

from __future__ import annotations

import json
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from kruntimes_core.cluster.informers.lister_watcher import LineSplitter

TEXTS = st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), min_size=1)


def _lines(chunks: list[bytes]) -> list[bytes]:
    lines = LineSplitter()
    return [line for chunk in chunks for line in lines.feed(chunk)]


@given(
    st.lists(TEXTS),
    st.lists(st.sampled_from(["\n", "\r\n", "\n\n", "\r\n\r\n"])),
    st.sets(st.integers(0, 400)),
)
def test_lines_do_not_depend_on_chunks(texts: list[str], ends: list[str], cuts: set[int]) -> None:
    ending = ends or ["\n"]
    stream = "".join(text + ending[place % len(ending)] for place, text in enumerate(texts)).encode()
    places = [0, *sorted(cut for cut in cuts if cut < len(stream)), len(stream)]
    chunks = [stream[start:end] for start, end in pairwise(places)]
    assert _lines(chunks) == [text.encode() for text in texts]


def test_an_event_with_emoji_may_be_cut_at_every_byte() -> None:
    event = json.dumps({"message": "läuft 🚀 走れ", "key": "значение"}, ensure_ascii=False).encode()
    stream = event + b"\r\n" + event + b"\n"
    for cut in range(len(stream) + 1):
        assert _lines([stream[:cut], stream[cut:]]) == [event, event]


def test_a_large_event_comes_whole_out_of_many_chunks() -> None:
    event = b'"' + b"x" * 1_000_000 + b'"'
    chunks = [event[start : start + 4_096] for start in range(0, len(event), 4_096)]
    assert _lines([*chunks, b"\n"]) == [event]


def test_what_has_no_end_is_no_line_yet() -> None:
    lines = LineSplitter()
    assert list(lines.feed(b"one\ntwo")) == [b"one"]
    assert list(lines.feed(b"\n")) == [b"two"]
    assert list(lines.feed(b"\n")) == []
