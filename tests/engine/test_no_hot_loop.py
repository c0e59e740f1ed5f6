"""A server that goes on to refuse, or never to answer, is asked less and less often."""

from __future__ import annotations

from typing import Any

import pytest

from kruntimes_core.testing.harness import Host, WriteFault, lose_request, refuse

CANCELLED: dict[str, Any] = {"spec": {"cancelRequested": True}}
WAITING: dict[str, Any] = {"requests": {"gpu": "1"}}


@pytest.mark.parametrize(
    ("fault", "run", "at_once", "in_a_minute"),
    [
        pytest.param(lose_request, {}, 2, 10, id="lost-bind"),
        pytest.param(lose_request, CANCELLED, 2, 10, id="lost-ending"),
        pytest.param(lose_request, WAITING, 1, 12, id="lost-text"),
        pytest.param(refuse(409), {}, 4, 10, id="conflict-bind"),
        pytest.param(refuse(409), CANCELLED, 4, 10, id="conflict-ending"),
        pytest.param(refuse(409), WAITING, 3, 12, id="conflict-text"),
        pytest.param(refuse(422), {}, 1, 5, id="invalid-bind"),
        pytest.param(refuse(422), CANCELLED, 1, 5, id="invalid-ending"),
        pytest.param(refuse(422), WAITING, 1, 12, id="invalid-text"),
    ],
)
def test_a_write_that_never_succeeds_is_sent_with_backoff(
    host: Host, fault: WriteFault, run: dict[str, Any], at_once: int, in_a_minute: int
) -> None:
    host.transport = fault
    host.pod("py-0")
    host.run("r1", **run)
    for _ in range(60):
        if not host.step():
            break
    assert len(host.requests) == at_once
    host.advance(60)
    assert len(host.requests) == at_once + in_a_minute


@pytest.mark.parametrize("run", [{}, CANCELLED, WAITING], ids=["bind", "ending", "text"])
def test_a_server_that_asks_for_time_gets_it(host: Host, run: dict[str, Any]) -> None:
    host.transport = refuse(429, retry_after=30)
    host.pod("py-0")
    host.run("r1", **run)
    host.advance(29.999)
    assert len(host.requests) == 1
    host.advance(0.001)
    assert len(host.writes("r1")) == 2
