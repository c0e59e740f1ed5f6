"""From what was noted in a round to its figures."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
from statistics import fmean

from kruntimes_core.lab.bench.live.report.results import Round
from kruntimes_core.lab.bench.live.rounds.times import Book, Mark


def round_of(
    number: int,
    book: Book,
    *,
    waited: bool,
    own_versions: Container[str],
    ceiling: Sequence[float],
    in_flight: int,
    late_seconds: float,
) -> Round:
    """The figures of a round that is over.

    waited: all Runs were there before the scheduler could begin; it is from then on that they waited for
    it. own_versions: what others than the scheduler wrote.
    """
    marks = _marks(book, waited=waited)
    moments = _moments(book, waited=waited, released_at=marks.released.at)
    versions = [one.versions for one in book.runs.values()]
    used = marks.last.scheduler
    return Round(
        number=number,
        expected=book.expected or 0,
        placements=moments.placements,
        created_at=moments.created_at,
        counted=max(len(moments.placements) - waited, 0),
        seconds=max((at for at, _ in moments.placements), default=0.0),
        first_seconds=book.first.at - marks.released.at if book.first is not None else None,
        ceiling=ceiling,
        in_flight=in_flight,
        writes=_mean([sum(one not in own_versions for one in each) for each in versions]),
        events=_mean([len(each) for each in versions]),
        beside_writes=sum(one not in own_versions for one in book.beside),
        start_processor_seconds=_between(marks.released, book.first or marks.last),
        processor_seconds=_between(marks.began, marks.last),
        resident_bytes=used.resident_bytes if used is not None else None,
        peak_bytes=used.peak_bytes if used is not None else None,
        bench_processor_seconds=marks.last.bench_seconds - marks.began.bench_seconds,
        late_seconds=late_seconds,
    )


@dataclass(frozen=True, slots=True)
class _Marks:
    """How things stood when the scheduler could begin, when its costs began to count, and at the end."""

    released: Mark
    began: Mark
    last: Mark


def _marks(book: Book, *, waited: bool) -> _Marks:
    """See `round_of`. Where all Runs waited, what it takes to start is not a placement's."""
    if book.released is None or book.last is None:
        raise ValueError("the round is not over")
    return _Marks(book.released, (book.first or book.last) if waited else book.released, book.last)


@dataclass(frozen=True, slots=True)
class _Moments:
    """See `Round`."""

    placements: list[tuple[float, float]]
    created_at: list[float]


def _moments(book: Book, *, waited: bool, released_at: float) -> _Moments:
    """When Runs came and were placed, from the beginning of the measurement on."""
    created = [run.created_at for run in book.runs.values() if run.created_at is not None]
    placed = [(run.placed_at, run.created_at) for run in book.runs.values() if run.placed_at is not None]
    known = [at for at, _ in placed] if waited else created
    if not known:
        return _Moments([], [])
    began = min(known)
    # A Run that was there before the scheduler could begin waited for it from then on.
    start = released_at if waited else began
    placements = [(at - began, at - max(created_at or start, start)) for at, created_at in placed]
    return _Moments(sorted(placements), sorted(at - began for at in created))


def _between(start: Mark, end: Mark) -> float | None:
    """What the scheduler used between two moments."""
    if start.scheduler is None or end.scheduler is None:
        return None
    return end.scheduler.processor_seconds - start.scheduler.processor_seconds


def _mean(values: Sequence[int]) -> float:
    return fmean(values) if values else 0.0
