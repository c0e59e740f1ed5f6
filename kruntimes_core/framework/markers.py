"""The two pluggy markers: plugins mark implementations, this host marks specifications."""

import pluggy

from kruntimes_core.framework.names import PROJECT

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)
