"""The operator's side: which plugins decide, in which order, with what weight and which arguments."""

from kruntimes_core.framework.configuration.active_plugins import (
    SUPPLIED,
    ActivationState,
    BuildAttempts,
    PluginState,
    build_profiles,
    describe_plugins,
    plugins_document,
    to_install,
)
from kruntimes_core.framework.configuration.effective import (
    ActiveEntry,
    Setting,
    active_entries,
    effective_document,
    effective_settings,
)
from kruntimes_core.framework.configuration.files import configuration_from, load_configuration
from kruntimes_core.framework.configuration.models import Configuration, ConfigurationError
from kruntimes_core.framework.configuration.schema import configuration_schema
from kruntimes_core.framework.profile import Profiles

__all__ = [
    "SUPPLIED",
    "ActivationState",
    "ActiveEntry",
    "BuildAttempts",
    "Configuration",
    "ConfigurationError",
    "PluginState",
    "Profiles",
    "Setting",
    "active_entries",
    "build_profiles",
    "configuration_from",
    "configuration_schema",
    "describe_plugins",
    "effective_document",
    "effective_settings",
    "load_configuration",
    "plugins_document",
    "to_install",
]
