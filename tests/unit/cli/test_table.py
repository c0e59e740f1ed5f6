from kruntimes_core.cli.output.screen import Screen
from kruntimes_core.cli.output.table import table

HEADINGS = ("RUN", "OUTCOME", "MESSAGE")
COLOURS = {"OUTCOME": {"Failed": "red"}}
ROWS = [("a-long-name", "Failed", "spec.resources is wrong: write an integer"), ("b", None, "")]


def lines(screen: Screen, rows: list[tuple[object, ...]] | None = None, indent: str = "") -> list[str]:
    return list(table(HEADINGS, ROWS if rows is None else rows, screen, indent, colours=COLOURS))


def test_columns_are_as_wide_as_their_widest_cell() -> None:
    assert lines(Screen()) == [
        "RUN           OUTCOME   MESSAGE",
        "a-long-name   Failed    spec.resources is wrong: write an integer",
        "b             <none>    <none>",
    ]


def test_a_table_without_rows_is_its_headings() -> None:
    assert lines(Screen(), rows=[], indent="  ") == ["  RUN   OUTCOME   MESSAGE"]


def test_the_last_column_is_cut_at_the_edge_of_a_terminal() -> None:
    narrow = lines(Screen(columns=50))
    assert narrow[1] == "a-long-name   Failed    spec.resources is wrong:…"
    assert all(len(line) <= 50 for line in narrow)


def test_a_message_that_would_be_cut_to_nothing_is_left_out() -> None:
    assert lines(Screen(columns=44))[1] == "a-long-name   Failed    spec.resources is w…"
    assert lines(Screen(columns=43)) == [
        "RUN           OUTCOME",
        "a-long-name   Failed",
        "b             <none>",
    ]


def test_a_last_column_that_must_be_whole_goes_on_in_further_lines() -> None:
    assert list(table(HEADINGS, ROWS, Screen(columns=52), "  ", whole=True)) == [
        "  RUN           OUTCOME   MESSAGE",
        "  a-long-name   Failed    spec.resources is wrong:",
        "                          write an integer",
        "  b             <none>    <none>",
    ]
    assert list(table(HEADINGS, ROWS, Screen(columns=30), whole=True)) == lines(Screen())
    assert list(table(HEADINGS, ROWS, Screen(), whole=True)) == lines(Screen())


def test_colours_take_no_room() -> None:
    plain, coloured = lines(Screen()), lines(Screen(colour=True))
    assert coloured[1] == plain[1].replace("Failed", "\x1b[31mFailed\x1b[0m")
    assert coloured[::2] == plain[::2]


def test_wide_characters_keep_the_columns_straight() -> None:
    rows: list[tuple[object, ...]] = [("数据", "x", "y"), ("abcd", "x", "y")]
    assert lines(Screen(), rows)[1:] == ["数据   x         y", "abcd   x         y"]


def test_foreign_text_cannot_paint() -> None:
    rows: list[tuple[object, ...]] = [("\x1b[2J", "Failed\x07", "a\nb")]
    assert lines(Screen(colour=True), rows)[1] == "\\x1b[2J   Failed\\x07   a\\nb"
