"""The file that leads kubectl, and any other client, to a development cluster."""

from __future__ import annotations

import errno
import fcntl
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from kruntimes_core.model.messages import InputError

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
    """Where the file goes by default: into a folder of the user alone, because a kubeconfig can make a client
    run programs. Raises `InputError` for a user without a home.
    """
    # https://specifications.freedesktop.org/basedir: a relative path does not count.
    named = (environment.get(name, "") for name in ("XDG_RUNTIME_DIR", "XDG_CACHE_HOME"))
    home = environment.get("HOME") or os.path.expanduser("~")
    base = next(filter(os.path.isabs, named), os.path.join(home, ".cache"))
    if not os.path.isabs(base):
        raise InputError("this user has no home folder for the kubeconfig: give --kubeconfig-out FILE")
    return Path(base) / "kruntimes" / f"dev-{port}.kubeconfig"


@contextmanager
def kubeconfig(path: Path, url: str) -> Iterator[None]:
    """While it is entered, the file exists, and a lock on it tells other processes that its cluster runs.

    Raises `InputError` where it cannot be written, where the cluster of another `kruntimes dev` still runs,
    and for any other file that is not empty: a kubeconfig may hold credentials.
    """
    text = _MARK + _TEXT.format(name=_NAME, url=url)
    try:
        locked = _write(path, text)
    except OSError as error:
        raise InputError(
            f"cannot write the kubeconfig {path}: {error.strerror}: choose another --kubeconfig-out"
        ) from error
    with locked:
        try:
            yield
        finally:
            if _is_ours(path, text):
                path.unlink(missing_ok=True)


def _write(path: Path, text: str) -> IO[str]:
    """Returns the file, which stays locked while it is open."""
    _create_folder(path.parent)
    with _replaceable(path):
        # Whole or not at all: a script waits for the file, and reads it as soon as it exists.
        handle, beside = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        file = open(handle, "w", encoding="utf-8")  # noqa: SIM115 - open while the cluster runs
        try:
            os.fchmod(handle, 0o600)
            file.write(text)
            file.flush()
            _lock(file)
            os.replace(beside, path)
        except BaseException:
            file.close()
            Path(beside).unlink(missing_ok=True)
            raise
    return file


def _create_folder(folder: Path) -> None:
    """Create a folder, and those above it, for the user alone: a plugin may have changed the umask."""
    for one in reversed([folder, *folder.parents]):
        if not one.exists():
            one.mkdir(mode=0o700, exist_ok=True)
            one.chmod(0o700)


@contextmanager
def _replaceable(path: Path) -> Iterator[None]:
    """While it is entered, no other `kruntimes dev` replaces the file.

    Raises: `InputError` unless it is empty or was left by a process that is gone: the kernel frees its lock.
    """
    if not path.exists():
        yield
        return
    if not path.is_file() and not path.is_dir():
        raise InputError(f"{path} is not a regular file: choose another --kubeconfig-out")
    with path.open("r+", encoding="utf-8", errors="replace") as held:
        if held.read(len(_MARK)) not in ("", _MARK):
            raise InputError(
                f"{path} is not from kruntimes dev: remove it, or choose another --kubeconfig-out"
            )
        if not _lock(held):
            running = "belongs to another kruntimes dev that is still running"
            raise InputError(f"{path} {running}: stop it, or choose another --kubeconfig-out")
        yield


def _lock(file: IO[str]) -> bool:
    """Lock the file; False if another process holds the lock. A file system without locks counts as free."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno != errno.EWOULDBLOCK
    return True


def _is_ours(path: Path, text: str) -> bool:
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.read(len(text) + 1) == text
    except OSError:
        return False
