"""Pages of the documentation, cut into what a test can hold to the code: blocks, tables, links.

A comment on the line above a block says what the block is: `file: PATH` quotes a file of the checkout,
`write: PATH` is what the reader is told to write there, `write and run: PATH` is Python that is also run with
the other Python of the page, `on a cluster` is run by `tests/deploy` on a real API server, and `not run`
needs what a test does not have.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]

_FENCE = re.compile(
    r"^(?:<!-- (?P<is>[^>]*?) -->\n)?```(?P<language>.*)\n(?P<text>(?s:.*?))^```$", re.MULTILINE
)
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^(#+) (.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block. role and target: what the comment above it says, both empty without one."""

    language: str
    text: str
    role: str
    target: str


class Page:
    """One Markdown file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = path.relative_to(ROOT).as_posix()
        self.text = path.read_text()

    @property
    def blocks(self) -> list[Block]:
        """The fenced blocks, from top to bottom."""
        found = []
        for match in _FENCE.finditer(self.text):
            role, _, target = (match["is"] or "").partition(": ")
            found.append(Block(match["language"], match["text"], role, target))
        return found

    @property
    def prose(self) -> str:
        """The text without its blocks."""
        return _FENCE.sub("", self.text)

    @property
    def links(self) -> list[str]:
        """The targets of all links."""
        return _LINK.findall(self.prose)

    @property
    def anchors(self) -> set[str]:
        """What a link may name after `#`."""
        return {_slug(title) for _, title in _HEADING.findall(self.prose)}

    def section(self, title: str) -> str:
        """The text below a heading, up to the next one of its level or above."""
        for match in _HEADING.finditer(self.text):
            if match[2].replace("`", "") == title:
                end = re.compile(rf"^#{{1,{len(match[1])}}} ", re.MULTILINE).search(self.text, match.end())
                return self.text[match.end() : end.start() if end else None]
        raise LookupError(f"{self.name} has no section {title!r}")


def page(name: str) -> Page:
    """The page at a path below the checkout."""
    return Page(ROOT / name)


def all_pages() -> list[Page]:
    """Every page that somebody reads: README and its like, docs/, and the READMEs of the packages."""
    found = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "plugins").glob("*/README.md")]
    return [Page(path) for path in sorted(found)]


def rows(text: str) -> Iterator[list[str]]:
    """The rows of the tables in `text`, without headings; each cell without its backticks."""
    lines = text.splitlines()
    for number, line in enumerate(lines):
        following = lines[number + 1] if number + 1 < len(lines) else ""
        if line.startswith("|") and not line.startswith("| ---") and not following.startswith("| ---"):
            yield [
                cell.strip().replace("`", "").replace("\\", "") for cell in re.split(r"(?<!\\)\|", line)[1:-1]
            ]


def first_column(text: str) -> list[str]:
    """The first cell of each row."""
    return [row[0] for row in rows(text)]


def _slug(title: str) -> str:
    return re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", title.lower())).strip("-")
