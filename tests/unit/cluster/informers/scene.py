"""Where tests of following begin."""

from __future__ import annotations

from virtual.site import Site


async def started(site: Site, runs: int = 1) -> None:
    """One Pod with room for `runs`, and a host that follows."""
    site.pod("py-0", runs=runs)
    site.start()
    await site.passes(1)
    assert site.why_not_ready() == []


def streams(site: Site, plural: str) -> list[object]:
    """The watches of a resource that are open."""
    return [stream for stream in site.api.streams if stream.plural == plural]
