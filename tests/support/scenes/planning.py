"""Work that a planner may be given."""

from __future__ import annotations

from kruntimes_core.engine.plugin_work import Work
from kruntimes_core.framework.profile import ActivePlugin
from kruntimes_core.testing.harness import Host
from kruntimes_core.testing.plugins import profiles_of


def work_of(*plugins: ActivePlugin) -> Work:
    """A Run to be planned with these plugins on one Pod."""
    host = Host(profiles_of(*plugins))
    host.pod("py-0")
    host.run("r1")
    host.observe()
    return host.take()
