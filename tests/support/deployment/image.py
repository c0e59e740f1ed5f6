"""An image in a folder in place of `/`, and processes in it, without a container engine."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from deployment.dockerfile import expand

# Folders of the image that our Dockerfiles and the chart name; all others are those of this machine.
_FOLDERS = re.compile(r"(?<![\w./*)-])/(?=(?:build|etc/kruntimes|mnt|opt|plugins|src|tmp|wheels)\b)")
_SHIMS = {"python": 'exec {python} "$@"', "pip": 'exec {python} -m pip "$@"'}
"""What the base image brings."""


class BuildError(Exception):
    """A command of a Dockerfile failed: the command and what it printed."""


@dataclass(frozen=True, slots=True)
class Image:
    """What a Dockerfile made: a folder, and how processes are started in it."""

    root: Path
    variables: Mapping[str, str] = field(default_factory=dict)
    user: str = "0:0"
    entry_point: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)

    def inside(self, text: str) -> str:
        """A text with the folders of the image where they really are."""
        return _FOLDERS.sub(f"{self.root}/", text)

    def path(self, name: str) -> Path:
        """A path of the image."""
        return self.root / name.lstrip("/")

    def copied_to(self, root: Path) -> Image:
        """The same image in another folder, so that a test may change it."""
        shutil.copytree(self.root, root, symlinks=True)
        for path in (*root.glob("opt/*/bin/*"), *root.glob("opt/*/lib/*/site-packages/*.pth")):
            text = b"" if path.is_symlink() else path.read_bytes()
            if bytes(self.root) in text:
                path.write_bytes(text.replace(bytes(self.root), bytes(root)))
        return Image(root, self.variables, self.user, self.entry_point, self.command, self.labels)

    @property
    def environment(self) -> dict[str, str]:
        """The environment of a process in a container: the image's own, and how pip reaches its index."""
        mine = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "SSL_"))}
        base = {"PATH": f"{self._shims()}:{os.environ['PATH']}"}
        given = {name: expand(self.inside(value), base) for name, value in self.variables.items()}
        return {**base, "HOME": "/", **mine, **given}

    def shell(self, script: str, extra: Mapping[str, str], folder: Path) -> str:
        """Run a script as the builder would, as root; gives what it printed. Raises `BuildError`."""
        done = subprocess.run(
            ["/bin/sh", "-ec", f"umask 022; {self.inside(script)}"],
            cwd=folder,
            env={**self.environment, **extra},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if done.returncode:
            raise BuildError(f"{script}\n{done.stdout}")
        return done.stdout

    def run(self, *command: str, writes: bool = False) -> subprocess.CompletedProcess[str]:
        """Run a command as a container would: as the image's user, on a file system that it only reads.

        writes: it may write where its user may, as in a volume.
        """
        arguments = self.process(*map(self.inside, command), writes=writes)
        return subprocess.run(arguments, cwd=self.root, capture_output=True, text=True, check=False)

    def process(self, *command: str, writes: bool = False) -> list[str]:
        """What has to be started for that; paths in the command are those of this machine."""
        environment = [f"{name}={value}" for name, value in self.environment.items()]
        # No file can grow; what is not the user's own cannot be made either.
        limit = "" if writes else "ulimit -f 0; "
        script = ["/bin/sh", "-c", f'{limit}exec "$@"', "sh"]
        return ["/usr/bin/env", "-i", *environment, *script, *self._as_user(), *command]

    def _as_user(self) -> list[str]:
        """Root becomes the user, and keeps one right: to pass the folders above the image."""
        if os.geteuid() != 0:
            return []
        user, group = self.user.split(":")
        keeps = [f"--{kind}-caps=-all,+dac_read_search" for kind in ("inh", "ambient", "bounding")]
        keeps[-1] = "--bounding-set=-all,+dac_read_search"
        return ["setpriv", f"--reuid={user}", f"--regid={group}", "--clear-groups", "--no-new-privs", *keeps]

    def _shims(self) -> Path:
        folder = self.root.with_name(f"{self.root.name}-base")
        folder.mkdir(exist_ok=True)
        for name, body in _SHIMS.items():
            shim = folder / name
            if not shim.exists():
                shim.write_text(f"#!/bin/sh\n{body.format(python=sys.executable)}\n")
                shim.chmod(0o755)
        return folder
