"""Files that a user names are read up to a bound, and YAML or JSON into values or an error with its line."""

from __future__ import annotations

import io
import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from kruntimes_core.model.messages import InputError
from kruntimes_core.model.yaml_files import (
    MANIFEST_BYTES,
    SETTINGS_BYTES,
    YamlError,
    is_bomb,
    load_documents,
    locate,
    read_file,
    read_stream,
)


def load(text: str | bytes) -> list[tuple[int, Any]]:
    return list(load_documents(text, "f.yaml"))


def refusal(text: str | bytes) -> str:
    with pytest.raises(YamlError) as caught:
        load(text)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "documents"),
    [
        ("", []),
        ("# only a comment\n", []),
        ("---\n---\n", [(2, None), (3, None)]),
        ("a: 1\n---\nb: 2\n", [(1, {"a": 1}), (3, {"b": 2})]),
        ("a: 2026-01-02T03:04:05Z\nb: 2026-01-02", [(1, {"a": "2026-01-02T03:04:05Z", "b": "2026-01-02"})]),
        ("a: !!timestamp 2026-01-02", [(1, {"a": "2026-01-02"})]),
        ("operator: =", [(1, {"operator": "="})]),
        ("a: yes\nb: 012", [(1, {"a": True, "b": 10})]),
        ("a: 12:30\nb: -1:30.5\nc: 190:20:30", [(1, {"a": "12:30", "b": "-1:30.5", "c": "190:20:30"})]),
        ("[0x1F, 0b11, -7, 1_000, 0]", [(1, [31, 3, -7, 1000, 0])]),
        ("[1.5, -1.0e+3, .5, 1., -.inf]", [(1, [1.5, -1000.0, 0.5, 1.0, float("-inf")])]),
        ("a: {b: c}", [(1, {"a": {"b": "c"}})]),
        ("{b: c}", [(1, {"b": "c"})]),
        ("[{name: x}, y]", [(1, [{"name": "x"}, "y"])]),
        ('{"a": word}', [(1, {"a": "word"})]),
        ("x: &x {k: 1, l: 2}\ny: {<<: *x, k: 3}", [(1, {"x": {"k": 1, "l": 2}, "y": {"k": 3, "l": 2}})]),
        ("x: &x [1]\ny: [*x, *x]", [(1, {"x": [1], "y": [[1], [1]]})]),
        (b"\xef\xbb\xbfa: 1", [(1, {"a": 1})]),
        ("a: é".encode("utf-16"), [(1, {"a": "é"})]),
        ("\ufeffa: 1", [(1, {"a": 1})]),
    ],
)
def test_yaml_is_read_as_kubernetes_means_it(text: str | bytes, documents: list[tuple[int, Any]]) -> None:
    assert load(text) == documents


@pytest.mark.parametrize(
    ("text", "documents"),
    [
        ('{"a": "2026-01-02T03:04:05Z", "b": [1, 2.5, null, true]}', [(1, ["2026-01-02T03:04:05Z"])]),
        ('\n\t{\t"a": 1}', [(2, [1])]),
        ('{"a": 1}\n\n{"b": 2}\n[3]\n', [(1, [1]), (3, [2]), (4, [3])]),
        (r'{"a": "\ud83d\ude00"}', [(1, ["\U0001f600"])]),
        (r'{"a": "\ud83d", "b": "\\ud83d"}', [(1, ["\ufffd"])]),
    ],
)
def test_json_is_read_first(text: str, documents: list[tuple[int, list[Any]]]) -> None:
    found = load(text)
    assert [line for line, _ in found] == [line for line, _ in documents]
    for (_, value), (_, first) in zip(found, documents, strict=True):
        assert (value if isinstance(value, list) else list(value.values()))[:1] == first


def test_an_escaped_backslash_is_no_escape() -> None:
    assert load(r'{"a": "\ud83d", "b": "\\ud83d"}') == [(1, {"a": "\ufffd", "b": r"\ud83d"})]


