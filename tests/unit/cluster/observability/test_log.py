"""Lines of the log: one for each thing, and none that others can forge, whatever they write."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from virtual.site import Site, play
from virtual.time import VirtualClock

from kruntimes_core.cluster.observability.log import Format, Level, Log, PluginErrorLog
from kruntimes_core.engine.clock import SECOND, Now
from kruntimes_core.engine.decisions import Decision, Outcome
from kruntimes_core.framework.configuration import Profiles
from kruntimes_core.framework.profile import PluginError
from kruntimes_core.testing.builders import NOW, make_run
from kruntimes_core.testing.plugins import fake_plugin, profiles_of

HOSTILE = {
    "line feed": "a\n2026-01-02T03:04:05.678Z INFO    forged",
    "carriage return": "a\rforged",
    "ANSI escape": "\x1b[31mred\x1b]0;title\x07",
    "C1 control": "\x9b31mred\x85forged",
    "delete": "a\x7f\x7fb",
    "null": "a\x00b",
    "right to left": "\u202egnorw\u202c \u2066isolated\u2069",
    "line separator": "a\u2028b\u2029c",
    "half of a pair": "a\ud83d b\ude00",
    "byte order mark": "\ufeffa",
    "quotes": 'say "no" \\" pod="evil',
    "fields": "x outcome=Scheduled pod=py-9",
    "emoji": "\U0001f600",
    "empty": "",
}
LINE = re.compile(
    r"(?P<time>\S+) (?P<level>[A-Z]+) +(?P<message>\"(?:[^\"\\]|\\.)*\"|[^=]*?)"
    r"(?P<fields>(?: \w+=(?:\"(?:[^\"\\]|\\.)*\"|[A-Za-z0-9_.:/@+-]+))*)\n"
)
FIELD = re.compile(r' (\w+)=("(?:[^"\\]|\\.)*"|[A-Za-z0-9_.:/@+-]+)')

texts = st.text(st.characters() | st.characters(categories=["Cs", "Cc", "Cf"]), max_size=60)


class Stopped:
    """A clock that stands still, unless its ticks are set."""

    def __init__(self) -> None:
        self.ticks = 0

    def now(self) -> Now:
        return Now(datetime(2026, 1, 2, 3, 4, 5, 678_900, tzinfo=UTC), self.ticks)


def lines(write: Callable[[Log], None], level: int = Level.INFO, form: Format = Format.TEXT) -> str:
    out = io.StringIO()
    write(Log(out, Stopped(), level, form))
    return out.getvalue()


def fields_of(shown: str) -> dict[str, str]:
    """What a reader takes for the fields of a line of text."""
    read = LINE.fullmatch(shown)
    assert read is not None, shown
    return {
        name: json.loads(value) if value.startswith('"') else value
        for name, value in FIELD.findall(read["fields"])
    }


def sound(text: str) -> str:
    """A text as it can be shown: whole characters."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def test_a_line_of_text_shows_time_level_and_fields() -> None:
    shown = lines(lambda log: log.info("bound", run="team-a/r1", pod="py-0", took=0.5, error=None))
    assert shown == "2026-01-02T03:04:05.678Z INFO    bound run=team-a/r1 pod=py-0 took=0.5\n"


def test_a_line_of_json_is_an_object() -> None:
    shown = lines(lambda log: log.warning('say "no"', run="r1", count=3), form=Format.JSON)
    assert json.loads(shown) == {
        "time": "2026-01-02T03:04:05.678Z",
        "level": "warning",
        "message": 'say "no"',
        "run": "r1",
        "count": 3,
    }


@pytest.mark.parametrize(("level", "said"), [(-1, 1), (0, 2), (1, 3), (2, 4), (9, 4)])
def test_a_level_says_everything_up_to_it(level: int, said: int) -> None:
    def write(log: Log) -> None:
        log.warning("w")
        log.info("i")
        log.debug("d")
        log.trace("t")

    assert lines(write, level).count("\n") == said


# What others wrote


@pytest.mark.parametrize("form", list(Format))
@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_what_others_wrote_cannot_forge_a_line(text: str, form: Format) -> None:
    shown = lines(lambda log: log.info(f"said {text}", by=text), form=form)
    assert shown.count("\n") == 1
    assert shown.rstrip("\n").isprintable()
    assert shown.isascii()


@given(texts, texts)
def test_a_line_of_text_gives_back_its_fields_and_no_others(message: str, value: str) -> None:
    shown = lines(lambda log: log.info(f"said {message}", by=value, other="o"))
    assert fields_of(shown) == {"by": sound(value), "other": "o"}


