"""Values of options that only a bench has."""

from __future__ import annotations

from math import isfinite

import click

from kruntimes_core.cli.dev.values import DurationRange, DurationType

_STAYS = frozenset({"0", "0s"})


class StayType(DurationType):
    """How long a Run is on its Pod: as a duration, or 0 for good."""

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> DurationRange:
        """The range, both ends 0 for good; or a usage error."""
        return DurationRange(0.0, 0.0) if value in _STAYS else super().convert(value, param, ctx)


class FiniteRange(click.FloatRange):
    """A number in a range. `nan` is in every range of click's, and `inf` in each that is open upwards."""

    def convert(self, value: float, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number; or a usage error."""
        number = super().convert(value, param, ctx)
        if not isfinite(number):
            self.fail(f"{value} is no finite number", param, ctx)
        return number
