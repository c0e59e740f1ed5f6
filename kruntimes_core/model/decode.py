"""Decoding: JSON objects of the API become the values of this room, and no JSON makes it raise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kruntimes_core.model.metadata import SharedMetadata
from kruntimes_core.model.pod import PodDecoder, PodObservation
from kruntimes_core.model.run import RunDecoder, RunObservation
from kruntimes_core.model.workspace import WorkspaceObservation, decode_workspace


class Decoder:
    """Turns JSON objects of the API into values; one instance serves one process, on one thread.

    Never raises on JSON: a field of a wrong type makes its own object invalid or unavailable. Equal
    label sets, annotations, requests, affinities and capacities of different objects are the same
    object. Annotations are kept without kubectl's `last-applied-configuration`, and up to 4 KiB:
    whole entries, in the order of their keys, until the first that exceeds it.
    """

    def __init__(self) -> None:
        metadata = SharedMetadata()
        self._runs = RunDecoder(metadata)
        self._pods = PodDecoder(metadata)

    def run(self, obj: Mapping[str, Any], before: RunObservation | None = None) -> RunObservation:
        """One version of a Run. What is wrong with it is its `invalid`.

        before: what is known of the Run of that name. It saves decoding again what cannot have
        changed since, and changes nothing else.
        """
        return self._runs.decode(obj, before)

    def pod(self, obj: Mapping[str, Any]) -> PodObservation | None:
        """One version of a Pod, without usage and targets; None when it has no label `runtime`."""
        return self._pods.decode(obj)

    def workspace(self, obj: Mapping[str, Any]) -> WorkspaceObservation:
        """One version of a PersistentWorkspace."""
        return decode_workspace(obj)
