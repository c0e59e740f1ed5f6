"""What this host is called, towards plugins and in the errors about them."""

from kruntimes_core import __version__

HOST_API = "1.0"
"""The version of the hooks and value types. A plugin may restrict it: `host_api = ">=1,<2"`."""

HOST = f"kruntimes-core {__version__}"
