"""Metadata of others stops nothing, and who ships a plugin is known or told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kruntimes_core.framework.plugin_registry.discovery import DiscoveredPlugin, discover

OURS = b"[kruntimes.plugins]\nAlpha = nowhere:Alpha\n"
FOREIGN = b"[console_scripts]\nold = nowhere:main\n"
NAMED = b"Metadata-Version: 2.1\nName: acme\nVersion: 1\n"


def leave(root: Path, folder: str, metadata: bytes | None, entry_points: bytes | None) -> Path:
    """The folder that an installer would leave. None: without that file."""
    info = root / folder
    info.mkdir(parents=True)
    if metadata is not None:
        (info / "METADATA").write_bytes(metadata)
    if entry_points is not None:
        (info / "entry_points.txt").write_bytes(entry_points)
    return info


BROKEN = [
    (NAMED + b"Summary: caf\xe9\n", OURS, "METADATA is not UTF-8"),
    (None, OURS, "METADATA has no name"),
    (b"Metadata-Version: 2.1\nVersion: 1\n", OURS, "METADATA has no name"),
    (b"Name: \n", OURS, "METADATA has no name"),
    (NAMED, OURS + b"[console_scripts]\nno equals sign\n", "entry_points.txt"),
    (NAMED, b"[kruntimes.plugins]\n= nameless:Alpha\n", ""),
    (NAMED, OURS + b"# caf\xe9\n", "entry_points.txt"),
    (NAMED + b"Summary: caf\xe9\n", OURS + b"no equals sign\n", "entry_points.txt"),
]


@pytest.mark.parametrize(("metadata", "entry_points", "problem"), BROKEN)
def test_what_may_be_a_plugin_is_broken_and_names_its_folder(
    environment: Any, metadata: bytes | None, entry_points: bytes, problem: str
) -> None:
    leave(environment.root, "acme-1.dist-info", metadata, entry_points)
    [found] = discover(environment.distributions())
    assert found.problem is not None
    assert problem in found.problem
    if problem:
        assert str(environment.root / "acme-1.dist-info") in found.problem
        assert "reinstall" in found.problem


@pytest.mark.parametrize(
    ("metadata", "entry_points"),
    [
        (NAMED + b"Summary: caf\xe9\n", FOREIGN),
        (NAMED + b"Summary: caf\xe9\n", None),
        (None, None),
        (None, FOREIGN),
        (NAMED, b"[console_scripts]\nno equals sign\n"),
        (NAMED, b"no section = here\n"),
        (NAMED, FOREIGN + b"# caf\xe9\n"),
        (NAMED, b"\xff\xfe\x00\x01"),
    ],
)
def test_what_is_no_plugin_does_not_matter(
    environment: Any, metadata: bytes | None, entry_points: bytes | None
) -> None:
    leave(environment.root, "acme-1.dist-info", metadata, entry_points)
    assert discover(environment.distributions()) == ()


def test_entry_points_that_may_not_be_read_may_be_a_plugins(environment: Any) -> None:
    unreadable = leave(environment.root, "acme-1.dist-info", NAMED, None) / "entry_points.txt"
    unreadable.mkdir()
    loop = (
        leave(environment.root, "zoo-1.dist-info", NAMED.replace(b"acme", b"zoo"), None) / "entry_points.txt"
    )
    loop.symlink_to(loop)
    found = discover(environment.distributions())
    assert [(one.name, "cannot be read" in str(one.problem)) for one in found] == [
        ("acme", True),
        ("zoo", True),
    ]


# Identity


def test_two_distributions_without_a_name_are_two(environment: Any) -> None:
    for folder in ("one-1.dist-info", "two-1.dist-info"):
        leave(environment.root, folder, None, OURS)
    assert [one.distribution for one in discover(environment.distributions())] == ["one-1", "two-1"]


def test_what_pip_left_behind_is_no_distribution(environment: Any) -> None:
    leave(environment.root, "~cme-1.dist-info", NAMED, OURS)
    leave(environment.root, "~-me-1.dist-info", NAMED, OURS)
    assert discover(environment.distributions()) == ()


def versions(found: tuple[DiscoveredPlugin, ...]) -> tuple[list[str], list[str]]:
    counting = [one.version for one in found if one.shadowed_by is None]
    return counting, [one.version for one in found if one.shadowed_by is not None]


def test_of_two_versions_the_first_on_the_path_counts_and_in_one_folder_the_newest(environment: Any) -> None:
    for place, version in (("first", "1.0"), ("second", "2.0"), ("both", "9.0"), ("both", "10.0")):
        environment.claim("acme", version, "Alpha = nowhere:Alpha", folder=place)
    assert versions(discover(environment.distributions("first", "second"))) == (["1.0"], ["2.0"])
    assert versions(discover(environment.distributions("second", "first"))) == (["2.0"], ["1.0"])
    assert versions(discover(environment.distributions("both"))) == (["10.0"], ["9.0"])
    assert versions(discover(environment.distributions("first", "first"))) == (["1.0"], [])


PLUGIN = "from kruntimes_core import hookimpl\nclass Alpha:\n    @hookimpl\n    def filter(self, pod): ...\n"


def ship(root: Path, distribution: str, entry: str, files: dict[str, str], *, listed: bool = True) -> None:
    """Install a distribution with a list of its files."""
    info = leave(
        root,
        f"{distribution}-1.dist-info",
        NAMED.replace(b"acme", distribution.encode()),
        f"[kruntimes.plugins]\n{entry}\n".encode() if entry else None,
    )
    for name, source in files.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(source)
    if listed:
        (info / "RECORD").write_text("".join(f"{name},,\n" for name in files))


@pytest.mark.parametrize("file", ["{0}.py", "{0}/__init__.py"])
@pytest.mark.parametrize("theirs", [PLUGIN, "x = 1", "1 / 0"])
def test_a_module_of_another_distribution_does_not_answer_for_a_plugin(
    environment: Any, monkeypatch: pytest.MonkeyPatch, file: str, theirs: str
) -> None:
    module = f"shared_{environment.root.name}".replace("-", "_")
    environment.modules.append(module)
    ship(environment.root / "zoo", "zoo", "", {file.format(module): theirs})
    ship(environment.root / "acme", "acme", f"Alpha = {module}:Alpha", {f"{module}.py": PLUGIN})
    monkeypatch.syspath_prepend(environment.root / "acme")
    monkeypatch.syspath_prepend(environment.root / "zoo")
    cause = environment.registry(environment.distributions("zoo", "acme")).error("Alpha").cause
    assert f"its module {module} is shipped by acme and by zoo 1" in cause
    assert str(environment.root / "zoo") in cause


@pytest.mark.parametrize(("listed", "others"), [(False, True), (True, False)])
def test_without_both_lists_there_is_no_verdict(
    environment: Any, monkeypatch: pytest.MonkeyPatch, listed: bool, others: bool
) -> None:
    module = f"shared_{environment.root.name}".replace("-", "_")
    environment.modules.append(module)
    ship(environment.root / "zoo", "zoo", "", {f"{module}.py": PLUGIN}, listed=others)
    ship(
        environment.root / "acme", "acme", f"Alpha = {module}:Alpha", {f"{module}.py": PLUGIN}, listed=listed
    )
    monkeypatch.syspath_prepend(environment.root / "acme")
    monkeypatch.syspath_prepend(environment.root / "zoo")
    assert environment.registry(environment.distributions("zoo", "acme")).error("Alpha") is None
