"""What tests of the host and of plugins are made with: short ways to values and to API objects."""

from kruntimes_core.testing.builders import (
    make_affinity,
    make_pod,
    make_run,
    make_snapshot,
    make_targets,
    make_workspace,
    matching,
)
from kruntimes_core.testing.objects import (
    affinity_object,
    condition_object,
    pod_object,
    run_object,
    term_object,
    workspace_object,
)

__all__ = [
    "affinity_object",
    "condition_object",
    "make_affinity",
    "make_pod",
    "make_run",
    "make_snapshot",
    "make_targets",
    "make_workspace",
    "matching",
    "pod_object",
    "run_object",
    "term_object",
    "workspace_object",
]
