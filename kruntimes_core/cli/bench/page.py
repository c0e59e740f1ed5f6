"""The picture of a bench: one HTML file that needs no other, in the light and in the dark."""

from __future__ import annotations

import os
from collections.abc import Iterator
from html import escape
from pathlib import Path

from kruntimes_core import __version__
from kruntimes_core.cli.bench.drawing import Chart, Series, bins, svg
from kruntimes_core.cli.bench.tables import NO_REAL_SERVER, described, figures, verdict
from kruntimes_core.cli.output.text import printable
from kruntimes_core.lab.bench.live.results import Results, RoundResult
from kruntimes_core.model.messages import InputError, counted

_STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --dim: #59636e; --paper: #ffffff; --line: #d9dee3;
  --rate: #1f6feb; --p50: #12805c; --p99: #b35900; --bad: #b42318; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ec; --dim: #9aa4ae; --paper: #14181c;
  --line: #30373e; --rate: #6cb0ff; --p50: #4fd1a0; --p99: #ffb066; --bad: #ff8a80; } }
body { margin: 0 auto; max-width: 760px; padding: 24px 16px 48px; background: var(--paper);
  color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 22px; margin: 0 0 4px; } h2 { font-size: 16px; margin: 32px 0 4px; }
h3 { font-size: 13px; font-weight: 600; margin: 14px 0 0; }
p { margin: 2px 0; } .dim { color: var(--dim); } .bad { color: var(--bad); font-weight: 600; }
code { font-size: 13px; overflow-wrap: anywhere; }
table { border-collapse: collapse; width: 100%; margin-top: 8px; font-variant-numeric: tabular-nums; }
th, td { padding: 4px 8px; border-bottom: 1px solid var(--line); text-align: right; }
th:first-child, td:first-child { text-align: left; padding-left: 0; } th { font-weight: 600; }
svg { display: block; width: 100%; height: auto; }
svg text { font: 11px system-ui, sans-serif; fill: var(--dim); }
svg text.value, svg text.level { text-anchor: end; } svg text.time { text-anchor: middle; }
svg text.level { paint-order: stroke; stroke: var(--paper); stroke-width: 4px; }
svg .grid { stroke: var(--line); } svg path { fill: none; stroke-width: 2; }
svg path.rate { stroke: var(--rate); } svg path.p50 { stroke: var(--p50); }
svg path.p99 { stroke: var(--p99); stroke-width: 1.5; }
svg line.level { stroke: var(--dim); stroke-dasharray: 5 4; }
.key span { margin-right: 14px; } .key .rate { color: var(--rate); }
.key .p50 { color: var(--p50); } .key .p99 { color: var(--p99); }
"""


def check_page(path: Path) -> None:
    """Raises `InputError` if the file cannot be written, as far as that is known before."""
    if path.is_dir() or not os.access(path.parent, os.W_OK):
        raise InputError(f"--html {path}: cannot be written: name a file in a folder that is there")


def write_page(path: Path, results: Results) -> None:
    """Write the picture. Raises `InputError` if the file cannot be written."""
    try:
        path.write_text(page(results), encoding="utf-8")
    except OSError as error:
        raise InputError(f"--html {path}: cannot be written: {error.strerror}: name another file") from error


def page(results: Results) -> str:
    """The whole file."""
    title = f"kruntimes bench, {results.load.mode.value}"
    return "\n".join(
        [
            '<!doctype html><html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{title}</title><style>{_STYLE}</style></head><body>",
            f"<h1>{title}</h1>",
            *_about(results),
            *_table(results),
            *(part for one in results.rounds for part in _round(one)),
            "</body></html>",
            "",
        ]
    )


def _about(results: Results) -> Iterator[str]:
    command = " ".join(results.command) if results.command is not None else "one that ran already"
    yield f"<p>{_text(described(results.load))}</p>"
    yield f"<p>Scheduler: <code>{_text(command)}</code></p>"
    yield (
        f'<p class="dim">{_text(results.started_at)}, {_text(results.server)} {_text(results.version)},'
        f" {counted(results.machine.processors, 'processor')}, kruntimes {__version__}</p>"
    )
    if not results.real:
        yield f'<p class="bad">{NO_REAL_SERVER}</p>'
    style = "" if results.passed else ' class="bad"'
    yield from (f"<p{style}>{_text(line)}</p>" for line in verdict(results))


def _table(results: Results) -> Iterator[str]:
    headings = "".join(f"<th>{heading}</th>" for heading in ("Figure", "Median", "Lowest", "Highest"))
    yield f"<table><thead><tr>{headings}</tr></thead><tbody>"
    for row in figures(results):
        yield "<tr>" + "".join(f"<td>{_text(cell)}</td>" for cell in row) + "</tr>"
    yield "</tbody></table>"


def _round(one: RoundResult) -> Iterator[str]:
    pieces = one.windows(bins(one.seconds))
    yield f"<h2>Round {one.number}</h2>"
    yield '<h3>Rate</h3><p class="key"><span class="rate">placements a second</span></p>'
    level = ("the ceiling: bare patches", one.ceiling_rate)
    rates = Series("rate", "rate", [(piece.start, piece.rate) for piece in pieces if piece.rate is not None])
    yield svg(Chart("Placements a second over time", one.seconds, [rates], lambda value: f"{value:g}", level))
    yield '<h3>Latency</h3><p class="key"><span class="p50">p50</span><span class="p99">p99</span></p>'
    known = [(piece.start, piece.latency) for piece in pieces if piece.latency is not None]
    waits = [
        Series("p50", "p50", [(at, latency.p50) for at, latency in known]),
        Series("p99", "p99", [(at, latency.p99) for at, latency in known]),
    ]
    short = max((latency.p99 for _, latency in known), default=0.0) < 1
    yield svg(Chart("Latency of placements over time", one.seconds, waits, _thousandths if short else _whole))


def _thousandths(seconds: float) -> str:
    return f"{seconds * 1_000:g} ms"


def _whole(seconds: float) -> str:
    return f"{seconds:g} s"


def _text(text: str) -> str:
    return escape(printable(text))
