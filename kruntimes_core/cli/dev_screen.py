"""How `kruntimes dev` shows a cluster: a picture on a terminal that is redrawn, or a line now and then."""

from __future__ import annotations

import io
import os
from collections import deque
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, tzinfo
from typing import Self, TextIO

import click
from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from kruntimes_core.cli.output.screen import has_no_reader
from kruntimes_core.cli.output.text import printable
from kruntimes_core.lab.dev.overview import Overview, PastDecision, short_name
from kruntimes_core.model.pod import RuntimePod

_KEPT_NOTICES = 3
_SILENT_LOOKS = 4
"""Overviews that `Lines` lets pass between two lines."""

_COLOURS = {
    "Pending": "yellow",
    "Scheduled": "cyan",
    "Running": "blue",
    "Ready": "magenta",
    "Succeeded": "green",
    "Failed": "red",
    "Timeout": "red",
    "Cancelled": "bright_black",
}
_BARS = {True: ("█", "░"), False: ("#", ".")}
_SHORTEST_BAR, _LONGEST_BAR = 4, 16
_DECISIONS = 8
# Lines of the picture beside Pods and decisions: headings, empty lines, and the line of the cursor.
_OTHER_LINES = 8
_FEWEST_LINES = 3
_GAP = 3
# From this width on the decisions are beside the Pods, which then take so many columns.
_WIDE, _PODS_BESIDE = 110, 64


class Display:
    """Shows overviews while it is entered."""

    seconds: float
    """How often it wants one."""
    redraws: bool
    """Whether an overview takes the place of the one before, and the last one stays."""
    notices: TextIO
    """Where log lines go meanwhile."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """End the display."""

    def show(self, overview: Overview) -> None:
        """Show one. Raises: `BrokenPipeError` when the output has lost its reader."""
        raise NotImplementedError


class Lines(Display):
    """A line now and then, if something happened."""

    # Often, because only a look finds out that the reader went away.
    seconds = 1.0
    redraws = False

    def __init__(self, out: TextIO, errors: TextIO) -> None:
        self.notices = errors
        self._out = out
        self._last = ""
        self._silent_for = _SILENT_LOOKS

    def show(self, overview: Overview) -> None:
        """See `Display`."""
        self._silent_for += 1
        phases = ", ".join(f"{number} {phase}" for phase, number in overview.phases)
        line = f"{overview.placements} placed: {phases}" if phases else ""
        if line != self._last and self._silent_for > _SILENT_LOOKS:
            self._last, self._silent_for = line, 0
            click.echo(line, file=self._out)
        elif has_no_reader(self._out):
            raise BrokenPipeError


class Notices(io.StringIO):
    """Keeps the latest log lines, which would otherwise tear the picture."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: deque[str] = deque(maxlen=_KEPT_NOTICES)

    def write(self, text: str) -> int:
        """Take lines."""
        self.lines.extend(text.splitlines())
        return len(text)


class LivePicture(Display):
    """A picture on a terminal that changes in its place."""

    seconds = 0.25
    redraws = True

    def __init__(self, out: TextIO) -> None:
        self.notices = self._notices = Notices()
        self._out = out
        self._shown: tuple[Overview, list[str]] | None = None
        # That of the user: a plugin may choose another one for the process.
        self._zone = datetime.now(UTC).astimezone().tzinfo
        console = Console(file=out, highlight=False)
        self._live = Live(console=console, auto_refresh=False, vertical_overflow="crop")

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if not has_no_reader(self._out):
            self._live.stop()

    def show(self, overview: Overview) -> None:
        """See `Display`. An overview that is on the screen already is not drawn again."""
        # rich takes a terminal that is gone for a file, and silently draws nothing.
        if has_no_reader(self._out):
            raise BrokenPipeError
        wanted = (overview, list(self._notices.lines))
        if wanted != self._shown:
            self._shown = wanted
            self._live.update(Picture(*wanted, self._zone), refresh=True)


def can_be_redrawn(out: TextIO) -> bool:
    """Whether this is a terminal on which a picture can change in its place."""
    return out.isatty() and os.environ.get("TERM", "") not in ("", "dumb", "unknown")


