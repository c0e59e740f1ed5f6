"""Options, and types of options, that several commands have."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from math import isfinite
from typing import Any, TypeVar

import click

from kruntimes_core.model.times import parse_duration

Command = TypeVar("Command", bound=Callable[..., Any])

CONFIG = click.option(
    "--config", metavar="FILE", help="The configuration of the scheduler. Default: all its defaults."
)

FORMS = ("table", "wide", "json", "yaml", "name")
"""All forms of `-o`, named as in kubectl."""
TABLE_OR_DOCUMENT = ("table", "json")


def output_option(forms: Sequence[str], explained: str) -> Callable[[Command], Command]:
    """`-o` with these forms, as the argument `form` of a command. explained: its help."""
    return click.option(
        "-o",
        "--output",
        "form",
        type=click.Choice(forms),
        default="table",
        show_default=True,
        help=explained,
    )


MOST = 1_000_000
"""The most of anything that is counted: a larger number would fill the memory before it is refused."""


class Count(click.IntRange):
    """A whole number of things, at most `MOST` unless `most` says otherwise (None: no limit)."""

    # Click would say "x is not a valid integer range".
    name = "integer"

    def __init__(self, least: int, most: int | None = MOST) -> None:
        super().__init__(least, most)


class FiniteRange(click.FloatRange):
    """A number in a range. Click lets `nan` into every range, and `inf` into each without an upper end."""

    name = "number"

    def convert(self, value: float, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number; or a usage error."""
        number = super().convert(value, param, ctx)
        if not isfinite(number):
            self.fail(f"{value} is not a finite number", param, ctx)
        return number


def number_option(
    *names: str, kind: click.ParamType[Any], about: str, default: float | None = None, unit: str = "N"
) -> Callable[[Command], Command]:
    """An option with a number, whose default is shown if there is one. about: its help."""
    return click.option(
        *names, type=kind, metavar=unit, default=default, show_default=default is not None, help=about
    )


class NameType(click.ParamType[str]):
    """A DNS label of at most `longest` letters. problem: what a usage error says of another text."""

    name = "name"

    def __init__(self, longest: int, problem: str) -> None:
        self._label = re.compile(rf"[a-z0-9]([-a-z0-9]{{0,{longest - 2}}}[a-z0-9])?", re.ASCII)
        self._problem = problem

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The name; or a usage error."""
        if self._label.fullmatch(value) is None:
            self.fail(f"{value!r} is not a valid {self._problem}", param, ctx)
        return value


NAMESPACE = NameType(63, "namespace name")


DurationRange = tuple[float, float]
"""Two durations in seconds, the shorter first."""


class DurationType(click.ParamType[DurationRange]):
    """`2s`, `500ms`, or a range: `1s-5s`."""

    name = "duration"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> DurationRange:
        """The range; or a usage error."""
        if isinstance(value, tuple):
            return value
        first, dash, last = str(value).partition("-")
        shortest, longest = parse_duration(first), parse_duration(last if dash else first)
        if shortest is None or longest is None or not 0 < shortest <= longest:
            self.fail(
                f"{value!r} is not a valid duration: write 2s, 500ms, or a range such as 1s-5s", param, ctx
            )
        return shortest, longest
