"""Distributions as an installer leaves them, in a folder of their own, and the command that meets them.

Nothing is built: a module, a `.dist-info` folder and the search path are all that an entry point needs.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from sysconfig import get_path
from textwrap import dedent

import kruntimes_core

Completed = subprocess.CompletedProcess[str]
COMMAND = Path(sys.executable).with_name("kruntimes")

_TOGETHER = 4
_PRELUDE = "from kruntimes_core import *\n"


def run_command(
    *arguments: str | Path,
    path: Iterable[Path] = (),
    variables: Mapping[str, str] | None = None,
    stdin: str | None = None,
) -> Completed:
    """The installed `kruntimes` in a process of its own. path: folders to find more distributions in."""
    environment = {**os.environ, "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8", **(variables or {})}
    environment["PYTHONPATH"] = os.pathsep.join(map(str, path))
    return subprocess.run(
        [COMMAND, *arguments],
        env=environment,
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
        timeout=50,
    )


def run_together(sites: Mapping[str, Site], *arguments: str | Path) -> dict[str, Completed]:
    """The command in each of these environments, some at the same time: for what waits for seconds."""
    with ThreadPoolExecutor(_TOGETHER) as pool:
        running = {name: pool.submit(_run_in, site, arguments) for name, site in sites.items()}
    return {name: ended.result() for name, ended in running.items()}


def _run_in(site: Site, arguments: tuple[str | Path, ...]) -> Completed:
    environment = {**os.environ, "NO_COLOR": "1", "PYTHONPATH": str(site.root), "HOME": str(site.root)}
    return subprocess.run(
        [COMMAND, *arguments], env=environment, capture_output=True, text=True, check=False, timeout=50
    )


class Site:
    """A folder like site-packages, beside the real one."""

    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir(exist_ok=True)

    def install(
        self, distribution: str, plugins: Mapping[str, str], *, version: str = "1.0", module: str = ""
    ) -> str:
        """Install a distribution. plugins: entry point name to source; `{name}` stands for the name.

        An entry point names the class of its own name. Returns the name of the module.
        """
        module = module or f"{distribution}_of_{self.root.parent.name}".replace("-", "_")
        source = "".join(dedent(text).replace("{name}", name) for name, text in plugins.items())
        (self.root / f"{module}.py").write_text(_PRELUDE + source)
        self.claim(distribution, [f"{name} = {module}:{name}" for name in plugins], version=version)
        return module

    def claim(self, distribution: str, entry_points: Iterable[str], *, version: str = "1.0") -> None:
        """Leave the metadata of a distribution with these entry points."""
        info = self.root / f"{distribution.replace('-', '_')}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n")
        (info / "entry_points.txt").write_text("[kruntimes.plugins]\n" + "\n".join(entry_points) + "\n")

    def run(self, *arguments: str | Path, variables: Mapping[str, str] | None = None) -> Completed:
        """`kruntimes` in an environment that has these distributions too."""
        return run_command(*arguments, path=[self.root], variables=variables)


class Without:
    """The environment of this process without some distributions: links to all that is left."""

    def __init__(self, root: Path, *distributions: str) -> None:
        self.root = root
        root.mkdir()
        gone = tuple(name.replace("-", "_") for name in distributions)
        for entry in self._installed():
            if entry.name.removesuffix(".dist-info").split("-")[0] not in gone:
                (root / entry.name).symlink_to(entry)

    @staticmethod
    def _installed() -> dict[Path, None]:
        folders = (get_path("purelib"), get_path("platlib"), Path(kruntimes_core.__file__).parents[1])
        entries = {entry.name: entry for folder in folders for entry in Path(folder).iterdir()}
        return dict.fromkeys(entries.values())

    def run(self, *arguments: str | Path) -> Completed:
        """`kruntimes`, told to look for packages in `root` and in the standard library alone."""
        environment = {**os.environ, "NO_COLOR": "1", "PYTHONPATH": str(self.root)}
        return subprocess.run(
            [sys.executable, "-S", "-m", "kruntimes_core.cli", *arguments],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=50,
        )
