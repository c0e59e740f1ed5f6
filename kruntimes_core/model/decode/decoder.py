"""The one door of this package for objects of the API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kruntimes_core.model.decode.parts import Parts
from kruntimes_core.model.decode.pod import decode_pod
from kruntimes_core.model.decode.run import decode_run
from kruntimes_core.model.decode.workspace import decode_workspace
from kruntimes_core.model.pod import PodObservation
from kruntimes_core.model.run import RunObservation
from kruntimes_core.model.workspace import WorkspaceObservation


class Decoder:
    """Turns JSON objects of the API into values; one instance serves one host, on one thread.

    Never raises on JSON: a field of a wrong type makes its own object invalid or unavailable. Equal
    label sets, annotations, requests, affinities and capacities of different objects are the same
    object. Annotations are kept without kubectl's `last-applied-configuration`, and up to 4 KiB:
    whole entries, in the order of their keys, until the first that exceeds it.
    """

    def __init__(self) -> None:
        self._parts = Parts()

    def run(self, obj: Mapping[str, Any], before: RunObservation | None = None) -> RunObservation:
        """One version of a Run. What is wrong with it is its `invalid`.

        before: what is known of the Run that bears its name. It saves reading again what cannot have
        changed since, and changes nothing else.
        """
        return decode_run(obj, self._parts, before)

    def pod(self, obj: Mapping[str, Any]) -> PodObservation | None:
        """One version of a Pod, without usage and targets; None when it has no label `runtime`."""
        return decode_pod(obj, self._parts)

    def workspace(self, obj: Mapping[str, Any]) -> WorkspaceObservation:
        """One version of a PersistentWorkspace."""
        return decode_workspace(obj)
