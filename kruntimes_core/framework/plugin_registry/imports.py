"""Importing one plugin, and nothing else, whatever its module does meanwhile.

pluggy's own `load_setuptools_entrypoints` finds the first claim to a name in the whole environment
and lets its exception through; loading the entry point itself keeps hold of whose it is.
"""

from __future__ import annotations

from kruntimes_core.framework.plugin_registry.discovery import DiscoveredPlugin
from kruntimes_core.framework.plugin_registry.failures import InvalidPlugin, describe_exception


def import_plugin(candidate: DiscoveredPlugin) -> object:
    """What the entry point of `candidate` names: a class, a module or an object.

    Raises `InvalidPlugin` for everything that the import raises, `SystemExit` included; only
    `KeyboardInterrupt` is the user's own and goes through.
    """
    if candidate.problem is not None:
        raise InvalidPlugin(candidate.problem)
    assert candidate.entry_point is not None
    try:
        return candidate.entry_point.load()
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        advice = f"correct or upgrade {candidate.distribution}"
        raise InvalidPlugin(f"{describe_exception(error)}: {advice}") from error
