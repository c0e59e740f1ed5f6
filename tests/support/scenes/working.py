"""What happens while a Run is in work."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from kruntimes_core.testing.harness import Host


@contextmanager
def in_work(host: Host) -> Iterator[None]:
    """Work was taken before what happens inside, and is finished once that was observed."""
    host.observe()
    work = host.take()
    yield
    host.observe()
    host.finish(work)
