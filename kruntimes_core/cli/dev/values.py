"""Values of options as people write them: durations, capacities, names of Runtimes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import click

_RUNTIME = re.compile(r"[a-z0-9]([-a-z0-9]{0,48}[a-z0-9])?")
_RESOURCE = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?")
_LONGEST_RESOURCE = 63 - len("capacity.")

DEFAULT_CAPACITY: Mapping[str, str] = {"runs": "4", "cpu": "8"}


@dataclass(frozen=True, slots=True)
class DurationRange:
    """Two durations in seconds, the shorter first."""

    shortest: float
    longest: float


class DurationType(click.ParamType[DurationRange]):
    """`2s`, `500ms`, or a range: `1s-5s`."""

    name = "duration"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> DurationRange:
        """The range, or a usage error."""
        # Only here: `--help` needs no model.
        from kruntimes_core.model.times import parse_duration

        if isinstance(value, DurationRange):
            return value
        first, dash, last = str(value).partition("-")
        shortest, longest = parse_duration(first), parse_duration(last if dash else first)
        if shortest is None or longest is None or not 0 < shortest <= longest:
            self.fail(f"{value!r} is no duration: write 2s, 500ms, or a range as 1s-5s", param, ctx)
        return DurationRange(shortest, longest)


class CapacityType(click.ParamType[Mapping[str, str]]):
    """`runs=4,cpu=8`: resources and Kubernetes quantities."""

    name = "capacity"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> Mapping[str, str]:
        """The quantities by resource, or a usage error."""
        if isinstance(value, Mapping):
            return value
        capacity: dict[str, str] = {}
        for part in str(value).split(","):
            resource, _, amount = (side.strip() for side in part.partition("="))
            if not _RESOURCE.fullmatch(resource) or len(resource) > _LONGEST_RESOURCE:
                self.fail(f"{part!r} names no resource: write it as runs=4,cpu=8", param, ctx)
            if resource in capacity:
                self.fail(f"{resource} is given twice: keep one", param, ctx)
            if not _is_positive(amount):
                self.fail(f"{amount!r} is no amount of {resource}: write a positive quantity", param, ctx)
            capacity[resource] = amount
        return capacity


class RuntimeName(click.ParamType[str]):
    """A name that a Runtime and its Pods can bear."""

    name = "name"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The name, or a usage error."""
        if not _RUNTIME.fullmatch(str(value)):
            self.fail(
                f"{value!r} is no name: use at most 50 of a-z, 0-9 and -, with no - at an end", param, ctx
            )
        return str(value)


def _is_positive(amount: str) -> bool:
    from kruntimes_core.model.quantity import capacity_amount

    return capacity_amount(amount) is not None
