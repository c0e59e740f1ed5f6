"""What a hook reads of a Pod, seen from outside: the plugin gets a Pod like any other."""

from __future__ import annotations

from typing import Any, Self

from kruntimes_core.framework.runner.reads import Reads, ReadTargets
from kruntimes_core.model.pod import RuntimePod


class PodReads(Reads):
    """What was asked of a Pod's targets, and whether anything else of the Pod was read."""

    __slots__ = ("beyond",)

    def __init__(self) -> None:
        super().__init__()
        self.beyond = False
        """Whether something else than targets was read."""

    @property
    def matches_alone(self) -> bool:
        """Whether nothing was read but which selectors the targets match."""
        return not (self.beyond or self.count_of or self.whole is not None)


class ReadPod(RuntimePod):
    """A Pod of which every reading is noted. It has no values of its own, so each is looked for below."""

    __slots__ = ("_pod", "_reads")

    _pod: RuntimePod
    _reads: PodReads

    def __new__(cls, pod: RuntimePod, reads: PodReads) -> Self:
        """pod: whose values are given. reads: where it is noted what was read."""
        made = object.__new__(cls)
        object.__setattr__(made, "_pod", pod)
        object.__setattr__(made, "_reads", reads)
        return made

    def __init__(self, pod: RuntimePod, reads: PodReads) -> None:
        """The values stay those of the Pod: that of a dataclass would set them."""

    def __getattr__(self, name: str) -> Any:
        if name == "targets":
            return ReadTargets(self._pod.targets, self._reads)
        return getattr(self._whole(), name)

    def _whole(self) -> RuntimePod:
        self._reads.beyond = True
        return self._pod

    # What a dataclass does by its class, and not by its values.

    @property  # type: ignore[misc] # nobody sets it
    def __class__(self) -> Any:
        """That of the Pod, so that `dataclasses.replace` makes another Pod like it."""
        return RuntimePod

    def __eq__(self, other: object) -> bool:
        return self._whole() == (other._whole() if type(other) is ReadPod else other)

    def __hash__(self) -> int:
        return hash(self._whole())

    def __repr__(self) -> str:
        return repr(self._whole())

    def __reduce__(self) -> str | tuple[Any, ...]:
        return self._whole().__reduce__()
