"""How simulated Pods behave: what takes how long, and what fails."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random


@dataclass(frozen=True, slots=True, kw_only=True)
class Behaviour:
    """The same for all Pods of a simulation."""

    start_seconds: float = 0.5
    """From when a Pod is seen until it is ready."""
    stop_seconds: float = 0.5
    """From when a Pod is asked to end until it is gone. Not at once: kubectl would take the Pod that comes
    in its place for the one that it waits for.
    """
    heartbeat_seconds: float = 5.0
    """Between two heartbeats, as runtimed sends them (API contract)."""
    run: tuple[float, float] = (2.0, 2.0)
    """How many seconds a Run takes, drawn evenly between both."""
    failure_rate: float = 0.0
    """The share of attempts that fail, 0 to 1."""
    seed: int = 0

    def fate(self, namespace: str, name: str, attempt: int) -> tuple[float, bool]:
        """How many seconds an attempt takes, and whether it fails then: the same in any order of attempts."""
        random = Random(f"{self.seed}/{namespace}/{name}/{attempt}")  # noqa: S311 - a simulation
        seconds = random.uniform(*self.run)
        return seconds, random.random() < self.failure_rate
