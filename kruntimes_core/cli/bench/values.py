"""Values of options that only a bench has."""

from __future__ import annotations

import click

from kruntimes_core.cli.options import DurationRange, DurationType

_STAYS = frozenset({"0", "0s"})


class StayType(DurationType):
    """How long a Run is on its Pod: as a duration, or 0 for good."""

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> DurationRange:
        """The range, both ends 0 for good; or a usage error."""
        return DurationRange(0.0, 0.0) if value in _STAYS else super().convert(value, param, ctx)
