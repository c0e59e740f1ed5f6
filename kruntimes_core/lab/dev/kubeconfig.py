"""The file that leads kubectl, and any other client, to a development cluster."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from kruntimes_core.model.errors import InputError

_NAME = "kruntimes-dev"
_MARK = "# Written by `kruntimes dev`, which removes it when it ends.\n"
_TEXT = """\
apiVersion: v1
kind: Config
current-context: {name}
clusters:
- name: {name}
  cluster: {{server: "{url}"}}
users:
- name: {name}
  user: {{}}
contexts:
- name: {name}
  context: {{cluster: {name}, user: {name}, namespace: default}}
"""


def default_path(port: int, environment: Mapping[str, str]) -> Path:
    """Where the file goes if nobody says: into a folder that is the user's alone, because a kubeconfig
    can make a client run programs.
    """
    runtime, cache = environment.get("XDG_RUNTIME_DIR"), environment.get("XDG_CACHE_HOME")
    base = Path(runtime or cache or Path.home() / ".cache")
    return base / "kruntimes" / f"dev-{port}.kubeconfig"


@contextmanager
def kubeconfig(path: Path, url: str) -> Iterator[None]:
    """While it is entered, the file is there. Raises `InputError` where it cannot be written, and for a
    file that somebody else wrote: a kubeconfig holds what nobody wants to lose.
    """
    text = _MARK + _TEXT.format(name=_NAME, url=url)
    try:
        _write(path, text)
    except OSError as error:
        raise InputError(
            f"cannot write the kubeconfig {path}: {error.strerror}: choose another --kubeconfig-out"
        ) from error
    try:
        yield
    finally:
        if _is_ours(path, text):
            path.unlink(missing_ok=True)


def _write(path: Path, text: str) -> None:
    if path.exists():
        _check_replaceable(path)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # Whole or not at all: a script waits for the file, and reads it as soon as it is there.
    handle, beside = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with open(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(beside, path)
    except BaseException:
        Path(beside).unlink(missing_ok=True)
        raise


def _check_replaceable(path: Path) -> None:
    """Raises: `InputError` for what is not to be lost. An empty file is nobody's loss."""
    if not path.is_file() and not path.is_dir():
        raise InputError(f"{path} is no file, and would be replaced by one: choose another --kubeconfig-out")
    held = path.read_text(errors="replace")
    if held and not held.startswith(_MARK):
        raise InputError(f"{path} holds something else: remove it, or choose another --kubeconfig-out")


def _is_ours(path: Path, text: str) -> bool:
    try:
        return path.read_text() == text
    except OSError:
        return False
