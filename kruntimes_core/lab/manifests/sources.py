"""Where manifests come from: files, folders and standard input, named as kubectl's `-f` names them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from kruntimes_core.model.messages import InputError
from kruntimes_core.model.yaml_files import MANIFEST_BYTES, read_file, read_stream

DUMP_COMMAND = "kubectl get runs,pods,persistentworkspaces -A -o yaml"
"""What prints all that a plan needs of a cluster."""
STANDARD_INPUT = "-"
_ITS_NAME = "<stdin>"
# What a folder is searched for, as kubectl does: this folder alone, nothing below it.
MANIFEST_SUFFIXES = frozenset({".yaml", ".yml", ".json"})
_WHAT_TO_NAME = "name a file, a folder, or - for standard input"


@dataclass(frozen=True, slots=True)
class Source:
    """One file with manifests; `name` is what errors call it."""

    name: str
    content: bytes = field(repr=False)


def read_sources(filenames: Iterable[str], standard_input: BinaryIO) -> Iterator[Source]:
    """Read what `-f` names, in the given order.

    In: file names, folder names (their `*.yaml`, `*.yml` and `*.json`, by name) and `-`, which is
    read once however often it is named. Raises: `InputError` for what is missing, unreadable or too large.
    """
    unread = True
    for filename in filenames:
        if filename != STANDARD_INPUT:
            yield from _files(filename)
        elif unread:
            unread = False
            yield Source(_ITS_NAME, read_stream(standard_input, _ITS_NAME, MANIFEST_BYTES))


def _files(filename: str) -> Iterator[Source]:
    if not filename:
        raise InputError(f"-f is empty: {_WHAT_TO_NAME}")
    path = Path(filename)
    for file in _manifests_in(path) if path.is_dir() else [path]:
        yield Source(str(file), _content(file))


def _manifests_in(folder: Path) -> list[Path]:
    try:
        entries = sorted(folder.iterdir())
    except OSError as error:
        raise InputError(f"cannot read the folder {folder}: {_reason(error)}: {_WHAT_TO_NAME}") from error
    found = [entry for entry in entries if entry.suffix in MANIFEST_SUFFIXES and not entry.is_dir()]
    if not found:
        raise InputError(f"no *.yaml, *.yml or *.json file in the folder {folder}: {_WHAT_TO_NAME}")
    return found


def _content(file: Path) -> bytes:
    try:
        return read_file(file, MANIFEST_BYTES)
    except FileNotFoundError as error:
        raise InputError(f"{file} does not exist: {_WHAT_TO_NAME}") from error
    except (OSError, ValueError) as error:
        # A ValueError is a name with a null byte in it.
        raise InputError(f"cannot read {file}: {_reason(error)}: {_WHAT_TO_NAME}") from error


def _reason(error: OSError | ValueError) -> str:
    return str(getattr(error, "strerror", None) or error).lower()