@given(texts, texts)
def test_a_line_of_json_can_be_read_by_any_reader(message: str, value: str) -> None:
    shown = lines(lambda log: log.info(message, by=value), form=Format.JSON)
    read = json.loads(shown)
    assert (read["message"], read["by"]) == (sound(message), sound(value))
    # A strict reader takes no half of a surrogate pair.
    read["by"].encode("utf-8")
    read["message"].encode("utf-8")
    assert shown.isascii()
    assert shown[:-1].isprintable()


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_what_is_no_finite_number_is_a_text_in_json(number: float) -> None:
    def refused(word: str) -> Any:
        raise AssertionError(f"{word} is not JSON")

    shown = lines(lambda log: log.info("took", seconds=number), form=Format.JSON)
    assert json.loads(shown, parse_constant=refused)["seconds"] == str(number)


# Decisions


@pytest.mark.parametrize("form", list(Format))
@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_a_decision_is_one_line_whatever_a_plugin_says(text: str, form: Format) -> None:
    def score(pod: object) -> int:
        raise RuntimeError(text)

    out = io.StringIO()
    log = Log(out, VirtualClock(NOW), Level.DEBUG, form)

    async def scene(site: Site) -> None:
        site.pod("py-0", runs=3)
        site.run("r1")
        site.start()
        await site.passes(0.5)

    play(profiles_of(fake_plugin("Fickle", score=score)), scene, log=log)
    decided = [line for line in out.getvalue().splitlines(keepends=True) if "decided" in line]
    (line,) = decided
    read = json.loads(line) if form is Format.JSON else fields_of(line)
    assert (read["run"], read["outcome"], read["reason"]) == ("team-a/r1", "Backoff", "PluginError")
    assert read["error"].startswith("plugin Fickle (fake-fickle 1.0) failed in score: RuntimeError")
    assert "pod" not in read
    assert line.isascii()
    assert line[:-1].isprintable()


@pytest.mark.parametrize(("level", "decisions"), [(Level.INFO, 0), (Level.DEBUG, 3)])
def test_each_decision_is_a_line_at_debug(profiles: Profiles, level: Level, decisions: int) -> None:
    """Two waits and a bind: what is tried again with the same answer is no new decision."""
    out = io.StringIO()
    log = Log(out, VirtualClock(NOW), level, Format.JSON)

    async def scene(site: Site) -> None:
        site.run("r1")
        site.run("r2", runtime="js")
        site.start()
        await site.passes(1)
        site.pod("py-0", runs=1)
        await site.passes(40)

    play(profiles, scene, log=log)
    read = [json.loads(line) for line in out.getvalue().splitlines()]
    decided = [(one["run"], one["outcome"]) for one in read if one["message"] == "decided"]
    assert (
        decided
        == [
            ("team-a/r1", "Waiting"),
            ("team-a/r2", "Waiting"),
            ("team-a/r1", "Scheduled"),
        ][:decisions]
    )


def failed(error: PluginError) -> Decision:
    """The decision about a Run that a plugin failed for."""
    return Decision(
        run=make_run("r1", namespace="team-a"),
        outcome=Outcome.BACKOFF,
        reason="PluginError",
        message="",
        error=error,
    )


@pytest.mark.parametrize(
    ("hooks", "minutes", "said"),
    [(["filter"], 5, 5), (["filter", "score"], 3, 6)],
    ids=["one hook", "each hook of its own"],
)
def test_what_plugins_raise_is_in_the_log_once_a_minute_with_how_often(
    hooks: list[str], minutes: int, said: int
) -> None:
    out = io.StringIO()
    clock = Stopped()
    errors = PluginErrorLog(Log(out, clock, Level.INFO, Format.JSON), clock)
    for _ in range(minutes):
        for hook in hooks:
            for number in range(1000):
                error = PluginError(
                    "Broken", "acme 1.0", hook, f"KeyError: {number}", place="acme/rules.py:12"
                )
                errors.decided(failed(error))
        clock.ticks += 60 * SECOND
    read = [json.loads(line) for line in out.getvalue().splitlines()]
    assert len(read) == said
    assert read[0] | {"time": ""} == {
        "time": "",
        "level": "warning",
        "message": "plugin Broken (acme 1.0) failed in filter: KeyError: 0",
        "at": "acme/rules.py:12",
        "run": "team-a/r1",
    }
    assert [one.get("unsaid") for one in read[len(hooks) :]] == [999] * (said - len(hooks))
