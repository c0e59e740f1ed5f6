"""The checker of the documentation can say no."""

from pathlib import Path

from tests.docs.shell import Command, alike, commands, installed, writing


def test_commands_and_their_outputs_are_told_apart() -> None:
    text = "$ one \\\n> more\nfirst\n\n$ two\n> quoted\n"
    assert list(commands(text)) == [Command("one \\\nmore\n", "first\n\n"), Command("two\nquoted\n", "")]


def test_an_output_is_alike_only_if_every_line_is() -> None:
    assert alike("a\nb\n", "a \nb\n")
    assert not alike("a\n", "a\nb\n")
    assert not alike("a\nb\n", "a\n")
    assert not alike("a.c\n", "abc\n")


def test_lines_may_be_left_out_and_durations_differ() -> None:
    assert alike("a\n...\nd\n", "a\nb\nc\nd\n")
    assert not alike("a\n...\nd\n", "a\nb\nc\n")
    assert alike("2 passed in 0.31s\n", "2 passed in 12.70s\n")
    assert not alike("2 passed in 0.31s\n", "1 passed in 0.31s\n")


def test_a_shell_keeps_its_status_and_its_errors(tmp_path: Path) -> None:
    printed = installed(tmp_path).run(["false\n", "echo $?\n", "echo no >&2\n", "true\n", "echo $?\n"])
    assert printed == ["", "1\n", "no\n", "", "0\n"]


def test_a_shell_writes_what_a_page_shows(tmp_path: Path) -> None:
    lines = ["mkdir a && cd a\n", writing("b/c.txt", "$HOME 'x'\n\\n\n"), "cat b/c.txt\n", "pwd\n"]
    assert installed(tmp_path).run(lines) == ["", "", "$HOME 'x'\n\\n\n", f"{tmp_path}/a\n"]


def test_a_reader_has_the_supplied_plugins_and_no_example(tmp_path: Path) -> None:
    (listed,) = installed(tmp_path).run(["kruntimes plugins list -o name\n"])
    assert "LeastLoaded" in listed.split()
    assert "ZoneSpread" not in listed.split()
