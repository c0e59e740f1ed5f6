"""What is sent back, as values; the handler makes responses of them.

Serving one request for a resource: from its parts to the answer, without a connection.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from kruntimes_core.lab.apiserver.decoding import recognised, repeated_fields, unreadable
from kruntimes_core.lab.apiserver.encoding import Form, Renderer, decode, encode
from kruntimes_core.lab.apiserver.errors import (
    ApiError,
    bad_request,
    no_server_side_apply,
    quote,
    unknown_format,
    unsupported_media_type,
)
from kruntimes_core.lab.apiserver.faults.kinds import ListTrouble
from kruntimes_core.lab.apiserver.http.negotiation import (
    PROTOBUF,
    form_of,
    list_options,
    number,
    read_namespace,
    write_options,
)
from kruntimes_core.lab.apiserver.kinds.strategy import APPLY, Resource
from kruntimes_core.lab.apiserver.objects import Object, version_of
from kruntimes_core.lab.apiserver.requests import (
    IGNORE,
    Answer,
    DeleteOptions,
    ListOptions,
    Patch,
    RequestInfo,
)
from kruntimes_core.lab.apiserver.server import ApiServer
from kruntimes_core.lab.apiserver.storage import Stored
from kruntimes_core.lab.apiserver.watch_cache import Page, Selection

JSON = "application/json"


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
    wait = retry_after if retry_after is not None else error.retry_after_seconds
    headers = {"Retry-After": str(wait)} if wait is not None else {}
    return Sent(error.code, encode(error.as_object()), headers=headers, warnings=error.warnings)


def serve(
    api: ApiServer,
    call: RequestInfo,
    query: Mapping[str, str],
    accept: str,
    content_type: str,
    body: bytes,
    trouble: ListTrouble | None,
) -> Sent:
    """The answer to a request; not for watches. Raises `ApiError`."""
    renderer = renderer_of(api, call, query, accept)
    if call.verb == "get":
        return Sent(200, renderer.one(api.stored(call.resource, call.place, call.name)))
    if call.verb == "list":
        return Sent(200, renderer.page(_list(api, call, list_options(query), trouble)))
    if call.verb == "deletecollection":
        options = DeleteOptions.from_object({**_json(body), **_delete_query(query)})
        found = api.delete_collection(call.resource, call.place, list_options(query), options)
        return Sent(200, renderer.page(found))
    answer = _write(api, call, query, content_type, body)
    return _answered(renderer, answer)


def renderer_of(api: ApiServer, call: RequestInfo, query: Mapping[str, str], accept: str) -> Renderer:
    """How the answer to a request is to look. Raises `ApiError`: 406, 400 for unknown `includeObject`."""
    include = query.get("includeObject", "") or "Metadata"
    if include not in ("Metadata", "Object", "None"):
        problem = f"Invalid value: {quote(include)}: must be 'Metadata', 'Object', 'None', or empty"
        raise bad_request(f"Unable to convert to Table as requested: includeObject: {problem}")
    return Renderer(call.resource, form_of(accept), api.now, include)


def _answered(renderer: Renderer, answer: Answer) -> Sent:
    is_status = answer.object.get("kind") == "Status"
    if renderer.form is Form.OBJECT or is_status:
        return sent_object(answer.object, answer.code, answer.warnings)
    version = int(version_of(answer.object))
    stored = Stored(renderer.resource.strategy.to_storage(answer.object), version)
    return Sent(answer.code, renderer.one(stored), warnings=answer.warnings)


def _list(api: ApiServer, call: RequestInfo, options: ListOptions, trouble: ListTrouble | None) -> Page:
    if trouble is None:
        return api.page(call.resource, call.place, options)
    if trouble.old_version is not None and options.resource_version == "0":
        selection = Selection(call.resource, call.place, options)
        objects = api.table(call.resource).at(trouble.old_version)
        meant = [stored for stored in objects if selection.matches(stored.object)]
        return Page(meant, trouble.old_version)
    limit = options.limit
    if trouble.ignores_limit:
        limit = 0
    elif trouble.page_size is not None:
        limit = min(limit, trouble.page_size) if limit else 0
    return api.page(call.resource, call.place, _with_limit(options, limit))


def _with_limit(options: ListOptions, limit: int) -> ListOptions:
    return ListOptions(
        label_selector=options.label_selector,
        field_selector=options.field_selector,
        resource_version=options.resource_version,
        resource_version_match=options.resource_version_match,
        continue_token=options.continue_token,
        limit=limit,
    )


def _write(
    api: ApiServer, call: RequestInfo, query: Mapping[str, str], content_type: str, body: bytes
) -> Answer:
    resource, place, name = call.resource, call.place, call.name
    if call.verb == "delete":
        options = DeleteOptions.from_object({**_json(body), **_delete_query(query)})
        return api.delete(resource, place, name, options)
    wanted = write_options(query, call.verb)
    if call.verb == "patch":
        patch = Patch(content_type, _patch_document(content_type, body, resource))
        return api.patch(resource, place, name, patch, call.subresource, wanted)
    sent = _object(call, content_type, body)
    if content_type != PROTOBUF and wanted.field_validation != IGNORE:
        wanted = replace(wanted, repeated=repeated_fields(body))
    if call.verb == "create":
        return api.create(resource, place, sent, wanted)
    return api.update(resource, place, name, sent, call.subresource, wanted)


def _patch_document(content_type: str, body: bytes, resource: Resource) -> Any:
    accepted = resource.patch_types
    if content_type == APPLY:
        raise no_server_side_apply()
    if content_type not in accepted:
        raise unsupported_media_type() if resource.typed else unknown_format([*accepted, APPLY])
    try:
        return decode(body)
    except ValueError as error:
        raise bad_request("invalid JSON patch") from error


def _object(call: RequestInfo, content_type: str, body: bytes) -> Any:
    try:
        if content_type == PROTOBUF and call.resource.kind == "Namespace":
            return read_namespace(body)
        if content_type not in ("", JSON, "application/octet-stream"):
            raise unknown_format([JSON])
        return recognised(call.resource, decode(body), body)
    except ValueError as error:
        raise unreadable(call.resource, body, error) from error


def _json(body: bytes) -> Object:
    if not body:
        return {}
    try:
        found = decode(body)
    except ValueError as error:
        problem = "unexpected end of JSON input" if str(error).startswith("EOF ") else str(error)
        raise bad_request(f"couldn't get version/kind; json parse error: {problem}") from error
    return found if isinstance(found, dict) else {}


def _delete_query(query: Mapping[str, str]) -> Object:
    """What a deletion says in its query instead of a body."""
    found: Object = {}
    if "propagationPolicy" in query:
        found["propagationPolicy"] = query["propagationPolicy"]
    if "gracePeriodSeconds" in query:
        found["gracePeriodSeconds"] = number(query["gracePeriodSeconds"])
    if "dryRun" in query:
        found["dryRun"] = [query["dryRun"]]
    return found
