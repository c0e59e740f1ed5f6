"""Reading a file that a user names, up to a bound: `/dev/zero` and a pipe may go on for ever.

Every such file is read here, so that none fills the memory before the user sees an error.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import BinaryIO

from kruntimes_core.model.messages import InputError
from kruntimes_core.model.yaml_text import YamlError

SETTINGS_BYTES = 16 << 20
"""Bound of a configuration or a kubeconfig: a ConfigMap holds 1 MB, a kubeconfig of 1,000 clusters 4 MB."""
MANIFEST_BYTES = 2 << 30
"""Bound of manifests in one file: 100,000 Runs of twenty kilobytes each, ten times what such Runs have."""
_STEP_BYTES = 1 << 20
_WIDE = (b"\xff\xfe", b"\xfe\xff")
"""How UTF-16 begins. In no other text is there a null byte."""


def read_file(path: str | Path, most: int) -> bytes:
    """The content of a file of at most `most` bytes.

    Raises `OSError`, `ValueError` for a name with a null byte, and what `read_stream` raises.
    """
    with Path(path).open("rb") as file:
        if os.fstat(file.fileno()).st_size > most:
            raise _too_large(str(path), most)
        return read_stream(file, str(path), most)


def read_stream(stream: BinaryIO, name: str, most: int) -> bytes:
    """The rest of a stream, at most `most` bytes. name: how errors name the stream.

    Raises `InputError` above `most` bytes, and `YamlError` at the first null byte: a device would give
    them up to the bound.
    """
    steps: list[bytes] = []
    left = most
    # A short step is the last one: in a terminal, the user would have to end the text twice.
    while not steps or len(steps[-1]) == _STEP_BYTES:
        step = stream.read(_STEP_BYTES)
        steps.append(step)
        left -= len(step)
        if left < 0:
            raise _too_large(name, most)
        if b"\0" in step and not steps[0].startswith(_WIDE):
            raise _no_text(name, steps)
    return b"".join(steps)


def _no_text(name: str, steps: list[bytes]) -> YamlError:
    before = b"".join(steps).partition(b"\0")[0]
    line = 1 + before.count(b"\n")
    return YamlError(f"{name}:{line}: this is not YAML text: there is a null byte in it: name a text file")


def _too_large(name: str, most: int) -> InputError:
    size = f"{most >> 30} GiB" if most >> 30 else f"{most >> 20} MiB"
    return InputError(f"{name} holds more than {size}, and is read no further: name a smaller file")
