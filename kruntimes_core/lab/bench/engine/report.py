"""What was measured as one document for other programs."""

from __future__ import annotations

import platform
from typing import Any

from kruntimes_core import __version__
from kruntimes_core.engine.decisions import plugin_document
from kruntimes_core.framework.configuration import Profiles
from kruntimes_core.lab.bench.engine.measuring import Bench, Measured
from kruntimes_core.lab.bench.engine.shape import Shape

API_VERSION = "kruntimes.io/bench-engine/v1"


def report(bench: Bench, shape: Shape, profiles: Profiles, repeat: int) -> dict[str, Any]:
    """The report (`kruntimes.io/bench-engine/v1`)."""
    return {
        "apiVersion": API_VERSION,
        "kruntimes": __version__,
        "python": platform.python_version(),
        "shape": shape.document(),
        "repeat": repeat,
        "plugins": [
            {**plugin_document(plugin), "profile": profile.name}
            for profile in profiles.all
            for plugin in profile.plugins
        ],
        "workloads": [_workload(measured) for measured in bench.measured],
        "growth": [growth.document() for growth in bench.growth],
    }


def _workload(measured: Measured) -> dict[str, Any]:
    hooks = measured.hooks
    return {
        "name": measured.workload.name,
        "each": measured.workload.each,
        "figures": [figure.document() for figure in measured.figures],
        "units": hooks.units if hooks is not None else None,
        "placed": hooks.placed if hooks is not None else None,
        "waited": round(hooks.waited, 3) if hooks is not None else None,
        "hooks": [cost.document() for cost in hooks.costs] if hooks is not None else [],
    }
