"""From what was noted in a round to its figures."""

from __future__ import annotations

from collections.abc import Container, Sequence
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
    late_seconds: float,
) -> Round:
    """The figures of a round that is over.

    waited: all Runs were there before the scheduler could begin; it is from then on that they waited for
    it. own_versions: what others than the scheduler wrote.
    """
    released, last = book.released, book.last
    if released is None or last is None:
        raise ValueError("the round is not over")
    first = book.first or last
    runs = list(book.runs.values())
    created = [times.created_at for times in runs if times.created_at is not None]
    placed = [times.placed_at for times in runs if times.placed_at is not None]
    began = min(placed if waited else created, default=last.at)
    start = released.at if waited else began
    placements = sorted(
        (times.placed_at - began, times.placed_at - max(times.created_at or start, start))
        for times in runs
        if times.placed_at is not None
    )
    versions = [times.versions for times in runs]
    used = last.scheduler
    return Round(
        number=number,
        expected=book.expected or 0,
        placements=placements,
        created_at=sorted(at - began for at in created),
        counted=max(len(placements) - waited, 0),
        seconds=max((at for at, _ in placements), default=0.0),
        first_seconds=book.first.at - released.at if book.first is not None else None,
        ceiling=ceiling,
        writes=_mean([sum(one not in own_versions for one in each) for each in versions]),
        events=_mean([len(each) for each in versions]),
        start_processor_seconds=_between(released, first),
        processor_seconds=_between(first if waited else released, last),
        resident_bytes=used.resident_bytes if used is not None else None,
        peak_bytes=used.peak_bytes if used is not None else None,
        bench_processor_seconds=last.bench_seconds - (first if waited else released).bench_seconds,
        late_seconds=late_seconds,
    )


def _between(start: Mark, end: Mark) -> float | None:
    """What the scheduler used between two moments."""
    if start.scheduler is None or end.scheduler is None:
        return None
    return end.scheduler.processor_seconds - start.scheduler.processor_seconds


def _mean(values: Sequence[int]) -> float:
    return fmean(values) if values else 0.0
