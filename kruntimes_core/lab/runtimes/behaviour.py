"""How simulated Pods behave: what takes how long, and what fails."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random


@dataclass(frozen=True, slots=True)
class Span:
    """A duration in seconds: fixed when both ends are equal, else drawn evenly between them."""

    shortest: float
    longest: float

    def draw(self, random: Random) -> float:
        """One duration."""
        return random.uniform(self.shortest, self.longest)


@dataclass(frozen=True, slots=True)
class Fate:
    """What becomes of one attempt of a Run: how long it takes, and whether it fails then."""

    seconds: float
    fails: bool


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
    run: Span = Span(2.0, 2.0)
    """How long a Run takes."""
    failure_rate: float = 0.0
    """The share of attempts that fail, 0 to 1."""
    seed: int = 0

    def fate(self, namespace: str, name: str, attempt: int) -> Fate:
        """What becomes of an attempt. It depends on these values and the seed, and not on any order."""
        random = Random(f"{self.seed}/{namespace}/{name}/{attempt}")  # noqa: S311 - a simulation
        seconds = self.run.draw(random)
        return Fate(seconds, random.random() < self.failure_rate)
