"""The statuses of all answers to a script, as they were when a real server last agreed to them."""

from __future__ import annotations

import json
from itertools import groupby
from pathlib import Path

from contract.site import Site

_FILE = Path(__file__).parents[2] / "contract" / "statuses.json"


def statuses(site: Site) -> str:
    """The statuses of all answers, in order: `201 404*3`."""
    runs = [(status, len([*same])) for status, same in groupby(said["status"] for _, said in site.record)]
    return " ".join(str(status) if length == 1 else f"{status}*{length}" for status, length in runs)


def check_statuses(script: str, site: Site) -> None:
    """Without a real server beside it, most answers of a script would be held to nothing."""
    expected = json.loads(_FILE.read_text(encoding="utf-8")).get(script)
    asked = "\n".join(f"{said['status']} {request}" for request, said in site.record)
    assert statuses(site) == expected, f"compare with a real server, then note it in {_FILE.name}:\n{asked}"
