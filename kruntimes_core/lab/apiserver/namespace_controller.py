"""What the namespace controller of kube-controller-manager says of a namespace that ends: its conditions.

The types and reasons are those of Kubernetes; `kubectl describe namespace` shows them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime

from kruntimes_core.lab.apiserver.errors import qualified
from kruntimes_core.lab.apiserver.kinds.strategy import Resource
from kruntimes_core.lab.apiserver.objects import Object, metadata_of, status_of
from kruntimes_core.model.times import format_time

Remaining = Iterable[tuple[Resource, Object]]
"""What is still in a namespace: each object with its resource."""


def waiting(namespace: Object, remaining: Remaining, now: datetime) -> Object:
    """The namespace with conditions that say what its end waits for.

    A condition that says what it said before stays as it is, with its time.
    """
    before = {condition.get("type"): condition for condition in status_of(namespace).get("conditions", ())}
    wanted = [
        _condition("NamespaceDeletionDiscoveryFailure", "ResourcesDiscovered", "all resources are known"),
        _condition(
            "NamespaceDeletionGroupVersionParsingFailure", "ParsedGroupVersions", "all versions are known"
        ),
        _condition("NamespaceDeletionContentFailure", "ContentDeleted", "all objects are deleted or marked"),
        *_remains(remaining),
    ]
    conditions = [_since(before.get(one["type"], {}), one, now) for one in wanted]
    # Conditions that a client wrote itself are not ours to drop.
    ours = {one["type"] for one in conditions}
    others = [condition for kind, condition in before.items() if kind not in ours]
    return {**namespace, "status": {**status_of(namespace), "conditions": [*conditions, *others]}}


def _remains(remaining: Remaining) -> Iterable[Object]:
    objects: Counter[str] = Counter()
    finalizers: Counter[str] = Counter()
    for resource, obj in remaining:
        objects[qualified(resource.group, resource.plural)] += 1
        finalizers.update(metadata_of(obj).get("finalizers", ()))
    yield _condition("NamespaceContentRemaining", "SomeResourcesRemain", _counted("objects", objects), "True")
    if finalizers:
        said = _counted("objects with finalizers", finalizers)
        yield _condition("NamespaceFinalizersRemaining", "SomeFinalizersRemain", said, "True")
    else:
        yield _condition("NamespaceFinalizersRemaining", "ContentHasNoFinalizers", "no finalizers remain")


def _counted(what: str, numbers: Mapping[str, int]) -> str:
    listed = ", ".join(f"{number} of {name}" for name, number in sorted(numbers.items()))
    return f"{what} remain: {listed}"


def _condition(kind: str, reason: str, message: str, status: str = "False") -> Object:
    return {"type": kind, "status": status, "reason": reason, "message": message}


def _since(before: Object, condition: Object, now: datetime) -> Object:
    same = all(before.get(name) == value for name, value in condition.items())
    return before if same else {**condition, "lastTransitionTime": format_time(now)}
