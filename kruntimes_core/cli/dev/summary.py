"""What became of the Runs: a line for people, a document for scripts."""

from __future__ import annotations

from typing import Any

from kruntimes_core.engine.clock import SECOND
from kruntimes_core.engine.decisions import plugin_document
from kruntimes_core.framework.configuration import Profiles
from kruntimes_core.lab.dev.book import Book
from kruntimes_core.lab.dev.cluster import DevCluster
from kruntimes_core.model.messages import counted
from kruntimes_core.model.run import TERMINAL_PHASES, Phase

API_VERSION = "kruntimes.io/dev/v1"
_ENDS = tuple(phase.value for phase in Phase if phase in TERMINAL_PHASES)


def summary_line(book: Book) -> str:
    """One line."""
    parts = [f"{book.ended[phase]} {phase}" for phase in _ENDS if book.ended[phase]]
    if book.unfinished:
        parts.append(f"{book.unfinished} not ended")
    said = counted(book.created, "Run") + (f": {', '.join(parts)}" if parts else "")
    return f"{said}; {counted(book.placements, 'placement')} in {book.seconds():.1f}s"


def summary_document(cluster: DevCluster, profiles: Profiles) -> dict[str, Any]:
    """The document; times in seconds."""
    book = cluster.book
    plugins = {plugin.name: plugin for profile in profiles.all for plugin in profile.plugins}
    return {
        "apiVersion": API_VERSION,
        "plugins": [plugin_document(plugin) for plugin in plugins.values()],
        "runs": {
            "created": book.created,
            **{phase[0].lower() + phase[1:]: book.ended[phase] for phase in _ENDS},
            "notEnded": book.unfinished,
        },
        "finished": cluster.finished,
        "placements": book.placements,
        "retries": book.retries,
        "pods": dict(sorted(book.placed_on.items())),
        "seconds": round(book.seconds(), 3),
        "placingSeconds": _placing_seconds(book),
    }


def _placing_seconds(book: Book) -> float | None:
    """From the first placement to the last end; None while there is neither."""
    if book.first_placed is None or book.last_ended is None:
        return None
    return round(max(book.last_ended - book.first_placed, 0) / SECOND, 3)
