"""Functions that make values with defaults, so that a test names only what it is about.

The defaults are those of the examples in the documentation: namespace `team-a`, Runtime `py`, Pods with room
for Runs and a fresh heartbeat. Every function returns an immutable value of the model. It raises `TypeError`
or `ValueError` if the model refuses an argument, such as a text as an amount, or a time without a time zone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from fractions import Fraction

from immutables import Map

from kruntimes_core.model.frozen import FrozenMap
from kruntimes_core.model.pod import Capacity, RuntimePod, Unavailability
from kruntimes_core.model.run import Request, Run
from kruntimes_core.model.selectors import (
    Affinity,
    AffinityTerm,
    LabelSelector,
    LabelSet,
    Operator,
    Requirement,
    WeightedTerm,
)
from kruntimes_core.model.snapshot import Pods, Snapshot
from kruntimes_core.model.targets import Targets
from kruntimes_core.model.validation import members_of, refuse
from kruntimes_core.model.workspace import Workspace, WorkspacePhase

NAMESPACE = "team-a"
RUNTIME = "py"
NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def matching(labels: Mapping[str, str] | None = None, /, **more: str) -> LabelSelector:
    """A selector for Runs with all of the given labels, as if they stood in `matchLabels`.

    labels: for keys that are not Python names (`app.kubernetes.io/name`).
    """
    wanted = {**(labels or {}), **more}
    return LabelSelector(
        frozenset(Requirement(key, Operator.IN, frozenset({value})) for key, value in wanted.items())
    )


def make_affinity(
    *,
    required: Iterable[LabelSelector] = (),
    required_anti: Iterable[LabelSelector] = (),
    preferred: Iterable[tuple[int, LabelSelector]] = (),
    preferred_anti: Iterable[tuple[int, LabelSelector]] = (),
) -> Affinity:
    """`spec.affinity` from selectors; preferred terms are pairs of a weight (1..100) and a selector."""
    return Affinity(
        required=tuple(AffinityTerm(selector) for selector in required),
        required_anti=tuple(AffinityTerm(selector) for selector in required_anti),
        preferred=tuple(WeightedTerm(weight, AffinityTerm(selector)) for weight, selector in preferred),
        preferred_anti=tuple(
            WeightedTerm(weight, AffinityTerm(selector)) for weight, selector in preferred_anti
        ),
    )


def make_run(
    name: str = "run",
    *,
    namespace: str = NAMESPACE,
    uid: str | None = None,
    runtime: str = RUNTIME,
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    created: datetime | None = NOW,
    request: Mapping[str, int] | None = None,
    affinity: Affinity | None = None,
    workspace: str | None = None,
    attempt: int = 1,
) -> Run:
    """A Run; its uid is `uid-<name>` unless given, and its request always has `runs` (1 unless given)."""
    return Run(
        namespace=namespace,
        name=name,
        uid=f"uid-{name}" if uid is None else uid,
        runtime=runtime,
        labels=LabelSet(labels),
        annotations=FrozenMap(annotations),
        created=created,
        request=Request({"runs": 1, **(request or {})}),
        affinity=Affinity() if affinity is None else affinity,
        workspace=workspace,
        attempt=attempt,
    )


def make_targets(label_sets: Iterable[Mapping[str, str]] = ()) -> Targets:
    """One target for each mapping of labels; targets with equal labels are counted together."""
    if isinstance(label_sets, str | Mapping):
        refuse("the targets", label_sets, "a list of mappings of labels, one for each Run")
    return Targets(Counter(LabelSet(labels) for labels in label_sets))


def make_pod(
    name: str = "py-0",
    *,
    namespace: str = NAMESPACE,
    uid: str | None = None,
    runtime: str = RUNTIME,
    node: str | None = None,
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    capacity: Mapping[str, int | Fraction] | None = None,
    usage: Mapping[str, int] | None = None,
    targets: Iterable[Mapping[str, str]] = (),
    unavailable: Unavailability | None = None,
) -> RuntimePod:
    """An available Runtime Pod with the label `runtime`, and room for two Runs unless `capacity` is given.

    targets: the labels of the active or assumed Runs on the Pod, one mapping for each Run. They do not change
    `usage`, which is an argument of its own.
    """
    return RuntimePod(
        namespace=namespace,
        name=name,
        uid=f"uid-{name}" if uid is None else uid,
        runtime=runtime,
        node=node,
        labels=LabelSet({"runtime": runtime, **(labels or {})}),
        annotations=FrozenMap(annotations),
        capacity=Capacity({"runs": 2} if capacity is None else capacity),
        usage=FrozenMap(usage),
        targets=make_targets(targets),
        unavailable=unavailable,
    )


def make_workspace(
    name: str = "ws",
    *,
    namespace: str = NAMESPACE,
    uid: str | None = None,
    runtime: str = RUNTIME,
    phase: WorkspacePhase = WorkspacePhase.BOUND,
    bound_pod: str | None = "py-0",
) -> Workspace:
    """A PersistentWorkspace, by default bound to the Pod `py-0`."""
    return Workspace(
        namespace=namespace,
        name=name,
        uid=f"uid-{name}" if uid is None else uid,
        runtime=runtime,
        phase=phase,
        bound_pod=bound_pod,
    )


def make_snapshot(
    *pods: RuntimePod,
    namespace: str = NAMESPACE,
    runtime: str = RUNTIME,
    elsewhere: Iterable[Mapping[str, str]] = (),
    workspaces: Iterable[Workspace] = (),
    now: datetime = NOW,
) -> Snapshot:
    """A snapshot of these Pods of one Runtime; the namespace's targets are those of the Pods.

    elsewhere: the labels of further targets in the namespace, on Pods of other Runtimes. Raises `ValueError`
    for a Pod of another Runtime or namespace, and for two Pods or workspaces of one name.
    """
    for pod in members_of("the Pods", pods, RuntimePod):
        if (pod.namespace, pod.runtime) != (namespace, runtime):
            raise ValueError(
                f"the Pod {pod.name} is of the Runtime {pod.runtime} in {pod.namespace}, but the snapshot is"
                f" of {runtime} in {namespace}: give both the same"
            )
    workspaces = tuple(members_of("the workspaces", workspaces, Workspace))
    for named in (pods, workspaces):
        names = [one.name for one in named]
        if len(set(names)) < len(names):
            raise ValueError(f"two objects are called {max(names, key=names.count)}: give each its own name")
    counts: Counter[LabelSet] = Counter(make_targets(elsewhere))
    for pod in pods:
        counts.update(pod.targets)
    return Snapshot(
        namespace=namespace,
        runtime=runtime,
        pods=Pods({pod.name: pod for pod in pods}),
        targets=Targets(counts),
        workspaces=Map({workspace.name: workspace for workspace in workspaces}),
        now=now,
    )
