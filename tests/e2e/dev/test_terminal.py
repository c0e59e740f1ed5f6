"""On a terminal there is a picture, whatever its size; on a poor one there are lines."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from devcluster import colours, on_terminal, plain


@pytest.mark.parametrize("columns", [20, 40, 80, 200])
def test_a_picture_is_drawn_and_left_in_order(tmp_path: Path, columns: int) -> None:
    with on_terminal(tmp_path, "--demo", columns=columns) as dev:
        screen = dev.out.wait(lambda text: "LATEST" in text and "placed" in text and "█" in text)
        assert colours(screen)
        assert dev.end() == 0
        last = plain(dev.out.whole())
    assert "Traceback" not in last
    assert "placements in" in " ".join(last.splitlines()[-4:])
    assert dev.out.text.rindex("\x1b[?25h") > dev.out.text.rindex("\x1b[?25l")


def test_there_are_no_colours_where_they_are_not_wanted(tmp_path: Path) -> None:
    with on_terminal(tmp_path, "--demo", NO_COLOR="1") as dev:
        dev.out.wait(lambda text: "█" in text)
        assert dev.end() == 0
        assert colours(dev.out.whole()) == set()


@pytest.mark.parametrize("term", ["dumb", ""])
def test_a_terminal_that_cannot_draw_gets_lines(tmp_path: Path, term: str) -> None:
    with on_terminal(tmp_path, "--demo", TERM=term) as dev:
        dev.out.wait(lambda text: "placed: " in text)
        assert dev.end() == 0
        assert "\x1b" not in dev.out.whole()


def test_lines_can_be_asked_for(tmp_path: Path) -> None:
    with on_terminal(tmp_path, "--demo", "--no-table") as dev:
        dev.out.wait(lambda text: "placed: " in text)
        assert dev.end() == 0
        assert "\x1b" not in dev.out.whole()


def test_a_terminal_without_unicode_gets_a_picture_all_the_same(tmp_path: Path) -> None:
    with on_terminal(tmp_path, "--demo", LANG="C", PYTHONIOENCODING="ascii", PYTHONUTF8="0") as dev:
        dev.out.wait(lambda text: "###" in text and "-> " in text)
        assert dev.end() == 0
        assert dev.out.whole().isascii()


def test_more_pods_than_lines_are_counted(tmp_path: Path) -> None:
    with on_terminal(tmp_path, "--pods", "60", rows=24) as dev:
        dev.out.wait(lambda text: re.search(r"and 4\d more", text) is not None)
        assert dev.end() == 0


def test_it_ends_with_its_terminal(tmp_path: Path) -> None:
    with on_terminal(tmp_path, "--demo") as dev:
        dev.out.wait(lambda text: "█" in text)
        dev.out.close()
        assert dev.wait() == 141
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]
