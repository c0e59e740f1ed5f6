"""From entry points to plugins that this host can trust to be asked: found, imported, checked, built."""

from kruntimes_core.framework.loading.catalog import Catalog, Installed
from kruntimes_core.framework.loading.failures import LoadError
from kruntimes_core.framework.loading.host import HOST, HOST_API
from kruntimes_core.framework.loading.manager import create_manager

__all__ = ["HOST", "HOST_API", "Catalog", "Installed", "LoadError", "create_manager"]
