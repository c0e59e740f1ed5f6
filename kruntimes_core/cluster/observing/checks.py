"""What a probe asks: is this so, and if not, why not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that must hold. `why` is one line, empty while it holds."""

    name: str
    why: str = ""

    @property
    def holds(self) -> bool:
        """Whether it holds."""
        return not self.why


def report(checks: Sequence[Check], verbose: bool) -> str:
    """The checks as Kubernetes' own components show them; those that fail always say why."""
    lines = [
        f"[+]{check.name} ok" if check.holds else f"[-]{check.name} failed: {check.why}"
        for check in checks
        if verbose or not check.holds
    ]
    verdict = "ok" if all(check.holds for check in checks) else "not ok"
    return "\n".join([*lines, verdict]) + "\n"
