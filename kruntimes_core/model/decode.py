"""Decoding: JSON objects of the API become the values of this room, and no JSON makes it raise."""

from __future__ import annotations

from kruntimes_core.model.metadata import SharedMetadata
from kruntimes_core.model.pod import PodDecoder
from kruntimes_core.model.run import RunDecoder
from kruntimes_core.model.workspace import decode_workspace


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
        self.run = self._runs.decode
        self.pod = PodDecoder(metadata).decode
        self.workspace = decode_workspace
