"""Options as Go programs take them, so that manifests written for the reference scheduler still work."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import click

from kruntimes_core.model.times import parse_duration

_TRUE = frozenset({"1", "t", "T", "true", "TRUE", "True"})
_FALSE = frozenset({"0", "f", "F", "false", "FALSE", "False"})


class GoBoolean(click.ParamType[bool]):
    """A truth value as Go reads it; an option without a value means true."""

    name = "true|false"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> bool:
        """The value, or a usage error."""
        if isinstance(value, bool):
            return value
        if value not in _TRUE | _FALSE:
            self.fail(f"{value!r} is no truth value: write true or false", param, ctx)
        return value in _TRUE


class GoDuration(click.ParamType[float]):
    """A duration as Go writes it (`15s`, `1m30s`), in seconds."""

    name = "duration"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The seconds, or a usage error."""
        if isinstance(value, float):
            return value
        seconds = parse_duration(value)
        if seconds is None:
            self.fail(f"{value!r} is no duration: write 15s or 1m30s", param, ctx)
        return seconds


class GoCommand(click.Command):
    """A command whose long options may have one dash: `-leader-elect`, `-leader-elect=true`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments, with the second dash where Go needs none."""
        return super().parse_args(ctx, list(self._dashed(args)))

    def _dashed(self, args: Iterable[str]) -> Iterator[str]:
        known = {name for param in self.params for name in param.opts}
        for argument in args:
            # `-v2` is short; any other word is long, known or not, so that an error names all of it.
            word = re.fullmatch(r"-([a-zA-Z][\w-]+)(=.*)?", argument, re.DOTALL)
            is_long = f"-{argument.partition('=')[0]}" in known or (word and argument[:2] not in known)
            yield f"-{argument}" if is_long else argument
