"""Serving one request for a resource: from its parts to the answer, without a connection."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kruntimes_core.lab.apiserver import protobuf
from kruntimes_core.lab.apiserver.encoding import decode
from kruntimes_core.lab.apiserver.faults.faults import ListTrouble
from kruntimes_core.lab.apiserver.history import Stored
from kruntimes_core.lab.apiserver.http.answers import JSON, Sent, sent_object
from kruntimes_core.lab.apiserver.lists import Page, Selection
from kruntimes_core.lab.apiserver.objects import Object
from kruntimes_core.lab.apiserver.paths import Call
from kruntimes_core.lab.apiserver.queries import form_of, list_options, write_options
from kruntimes_core.lab.apiserver.rendering import Form, Renderer
from kruntimes_core.lab.apiserver.requests import Answer, DeleteOptions, ListOptions, Patch
from kruntimes_core.lab.apiserver.resources import APPLY
from kruntimes_core.lab.apiserver.server import ApiServer
from kruntimes_core.lab.apiserver.status import bad_request, no_server_side_apply, unsupported_media_type


def serve(
    api: ApiServer,
    call: Call,
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


def renderer_of(api: ApiServer, call: Call, query: Mapping[str, str], accept: str) -> Renderer:
    """How the answer to a request is to look. Raises `ApiError` (406)."""
    include = query.get("includeObject", "") or "Metadata"
    return Renderer(call.resource, form_of(accept), api.now, include)


def _answered(renderer: Renderer, answer: Answer) -> Sent:
    is_status = answer.object.get("kind") == "Status"
    if renderer.form is Form.OBJECT or is_status:
        return sent_object(answer.object, answer.code, answer.warnings)
    stored = Stored(renderer.resource.strategy.to_storage(answer.object), 0)
    return Sent(answer.code, renderer.one(stored), warnings=answer.warnings)


def _list(api: ApiServer, call: Call, options: ListOptions, trouble: ListTrouble | None) -> Page:
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


def _write(api: ApiServer, call: Call, query: Mapping[str, str], content_type: str, body: bytes) -> Answer:
    resource, place, name = call.resource, call.place, call.name
    if call.verb == "delete":
        options = DeleteOptions.from_object({**_json(body), **_delete_query(query)})
        return api.delete(resource, place, name, options)
    wanted = write_options(query)
    if call.verb == "patch":
        patch = Patch(content_type, _patch_document(content_type, body, resource.patch_types))
        return api.patch(resource, place, name, patch, call.subresource, wanted)
    sent = _object(call, content_type, body)
    if call.verb == "create":
        return api.create(resource, place, sent, wanted)
    return api.update(resource, place, name, sent, call.subresource, wanted)


def _patch_document(content_type: str, body: bytes, accepted: tuple[str, ...]) -> Any:
    if content_type == APPLY:
        raise no_server_side_apply()
    if content_type not in accepted:
        raise unsupported_media_type(accepted)
    try:
        return decode(body)
    except ValueError as error:
        raise bad_request("invalid JSON patch") from error


def _object(call: Call, content_type: str, body: bytes) -> Any:
    try:
        if content_type == protobuf.MEDIA_TYPE and call.resource.kind == "Namespace":
            return protobuf.read_namespace(body)
        if content_type not in ("", JSON, "application/octet-stream"):
            raise unsupported_media_type([JSON])
        return decode(body)
    except ValueError as error:
        text = body[:1000].decode("utf-8", "replace")
        kind = call.resource.kind
        raise bad_request(
            f"the object provided is unrecognized (must be of type {kind}): couldn't get version/kind; json "
            f"parse error: {error} ({text})"
        ) from error


def _json(body: bytes) -> Object:
    if not body:
        return {}
    try:
        found = decode(body)
    except ValueError as error:
        raise bad_request(f"the body is no DeleteOptions: {error}") from error
    return found if isinstance(found, dict) else {}


def _delete_query(query: Mapping[str, str]) -> Object:
    """What a deletion says in its query instead of a body."""
    found: Object = {}
    if "propagationPolicy" in query:
        found["propagationPolicy"] = query["propagationPolicy"]
    if "gracePeriodSeconds" in query:
        try:
            found["gracePeriodSeconds"] = int(query["gracePeriodSeconds"])
        except ValueError as error:
            raise bad_request(f"gracePeriodSeconds must be a number: {error}") from error
    if "dryRun" in query:
        found["dryRun"] = [query["dryRun"]]
    return found
