"""The order of hook calls in one cycle, and the diagram in the documentation that shows it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from kruntimes_core import Reject, Run, RuntimePod
from kruntimes_core.framework.profile import ActivePlugin
from kruntimes_core.testing.harness import RUNS, Host
from kruntimes_core.testing.plugins import fake_plugin, profiles_of

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "cycle.md"

REJECTED, TURNED_DOWN = "py-0", "py-1"


class Recorder:
    """A plugin with every hook: each call is a line of the diagram."""

    def __init__(self, name: str, lines: list[str]) -> None:
        self.name = name
        self.lines = lines

    def note(self, call: str, answer: str = "") -> None:
        self.lines.append(f"host->>{self.name}: {call}")
        if answer:
            self.lines.append(f"{self.name}-->>host: {answer}")

    def queue_key(self, run: Run) -> int:
        self.note("queue_key", "1")
        return 1

    def prefilter(self, request: Any) -> str:
        self.note("prefilter", f"state of {self.name}")
        return f"state of {self.name}"

    def filter(self, pod: RuntimePod, state: str) -> Reject | None:
        rejected = self.name == "B" and pod.name == REJECTED
        self.note(f"filter {pod.name}", "Reject(Full)" if rejected else "")
        return Reject("Full") if rejected else None

    def score(self, pod: RuntimePod, state: str) -> int:
        raw = 9 if pod.name == TURNED_DOWN else 5
        self.note(f"score {pod.name}", str(raw))
        return raw

    def normalize(self, scores: Sequence[int], state: str) -> list[int]:
        normalized = [raw * 100 // max(scores) for raw in scores]
        self.note(f"normalize {list(scores)}", str(normalized))
        return normalized

    def reserve(self, pod: RuntimePod, state: str) -> Reject | None:
        down = self.name == "B" and pod.name == TURNED_DOWN
        self.note(f"reserve {pod.name}", "Reject(Kept)" if down else "")
        return Reject("Kept") if down else None

    def unreserve(self, pod: RuntimePod, state: str, bound: bool) -> None:
        self.note(f"unreserve {pod.name}, bound={bound}")

    def plugin(self, *, orders: bool) -> ActivePlugin:
        hooks = ["prefilter", "filter", "score", "normalize", "reserve", "unreserve"]
        hooks += ["queue_key"] if orders else []
        named: dict[str, Any] = {hook: getattr(self, hook) for hook in hooks}
        return fake_plugin(self.name, reasons=["Full", "Kept"], **named)


def one_cycle() -> list[str]:
    """A Run, three Pods: the first is rejected by a filter, the second turned down by a reserve."""
    lines: list[str] = []
    host = Host(
        profiles_of(Recorder("A", lines).plugin(orders=True), Recorder("B", lines).plugin(orders=False))
    )
    for name in (REJECTED, TURNED_DOWN, "py-2"):
        host.pod(name, runs=1)
    host.run("r")
    host.observe()
    host.watches.hold(RUNS)
    host.work()
    while host.send():
        lines.append(f"host->>API: bind r to {host.pod_of('r')}")
    host.watches.resume(RUNS)
    host.observe()
    lines.append("API->>host: r is Scheduled")
    host.work()
    return lines


def drawn() -> Iterator[str]:
    """The lines of the diagram in the documentation."""
    _, _, diagram = PAGE.read_text().partition("```mermaid\nsequenceDiagram\n")
    for line in diagram.partition("```")[0].splitlines():
        if "->>" in line:
            yield line.strip()


def test_the_diagram_of_a_cycle_shows_the_calls_as_they_are_made() -> None:
    assert list(drawn()) == one_cycle()


def test_every_hook_is_in_the_diagram_and_explained_beside_it() -> None:
    hooks = ["queue_key", "prefilter", "filter", "score", "normalize", "reserve", "unreserve"]
    text = PAGE.read_text()
    assert [hook for hook in hooks if f"->>A: {hook}" not in text] == []
    assert [hook for hook in hooks if f"`{hook}`" not in text] == []