class Picture:
    """An overview that rich draws in whatever room there is."""

    def __init__(self, overview: Overview, notices: Sequence[str] = (), zone: tzinfo | None = None) -> None:
        """notices: the latest log lines. zone: of the times; None for that of the process."""
        self._overview = overview
        self._notices = notices
        self._zone = zone

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        overview, width, unicode = self._overview, options.max_width, not options.ascii_only
        room = max(console.height - _OTHER_LINES - len(self._notices), 2 * _FEWEST_LINES)
        yield _counts(overview)
        yield Text()
        if width >= _WIDE:
            lines = min(max(_DECISIONS, len(overview.pods)), room)
            pods = _pods(overview.pods, _PODS_BESIDE, lines, unicode=unicode)
            beside = Table.grid(padding=(0, 2 * _GAP, 0, 0))
            decisions = _decisions(overview.decisions, self._zone, lines, unicode=unicode)
            beside.add_row(pods, Group(*decisions))
            yield beside
        else:
            lines = min(_DECISIONS, max(room - len(overview.pods), _FEWEST_LINES))
            yield _pods(overview.pods, width, room - lines, unicode=unicode)
            yield Text()
            yield from _decisions(overview.decisions, self._zone, lines, unicode=unicode)
        for notice in self._notices:
            yield Text(printable(notice), "yellow", no_wrap=True, overflow="ellipsis")


def _counts(overview: Overview) -> Text:
    if not overview.phases:
        return Text("no Runs yet: create some with kubectl", "bright_black")
    line = Text()
    for phase, number in overview.phases:
        line.append(f"{number} ", "bold").append(f"{phase}   ", _COLOURS.get(phase, ""))
    return line.append(f"{overview.placements} ", "bold").append(f"placed, {overview.rate:.1f}/s")


def _pods(pods: Sequence[RuntimePod], width: int, room: int, *, unicode: bool) -> Table:
    """One line for each Pod for which there is room, with as many resources as fit."""
    shown = pods if len(pods) <= room else pods[: max(room - 1, 1)]
    names = [printable(short_name(pod.namespace, pod.name)) for pod in shown]
    # `runs` first: every Pod has it.
    resources = sorted(
        {resource for pod in pods for resource in pod.capacity}, key=lambda one: (one != "runs", one)
    )
    longest = max([len("POD"), *map(len, names)])
    figures = max([3, *(len(_figure(pod, resource)) for pod in shown for resource in pod.capacity)])
    fixed = figures + 1 + _GAP
    resources = resources[: max((width - longest) // (fixed + _SHORTEST_BAR), 1)]
    bar = min(max((width - longest) // max(len(resources), 1) - fixed, _SHORTEST_BAR), _LONGEST_BAR)
    table = Table(box=None, padding=(0, _GAP, 0, 0), header_style="bold", show_edge=False, pad_edge=False)
    for heading in ("POD", *(resource.upper() for resource in resources)):
        table.add_column(heading, no_wrap=True, overflow="ellipsis")
    for name, pod in zip(names, shown, strict=True):
        table.add_row(name, *_cells(pod, resources, bar, unicode=unicode))
    if len(shown) < len(pods):
        table.add_row(Text(f"and {len(pods) - len(shown)} more", "bright_black"))
    return table


def _cells(pod: RuntimePod, resources: Sequence[str], bar: int, *, unicode: bool) -> list[Text]:
    if pod.unavailable is not None:
        return [Text(pod.unavailable, "yellow")]
    return [
        _bar(pod, resource, bar, unicode=unicode) if resource in pod.capacity else Text()
        for resource in resources
    ]


def _bar(pod: RuntimePod, resource: str, width: int, *, unicode: bool) -> Text:
    full, empty = _BARS[unicode]
    used, capacity = pod.usage.get(resource, 0), pod.capacity[resource]
    # Rounded up: a Pod in use never looks idle.
    filled = min(-(-used * width // capacity), width) if used else 0
    colour = "red" if used > capacity else "yellow" if used == capacity else "green"
    bar = Text(full * int(filled), colour).append(empty * (width - int(filled)), "bright_black")
    return bar.append(f" {_figure(pod, resource)}")


def _figure(pod: RuntimePod, resource: str) -> str:
    capacity = pod.capacity[resource]
    shown = capacity if isinstance(capacity, int) else f"{float(capacity):g}"
    return f"{pod.usage.get(resource, 0)}/{shown}"


def _decisions(
    decisions: Sequence[PastDecision], zone: tzinfo | None, room: int, *, unicode: bool
) -> Iterator[Text]:
    """The latest, newest last; empty lines keep the height, so that nothing jumps."""
    latest = decisions[-room:]
    longest = max((len(one.run) for one in latest), default=0)
    yield Text("LATEST DECISIONS", "bold")
    for one in latest:
        line = Text(
            f"{one.at.astimezone(zone):%H:%M:%S}  ", "bright_black", no_wrap=True, overflow="ellipsis"
        )
        line.append(f"{printable(one.run):{longest}}  ", "default")
        if one.pod is not None:
            line.append("→ " if unicode else "-> ", "green").append(printable(one.pod), "default")
        else:
            line.append(printable(one.text), "yellow")
        yield line
    yield from (Text() for _ in range(room - len(latest)))
