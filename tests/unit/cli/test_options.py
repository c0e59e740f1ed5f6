"""Options that are numbers in a range: a whole one has a bound above, a wrong one is told in plain words."""

from __future__ import annotations

from collections.abc import Iterator

import click
import pytest

from kruntimes_core.cli.main import app, main

HUGE = "1" + "0" * 30


def ranges(command: click.Command, *path: str) -> Iterator[tuple[click.ParamType[object], list[str]]]:
    """Each such option: its type, and the words of the call up to its value."""
    for parameter in command.params:
        if isinstance(parameter.type, click.IntRange | click.FloatRange):
            yield parameter.type, [*path, parameter.opts[-1]]
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            yield from ranges(below, *path, name)


RANGES = [(isinstance(kind, click.IntRange), words) for kind, words in ranges(app)]
WHOLE = [words for whole, words in RANGES if whole]


def refused(words: list[str], value: str, capsys: pytest.CaptureFixture[str]) -> str:
    """The one line with which the command refuses the value."""
    assert main([*words, value]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.count("\n") == 1
    return shown.err


def test_every_command_of_numbers_is_among_them() -> None:
    assert {words[0] for words in WHOLE} == {"bench", "dev", "scheduler"}
    assert ["bench", "engine"] in [words[:2] for words in WHOLE]


@pytest.mark.parametrize("words", WHOLE, ids=" ".join)
def test_there_is_never_too_much_of_anything(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Before anything is made: a hundred million Pods were planned for until somebody had enough."""
    line = refused(words, HUGE, capsys)
    by_sum = words == ["bench", "--runs"]
    assert ("a round of 1e+30 Runs is more than" if by_sum else f"{HUGE} is not in the range") in line


@pytest.mark.parametrize(("whole", "words"), RANGES, ids=lambda value: str(value))
def test_what_is_no_number_is_told_without_the_words_of_a_parser(
    whole: bool, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    line = refused(words, "ten", capsys)
    assert f"'ten' is not a valid {'integer' if whole else 'number'} (see kruntimes " in line
