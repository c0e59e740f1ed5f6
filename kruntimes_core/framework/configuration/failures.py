"""A mistake in a configuration, told with file, line and path."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from kruntimes_core.model.messages import InputError
from kruntimes_core.model.yaml_text import locate

Path = tuple[str | int, ...]


class ConfigurationError(InputError):
    """A configuration cannot be used: `FILE:LINE: path.to.field: what is wrong and what to write`."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a configuration was read from. The text is kept to find the line of a mistake.

    All origins are equal: two files that say the same are the same configuration.
    """

    source: str = field(default="", compare=False)
    text: str | bytes = field(default="", compare=False, repr=False)

    def error(self, path: Path, problem: str) -> ConfigurationError:
        """The error for the field at `path`, which is the subject of `problem`."""
        return ConfigurationError(
            ": ".join(part for part in (self.place(path), dotted(path), problem) if part)
        )

    def place(self, path: Path) -> str:
        """Where the field at `path` stands, as `FILE:LINE`; empty without a file."""
        line = locate(self.text, path) if self.source else None
        return f"{self.source}:{line}" if line is not None else self.source

    def complaint(self, path: Path, problem: str) -> ConfigurationError:
        """The error for a problem that names its own subject: the path only leads into a file."""
        return self.error(path if self.source else (), problem)


def dotted(path: Sequence[str | int]) -> str:
    """A path as people write it: `plugins.enabled[0].weight`."""
    written = ""
    for step in path:
        if isinstance(step, int):
            written += f"[{step}]"
        else:
            written += f".{step}" if written else step
    return written
