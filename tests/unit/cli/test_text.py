import pytest

from kruntimes_core.cli.output.text import printable, shortened, width, wrapped


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("run-1", "run-1"),
        ("", ""),
        ("Läufe 数据", "Läufe 数据"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("two\nlines\ttab\r", "two\\nlines\\ttab\\r"),
        ("\x9b31m", "\\x9b31m"),
        ("right\u202eleft", "right\\u202eleft"),
        ("a\u2028b\u2029c", "a\\u2028b\\u2029c"),
        ("half \ud83d pair", "half \\ud83d pair"),
        ("\U000e0041", "\\U000e0041"),
        ("zero\u200bwidth", "zero\\u200bwidth"),
    ],
)
def test_foreign_text_stays_on_its_line_and_commands_no_terminal(text: str, shown: str) -> None:
    assert printable(text) == shown
    assert printable(shown) == shown


@pytest.mark.parametrize(("text", "columns"), [("abc", 3), ("ä", 1), ("a\u0301", 1), ("数据", 4), ("", 0)])
def test_how_wide_a_text_is(text: str, columns: int) -> None:
    assert width(text) == columns


@pytest.mark.parametrize(
    ("text", "columns", "shown"),
    [
        ("waiting", 7, "waiting"),
        ("waiting", 6, "waiti…"),
        ("waiting for", 9, "waiting…"),
        ("数据中心", 6, "数据…"),
        ("数据中心", 8, "数据中心"),
    ],
)
def test_a_text_that_is_too_long_ends_with_an_ellipsis(text: str, columns: int, shown: str) -> None:
    assert shortened(text, columns) == shown
    assert width(shown) <= columns


def test_wrapped_text_loses_no_word() -> None:
    assert wrapped("one two three", 7) == ["one two", "three"]
    assert wrapped("one two three", 80) == ["one two three"]
    assert wrapped("a-very-long-word b", 4) == ["a-very-long-word", "b"]
    assert wrapped("数据 数据", 8) == ["数据", "数据"]
    assert wrapped("", 4) == [""]
