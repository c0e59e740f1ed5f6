"""Reports of benches, kept as files: a measurement that broke off goes on from there."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from performance.live.workloads import Workload

Document = dict[str, Any]


class Results:
    """The reports in one folder, by workload and round."""

    def __init__(self, folder: Path) -> None:
        """folder: need not be there yet."""
        self.folder = folder

    def keep(self, workload: Workload, number: int, document: Document) -> None:
        """Keep the report of a round, whole or not at all."""
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self._path(workload, number)
        written = path.with_suffix(".part")
        written.write_text(json.dumps({"command": workload.command, "document": document}, indent=1))
        written.replace(path)

    def kept(self, workload: Workload, number: int) -> Document | None:
        """The report of a round; None if there is none, or one of another command."""
        try:
            found = json.loads(self._path(workload, number).read_text())
        except FileNotFoundError:
            return None
        return found["document"] if found["command"] == workload.command else None

    def forget(self, workload: Workload) -> None:
        """Measure a workload anew."""
        for path in self.folder.glob(f"{workload.name}.*.json"):
            path.unlink()

    def rounds(self, workload: Workload) -> dict[int, Document]:
        """All reports of a workload, by round."""
        numbers = sorted(int(path.suffixes[0][1:]) for path in self.folder.glob(f"{workload.name}.*.json"))
        found = {number: self.kept(workload, number) for number in numbers}
        return {number: document for number, document in found.items() if document is not None}

    def _path(self, workload: Workload, number: int) -> Path:
        return self.folder / f"{workload.name}.{number}.json"


def default_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """Where results are kept if nobody says otherwise."""
    root = Path(environment.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return root / "kruntimes" / "performance"


def figure(key: str) -> Callable[[Document], float]:
    """Reads a figure of a report, which is of one round. Raises `LookupError` where it is unknown."""

    def read(document: Document) -> float:
        spread = document["summary"][key]
        if spread is None:
            raise LookupError(f"a report of {document['startedAt']} does not know {key}")
        return float(spread["median"])

    return read
