"""The picture of a development cluster on a terminal: calm, and as wide and as high as there is room."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.table import Table
from rich.text import Text

from kruntimes_core.cli.output.text import printable
from kruntimes_core.lab.dev.overview import Load, Overview, PodLoad, Told

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
# What the picture has beside Pods and decisions: headings, empty lines, and the line of the cursor.
_OTHER_LINES = 8
_FEWEST_LINES = 3
_GAP = 3
# From this width on decisions stand beside the Pods, which then take so many columns.
_WIDE, _PODS_BESIDE = 110, 64


class Picture:
    """An overview, to be drawn by rich in whatever room there is. notices: what went wrong, last."""

    def __init__(self, overview: Overview, notices: Sequence[str] = ()) -> None:
        self._overview = overview
        self._notices = notices

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        overview, width, unicode = self._overview, options.max_width, not options.ascii_only
        room = max(console.height - _OTHER_LINES - len(self._notices), 2 * _FEWEST_LINES)
        yield _counts(overview)
        yield Text()
        if width >= _WIDE:
            lines = min(max(_DECISIONS, len(overview.pods)), room)
            pods = _pods(overview.pods, _PODS_BESIDE, lines, unicode=unicode)
            beside = Table.grid(padding=(0, 2 * _GAP, 0, 0))
            beside.add_row(pods, Group(*_decisions(overview.decisions, lines, unicode=unicode)))
            yield beside
        else:
            lines = min(_DECISIONS, max(room - len(overview.pods), _FEWEST_LINES))
            yield _pods(overview.pods, width, room - lines, unicode=unicode)
            yield Text()
            yield from _decisions(overview.decisions, lines, unicode=unicode)
        for notice in self._notices:
            yield Text(printable(notice), "yellow", no_wrap=True, overflow="ellipsis")


def _counts(overview: Overview) -> Text:
    if not overview.phases:
        return Text("no Runs yet: create some with kubectl", "bright_black")
    line = Text()
    for phase, number in overview.phases:
        line.append(f"{number} ", "bold").append(f"{phase}   ", _COLOURS.get(phase, ""))
    return line.append(f"{overview.placements} ", "bold").append(f"placed, {overview.rate:.1f}/s")


def _pods(pods: Sequence[PodLoad], width: int, room: int, *, unicode: bool) -> Table:
    """One line for each Pod, as far as there is room; the resources that all of them have no room for go."""
    shown = pods if len(pods) <= room else pods[: max(room - 1, 1)]
    resources = list(dict.fromkeys(load.resource for pod in pods for load in pod.loads))
    longest = max([len("POD"), *(len(pod.name) for pod in shown)])
    figures = max([3, *(len(_figure(load)) for pod in shown for load in pod.loads)])
    fixed = figures + 1 + _GAP
    fitting = max((width - longest) // (fixed + _SHORTEST_BAR), 1)
    resources = resources[:fitting]
    bar = min(max((width - longest) // max(len(resources), 1) - fixed, _SHORTEST_BAR), _LONGEST_BAR)
    table = Table(box=None, padding=(0, _GAP, 0, 0), header_style="bold", show_edge=False, pad_edge=False)
    for heading in ("POD", *(resource.upper() for resource in resources)):
        table.add_column(heading, no_wrap=True, overflow="ellipsis")
    for pod in shown:
        table.add_row(printable(pod.name), *_cells(pod, resources, bar, unicode=unicode))
    if len(shown) < len(pods):
        table.add_row(Text(f"and {len(pods) - len(shown)} more", "bright_black"))
    return table


def _cells(pod: PodLoad, resources: Sequence[str], bar: int, *, unicode: bool) -> list[Text]:
    if pod.unavailable is not None:
        return [Text(pod.unavailable, "yellow")]
    by_resource = {load.resource: load for load in pod.loads}
    return [
        _bar(by_resource[resource], bar, unicode=unicode) if resource in by_resource else Text()
        for resource in resources
    ]


def _bar(load: Load, width: int, *, unicode: bool) -> Text:
    full, empty = _BARS[unicode]
    # Rounded up: what holds anything is not shown as idle.
    filled = min(-(-load.used * width // load.capacity), width) if load.used else 0
    colour = "red" if load.used > load.capacity else "yellow" if load.used == load.capacity else "green"
    bar = Text(full * int(filled), colour).append(empty * (width - int(filled)), "bright_black")
    return bar.append(f" {_figure(load)}")


def _figure(load: Load) -> str:
    capacity = load.capacity if isinstance(load.capacity, int) else f"{float(load.capacity):g}"
    return f"{load.used}/{capacity}"


def _decisions(told: Sequence[Told], room: int, *, unicode: bool) -> Iterator[Text]:
    """The latest, newest last; empty lines keep the height, so that nothing jumps."""
    told = told[-room:]
    longest = max((len(one.run) for one in told), default=0)
    yield Text("LATEST DECISIONS", "bold")
    for one in told:
        line = Text(f"{one.at.astimezone():%H:%M:%S}  ", "bright_black", no_wrap=True, overflow="ellipsis")
        line.append(f"{printable(one.run):{longest}}  ", "default")
        if one.pod is not None:
            line.append("→ " if unicode else "-> ", "green").append(printable(one.pod), "default")
        else:
            line.append(printable(one.text), "yellow")
        yield line
    yield from (Text() for _ in range(room - len(told)))
