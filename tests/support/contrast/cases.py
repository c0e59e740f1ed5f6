"""What a line of the contrast table says, and short ways to write one."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from realcluster.client import RUNS, Object, Resource

KINDS = {"runs": "Run", "runtimes": "Runtime", "persistentworkspaces": "PersistentWorkspace"}
REMOVED = object()
"""As a value of `changed`: the field is left out."""

OF_THE_WHOLE = "<nil>"
"""As the field at fault: an integer outside the range of its format, which a server reports for the whole."""

REPOSITORY = {"repoURL": "https://git.example.invalid/jobs.git", "commitSHA": "4b825dc"}
INLINE = {"inline": "print('hello')"}
TASK = {"task": {"entrypoint": "bin/start"}}
FUNCTION = {"function": {"handler": "app.handle"}}


@dataclass(frozen=True, kw_only=True)
class Create:
    """A new object with this spec, None for none. `at`: the field at fault, None when it is accepted.

    `filled`: what the stored spec holds at these paths; REMOVED where the field must be gone.
    """

    title: str
    spec: Object | None
    at: str | None = None
    filled: Mapping[str, object] = field(default_factory=dict)
    resource: Resource = RUNS

    @property
    def object(self) -> Object:
        """The object to be sent."""
        return named(self.resource, self.spec)


@dataclass(frozen=True, kw_only=True)
class Update:
    """A merge patch of the spec of an object that was created with `before`."""

    title: str
    before: Object
    change: Object
    at: str | None = None
    resource: Resource = RUNS


@dataclass(frozen=True, kw_only=True)
class Write:
    """A status, written to the status subresource of a new object."""

    title: str
    status: Object
    at: str | None = None
    filled: Mapping[str, object] = field(default_factory=dict)
    resource: Resource = RUNS


def named(resource: Resource, spec: Object | None) -> Object:
    """An object with a name made by the server."""
    obj = {
        "apiVersion": f"{resource.group}/{resource.version}",
        "kind": KINDS[resource.plural],
        "metadata": {"generateName": "case-"},
    }
    return obj if spec is None else {**obj, "spec": copy.deepcopy(spec)}


def run_spec(**fields: Any) -> Object:
    """The spec of a task from a repository, with these fields set or (REMOVED) left out."""
    spec = {"runtime": "python", "mode": TASK, "source": REPOSITORY, **fields}
    return copy.deepcopy({key: value for key, value in spec.items() if value is not REMOVED})


def accepted(title: str, filled: Mapping[str, object] | None = None, **fields: Any) -> Create:
    """A Run that is accepted."""
    return Create(title=title, spec=run_spec(**fields), filled=filled or {})


def refused(title: str, at: str, **fields: Any) -> Create:
    """A Run that is refused because of the field `at`."""
    return Create(title=title, spec=run_spec(**fields), at=at)


def at_path(obj: object, path: str) -> object:
    """The value at a dotted path with numbers for list items; REMOVED where there is none."""
    value: Any = obj
    for step in path.split("."):
        try:
            value = value[int(step)] if isinstance(value, list) else value[step]
        except (KeyError, IndexError):
            return REMOVED
    return value
