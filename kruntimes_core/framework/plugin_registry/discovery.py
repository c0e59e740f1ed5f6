"""Which plugins the installed distributions name in their entry points, and the import of one of them.

pluggy would import the first claim to a name and skip a second one in silence; here every claim is kept,
with its owner, so that the host can refuse both and `plugins list` can show them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.metadata import Distribution, EntryPoint, distributions

from packaging.utils import canonicalize_name

from kruntimes_core.framework.plugin_registry.errors import InvalidPlugin, plugin_code

ENTRY_POINT_GROUP = "kruntimes.plugins"

_PLUGIN_NAME = re.compile(r"[A-Z][A-Za-z0-9]*")


@dataclass(frozen=True, slots=True)
class DiscoveredPlugin:
    """One claim of a distribution to a plugin name.

    problem: why it cannot be loaded whatever it names, or None. entry_point is None only then.
    """

    name: str
    distribution: str
    version: str
    entry_point: EntryPoint | None = None
    problem: str | None = None

    @property
    def origin(self) -> str:
        """Distribution, version and what the entry point names, for errors."""
        owner = f"{self.distribution} {self.version}"
        return owner if self.entry_point is None else f"{owner}, entry point {self.entry_point.value}"


def discover(installed: Iterable[Distribution] | None = None) -> tuple[DiscoveredPlugin, ...]:
    """Every claim in the group `kruntimes.plugins`, by plugin name and then by distribution.

    installed: the distributions to look at; all of this environment when None. One that is on the
    path twice (an editable install beside a built one) counts once, the first, as for `import`.
    """
    found: list[DiscoveredPlugin] = []
    seen: set[str] = set()
    for distribution in distributions() if installed is None else installed:
        key = canonicalize_name(distribution.metadata["Name"] or "")
        if key not in seen:
            candidates = list(_candidates(distribution))
            found.extend(candidates)
            if candidates:
                seen.add(key)
    return tuple(sorted(found, key=lambda claim: (claim.name, claim.distribution, claim.origin)))


def _candidates(distribution: Distribution) -> Iterator[DiscoveredPlugin]:
    text = distribution.read_text("entry_points.txt")
    if not text or ENTRY_POINT_GROUP not in text:
        return
    owner = distribution.metadata["Name"] or "an unnamed distribution"
    version = distribution.metadata["Version"] or "of unknown version"
    try:
        entry_points = list(distribution.entry_points.select(group=ENTRY_POINT_GROUP))
    except (TypeError, ValueError) as error:
        problem = f"its entry_points.txt cannot be read ({error}): reinstall {owner}"
        yield DiscoveredPlugin(owner, owner, version, problem=problem)
        return
    for entry_point in entry_points:
        yield DiscoveredPlugin(entry_point.name, owner, version, entry_point, _name_problem(entry_point.name))


def _name_problem(name: str) -> str | None:
    if _PLUGIN_NAME.fullmatch(name):
        return None
    return "a plugin's name is UpperCamelCase, as in RunAffinity: rename its entry point"


def import_plugin(discovered: DiscoveredPlugin) -> object:
    """What the entry point names: a class, a module or an object. Raises `InvalidPlugin`."""
    if discovered.problem is not None:
        raise InvalidPlugin(discovered.problem)
    assert discovered.entry_point is not None
    with plugin_code(advice=f"correct or upgrade {discovered.distribution}"):
        return discovered.entry_point.load()
