"""Text to values: the one door through which files of YAML or JSON come in.

Whatever the text is (tabs, binary junk, a recursive alias, a truncated dump), the answer is a value
or a `YamlError` of one line that names the file and the line, never a traceback.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from itertools import islice

import yaml
from yaml.scanner import ScannerError

from kruntimes_core.model.decode.aliases import has_aliases, is_bomb
from kruntimes_core.model.decode.json_text import JsonError, looks_like_json, read_json
from kruntimes_core.model.decode.yaml_loader import Loader
from kruntimes_core.model.messages import InputError

# A person may write YAML that starts with a brace; a larger text that does was written by a machine.
# Reading that as YAML too would take minutes, only to complain in other words.
_LARGEST_BY_HAND = 1 << 20

_BYTE_ORDER_MARKS = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}


class YamlError(InputError):
    """A text that cannot be read; its one line is `FILE:LINE: problem`."""


def load_documents(text: str | bytes, source: str) -> Iterator[tuple[int, object]]:
    """Yield each document of a YAML or JSON text with the number of the line where it starts.

    text: bytes are UTF-8, or UTF-16 with a byte order mark. source: the name that errors use, such
    as a path. An empty document is None; an empty text has no document. Raises `YamlError`, at the
    document that cannot be read: those before it have been given.
    """
    decoded = _decode(text, source)
    documents = _json_documents(decoded, source) if looks_like_json(decoded) else None
    yield from _yaml_documents(decoded, source) if documents is None else documents


def locate(text: str | bytes, path: Sequence[str | int], document: int = 0) -> int | None:
    """The line of the field at `path`, or of the nearest part of the path that exists.

    path: keys and list positions, as in `("plugins", "enabled", 0, "weight")`. document: its place
    in the text, from 0. Returns None where the text has no such document or cannot be read. Reads
    the whole text again, so it is for error messages only.
    """
    try:
        root, lines_before = _compose(_decode(text, ""), document)
    except (InputError, JsonError, RecursionError, yaml.YAMLError):
        return None
    return None if root is None else lines_before + _line(root, path)


def _decode(text: str | bytes, source: str) -> str:
    try:
        if isinstance(text, str):
            text.encode()  # refuses halves of surrogate pairs, which no file can hold
            return text.removeprefix("\ufeff")
        return text.decode(_BYTE_ORDER_MARKS.get(text[:2], "utf-8-sig"))
    except UnicodeError as error:
        start = error.start if isinstance(error, UnicodeDecodeError | UnicodeEncodeError) else 0
        before = text[:start]
        line = 1 + (before.count("\n") if isinstance(before, str) else before.count(b"\n"))
        problem = "this is no UTF-8 text: give a YAML or JSON file, saved as UTF-8"
        raise YamlError(f"{source}:{line}: {problem}") from error


def _json_documents(text: str, source: str) -> list[tuple[int, object]] | None:
    """The documents of a JSON text; None when it has to be read as YAML."""
    try:
        documents = read_json(text)
    except JsonError as error:
        if len(text) <= _LARGEST_BY_HAND and _is_yaml(text, error):
            return None
        where = source if error.line is None else f"{source}:{error.line}"
        raise YamlError(f"{where}: this is no valid JSON: {error}") from error
    return list(_with_lines(text, documents))


def _with_lines(text: str, documents: list[tuple[int, object]]) -> Iterator[tuple[int, object]]:
    line, counted = 1, 0
    for offset, value in documents:
        line, counted = line + text.count("\n", counted, offset), offset
        yield line, value


def _is_yaml(text: str, error: JsonError) -> bool:
    """Whether a text that JSON refused is for YAML to read, or to refuse with a line."""
    try:
        for _ in yaml.compose_all(text, Loader):
            pass
    except (yaml.YAMLError, RecursionError):
        after = text.lstrip()[1:].lstrip()
        return not after.startswith(('"', "{", "[")) and error.line is not None
    return True


def _yaml_documents(text: str, source: str) -> Iterator[tuple[int, object]]:
    try:
        loader = Loader(text)
        aliases = has_aliases(text)
        while loader.check_node():
            node = loader.get_node()
            line = node.start_mark.line + 1 if node else 1
            document = loader.construct_document(node) if node else None
            if aliases and is_bomb(document):
                problem = "its aliases repeat too much: write out what is meant, or give JSON"
                raise YamlError(f"{source}:{line}: {problem}")
            yield line, document
    except yaml.MarkedYAMLError as error:
        raise YamlError(_marked(error, text, source)) from error
    except yaml.YAMLError as error:
        position = getattr(error, "position", None)
        line = 1 + text.encode()[:position].count(b"\n")
        reason = str(getattr(error, "reason", "")) or "it cannot be read"
        raise YamlError(f"{source}:{line}: this is no YAML text: {reason}") from error
    except RecursionError as error:
        raise YamlError(f"{source}: nested too deeply: flatten what contains what") from error


def _marked(error: yaml.MarkedYAMLError, text: str, source: str) -> str:
    mark = error.problem_mark or error.context_mark
    # A text that ends too early is found so at its very end, where nobody has written anything.
    line = min(mark.line + 1 if mark else 1, len(text.rstrip().splitlines()) or 1)
    problem = error.problem or error.context or "this cannot be read as YAML"
    if isinstance(error, ScannerError) and "\t" in "".join(text.split("\n", line)[line - 1 : line]):
        problem += " (a tab? YAML is indented with spaces)"
    return f"{source}:{line}: {problem}"


def _compose(text: str, document: int) -> tuple[yaml.Node | None, int]:
    """The root node of one document, and how many lines stand before what it was composed from."""
    if looks_like_json(text):
        with contextlib.suppress(JsonError):
            offsets = [offset for offset, _ in read_json(text)] + [len(text)]
            if document + 1 >= len(offsets):
                return None, 0
            start, end = offsets[document : document + 2]
            # A tab in JSON is space between tokens, where libyaml takes it and PyYAML does not.
            nodes = yaml.compose_all(text[start:end].replace("\t", " "), Loader)
            return next(iter(nodes), None), text.count("\n", 0, start)
    return next(islice(yaml.compose_all(text, Loader), document, None), None), 0


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
