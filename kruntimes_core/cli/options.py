"""Options, and types of them, that several commands have, spelt and explained once."""

from __future__ import annotations

import re
from math import isfinite

import click

CONFIG = click.option(
    "--config", metavar="FILE", help="The configuration of the scheduler. Default: all its defaults."
)


MOST = 1_000_000
"""Of anything that is counted: more would be planned for, or fill the memory, before anybody is told."""


class Count(click.IntRange):
    """A whole number of things, with a bound above. Click calls `x` no "valid integer range"."""

    name = "integer"

    def __init__(self, least: int, most: int | None = MOST) -> None:
        """With `most` None, whoever takes the number bounds it."""
        super().__init__(least, most)


class NamespaceName(click.ParamType[str]):
    """The name of a namespace, as an API server takes it: a DNS label."""

    name = "name"
    _label = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?", re.ASCII)

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The name; or a usage error."""
        if self._label.fullmatch(value) is None:
            self.fail(f"{value!r} is no name of a namespace", param, ctx)
        return value


class FiniteRange(click.FloatRange):
    """A number in a range. `nan` is in every range of click's, and `inf` in each that is open upwards."""

    name = "number"

    def convert(self, value: float, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number; or a usage error."""
        number = super().convert(value, param, ctx)
        if not isfinite(number):
            self.fail(f"{value} is no finite number", param, ctx)
        return number
