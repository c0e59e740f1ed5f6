"""What a request says in its query, its `Accept` and its body: options, the form of the answer, and objects.

Bodies and answers are JSON or YAML, but for one: `kubectl create namespace` is built on a typed client, which
sends protocol buffers whatever it is told.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from kruntimes_core.lab.apiserver.encoding import Form, decode, encode
from kruntimes_core.lab.apiserver.errors import (
    ApiError,
    bad_request,
    invalid_object,
    not_acceptable,
    not_supported,
    unsupported_media_type,
)
from kruntimes_core.lab.apiserver.kinds.strategy import APPLY, Resource
from kruntimes_core.lab.apiserver.objects import Object
from kruntimes_core.lab.apiserver.requests import (
    IGNORE,
    STRICT,
    WARN,
    DeleteOptions,
    ListOptions,
    Patch,
    WriteOptions,
    no_dry_run,
)
from kruntimes_core.model.messages import InputError
from kruntimes_core.model.yaml_files import load_documents

JSON = "application/json"
YAML = "application/yaml"
PROTOBUF = "application/vnd.kubernetes.protobuf"
_ANY = ("application/*", "*/*")
_NONE = f"answers are of the media types {JSON} and {YAML}"
AGGREGATED_TYPE = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
_AGGREGATED = {"g": "apidiscovery.k8s.io", "v": "v2", "as": "APIGroupDiscoveryList"}
_TRUE = ("true", "True", "1", "t", "T", "TRUE")
_FORMS = {form.value: form for form in Form if form is not Form.OBJECT}
Query = Mapping[str, str]


# Query


def is_set(query: Query, name: str) -> bool:
    """Whether a flag is set."""
    return query.get(name, "") in _TRUE


def list_options(query: Query) -> ListOptions:
    """The options of a list or watch. Raises `ApiError` (400) for a number that is not one."""
    timeout = query.get("timeoutSeconds", "")
    return ListOptions(
        label_selector=query.get("labelSelector", ""),
        field_selector=query.get("fieldSelector", ""),
        resource_version=query.get("resourceVersion", ""),
        resource_version_match=query.get("resourceVersionMatch", ""),
        limit=max(0, _number(query.get("limit", "") or "0")),
        continue_token=query.get("continue", ""),
        allow_bookmarks=is_set(query, "allowWatchBookmarks"),
        send_initial_events=is_set(query, "sendInitialEvents"),
        timeout_seconds=_number(timeout) if timeout else None,
    )


def write_options(query: Query, verb: str) -> WriteOptions:
    """The options of a write. Raises `ApiError`: 422 for an unknown value, 400 for a dry run."""
    if "dryRun" in query:
        raise no_dry_run()
    wanted = query.get("fieldValidation", "") or WARN
    if wanted not in (STRICT, WARN, IGNORE):
        error = not_supported("fieldValidation", wanted, ("", IGNORE, STRICT, WARN))
        raise invalid_object("meta.k8s.io", f"{verb.capitalize()}Options", "", [error])
    return WriteOptions(wanted)


def _number(text: str) -> int:
    """A number of the query. Raises `ApiError` (400)."""
    try:
        return int(text)
    except ValueError:
        raise bad_request(f"the query must say a number, not {text!r}") from None


def delete_options(query: Query, content_type: str, body: bytes) -> DeleteOptions:
    """The options of a deletion, of its body and its query. Raises `ApiError`: 400, 415."""
    found = read_body(content_type, body) if body else {}
    options: Object = dict(found) if isinstance(found, dict) else {}
    if "propagationPolicy" in query:
        options["propagationPolicy"] = query["propagationPolicy"]
    if "gracePeriodSeconds" in query:
        options["gracePeriodSeconds"] = _number(query["gracePeriodSeconds"])
    if "dryRun" in query:
        options["dryRun"] = [query["dryRun"]]
    return DeleteOptions.from_object(options)


# Accept


@lru_cache(maxsize=64)
def clauses(accept: str) -> Sequence[tuple[str, Mapping[str, str]]]:
    """The media types of an `Accept` with their parameters, in the order in which they are tried.

    A greater `q` comes first, then a type without a star, then what the client says first.
    """
    found = []
    for clause in filter(None, accept.split(",")):
        media_type, *parameters = (part.strip() for part in clause.split(";"))
        given = dict(parameter.partition("=")[::2] for parameter in parameters)
        found.append((_quality(given.pop("q", "1")), media_type, given))
    found.sort(key=lambda one: (-one[0], one[1].count("*")))
    return [(media_type, given) for _, media_type, given in found]


def _quality(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0


def best_of(accept: str, served: Sequence[str]) -> str | None:
    """Which of the served media types a client likes best, the first for a star; None for none of them."""
    if not accept:
        return served[0]
    for media_type, _ in clauses(accept):
        if media_type in served:
            return media_type
        if media_type in _ANY:
            return served[0]
    return None


def negotiated(accept: str) -> tuple[str, Form]:
    """The media type, JSON or YAML, and the form in which a client gets objects. Raises `ApiError` (406)."""
    if not accept:
        return JSON, Form.OBJECT
    for media_type, given in clauses(accept):
        if media_type not in (JSON, YAML, *_ANY):
            continue
        encoding = YAML if media_type == YAML else JSON
        if "as" not in given:
            return encoding, Form.OBJECT
        if given["as"] in _FORMS and given.get("g") == "meta.k8s.io" and given.get("v") == "v1":
            return encoding, _FORMS[given["as"]]
    raise not_acceptable(_NONE)


def negotiated_document(accept: str, *, aggregated: bool) -> str:
    """The media type of a document of discovery. aggregated: whether all groups in one are served here.

    They are preferred wherever a client lists them. Raises `ApiError` (406), which leads clients to a form
    that is served.
    """
    asked = clauses(accept or JSON)
    if aggregated and (JSON, _AGGREGATED) in asked:
        return AGGREGATED_TYPE
    for media_type, given in asked:
        if media_type in (JSON, YAML, *_ANY) and "as" not in given:
            return YAML if media_type == YAML else JSON
    raise not_acceptable(_NONE)


def is_yaml(accept: str) -> bool:
    """Whether objects and errors go to a client as YAML."""
    try:
        return negotiated(accept)[0] == YAML
    except ApiError:
        return best_of(accept, (JSON, YAML)) == YAML


# Bodies


def read_json(body: bytes) -> Any:
    """The value of a body. Raises `ApiError` (400)."""
    try:
        return decode(body)
    except ValueError as error:
        raise bad_request(f"the body is not valid JSON: {error}") from error


def read_body(content_type: str, body: bytes) -> Any:
    """The value of a body in one of the forms that are taken. Raises `ApiError`: 400, 415."""
    if content_type == YAML:
        return _read_yaml(body)
    if content_type not in ("", JSON):
        raise unsupported_media_type([JSON, YAML])
    return read_json(body)


def _read_yaml(body: bytes) -> Any:
    """The first document of a YAML text, as JSON would have it. Raises `ApiError` (400)."""
    try:
        _, value = next(iter(load_documents(body, "the body")), (0, None))
        return decode(encode(value))
    except (InputError, ValueError) as error:
        raise bad_request(f"the body is not valid YAML: {error}") from error


def read_object(resource: Resource, content_type: str, body: bytes) -> Any:
    """What the body of a POST or PUT says. Raises `ApiError`: 400, 415."""
    if content_type == PROTOBUF and resource.kind == "Namespace":
        try:
            return read_namespace(body)
        except ValueError as error:
            raise bad_request(f"the body is not a Namespace in protocol buffers: {error}") from error
    return read_body(content_type, body)


def read_patch(resource: Resource, content_type: str, body: bytes) -> Patch:
    """The patch of a PATCH. Raises `ApiError`: 400, 415."""
    if content_type == APPLY:
        message = "server-side apply is not supported by the embedded server: apply without --server-side"
        raise ApiError(415, "UnsupportedMediaType", message)
    if content_type not in resource.patch_types:
        raise unsupported_media_type(resource.patch_types)
    return Patch(content_type, read_json(body))


# Protocol buffers

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
        tag, place = _varint(message, place)
        if tag & 7 == 0:
            _, place = _varint(message, place)
        elif tag & 7 == 2:
            length, place = _varint(message, place)
            if place + length > len(message):
                raise ValueError("a field is longer than its message")
            yield tag >> 3, message[place : place + length]
            place += length
        else:
            raise ValueError(f"wire type {tag & 7} has no place in a Namespace")


def _varint(message: bytes, place: int) -> tuple[int, int]:
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