def test_json_constants_that_kubernetes_does_not_know_stay_text() -> None:
    assert load('{"a": NaN}') == [(1, {"a": "NaN"})]


@pytest.mark.parametrize(
    ("text", "start", "words"),
    [
        ("a:\n\t- b", "f.yaml:2: ", "spaces"),
        ("a: 1\na: 2", "f.yaml:2: ", "'a' occurs twice (first on line 1)"),
        ("x:\n  - {k: 1,\n     k: 2}", "f.yaml:3: ", "'k' occurs twice"),
        ("1: a\n0x1: b", "f.yaml:2: ", "occurs twice"),
        ("b: &b {z: 1}\na:\n  k: 1\n  <<: *b\n  k: 2", "f.yaml:5: ", "'k' occurs twice"),
        ('{"a": 1,\n "a": 2}', "f.yaml:2: ", "'a' occurs twice"),
        ('{"a": 1,\n "b" 2}', "f.yaml:2: ", "not valid JSON"),
        ('{"items": [1,', "f.yaml:1: ", "not valid JSON"),
        ("a: [1, 2", "f.yaml:1: ", "expected"),
        ("{a: b", "f.yaml:1: ", "expected"),
        # Who ends too early is told the last line that is there, not the one after it.
        ("a: 1\nb: [1, 2\n", "f.yaml:2: ", "expected"),
        ("a: 1\r\nb: [1, 2\r\n\r\n \r\n", "f.yaml:2: ", "expected"),
        ("a: 1\nb: 'open\n\n", "f.yaml:2: ", "end of stream"),
        ("a: &a [*a]", "f.yaml:1: ", "recursive"),
        ("&a {k: {l: *a}}", "f.yaml:1: ", "recursive"),
        ("a: *nothing", "f.yaml:1: ", "undefined alias"),
        ("x: 1\na: !secret b", "f.yaml:2: ", "!secret"),
        ("a: !!python/object:os.system x", "f.yaml:1: ", "python/object"),
        ("? [a]\n: b", "f.yaml:1: ", "unhashable"),
        ("? {a: b}\n: c", "f.yaml:1: ", "unhashable"),
        ("a: 0x_", "f.yaml:1: ", "not valid as int"),
        ("a: !!bool x", "f.yaml:1: ", "not valid as bool"),
        ("a: " + "9" * 5000, "f.yaml:1: ", "not valid as int"),
        ("<<: 1", "f.yaml:1: ", "merging"),
        ("a: b\nc: d: e", "f.yaml:2: ", "not allowed"),
        ("a: b\nc: \x01", "f.yaml:2: ", "not YAML text"),
        (b"a: b\nc: \xff\xfe", "f.yaml:2: ", "UTF-8"),
        (b"\xff\xfe\x00", "f.yaml:1: ", "UTF-8"),
        (b"\x7fELF\x02\x01\x00\x00", "f.yaml:1: ", "not YAML text"),
        (b"\x1f\x8b\x08\x00\xd4", "f.yaml:1: ", "UTF-8"),
        ("a: \ud800", "f.yaml:1: ", "UTF-8"),
        ("[" * 100_000, "f.yaml", "nest"),
        ("- " * 500 + "a", "f.yaml", "nest"),
        ("- " * 100_000, "f.yaml:1: ", "nest"),
        ('{"a":' * 100_000, "f.yaml", "nest"),
    ],
)
def test_what_cannot_be_read_is_one_line_with_its_place(text: str | bytes, start: str, words: str) -> None:
    message = refusal(text)
    assert message.startswith(start)
    assert words in message


def test_a_merge_bomb_stays_as_small_as_its_keys() -> None:
    lines = ["x0: &x0 {" + ", ".join(f"k{n}: {n}" for n in range(10)) + "}"]
    lines += [f"x{n}: &x{n} {{<<: [{', '.join([f'*x{n - 1}'] * 10)}]}}" for n in range(1, 12)]
    [(_, value)] = load("\n".join(lines))
    assert value["x11"] == {f"k{n}": n for n in range(10)}


