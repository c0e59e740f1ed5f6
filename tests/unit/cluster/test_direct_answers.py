"""Answers cut at any byte are the same answers, and what is none is refused."""

from __future__ import annotations

import asyncio
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kruntimes_core.cluster.transport.direct.answer import Answer, BrokenError
from kruntimes_core.cluster.transport.direct.bodies import Chunked
from kruntimes_core.cluster.transport.direct.heads import MalformedError, read_head

CUTS = st.sets(st.integers(0, 300))
STRANGER = "it does not speak HTTP: name the right port"


def cut(stream: bytes, cuts: set[int]) -> list[bytes]:
    places = [0, *sorted(one for one in cuts if 0 < one < len(stream)), len(stream)]
    return [stream[start:end] for start, end in pairwise(places)]


def answer_of(*pieces: bytes, closed: bool = False) -> Answer:
    """An answer that came in these pieces. closed: and then the connection ended."""
    answer = Answer(asyncio.new_event_loop())
    answer._loop.close()
    for piece in pieces:
        answer.feed(piece)
    if closed:
        answer.end(BrokenError())
    return answer


def in_chunks(parts: list[bytes], extension: bytes = b"", trailer: bytes = b"") -> bytes:
    chunks = [b"%x%s\r\n%s\r\n" % (len(part), extension, part) for part in parts]
    return b"".join(chunks) + b"0\r\n" + trailer + b"\r\n"


@given(
    st.lists(st.binary(min_size=1, max_size=40), max_size=5),
    st.sampled_from([b"", b";a=b", b" \t; x"]),
    st.sampled_from([b"", b"x: y\r\n", b"x: y\r\nz: 0\r\n"]),
    CUTS,
)
def test_chunks_do_not_depend_on_how_they_come(
    parts: list[bytes], extension: bytes, trailer: bytes, cuts: set[int]
) -> None:
    body = Chunked()
    pieces = cut(in_chunks(parts, extension, trailer), cuts)
    found = []
    for piece in pieces:
        assert not body.ended
        found.append(body.feed(piece))
    assert b"".join(found) == b"".join(parts)
    assert body.ended


@given(st.binary(max_size=60), CUTS)
def test_an_answer_of_a_known_length_may_be_cut_anywhere(content: bytes, cuts: set[int]) -> None:
    head = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: %d\r\nX-A: 1\r\nx-a:2\r\n\r\n"
    answer = answer_of(*cut(head % len(content) + content, cuts))
    assert answer.ended
    assert answer.take() == content
    assert answer.head is not None
    assert (answer.head.status, answer.head.headers["x-a"], answer.head.lasting) == (200, "1, 2", True)


def test_an_answer_may_end_with_its_connection() -> None:
    open_still = answer_of(b"HTTP/1.0 400 Bad Request\r\n\r\nnot with TLS")
    closed = answer_of(b"HTTP/1.0 400 Bad Request\r\n\r\n", b"not with ", b"TLS", closed=True)
    assert not open_still.ended
    assert closed.ended
    assert closed.take() == b"not with TLS"
    assert closed.head is not None
    assert not closed.head.lasting


@pytest.mark.parametrize(
    "stream",
    [
        b"",
        b"HTTP/1.1 200 OK\r\ncontent-le",
        b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nfour",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nfive!\r\n",
    ],
)
def test_an_answer_that_is_cut_off_never_ends(stream: bytes) -> None:
    assert not answer_of(*([stream] if stream else []), closed=True).ended


@pytest.mark.parametrize("status", [b"204 No Content", b"304 Not Modified"])
def test_some_answers_have_no_body(status: bytes) -> None:
    assert answer_of(b"HTTP/1.1 " + status + b"\r\n\r\n").ended


@pytest.mark.parametrize(
    ("head", "lasting"),
    [
        (b"HTTP/1.1 200 OK", True),
        (b"HTTP/1.1 200", True),
        (b"HTTP/1.1 200 OK\r\nConnection: Close", False),
        (b"HTTP/1.0 200 OK", False),
    ],
)
def test_a_connection_lasts_unless_the_server_says_otherwise(head: bytes, lasting: bool) -> None:
    assert read_head(head).lasting is lasting


@pytest.mark.parametrize(
    ("stream", "why"),
    [
        (b"SSH-2.0-OpenSSH_9.6\r\n\r\n", STRANGER),
        (b"HTTP/2 200 OK\r\n\r\n", STRANGER),
        (b"x" * 70_000, STRANGER),
        (b"HTTP/1.1 200 OK\r\nno colon\r\n\r\n", "a header that cannot be read"),
        (b"HTTP/1.1 200 OK\r\n folded: x\r\n\r\n", "a header that cannot be read"),
        (b"HTTP/1.1 200 OK\r\ncontent-length : 5\r\n\r\n", "a header that cannot be read"),
        (b"HTTP/1.1 200 OK\r\ncontent-length: +5\r\n\r\n", "no length that can be read"),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\n", "no length that can be read"),
        (b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\n\r\n", "that was not asked for"),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n", "that was not asked for"),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nab", "longer than it said"),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0x5\r\n", "no size that can be read"),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n\r\n", "no size that can be read"),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nab\r\n", "does not end where it should"),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\nx", "goes on beyond its end"),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n" + b"1" * 9_000, "has no end"),
    ],
)
def test_what_is_no_answer_is_refused(stream: bytes, why: str) -> None:
    with pytest.raises(MalformedError, match=why):
        answer_of(stream)
    with pytest.raises(MalformedError, match=why):
        answer_of(*cut(stream, set(range(0, len(stream), 7))))


def test_equal_lengths_are_one() -> None:
    assert answer_of(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 2\r\n\r\nab").ended
