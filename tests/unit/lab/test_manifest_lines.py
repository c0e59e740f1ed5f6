import json

import pytest

from kruntimes_core.lab.offline_plan.field_lines import Place, Step, name_place, name_places
from kruntimes_core.lab.offline_plan.sources import Source

YAML = """\
# a comment
kind: List
items:
- kind: Run
  metadata: {name: r1}
  spec:
    requests:
      gpu: "1"
- kind: Run
  spec:
    terms:
    - a
    -
      key: b
---
kind: Run
? [a, complex, key]
: value
spec:
  shared: &x
    gpu: 1
  other: *x
"""


def line(text: str | bytes, path: tuple[Step, ...], document: int = 0) -> int:
    content = text if isinstance(text, bytes) else text.encode()
    place = Place(Source("f.yaml", content), document, 99, path)
    name, _, number = name_place(place).rpartition(":")
    assert name == "f.yaml"
    return int(number)


@pytest.mark.parametrize(
    ("document", "path", "expected"),
    [
        (0, ("kind",), 2),
        (0, ("items",), 3),
        (0, ("items", 0), 4),
        (0, ("items", 0, "metadata", "name"), 5),
        (0, ("items", 0, "spec", "requests", "gpu"), 8),
        (0, ("items", 1), 9),
        (0, ("items", 1, "spec", "terms", 1, "key"), 14),
        (1, ("spec",), 19),
        (1, ("spec", "shared", "gpu"), 21),
    ],
)
def test_the_line_of_a_field_in_yaml(document: int, path: tuple[Step, ...], expected: int) -> None:
    assert line(YAML, path, document) == expected


@pytest.mark.parametrize(
    ("document", "path", "expected"),
    [
        (0, ("items", 0, "spec", "missing", "deeper"), 6),
        (0, ("items", 7), 3),
        (1, ("spec", "other", "gpu"), 22),
        (2, ("kind",), 99),
    ],
)
def test_a_missing_field_has_the_line_of_what_is_around_it(
    document: int, path: tuple[Step, ...], expected: int
) -> None:
    assert line(YAML, path, document) == expected


def test_the_line_of_a_whole_document_needs_no_search() -> None:
    assert line("this: [is, broken", ()) == 99


def test_what_stands_before_a_broken_part_is_found() -> None:
    assert line("a: 1\nb:\n  c: 2\n---\n{broken", ("b", "c")) == 3


def test_the_line_of_a_field_in_json() -> None:
    text = json.dumps({"a": [1, {"b": 'x"]},{'}], "c": {"d": {}, "e": []}}, indent=2)
    lines = text.splitlines()
    for path, word in [(("a", 1, "b"), '"b"'), (("c", "d"), '"d"'), (("c", "e"), '"e"'), (("a", 0), "1,")]:
        assert word in lines[line(text, path) - 1]
    assert line(text, ("a", 5)) == line(text, ("a",))
    assert line(text, ("c", "e", 0)) == line(text, ("c", "e"))


def test_json_documents_follow_one_another() -> None:
    assert line('{"a": 1}\n\n{"a":\n 2, "b": 3}', ("b",), document=1) == 4


def test_yaml_that_begins_like_json_is_searched_as_yaml() -> None:
    assert line("{a: 1,\n b: 2}", ("b",)) == 2


def test_byte_order_marks_do_not_hide_a_field() -> None:
    assert line(b"\xef\xbb\xbfa: 1\nb: 2\n", ("b",)) == 2
    assert line("a: 1\nb: 2\n".encode("utf-16"), ("b",)) == 2


def test_places_of_several_sources_are_named_at_once() -> None:
    places = [Place(Source(f"{name}.yaml", b"x: 1\ny: 2\n"), 0, 1, (key,)) for name in "ab" for key in "xy"]
    assert [name_places(places)[place] for place in places] == [
        "a.yaml:1",
        "a.yaml:2",
        "b.yaml:1",
        "b.yaml:2",
    ]