def repeated(first: str, times: int, depth: int) -> str:
    """A text of `depth` lines, each a list of `times` times the one before."""
    lines = [f"x0: &x0 {first}"]
    lines += [f"x{n}: &x{n} [{', '.join([f'*x{n - 1}'] * times)}]" for n in range(1, depth + 1)]
    return "\n".join(lines)


def test_aliases_share_their_value() -> None:
    [(_, value)] = load(repeated("[a]", times=10, depth=4))
    assert all(part is value["x3"] for part in value["x4"])


@pytest.mark.parametrize("first", ["[a]", "{k: v}", "a"])
@pytest.mark.parametrize("depth", [7, 30, 400])
def test_an_alias_bomb_is_refused_before_anybody_walks_through_it(first: str, depth: int) -> None:
    message = refusal("ok: 1\n---\n" + repeated(first, times=10, depth=depth))
    assert message.startswith("f.yaml:3: its aliases repeat too much")


def test_a_large_document_with_few_aliases_is_no_bomb() -> None:
    text = "a: &a [1, 2]\nb: *a\nitems: [" + "0," * 30_000 + "0]"
    [(_, value)] = load(text)
    assert value["b"] == [1, 2]
    large = [*range(1_100_000), value["b"], value["b"]]
    assert not is_bomb(large, len(str(large)))


def test_documents_before_a_broken_one_are_given() -> None:
    documents = load_documents("a: 1\n---\nb: [", "f.yaml")
    assert next(documents) == (1, {"a": 1})
    with pytest.raises(YamlError):
        next(documents)


def test_a_large_broken_json_is_not_read_again_as_yaml() -> None:
    text = json.dumps({"items": ["x" * 100] * 11_000})
    assert refusal(text[:-2]).startswith("f.yaml:1: this is not valid JSON: ")
    assert "occurs twice" in refusal('{"a": 1, "a": 2, "b": "' + "x" * (1 << 20) + '"}')


YAML = """\
plugins:
  enabled:
    - name: A
      weight: 0
    - B
---
other: 1
"""
JSON = '{"a": {\n\t"b": [\n1,\n2]}}\n{"c":\n 1,\n"d": 2}'


@pytest.mark.parametrize(
    ("text", "path", "line"),
    [
        (YAML, ("plugins", "enabled", 0, "weight"), 4),
        (YAML, ("plugins", "enabled", 1), 5),
        (YAML, ("plugins", "enabled", 0, "missing", "deeper"), 3),
        (YAML, (), 1),
        ("", ("a",), None),
        (JSON, ("a", "b", 1), 4),
        ("{a: {\n b: c}}", ("a", "b"), 2),
        ("a: [", ("a",), None),
        (b"\xff", ("a",), None),
        ("1: {2: 3}", (1, 2), 1),
        ("a: [b]", ("a", 7), 1),
    ],
)
def test_a_path_has_a_line(text: str | bytes, path: tuple[str | int, ...], line: int | None) -> None:
    assert locate(text, path) == line


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
    with pytest.raises(InputError, match=r"^<stdin> holds more than . MiB: name a sm"):
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
    with pytest.raises(InputError, match=rf"^{re.escape(str(large))} holds more than 2 GiB: name a"):
        read_file(large, 2 << 30)


@pytest.mark.parametrize(
    ("most", "size", "shown"), [(MANIFEST_BYTES, 2 << 30, "2 GiB"), (SETTINGS_BYTES, 16 << 20, "16 MiB")]
)
def test_the_bounds_are_those_that_are_documented(tmp_path: Path, most: int, size: int, shown: str) -> None:
    large = tmp_path / "large"
    with large.open("wb") as file:
        file.truncate(size + 1)
    with pytest.raises(InputError, match=f" holds more than {shown}: "):
        read_file(large, most)
    assert most == size
