"""A plugin that keeps something for each Run, and a host with two of them."""

from __future__ import annotations

from typing import Any

from kruntimes_core import Reject, Request, Run, RuntimePod
from kruntimes_core.framework.profile import ActivePlugin
from kruntimes_core.testing.harness import (
    Host,
)
from kruntimes_core.testing.plugins import fake_plugin, profiles_of

Log = list[tuple[Any, ...]]


class Keeper:
    """A plugin that keeps something for each Run on its Pod, and remembers every call."""

    def __init__(self, name: str, log: Log, refused: set[str] | None = None) -> None:
        self.name = name
        self.log = log
        self.refused = refused if refused is not None else set()

    def reserve(self, pod: RuntimePod, run: Run) -> Reject | None:
        self.log.append(("reserve", self.name, run.name, pod.name))
        return Reject("Kept") if pod.name in self.refused else None

    def unreserve(self, pod: RuntimePod, run: Run, bound: bool) -> None:
        self.log.append(("unreserve", self.name, run.name, pod.name, bound))

    def plugin(self) -> ActivePlugin:
        return fake_plugin(self.name, reasons=["Kept"], reserve=self.reserve, unreserve=self.unreserve)


def room(pod: RuntimePod) -> Reject | None:
    return None if pod.available and pod.fits(Request({"runs": 1})) else Reject("Full")


def host_of(*plugins: ActivePlugin) -> Host:
    return Host(profiles_of(fake_plugin("Room", filter=room, reasons=["Full"]), *plugins))


RESERVED = [("reserve", "A", "r", "py-0"), ("reserve", "B", "r", "py-0")]


def unreserved(bound: bool) -> Log:
    return [("unreserve", "B", "r", "py-0", bound), ("unreserve", "A", "r", "py-0", bound)]
