import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import yaml

from kruntimes_core.cli.output.documents import stream_json, stream_yaml, write_json, write_yaml

DOCUMENT = {
    "zeta": "first",
    "alpha": [{"text": "Läufe 数据", "none": None, "yes": True, "number": 7, "empty": [], "nothing": {}}],
    "quotes": 'a "b" \\ \n\x1b',
}


def test_json_keeps_order_and_letters(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    write_json(DOCUMENT)
    written = capsysbinary.readouterr().out.decode("utf-8")
    assert json.loads(written) == DOCUMENT
    assert list(json.loads(written)) == ["zeta", "alpha", "quotes"]
    assert "Läufe 数据" in written
    assert written.endswith("}\n")


def test_yaml_keeps_order_and_letters(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    write_yaml(DOCUMENT)
    written = capsysbinary.readouterr().out.decode("utf-8")
    assert yaml.safe_load(written) == DOCUMENT
    assert list(yaml.safe_load(written)) == ["zeta", "alpha", "quotes"]
    assert "Läufe 数据" in written
    assert written.endswith("\n")
    assert not written.endswith("\n\n")


@pytest.mark.parametrize(
    "text", ["1e3", "012", "0o14", "0x1F", "y", "N", "on", "null", "~", "1_000", "2026-01-02", ".5", ""]
)
def test_text_stays_text_for_every_reader_of_yaml(
    capsysbinary: pytest.CaptureFixture[bytes], text: str
) -> None:
    write_yaml({"run": text})
    assert capsysbinary.readouterr().out.decode() == f"run: '{text}'\n"


@pytest.mark.parametrize("text", ["run-1", "5b0f1f0e-6f64", "1e", "yes-man", "v1.2.3"])
def test_plain_text_stays_plain(capsysbinary: pytest.CaptureFixture[bytes], text: str) -> None:
    write_yaml({"run": text})
    assert capsysbinary.readouterr().out.decode() == f"run: {text}\n"


def test_one_value_in_two_places_is_written_twice(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    shared = {"runs": 1}
    write_yaml({"a": shared, "b": shared})
    assert capsysbinary.readouterr().out.decode() == "a:\n  runs: 1\nb:\n  runs: 1\n"


def test_a_long_line_is_not_folded(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    write_yaml({"message": "waiting for " * 200})
    assert capsysbinary.readouterr().out.count(b"\n") == 1


@pytest.mark.parametrize("write", [write_json, write_yaml])
def test_half_of_a_surrogate_pair_is_escaped(
    write: Callable[[dict[str, str]], None], capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    write({"text": "\ud83d"})
    assert b"\\ud83d" in capsysbinary.readouterr().out.lower()


@pytest.mark.parametrize("items", [[], [{"a": 1}], [{"a": ["x\u2028y", "1e3"], "b": {}}, {"a": None}]])
@pytest.mark.parametrize(("stream", "write"), [(stream_json, write_json), (stream_yaml, write_yaml)])
def test_a_stream_writes_what_the_whole_document_would_be(
    capsys: pytest.CaptureFixture[str],
    stream: Callable[[dict[str, Any], str, Iterator[Any]], None],
    write: Callable[[dict[str, Any]], None],
    items: list[Any],
) -> None:
    head = {"apiVersion": "kruntimes.io/plan/v1", "plugins": [{"name": "A"}]}
    write({**head, "decisions": items})
    whole = capsys.readouterr().out
    stream(head, "decisions", iter(items))
    assert capsys.readouterr().out == whole


def test_a_stream_makes_no_item_before_the_one_before_it_is_written(
    capsys: pytest.CaptureFixture[str],
) -> None:
    written: list[str] = []

    def items() -> Iterator[dict[str, str]]:
        yield {"run": "first"}
        written.append(capsys.readouterr().out)
        yield {"run": "second"}

    stream_json({"apiVersion": "v"}, "decisions", items())
    assert '"first"' in written[0]
