"""A configuration file, and what the commands say about it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

Written = Callable[[str | bytes], str]


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Written:
    """Write the file `c.yaml` of the folder in which the commands run."""
    monkeypatch.chdir(tmp_path)

    def write(content: str | bytes) -> str:
        Path("c.yaml").write_bytes(content.encode() if isinstance(content, str) else content)
        return "c.yaml"

    return write
