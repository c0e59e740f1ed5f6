"""The claims of installed distributions to plugin names, read from their metadata without an import.

The environment is full of other people's distributions, some of them broken. Their metadata stops nothing:
what cannot be a plugin is left out, and what may be one is a claim with a problem that names its folder.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib.metadata import Distribution, EntryPoint, distributions
from importlib.util import find_spec
from pathlib import Path

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

ENTRY_POINT_GROUP = "kruntimes.plugins"

_PLUGIN_NAME = re.compile(r"[A-Z][A-Za-z0-9]*")
_ENTRY_POINTS = "entry_points.txt"
_UNKNOWN_VERSION = "of unknown version"
# pip renames the folders of what it replaces, and leaves them behind where it was interrupted.
_LEFTOVER = "~"


@dataclass(frozen=True, slots=True)
class DiscoveredPlugin:
    """One claim of a distribution to a plugin name.

    problem: why it cannot be loaded whatever it names, or None. entry_point is None only then.
    shadowed_by: the distribution of the same name, first on the path, that counts instead of this one.
    """

    name: str
    distribution: str
    version: str
    entry_point: EntryPoint | None = None
    problem: str | None = None
    shadowed_by: str | None = None

    @property
    def origin(self) -> str:
        """Distribution, version and what the entry point names, for errors."""
        owner = f"{self.distribution} {self.version}"
        return owner if self.entry_point is None else f"{owner}, entry point {self.entry_point.value}"


@dataclass(frozen=True, slots=True)
class _Metadata:
    """What is known of a distribution. problem: why its own word is not enough; name is then its folder's."""

    distribution: Distribution
    folder: str
    name: str
    version: str
    problem: str | None


def discover(installed: Iterable[Distribution] | None = None) -> tuple[DiscoveredPlugin, ...]:
    """Every claim in the group `kruntimes.plugins`, by plugin name and then by distribution.

    installed: the distributions to look at; all of this environment when None. Of several with one name the
    first on the path counts, as for `import`, and in one folder the newest version; what the others claim
    beyond or otherwise is `shadowed_by` it. Distributions without a name are different ones.
    """
    found: list[DiscoveredPlugin] = []
    counting: dict[str, tuple[_Metadata, list[DiscoveredPlugin]]] = {}
    for metadata in _in_order(distributions() if installed is None else installed):
        claims = list(_claims(metadata))
        if not claims:
            continue
        first, known = counting.setdefault(_identity(metadata), (metadata, claims))
        if known is claims:
            found.extend(claims)
        elif first.version != metadata.version or _named(known) != _named(claims):
            by = f"{first.name} {first.version} in {first.folder}"
            found.extend(replace(claim, shadowed_by=by) for claim in claims)
    return tuple(sorted(found, key=lambda claim: (claim.name, claim.distribution, claim.origin)))


def changed_owners(before: Iterable[DiscoveredPlugin], after: Iterable[DiscoveredPlugin]) -> dict[str, str]:
    """What was installed, upgraded or removed between two discoveries, by distribution: `1.0 -> 1.1`.

    Of shadowed claims nothing was imported, so they do not count.
    """
    then, now = _owners(before), _owners(after)
    return {
        owner: _change(then.get(owner), now.get(owner))
        for owner in sorted({*then, *now})
        if then.get(owner) != now.get(owner)
    }


def other_owner(entry_point: EntryPoint, installed: Iterable[Distribution] | None = None) -> str | None:
    """Whose module an import of `entry_point` gave, where that is another distribution's of the same name.

    Both are known by the lists of their files. Where the owner of the entry point lists no such module (it is
    an editable install, or names what another package exports), there is no verdict, and None.
    """
    owner, path = entry_point.dist, _imported_file(entry_point.module)
    if owner is None or path is None:
        return None
    file, prefix = path
    listed = _located(owner, prefix)
    if not listed or file in listed:
        return None
    for other in distributions() if installed is None else installed:
        if file in _located(other, prefix):
            known = _metadata(other)
            return f"{known.name} {known.version} ({file})"
    return None


# Owners

OTHER_FILES = " with other files"
"""How a change of a distribution ends that kept its version."""

_Owner = tuple[str, frozenset[tuple[str, str | None]]]
"""The version of a distribution, and what it names in its entry points."""


def owner_key(claim: DiscoveredPlugin) -> str:
    """The name of a claim's distribution, in the spelling in which equal names are equal."""
    return str(canonicalize_name(claim.distribution))


def _owners(claims: Iterable[DiscoveredPlugin]) -> dict[str, _Owner]:
    by_owner: dict[str, list[DiscoveredPlugin]] = {}
    for claim in claims:
        if claim.shadowed_by is None:
            by_owner.setdefault(owner_key(claim), []).append(claim)
    return {owner: (found[0].version, frozenset(_named(found))) for owner, found in by_owner.items()}


def _change(then: _Owner | None, now: _Owner | None) -> str:
    versions = [owner[0] if owner is not None else "none" for owner in (then, now)]
    return " -> ".join(versions) + (OTHER_FILES if versions[0] == versions[1] else "")


# Metadata


def _in_order(installed: Iterable[Distribution]) -> Iterator[_Metadata]:
    """In the order of the path; in one folder the newest version of a distribution first."""
    known = [_metadata(one) for one in installed]
    places = {parent: number for number, parent in reversed(list(enumerate(map(_parent, known))))}
    known.sort(key=_version, reverse=True)
    known.sort(key=lambda one: places[_parent(one)])
    return (one for one in known if not Path(one.folder).name.startswith(_LEFTOVER))


