"""The one object that kubectl sends as protocol buffers whatever it is told: a Namespace.

`kubectl create namespace` is built on a typed client, which knows no JSON. Everything else of kubectl
that this system uses speaks JSON, so no more than this is read here.

Options from the query of a request, and the form of the answer from its `Accept`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kruntimes_core.lab.apiserver.encoding import Form
from kruntimes_core.lab.apiserver.errors import (
    bad_request,
    invalid_object,
    not_acceptable,
    not_supported,
    quote,
)
from kruntimes_core.lab.apiserver.objects import Object
from kruntimes_core.lab.apiserver.requests import IGNORE, STRICT, WARN, ListOptions, WriteOptions

PROTOBUF = "application/vnd.kubernetes.protobuf"
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


_TRUE = ("true", "True", "1", "t", "T", "TRUE")
_OFFERED = ("application/json",)
_FORMS = {
    "Table": Form.TABLE,
    "PartialObjectMetadata": Form.METADATA,
    "PartialObjectMetadataList": Form.METADATA_LIST,
}
Query = Mapping[str, str]


def is_set(query: Query, name: str) -> bool:
    """Whether a flag is set."""
    return query.get(name, "") in _TRUE


def list_options(query: Query) -> ListOptions:
    """The options of a list or watch. Raises `ApiError` (400) for a number that is none."""
    timeout = query.get("timeoutSeconds", "")
    return ListOptions(
        label_selector=query.get("labelSelector", ""),
        field_selector=query.get("fieldSelector", ""),
        resource_version=query.get("resourceVersion", ""),
        resource_version_match=query.get("resourceVersionMatch", ""),
        limit=max(0, number(query.get("limit", "") or "0")),
        continue_token=query.get("continue", ""),
        allow_bookmarks=is_set(query, "allowWatchBookmarks"),
        send_initial_events=is_set(query, "sendInitialEvents"),
        timeout_seconds=number(timeout) if timeout else None,
    )


def write_options(query: Query, verb: str) -> WriteOptions:
    """The options of a write. Raises `ApiError`: 422 for an unknown value, 400 for a dry run."""
    if "dryRun" in query:
        raise bad_request("dry run is not supported by the embedded server: send the request without it")
    wanted = query.get("fieldValidation", "") or WARN
    if wanted not in (STRICT, WARN, IGNORE):
        error = not_supported("fieldValidation", wanted, ("", IGNORE, STRICT, WARN))
        raise invalid_object("meta.k8s.io", f"{verb.capitalize()}Options", "", [error])
    return WriteOptions(wanted)


def number(text: str) -> int:
    """A number of the query. Raises `ApiError` (400)."""
    try:
        return int(text)
    except ValueError:
        raise bad_request(f"strconv.ParseInt: parsing {quote(text)}: invalid syntax") from None


def form_of(accept: str) -> Form:
    """The form that a client asks for; JSON is the only encoding. Raises `ApiError` (406)."""
    if not accept:
        return Form.OBJECT
    for clause in accept.split(","):
        media_type, *parameters = (part.strip() for part in clause.split(";"))
        given = dict(parameter.partition("=")[::2] for parameter in parameters)
        if media_type not in ("application/json", "application/*", "*/*"):
            continue
        if "as" not in given:
            return Form.OBJECT
        if given["as"] in _FORMS and given.get("g") == "meta.k8s.io" and given.get("v") == "v1":
            return _FORMS[given["as"]]
    raise not_acceptable(_OFFERED)


def wants_aggregated(accept: str) -> bool:
    """Whether the first form that a client asks for is the aggregated discovery in version 2."""
    first = accept.partition(",")[0]
    return all(part in first for part in ("g=apidiscovery.k8s.io", "v=v2;", "as=APIGroupDiscoveryList"))
