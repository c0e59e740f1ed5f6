"""From entry points to plugins that this host can trust to be asked: found, imported, checked, built."""

from kruntimes_core.framework.plugin_registry.catalog import Catalog, LoadedPlugin
from kruntimes_core.framework.plugin_registry.failures import LoadError
from kruntimes_core.framework.plugin_registry.host import HOST, HOST_API
from kruntimes_core.framework.plugin_registry.manager import create_manager

__all__ = ["HOST", "HOST_API", "Catalog", "LoadError", "LoadedPlugin", "create_manager"]
