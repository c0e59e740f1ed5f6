"""The CustomResourceDefinitions of Run, Runtime and PersistentWorkspace, as package data.

They are here, and not beside the chart alone, because the embedded API server of `kruntimes dev` runs from
the installed wheel; `deploy/crds` holds copies. Every room may import this one, and it imports none.
"""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import yaml


def crd_texts() -> dict[str, str]:
    """The YAML text of each CRD by its file name, in the order of the names."""
    folder = files(__name__)
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".yaml"))
    return {name: folder.joinpath(name).read_text(encoding="utf-8") for name in names}


def crds() -> list[dict[str, Any]]:
    """The CRDs as objects, to be changed by the caller at will; in the order of `crd_texts`."""
    # The loader in C: it reads them ten times faster.
    return [yaml.load(text, yaml.CSafeLoader) for text in crd_texts().values()]
