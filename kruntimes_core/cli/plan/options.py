"""What `kruntimes plan` was asked, as the command line said it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanOptions:
    """The options of one call."""

    filenames: tuple[str, ...]
    namespace: str | None = None
    """Only Runs of this namespace are shown; it is also that of objects which name none."""
    all_namespaces: bool = False
    now: str | None = None
    explain: bool = False
    config: str | None = None
    form: str = "table"
