"""YAML and JSON that a user gives: files that are read up to a bound, and their text read into values.

Whatever a file is (a device without end, tabs, binary junk, a recursive alias, a truncated dump), the result
is a value or an error of one line that names the file and the line, never a traceback or a full memory.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Hashable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

import yaml
from yaml.constructor import ConstructorError
from yaml.scanner import ScannerError

from kruntimes_core.model.messages import InputError

try:  # ten times faster, where PyYAML was built with libyaml
    from yaml import CSafeLoader as BaseLoader
except ImportError:  # pragma: no cover - depends on how PyYAML was built
    from yaml import SafeLoader as BaseLoader  # type: ignore[assignment]

# A person may write YAML that starts with a brace; a larger text that does was written by a machine.
# Reading that as YAML too would take minutes, only to complain in other words.
_LARGEST_BY_HAND = 1 << 20
_BYTE_ORDER_MARKS = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
# Files that were put together keep theirs at the start of each document; kubectl skips it, as YAML 1.2 says.
_LATER_MARK = re.compile(r"^\ufeff?(---[^\S\n]*(?:#[^\n]*)?\n)\ufeff|^\ufeff(?=---\s)", re.MULTILINE)

SETTINGS_BYTES = 16 << 20
"""Bound of a configuration or a kubeconfig: a ConfigMap holds 1 MB, a kubeconfig of 1,000 clusters 4 MB."""
MANIFEST_BYTES = 2 << 30
"""Bound of manifests in one file: 100,000 Runs of twenty kilobytes each, ten times what such Runs have."""
_STEP_BYTES = 1 << 20
_WIDE = (b"\xff\xfe", b"\xfe\xff")
"""How UTF-16 begins. In no other text is there a null byte."""


class YamlError(InputError):
    """A text that cannot be read; its one line is `FILE:LINE: problem`."""


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
    return InputError(f"{name} holds more than {size}: name a smaller file")


def load_documents(text: str | bytes, source: str) -> Iterator[tuple[int, object]]:
    """Yield each document of a YAML or JSON text with the number of the line where it starts.

    text: bytes are UTF-8, or UTF-16 with a byte order mark. source: the name that errors use, such
    as a path. An empty document is None; an empty text has no document. Raises `YamlError`, at the
    document that cannot be read; the documents before it have been yielded.
    """
    decoded = decode(text, source)
    documents = _json_documents(decoded, source) if looks_like_json(decoded) else None
    yield from _yaml_documents(decoded, source) if documents is None else documents


def locate(text: str | bytes, path: Sequence[str | int]) -> int | None:
    """The line of the field at `path` in the first document, or of the nearest part of the path that exists.

    path: keys and list positions, as in `("plugins", "enabled", 0, "weight")`. Returns None where the text
    has no document or cannot be read. Reads the text again, so it is for error messages only.
    """
    try:
        decoded = decode(text, "")
        if looks_like_json(decoded):
            # A tab in JSON is space between tokens, where libyaml takes it and PyYAML does not.
            decoded = decoded.replace("\t", " ")
        root = next(iter(yaml.compose_all(decoded, YamlLoader)), None)
    except (InputError, RecursionError, yaml.YAMLError):
        return None
    return None if root is None else _line(root, path)


def decode(text: str | bytes, source: str) -> str:
    """The characters of a YAML or JSON text, without byte order marks. Raises `YamlError` with `source`."""
    try:
        if isinstance(text, str):
            text.encode()  # refuses halves of surrogate pairs, which no file can hold
            whole = text.removeprefix("\ufeff")
        else:
            whole = text.decode(_BYTE_ORDER_MARKS.get(text[:2], "utf-8-sig"))
        return _LATER_MARK.sub(r"\1", whole) if "\ufeff" in whole else whole
    except UnicodeError as error:
        start = error.start if isinstance(error, UnicodeDecodeError | UnicodeEncodeError) else 0
        before = text[:start]
        line = 1 + (before.count("\n") if isinstance(before, str) else before.count(b"\n"))
        problem = "this is not UTF-8 text: give a YAML or JSON file, saved as UTF-8"
        raise YamlError(f"{source}:{line}: {problem}") from error


def _json_documents(text: str, source: str) -> list[tuple[int, object]] | None:
    """The documents of a JSON text; None when it has to be read as YAML."""
    try:
        documents = read_json(text)
    except JsonError as error:
        if len(text) <= _LARGEST_BY_HAND and _is_yaml(text, error):
            return None
        where = source if error.line is None else f"{source}:{error.line}"
        raise YamlError(f"{where}: this is not valid JSON: {error}") from error
    return list(_with_lines(text, documents))


def _with_lines(text: str, documents: list[tuple[int, object]]) -> Iterator[tuple[int, object]]:
    line, counted = 1, 0
    for offset, value in documents:
        line, counted = line + text.count("\n", counted, offset), offset
        yield line, value


def _is_yaml(text: str, error: JsonError) -> bool:
    """Whether to read a text as YAML that is not JSON: YAML accepts it, or refuses it with a line."""
    try:
        for _ in yaml.compose_all(text, YamlLoader):
            pass
    except (yaml.YAMLError, RecursionError):
        after = text.lstrip()[1:].lstrip()
        return not after.startswith(('"', "{", "[")) and error.line is not None
    return True


def _yaml_documents(text: str, source: str) -> Iterator[tuple[int, object]]:
    try:
        loader = YamlLoader(text)
        aliases = _ALIAS.search(text) is not None
        while loader.check_node():
            node = loader.get_node()
            line = node.start_mark.line + 1 if node else 1
            document = loader.construct_document(node) if node else None
            if aliases and is_bomb(document, len(text)):
                problem = "its aliases repeat too much: write the values out, or give JSON"
                raise YamlError(f"{source}:{line}: {problem}")
            yield line, document
    except yaml.MarkedYAMLError as error:
        raise YamlError(_marked(error, text, source)) from error
    except yaml.YAMLError as error:
        position = getattr(error, "position", None)
        line = 1 + text.encode()[:position].count(b"\n")
        reason = str(getattr(error, "reason", "")) or "it cannot be read"
        raise YamlError(f"{source}:{line}: this is not YAML text: {reason}") from error
    except RecursionError as error:
        raise YamlError(f"{source}: nested too deeply: give fewer levels") from error


def _marked(error: yaml.MarkedYAMLError, text: str, source: str) -> str:
    mark = error.problem_mark or error.context_mark
    # The mark of a text that ends too early is at its very end, behind the last line with a character.
    line = min(mark.line + 1 if mark else 1, len(text.rstrip().splitlines()) or 1)
    problem = error.problem or error.context or "this cannot be read as YAML"
    if isinstance(error, ScannerError) and "\t" in "".join(text.split("\n", line)[line - 1 : line]):
        problem += " (a tab? YAML is indented with spaces)"
    return f"{source}:{line}: {problem}"


def _line(node: yaml.Node, path: Sequence[str | int]) -> int:
    line = node.start_mark.line + 1
    for step in path:
        child = _child(node, step)
        if child is None:
            break
        mark, node = child
        line = mark.line + 1
    return int(line)


def _child(node: yaml.Node, step: str | int) -> tuple[yaml.Mark, yaml.Node] | None:
    """Where the entry at `step` starts, and its node."""
    if isinstance(node, yaml.MappingNode):
        return next(((key.start_mark, value) for key, value in node.value if key.value == str(step)), None)
    if isinstance(node, yaml.SequenceNode) and isinstance(step, int) and 0 <= step < len(node.value):
        return node.value[step].start_mark, node.value[step]
    return None


_START = re.compile(r"\s*[{\[]")
_SPACE = re.compile(r"[ \t\n\r]*")
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
# An escaped backslash and a whole pair are left alone; what the group catches is half of a pair.
_LONE_SURROGATE = re.compile(
    r"\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
)


class JsonError(Exception):
    """A text that is not JSON. `line` is where, or None when that cannot be told."""

    def __init__(self, problem: str, line: int | None = None) -> None:
        super().__init__(problem)
        self.line = line


def looks_like_json(text: str) -> bool:
    """Whether `text` may be JSON (it may also be YAML in flow style)."""
    return _START.match(text) is not None


def read_json(text: str) -> list[tuple[int, object]]:
    """The documents of a JSON text, each with the offset of its first character.

    One text may hold several documents, one after the other, as `kubectl` takes them. This reads
    seventy times faster than the same text as YAML. Raises `JsonError`: not JSON, a key twice
    in one object, NaN or Infinity, nested too deeply.
    """
    if _SURROGATE.search(text):
        text = _LONE_SURROGATE.sub(lambda match: r"\ufffd" if match.group(1) else match.group(), text)
    decoder = json.JSONDecoder(object_pairs_hook=_without_duplicates, parse_constant=_refuse_constant)
    documents = []
    offset = _skip_space(text, 0)
    while offset < len(text):
        value, end = _decode_json(decoder, text, offset)
        documents.append((offset, value))
        offset = _skip_space(text, end)
    return documents


def _decode_json(decoder: json.JSONDecoder, text: str, offset: int) -> tuple[object, int]:
    try:
        return decoder.raw_decode(text, offset)
    except json.JSONDecodeError as error:
        problem = f"{error.msg[:1].lower()}{error.msg[1:]} at column {error.colno}"
        raise JsonError(problem, error.lineno) from error
    except RecursionError as error:
        raise JsonError("nested too deeply") from error
    except ValueError as error:  # an integer of more digits than Python reads
        raise JsonError(str(error)) from error


def _skip_space(text: str, offset: int) -> int:
    match = _SPACE.match(text, offset)
    return match.end() if match else offset


def _without_duplicates(pairs: list[tuple[str, object]]) -> dict[str, object]:
    mapping = dict(pairs)
    if len(mapping) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise JsonError(f"the key {twice!r} occurs twice in one object: keep one of them")
    return mapping


def _refuse_constant(name: str) -> NoReturn:
    raise JsonError(f"{name} is not a JSON number")


_TAG = "tag:yaml.org,2002:"
_MERGE = _TAG + "merge"
_LEFT_AS_TEXT = frozenset({_TAG + "timestamp", _TAG + "value"})
_NARROWED = {
    # PyYAML's own, without the forms to the base of 60.
    _TAG + "int": re.compile(r"[-+]?(?:0b[01_]+|0[0-7_]+|0|[1-9][0-9_]*|0x[0-9a-fA-F_]+)$"),
    _TAG + "float": re.compile(
        r"(?:[-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+][0-9]+)?|\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?"
        r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$"
    ),
}


class YamlLoader(BaseLoader):
    """PyYAML's safe loader, but it reads no value that the text does not mean.

    A bare timestamp stays text (Kubernetes' times are strings), and so does `12:30`, which YAML 1.1
    takes for a number to the base of 60 and kubectl does not; `=` stays text. A key that stands twice
    is refused, rather than the last one taken, and so is a value that contains itself. Merge keys
    (`<<`) work, and cannot grow a mapping beyond its distinct keys.

    Raises `yaml.YAMLError` and `RecursionError`, nothing else.
    """

    yaml_implicit_resolvers = {  # noqa: RUF012 - PyYAML's own way to configure a loader
        first: [(tag, _NARROWED.get(tag, pattern)) for tag, pattern in resolvers if tag not in _LEFT_AS_TEXT]
        for first, resolvers in BaseLoader.yaml_implicit_resolvers.items()
    }

    def construct_document(self, node: yaml.Node) -> object:
        """Build a document depth first, so that a node met inside of itself is noticed."""
        try:
            return self.construct_object(node, deep=True)
        finally:
            self.constructed_objects: dict[Any, Any] = {}
            self.recursive_objects: dict[Any, Any] = {}
            self.deep_construct = False

    def construct_mapping(self, node: yaml.Node, deep: bool = False) -> dict[Hashable, Any]:
        """Build a mapping; a missing entry means that two keys were equal."""
        mapping: dict[Hashable, Any] = super().construct_mapping(node, deep=deep)  # type: ignore[arg-type]
        if len(mapping) != len(node.value):
            self._refuse_duplicates(node)
        return mapping

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        """Resolve `<<`, as PyYAML does, but keep one entry for each key."""
        merges = any(key.tag == _MERGE for key, _ in node.value)
        if merges:
            self._refuse_duplicates(node)
        super().flatten_mapping(node)
        if merges:
            node.value = list({_identity(key): (key, value) for key, value in node.value}.values())

    def _refuse_duplicates(self, node: yaml.Node) -> None:
        first: dict[object, int] = {}
        for key_node, _ in node.value:
            if key_node.tag == _MERGE or not isinstance(key_node, yaml.ScalarNode):
                continue
            key = self.construct_object(key_node, deep=True)
            if key in first:
                problem = f"the key {key!r} occurs twice (first on line {first[key]}): keep one of them"
                raise ConstructorError(None, None, problem, key_node.start_mark)
            first[key] = key_node.start_mark.line + 1


def _identity(key: yaml.Node) -> object:
    """What tells two keys apart before they are built."""
    return (key.tag, key.value) if isinstance(key, yaml.ScalarNode) else id(key)


def _checked(construct: Callable[[Any, Any], object]) -> Callable[[Any, Any], object]:
    """`construct`, with a place in the text for the errors that Python's own types raise."""

    def construct_scalar(loader: YamlLoader, node: yaml.Node) -> object:
        try:
            return construct(loader, node)
        except (ValueError, LookupError, ArithmeticError) as error:
            kind = node.tag.removeprefix(_TAG)
            problem = f"{str(node.value)[:40]!r} is not valid as {kind}: put it in quotes if it is text"
            raise ConstructorError(None, None, problem, node.start_mark) from error

    return construct_scalar


YamlLoader.add_constructor(_TAG + "int", _checked(YamlLoader.construct_yaml_int))
YamlLoader.add_constructor(_TAG + "float", _checked(YamlLoader.construct_yaml_float))
YamlLoader.add_constructor(_TAG + "bool", _checked(YamlLoader.construct_yaml_bool))
YamlLoader.add_constructor(_TAG + "timestamp", YamlLoader.construct_scalar)  # type: ignore[type-var]


# Values in a document with its aliases written out: a text without aliases has no more than it has
# characters, and a dump of ten thousand Runs has about a million.
_LARGEST = 1_000_000
# An anchored value may be named here: a `*` where an alias could stand.
_ALIAS = re.compile(r"(?:^|[\s,\[{:-])\*[^\s,\[\]{}*]", re.MULTILINE)


def is_bomb(document: object, length: int) -> bool:
    """Whether a document has far more values than a text of that length can write.

    The loader builds an anchored value once, however many aliases name it, so that a few lines of
    aliases of aliases are cheap to read. The code that walks through the value afterwards pays for each.
    """
    left = max(_LARGEST, length)
    todo = [document]  # without the recursion that Python bounds
    while todo and left > 0:
        value = todo.pop()
        parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        left -= 1 + len(parts)
        todo.extend([part for part in parts if isinstance(part, dict | list)])
    return left <= 0
