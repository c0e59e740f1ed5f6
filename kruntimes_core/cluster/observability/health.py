"""What probes answer: checks that hold, or say why not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class HealthCheck:
    """One thing that must hold. `why` is one line, empty while it holds."""

    name: str
    why: str = ""
    note: str = ""
    """What else there is to say while it holds, in one line."""

    @property
    def holds(self) -> bool:
        """Whether it holds."""
        return not self.why


def probe_text(checks: Sequence[HealthCheck], verbose: bool) -> str:
    """The checks as Kubernetes' own components show them; those that fail always say why."""
    lines = [_line(check) for check in checks if verbose or not check.holds]
    verdict = "ok" if all(check.holds for check in checks) else "not ok"
    return "\n".join([*lines, verdict]) + "\n"


def _line(check: HealthCheck) -> str:
    if not check.holds:
        return f"[-]{check.name} failed: {check.why}"
    return f"[+]{check.name} ok: {check.note}" if check.note else f"[+]{check.name} ok"
