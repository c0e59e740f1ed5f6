"""The one object that kubectl sends as protocol buffers whatever it is told: a Namespace.

`kubectl create namespace` is built on a typed client, which knows no JSON. Everything else of kubectl
that this system uses speaks JSON, so no more than this is read here.
"""

from __future__ import annotations

from collections.abc import Iterator

from kruntimes_core.lab.apiserver.objects import Object

MEDIA_TYPE = "application/vnd.kubernetes.protobuf"
_MAGIC = b"k8s\x00"
_TEXTS = {1: "name", 2: "generateName"}
_MAPS = {11: "labels", 12: "annotations"}


def read_namespace(body: bytes) -> Object:
    """A Namespace as JSON would have it. Raises `ValueError` for anything else."""
    if not body.startswith(_MAGIC):
        raise ValueError("the envelope of protocol buffers is missing")
    envelope = dict(_fields(body[len(_MAGIC) :]))
    types = {number: value.decode() for number, value in _fields(envelope.get(1, b""))}
    if types != {1: "v1", 2: "Namespace"}:
        raise ValueError(f"only a v1 Namespace is read as protocol buffers, not {sorted(types.values())}")
    namespace = dict(_fields(envelope.get(2, b"")))
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": _metadata(namespace.get(1, b""))}


def _metadata(message: bytes) -> Object:
    metadata: Object = {}
    for number, value in _fields(message):
        if number in _TEXTS and value:
            metadata[_TEXTS[number]] = value.decode()
        elif number in _MAPS:
            entry = dict(_fields(value))
            metadata.setdefault(_MAPS[number], {})[entry.get(1, b"").decode()] = entry.get(2, b"").decode()
    return metadata


def _fields(message: bytes) -> Iterator[tuple[int, bytes]]:
    """The length-delimited fields of a message; numbers are passed over."""
    place = 0
    while place < len(message):
        tag, place = _number(message, place)
        if tag & 7 == 0:
            _, place = _number(message, place)
        elif tag & 7 == 2:
            length, place = _number(message, place)
            if place + length > len(message):
                raise ValueError("a field is longer than its message")
            yield tag >> 3, message[place : place + length]
            place += length
        else:
            raise ValueError(f"wire type {tag & 7} has no place in a Namespace")


def _number(message: bytes, place: int) -> tuple[int, int]:
    """(value, next place) of a varint."""
    value = shift = 0
    while True:
        if place >= len(message):
            raise ValueError("the message ends in the middle of a number")
        byte = message[place]
        value |= (byte & 0x7F) << shift
        place, shift = place + 1, shift + 7
        if byte < 0x80:
            return value, place
