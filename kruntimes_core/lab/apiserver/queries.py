"""Options from the query of a request, and the form of the answer from its `Accept`."""

from __future__ import annotations

from collections.abc import Mapping

from kruntimes_core.lab.apiserver.field_errors import not_supported
from kruntimes_core.lab.apiserver.form_errors import not_acceptable
from kruntimes_core.lab.apiserver.go_text import quote
from kruntimes_core.lab.apiserver.rendering import Form
from kruntimes_core.lab.apiserver.requests import IGNORE, STRICT, WARN, ListOptions, WriteOptions
from kruntimes_core.lab.apiserver.status import bad_request, invalid

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
        raise invalid("meta.k8s.io", f"{verb.capitalize()}Options", "", [error])
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
