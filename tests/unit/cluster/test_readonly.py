"""A transport that cannot write lets reads through, and nothing else."""

from __future__ import annotations

import pytest
from virtual.time import run_virtual
from virtual.transport import FaultyTransport

from kruntimes_core.cluster.client.transport import Call, NotSentError, ReadOnlyTransport
from kruntimes_core.testing.harness import ObjectTracker

PATH = "/apis/kruntimes.io/v1alpha1/namespaces/team-a/runs/r1/status"


@pytest.mark.parametrize("method", ["PATCH", "PUT", "POST", "DELETE", "HEAD", "OPTIONS", "get", ""])
def test_what_is_no_read_never_reaches_the_server(method: str) -> None:
    api = FaultyTransport(ObjectTracker())
    transport = ReadOnlyTransport(api)
    call = Call(method=method, path=PATH, timeout_seconds=1)
    with pytest.raises(NotSentError, match="was not sent: a dry run only reads"):
        run_virtual(transport.request(call))
    with pytest.raises(NotSentError):
        transport.stream(call)
    assert (api.calls, transport.refused) == ([], 2)


def test_a_read_with_a_body_is_none() -> None:
    api = FaultyTransport(ObjectTracker())
    with pytest.raises(NotSentError):
        run_virtual(
            ReadOnlyTransport(api).request(Call(method="GET", path=PATH, body=b"{}", timeout_seconds=1))
        )
    assert api.calls == []


def test_reads_and_watches_go_through() -> None:
    async def main() -> None:
        api = FaultyTransport(ObjectTracker())
        transport = ReadOnlyTransport(api)
        listed = await transport.request(Call(method="GET", path="/api/v1/pods", timeout_seconds=1))
        assert listed.status == 200
        query = (("watch", "1"), ("resourceVersion", "1"), ("timeoutSeconds", "5"))
        watched = transport.stream(Call(method="GET", path="/api/v1/pods", query=query, timeout_seconds=9))
        assert await anext(watched) == b""
        await watched.aclose()
        await transport.close()
        assert api.closed
        assert [one.verb for _, one, _ in api.calls] == ["list", "watch"]

    run_virtual(main())
