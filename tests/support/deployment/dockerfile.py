"""A Dockerfile, read: its instructions, their flags, and the variables that they name."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from dockerfile_parse import DockerfileParser

_FLAG = re.compile(r"--([a-z-]+)=(\S+)\s+")
_VARIABLE = re.compile(r"\$\{?(\w+)\}?")


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction. flags: what stands before its arguments, such as `--from=build`."""

    name: str
    flags: tuple[tuple[str, str], ...]
    value: str

    def flag(self, name: str) -> str | None:
        """The value of a flag that stands at most once."""
        return dict(self.flags).get(name)

    @property
    def words(self) -> list[str]:
        """The arguments: of the JSON form, or cut at blanks."""
        if self.value.startswith("["):
            words: list[str] = json.loads(self.value)
            return words
        return self.value.split()

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The arguments as `name=value`, as `ENV` and `LABEL` have them."""
        found = re.findall(r'(\S+?)=(?:"([^"]*)"|(\S+))', self.value)
        return [(name, quoted or plain) for name, quoted, plain in found]


def instructions(path: Path) -> list[Instruction]:
    """The instructions of a Dockerfile, without comments."""
    parsed = DockerfileParser(fileobj=io.BytesIO(path.read_bytes())).structure
    return [
        _instruction(one["instruction"], one["value"]) for one in parsed if one["instruction"] != "COMMENT"
    ]


def expand(text: str, variables: Mapping[str, str]) -> str:
    """The text with the values of its variables; one that is not known is a mistake."""
    return _VARIABLE.sub(lambda match: variables[match[1]], text)


def stages(path: Path) -> Iterator[list[Instruction]]:
    """The instructions of each stage, `FROM` first."""
    stage: list[Instruction] = []
    for one in instructions(path):
        if one.name == "FROM":
            if stage:
                yield stage
            stage = []
        if one.name == "FROM" or stage:
            stage.append(one)
    yield stage


def _instruction(name: str, value: str) -> Instruction:
    flags = []
    while match := _FLAG.match(value):
        flags.append((match[1], match[2]))
        value = value[match.end() :]
    return Instruction(name, tuple(flags), value)
