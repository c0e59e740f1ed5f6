"""The operator's side: which plugins decide, in which order, with what weight and which arguments."""

from kruntimes_core.framework.configuration.failures import ConfigurationError
from kruntimes_core.framework.configuration.files import configuration_from, load_configuration
from kruntimes_core.framework.configuration.models import Configuration
from kruntimes_core.framework.configuration.profiles import build_profiles
from kruntimes_core.framework.configuration.states import ActivationState, PluginState, describe_plugins
from kruntimes_core.framework.profile import Profiles

__all__ = [
    "ActivationState",
    "Configuration",
    "ConfigurationError",
    "PluginState",
    "Profiles",
    "build_profiles",
    "configuration_from",
    "describe_plugins",
    "load_configuration",
]
