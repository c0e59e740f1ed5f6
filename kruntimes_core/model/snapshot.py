"""The snapshot from which one cycle decides. It is immutable, and only a set of references."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import NamedTuple, TypeVar, overload

from immutables import Map

from kruntimes_core.model.pod import RuntimePod
from kruntimes_core.model.targets import Targets
from kruntimes_core.model.validation import check_instance, check_text, check_time, mapping
from kruntimes_core.model.workspace import Workspace

D = TypeVar("D")


class ChangeMark(NamedTuple):
    """A position in a log of changes that several versions of `Pods` share."""

    log: list[str]
    length: int


class Pods(Mapping[str, RuntimePod]):
    """The Pods of one Runtime in one namespace by name, and which of them changed lately.

    Every change makes a new `Pods`. It shares all Pods but the changed one with the old `Pods`, and a log to
    which the name of the changed Pod is appended. If a reader remembers the `mark` of an earlier version,
    `changed_since` tells which Pods changed after it, without comparing all Pods.
    """

    __slots__ = ("_by_name", "mark")

    def __init__(self, pods: Mapping[str, RuntimePod] | None = None) -> None:
        """pods: by name. Raises: `TypeError`; `ValueError` if a key is not the name of its Pod."""
        by_name = mapping("Pods", pods)
        for name, pod in by_name.items():
            check_instance("a member of Pods", pod, RuntimePod)
            if pod.name != name:
                raise ValueError(f"Pods[{name!r}] is the Pod {pod.name!r}: give each Pod under its own name")
        self._by_name: Map[str, RuntimePod] = Map(by_name)
        self.mark = ChangeMark([], 0)
        """The position of this version in the log of changes."""

    def replacing(self, name: str, pod: RuntimePod | None) -> Pods:
        """A copy in which `pod` replaces the Pod `name`; if `pod` is None, a copy without that Pod."""
        changed = Pods.__new__(Pods)
        if pod is not None:
            changed._by_name = self._by_name.set(name, pod)
        else:
            changed._by_name = self._by_name.delete(name)
        log, length = self.mark
        if length != len(log) or length > 4 * len(self._by_name) + 64:
            log, length = [], 0  # the log has changes of another copy, or is long: begin a new one
        log.append(name)
        changed.mark = ChangeMark(log, length + 1)
        return changed

    def changed_since(self, mark: ChangeMark) -> list[str] | None:
        """The names of the Pods that changed after `mark`; None if the log does not go back to `mark`."""
        log, length = self.mark
        if mark.log is not log or mark.length > length:
            return None
        return log[mark.length : length]

    @overload
    def get(self, name: str, default: None = None, /) -> RuntimePod | None: ...

    @overload
    def get(self, name: str, default: D, /) -> RuntimePod | D: ...

    def get(self, name: str, default: object = None, /) -> object:
        """The Pod of that name, or `default`. Faster than `Mapping.get`: a decision looks up many Pods."""
        return self._by_name.get(name, default)

    def __getitem__(self, name: str) -> RuntimePod:
        return self._by_name[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name)

    def __len__(self) -> int:
        return len(self._by_name)

    def __contains__(self, name: object) -> bool:
        return name in self._by_name


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """The Runtime's Pods, the namespace's targets and workspaces, and the time of the cycle."""

    namespace: str
    runtime: str
    pods: Pods = field(default_factory=Pods)
    targets: Targets = field(default_factory=Targets)
    workspaces: Mapping[str, Workspace] = field(default_factory=Map)
    now: datetime = datetime(1970, 1, 1, tzinfo=UTC)

    def __post_init__(self) -> None:
        """Raises: `TypeError` for values of other types, `ValueError` for a time without a zone."""
        check_text("Snapshot.namespace", self.namespace)
        check_text("Snapshot.runtime", self.runtime)
        check_instance("Snapshot.pods", self.pods, Pods)
        check_instance("Snapshot.targets", self.targets, Targets)
        check_instance("Snapshot.workspaces", self.workspaces, Mapping)
        check_time("Snapshot.now", self.now)
