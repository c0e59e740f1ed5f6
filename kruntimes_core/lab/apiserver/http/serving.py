"""Serving one request: from its parts to the answer, without a connection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from kruntimes_core.lab.apiserver.decoding import repeated_fields
from kruntimes_core.lab.apiserver.encoding import Form, Renderer, decode, encode, encode_yaml
from kruntimes_core.lab.apiserver.errors import ApiError, bad_request, not_acceptable
from kruntimes_core.lab.apiserver.http.negotiation import (
    JSON,
    YAML,
    delete_options,
    is_yaml,
    list_options,
    negotiated,
    read_object,
    read_patch,
    write_options,
)
from kruntimes_core.lab.apiserver.objects import Object, version_of
from kruntimes_core.lab.apiserver.requests import IGNORE, Answer, RequestInfo
from kruntimes_core.lab.apiserver.server import ApiServer
from kruntimes_core.lab.apiserver.storage import Stored


@dataclass(frozen=True, slots=True)
class ReceivedRequest:
    """One request as it came. info: what its path means, None where that is no resource."""

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    info: RequestInfo | None = None
    accept: str = ""
    content_type: str = ""
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class Sent:
    """One answer: status, body and headers."""

    code: int
    body: bytes
    content_type: str = JSON
    headers: Mapping[str, str] = field(default_factory=dict)
    warnings: Sequence[str] = ()


def sent_object(obj: Object, code: int = 200, warnings: Sequence[str] = ()) -> Sent:
    """An object as an answer."""
    return Sent(code, encode(obj), warnings=warnings)


def sent_text(text: str, code: int = 200) -> Sent:
    """A plain text as an answer."""
    return Sent(code, text.encode(), "text/plain; charset=utf-8")


def sent_error(error: ApiError, retry_after: str | None = None) -> Sent:
    """An error as an answer; retry_after: the header in place of what the error says."""
    wait = retry_after if retry_after is not None else (error.details or {}).get("retryAfterSeconds")
    headers = {"Retry-After": str(wait)} if wait is not None else {}
    return Sent(error.code, encode(error.as_object()), headers=headers, warnings=error.warnings)


def in_encoding_of(sent: Sent, accept: str) -> Sent:
    """An answer as a client wants it encoded: JSON as it is, or written anew as YAML."""
    if sent.content_type != JSON or not is_yaml(accept):
        return sent
    return replace(sent, body=encode_yaml(decode(sent.body)), content_type=YAML)


def serve(api: ApiServer, request: ReceivedRequest, info: RequestInfo) -> Sent:
    """The answer to a request for a resource; not for watches."""
    try:
        return in_encoding_of(_served(api, request, info), request.accept)
    except ApiError as error:
        return in_encoding_of(sent_error(error), request.accept)


def _served(api: ApiServer, request: ReceivedRequest, info: RequestInfo) -> Sent:
    renderer = renderer_of(api, request, info)
    if info.verb == "get":
        return Sent(200, renderer.one(api.stored(info.resource, info.place, info.name)))
    if info.verb == "list":
        return Sent(200, renderer.page(api.page(info.resource, info.place, list_options(request.query))))
    if info.verb == "deletecollection":
        options = delete_options(request.query, request.content_type, request.body)
        selected = list_options(request.query)
        found = api.delete_collection(info.resource, info.place, selected, options)
        return Sent(200, renderer.page(found))
    return _answered(renderer, _write(api, request, info))


def renderer_of(api: ApiServer, request: ReceivedRequest, info: RequestInfo) -> Renderer:
    """How the answer to a request is to look. Raises `ApiError`: 406, 400 for unknown `includeObject`."""
    include = request.query.get("includeObject", "") or "Metadata"
    if include not in ("Metadata", "Object", "None"):
        raise bad_request(f"includeObject must be Metadata, Object or None, not {include!r}")
    encoding, form = negotiated(request.accept)
    if info.verb == "watch" and encoding != JSON:
        raise not_acceptable(f"a watch is of the media type {JSON}")
    return Renderer(info.resource, form, api.now, include)


def _answered(renderer: Renderer, answer: Answer) -> Sent:
    is_status = answer.object.get("kind") == "Status"
    if renderer.form is Form.OBJECT or is_status:
        return sent_object(answer.object, answer.code, answer.warnings)
    version = int(version_of(answer.object))
    stored = Stored(renderer.resource.strategy.to_storage(answer.object), version)
    return Sent(answer.code, renderer.one(stored), warnings=answer.warnings)


def _write(api: ApiServer, request: ReceivedRequest, info: RequestInfo) -> Answer:
    resource, place, name, body = info.resource, info.place, info.name, request.body
    if info.verb == "delete":
        return api.delete(resource, place, name, delete_options(request.query, request.content_type, body))
    options = write_options(request.query, info.verb)
    if info.verb == "patch":
        patch = read_patch(resource, request.content_type, body)
        return api.patch(resource, place, name, patch, info.subresource, options)
    sent = read_object(resource, request.content_type, body)
    if request.content_type in ("", JSON) and options.field_validation != IGNORE:
        options = replace(options, repeated=repeated_fields(body))
    if info.verb == "create":
        return api.create(resource, place, sent, options)
    return api.update(resource, place, name, sent, info.subresource, options)
