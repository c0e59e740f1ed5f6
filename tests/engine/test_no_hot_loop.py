"""A server that goes on to refuse, or never to answer, is asked less and less often."""

from __future__ import annotations

from typing import Any

import pytest

from kruntimes_core.testing.harness import Fault, Host, lose_request, refuse

CANCELLED: dict[str, Any] = {"spec": {"cancelRequested": True}}
WAITING: dict[str, Any] = {"requests": {"gpu": "1"}}


@pytest.mark.parametrize(
    "fault", [lose_request, refuse(409), refuse(422)], ids=["lost", "conflict", "invalid"]
)
@pytest.mark.parametrize("run", [{}, CANCELLED, WAITING], ids=["bind", "ending", "text"])
def test_a_write_that_never_succeeds_is_sent_with_backoff(
    host: Host, fault: Fault, run: dict[str, Any]
) -> None:
    host.transport = fault
    host.pod("py-0")
    host.run("r1", **run)
    for _ in range(60):
        if not host.step():
            break
    sent = len(host.requests)
    assert sent <= 4
    host.advance(60)
    assert sent < len(host.requests) <= 40


@pytest.mark.parametrize("run", [{}, CANCELLED, WAITING], ids=["bind", "ending", "text"])
def test_a_server_that_asks_for_time_gets_it(host: Host, run: dict[str, Any]) -> None:
    host.transport = refuse(429, retry_after=30)
    host.pod("py-0")
    host.run("r1", **run)
    host.advance(29)
    writes = len(host.requests)
    assert writes == 1
    host.advance(2)
    assert len(host.requests) > writes
