"""What is asked of a bench, beside the load itself."""

from __future__ import annotations

from dataclasses import dataclass, field

from kruntimes_core.lab.bench.live.load import Load


@dataclass(frozen=True, slots=True, kw_only=True)
class Waits:
    """How long a bench waits, in seconds, for what may come without being asked for."""

    nobody: float = 1.5
    """For another scheduler to give itself away."""
    quiet: float = 1.0
    """Without any write, until a scheduler is taken to have done what it does."""
    longest_quiet: float = 60.0
    """For that quiet; whoever writes on is measured as it is."""
    namespaces: float = 3.0
    """For a controller to end the deletion of namespaces."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """One call."""

    load: Load = field(default_factory=Load)
    command: str | None = None
    """The scheduler, as a command line with placeholders; None: ours."""
    external: bool = False
    """The scheduler runs already."""
    pid: int | None = None
    """Its number, where it runs already and is to be measured."""
    config: str | None = None
    """A configuration for ours."""
    kubeconfig: str | None = None
    context: str | None = None
    repeat: int = 1
    ceiling_patches: int = 500
    in_flight: int = 32
    """Patches of the ceiling at a time."""
    patience_seconds: float = 60.0
    """A round in which nothing was placed for so long is over."""
    anywhere: bool = False
    """Also a server that is not on this machine."""
    waits: Waits = field(default_factory=Waits)
