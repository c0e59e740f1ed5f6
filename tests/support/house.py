"""How large the rooms are, and what in them may have outgrown its name: `python tests/support/house.py`."""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PRODUCT = ROOT / "kruntimes_core"
ROOMS = ("cli", "testing", "lab", "cluster", "engine", "framework", "model", "crds")
LONGEST = 700
"""Lines. One concept that needs 600 gets them; a file that is longer holds more than one."""
SMALL = 60
"""Lines. A smaller file is an entry point, a protocol, pure data, or a mistake."""


def files(room: str) -> list[Path]:
    """The Python files of a room."""
    return sorted((PRODUCT / room).rglob("*.py"))


def lines(path: Path) -> int:
    """How long a file is."""
    return path.read_text().count("\n")


def too_long() -> list[str]:
    """Files of the product that are longer than a concept needs."""
    return [str(path.relative_to(ROOT)) for path in PRODUCT.rglob("*.py") if lines(path) > LONGEST]


def small(room: str) -> list[str]:
    """Small files of a room, but for the faces of its folders."""
    return [path.stem for path in files(room) if path.name != "__init__.py" and lines(path) < SMALL]


def class_names_twice(*rooms: str) -> dict[str, list[str]]:
    """Public classes of one name that stand in two places, one of them in these rooms."""
    places: dict[str, list[str]] = defaultdict(list)
    for room in ROOMS:
        for path in files(room):
            for name in _public_classes(path):
                places[name].append(str(path.relative_to(PRODUCT)))
    return {
        name: where
        for name, where in sorted(places.items())
        if len(where) > 1 and any(place.startswith(f"{room}/") for place in where for room in rooms)
    }


def _public_classes(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield node.name


def table() -> Iterator[str]:
    """One row for each room, and what a reader would look at."""
    yield f"{'room':10} {'files':>5} {'lines':>6} {'median':>6}  under {SMALL} lines"
    for room in ROOMS:
        sizes = sorted(lines(path) for path in files(room))
        yield f"{room:10} {len(sizes):5} {sum(sizes):6} {sizes[len(sizes) // 2]:6}  {' '.join(small(room))}"
    yield f"over {LONGEST} lines: {', '.join(too_long()) or 'none'}"
    for name, where in class_names_twice(*ROOMS).items():
        yield f"two classes {name}: {', '.join(where)}"


if __name__ == "__main__":
    sys.stdout.write("\n".join(table()) + "\n")
