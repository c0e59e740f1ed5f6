"""What a user names is read up to a bound, and no further than it takes to see that it is no text."""

from __future__ import annotations

import io
import os
import re
from pathlib import Path

import pytest

from kruntimes_core.model.messages import InputError
from kruntimes_core.model.yaml_files import MANIFEST_BYTES, SETTINGS_BYTES, read_file, read_stream

MIB = 1 << 20


class Endless(io.RawIOBase):
    """Goes on for ever with one byte, and counts what was taken of it."""

    def __init__(self, byte: bytes) -> None:
        self.taken = 0
        self._byte = byte

    def read(self, size: int = -1) -> bytes:
        self.taken += size
        return self._byte * size


class Terminal(io.BytesIO):
    """Ends once: who reads on after its end waits for more."""

    ended = False

    def read(self, size: int | None = -1) -> bytes:
        assert not self.ended
        step = super().read(size)
        self.ended = len(step) != size
        return step


@pytest.mark.parametrize("size", [0, 1, MIB - 1, MIB, MIB + 1, 3 * MIB])
def test_all_is_read_up_to_the_bound_whatever_it_is_read_from(tmp_path: Path, size: int) -> None:
    content = os.urandom(1024).hex().encode() * (size // 2048) + b"x" * (size % 2048)
    assert read_stream(Terminal(content), "t", size) == content
    (tmp_path / "f").write_bytes(content)
    assert read_file(tmp_path / "f", size) == content


@pytest.mark.parametrize("most", [1, MIB, 3 * MIB])
def test_what_goes_on_is_left_where_the_bound_is(most: int) -> None:
    endless = Endless(b"\n")
    with pytest.raises(
        InputError, match=r"^<stdin> holds more than . MiB, and is read no further: name a sm"
    ):
        read_stream(endless, "<stdin>", most)  # type: ignore[arg-type]
    assert endless.taken <= most + MIB


def test_what_is_no_text_is_left_at_once() -> None:
    endless = Endless(b"\0")
    with pytest.raises(InputError, match=r"^z:1: this is not YAML text: there is a null byte in it: name a"):
        read_stream(endless, "z", 1 << 40)  # type: ignore[arg-type]
    assert endless.taken == MIB


def test_the_line_of_what_is_no_text_is_named() -> None:
    content = b"a\n" * MIB + b"b\0\n"
    with pytest.raises(InputError, match=f"^z:{MIB + 1}: "):
        read_stream(io.BytesIO(content), "z", 4 * MIB)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
def test_wide_characters_are_text(encoding: str) -> None:
    content = ("\ufeff" * (encoding != "utf-16") + "kind: List # é\n" * MIB).encode(encoding)
    assert read_stream(io.BytesIO(content), "w", 64 * MIB) == content


def test_a_file_that_says_how_large_it_is_is_not_read(tmp_path: Path) -> None:
    large = tmp_path / "large"
    with large.open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(InputError, match=rf"^{re.escape(str(large))} holds more than 2 GiB, and is read no"):
        read_file(large, 2 << 30)


@pytest.mark.parametrize(
    ("most", "size", "shown"), [(MANIFEST_BYTES, 2 << 30, "2 GiB"), (SETTINGS_BYTES, 16 << 20, "16 MiB")]
)
def test_the_bounds_are_those_that_are_documented(tmp_path: Path, most: int, size: int, shown: str) -> None:
    large = tmp_path / "large"
    with large.open("wb") as file:
        file.truncate(size + 1)
    with pytest.raises(InputError, match=f" holds more than {shown}, "):
        read_file(large, most)
    assert most == size
