"""Which fields of a document a search is for, as a tree of steps."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

# A key of a mapping, or a position in a list.
Step = str | int


@dataclass(slots=True)
class Wanted:
    """One field on the way to what is searched for; `line` is filled in by the search, from 1."""

    line: int | None = None
    below: dict[str, Wanted] = field(default_factory=dict)

    def trail(self, path: Iterable[Step]) -> list[Wanted]:
        """The fields from this one to the one at `path`, added where they are not yet wanted."""
        trail = [self]
        for step in path:
            trail.append(trail[-1].below.setdefault(str(step), Wanted()))
        return trail
