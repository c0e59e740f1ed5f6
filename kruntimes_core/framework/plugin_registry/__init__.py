"""From entry points to plugins that this host can safely call: discovered, imported, checked and built."""

from kruntimes_core.framework.plugin_registry.checks import CAPACITY
from kruntimes_core.framework.plugin_registry.discovery import DiscoveredPlugin
from kruntimes_core.framework.plugin_registry.errors import (
    HOST_API,
    HangingPluginError,
    InvalidPlugin,
    LoadError,
    plugin_code,
)
from kruntimes_core.framework.plugin_registry.registry import (
    LoadedPlugin,
    PluginRegistry,
    build_plugin,
)

__all__ = [
    "CAPACITY",
    "HOST_API",
    "DiscoveredPlugin",
    "HangingPluginError",
    "InvalidPlugin",
    "LoadError",
    "LoadedPlugin",
    "PluginRegistry",
    "build_plugin",
    "plugin_code",
]