def _metadata(distribution: Distribution) -> _Metadata:
    # The folder is in no public attribute; a distribution that is not a folder has its class's name.
    folder = str(getattr(distribution, "_path", type(distribution).__name__))
    name, version, problem = "", "", None
    try:
        # Not `distribution.name`, which fails in its own way in each version of Python.
        headers = distribution.metadata
        if headers is not None:
            name, version = (headers[key] or "" if key in headers else "" for key in ("Name", "Version"))
    except UnicodeDecodeError:
        problem = "its METADATA is not UTF-8"
    except Exception as error:  # noqa: BLE001 - whatever others' metadata make the standard library raise
        problem = f"its METADATA cannot be read ({error})"
    if problem is None and not name:
        problem = "its METADATA has no name"
    if problem is not None:
        problem = f"{problem} (in {folder}): reinstall that distribution, or remove the folder"
    stem = Path(folder).name.rpartition(".")[0] or Path(folder).name
    return _Metadata(distribution, folder, name or stem, version or _UNKNOWN_VERSION, problem)


def _identity(metadata: _Metadata) -> str:
    return metadata.folder if metadata.problem else str(canonicalize_name(metadata.name))


def _parent(metadata: _Metadata) -> str:
    return str(Path(metadata.folder).parent)


def _version(metadata: _Metadata) -> Version:
    try:
        return Version(metadata.version)
    except InvalidVersion:
        return Version("0")


# Entry points


def _claims(metadata: _Metadata) -> Iterator[DiscoveredPlugin]:
    try:
        text = _entry_points_text(metadata)
        if ENTRY_POINT_GROUP not in text:
            return
        entry_points = metadata.distribution.entry_points.select(group=ENTRY_POINT_GROUP)
        found = [(one, one.name) for one in entry_points if one.module is not None]
    except Exception as error:  # noqa: BLE001 - as above; each version of Python raises others
        problem = (
            f"its {_ENTRY_POINTS} (in {metadata.folder}) cannot be read ({_why_unreadable(error)}): reinstall"
            f" {metadata.name}"
        )
        yield DiscoveredPlugin(metadata.name, metadata.name, metadata.version, problem=problem)
        return
    unfit = "a plugin's name is UpperCamelCase, as in RunAffinity: rename its entry point"
    for entry_point, name in found:
        fits = _PLUGIN_NAME.fullmatch(name) is not None
        wrong = metadata.problem or (None if fits else unfit)
        yield DiscoveredPlugin(name, metadata.name, metadata.version, entry_point, wrong)


def _entry_points_text(metadata: _Metadata) -> str:
    """The text of the file, empty where there is none. Raises what keeps it from being read.

    What is not UTF-8 and does not mention our group in plain letters is not a plugin: no error.
    """
    try:
        text = metadata.distribution.read_text(_ENTRY_POINTS)
    except UnicodeDecodeError as error:
        if ENTRY_POINT_GROUP.encode() in bytes(error.object):
            raise
        return ""
    if text is None:
        _check_absent(metadata)
    return text or ""


def _check_absent(metadata: _Metadata) -> None:
    """Raises `OSError` for a file that is there: the standard library says "none" if it may not read one."""
    folder = getattr(metadata.distribution, "_path", None)
    if isinstance(folder, Path) and folder.is_dir():
        try:
            (folder / _ENTRY_POINTS).read_bytes()
        except FileNotFoundError:
            return


def _named(claims: Iterable[DiscoveredPlugin]) -> set[tuple[str, str | None]]:
    return {
        (claim.name, claim.entry_point.value if claim.entry_point is not None else None) for claim in claims
    }


def _why_unreadable(error: Exception) -> str:
    """What is wrong with the file; of a line without `=`, each version of Python says something else."""
    if isinstance(error, OSError):
        return error.strerror or type(error).__name__
    return "it is not UTF-8" if isinstance(error, UnicodeError) else "a line of it is not `name = value`"


# Files


def module_changed_at(module: str) -> int | None:
    """When the file of an imported module was last changed, in nanoseconds; None where there is none."""
    file = getattr(sys.modules.get(module), "__file__", None)
    try:
        return Path(file).stat().st_mtime_ns if isinstance(file, str) else None
    except OSError:
        return None


def _imported_file(module: str) -> tuple[Path, tuple[str, ...]] | None:
    """The file of the outermost package or module with one (a namespace has none), and its dotted parts."""
    parts = tuple(module.split("."))
    for length in range(1, len(parts) + 1):
        file = getattr(sys.modules.get(".".join(parts[:length])), "__file__", None)
        if isinstance(file, str):
            return Path(file).resolve(), parts[:length]
    # Its import failed. To look for a module without a dot imports nothing.
    with suppress(ImportError, ValueError):
        spec = find_spec(parts[0])
        if spec is not None and spec.has_location and spec.origin is not None:
            return Path(spec.origin).resolve(), parts[:1]
    return None


def _located(distribution: Distribution, prefix: tuple[str, ...]) -> frozenset[Path]:
    """The files of a module or package that a distribution lists, as they lie on the disk."""
    try:
        return frozenset(
            Path(str(distribution.locate_file(file))).resolve()
            for file in distribution.files or ()
            if _belongs(file.parts, prefix)
        )
    except Exception:  # noqa: BLE001 - a list that cannot be read is no list
        return frozenset()


def _belongs(parts: tuple[str, ...], prefix: tuple[str, ...]) -> bool:
    last = len(prefix) - 1
    if parts[:last] != prefix[:last] or len(parts) <= last:
        return False
    name = parts[last]
    return name == prefix[last] if len(parts) > len(prefix) else name.split(".")[0] == prefix[last]
