"""Bodies in forms that are not taken, and answers in forms that there are none of."""

from __future__ import annotations

from collections.abc import Sequence

from kruntimes_core.lab.apiserver.status import ApiError


def unsupported_media_type() -> ApiError:
    """415: a Go type takes no such form; the path is not even found for it."""
    return ApiError(415, "UnsupportedMediaType", "415: Unsupported Media Type", {})


def unknown_format(accepted: Sequence[str]) -> ApiError:
    """415: the body is in a form that is not taken here."""
    listed = ", ".join(accepted)
    message = f"the body of the request was in an unknown format - accepted media types include: {listed}"
    return ApiError(415, "UnsupportedMediaType", message)


def no_server_side_apply() -> ApiError:
    """415: the one form of patch that is not understood here."""
    message = "server-side apply is not supported by the embedded server: apply without --server-side"
    return ApiError(415, "UnsupportedMediaType", message)


def not_acceptable(offered: Sequence[str]) -> ApiError:
    """406: the client takes none of the forms that there are."""
    listed = ", ".join(offered)
    return ApiError(406, "NotAcceptable", f"only the following media types are accepted: {listed}")


def form_of_one_object(go_type: str) -> ApiError:
    """406: a list is asked for as one object's metadata."""
    message = f"you requested PartialObjectMetadata, but the requested object is a list (*{go_type})"
    return ApiError(406, "NotAcceptable", message)


def form_of_list() -> ApiError:
    """500: one object is asked for as a list of metadata."""
    return ApiError(500, "", "content is not a list")


def too_large_body(limit: int) -> ApiError:
    """413: the body has more bytes than `limit`."""
    message = f"Request entity too large: limit is {limit}"
    return ApiError(413, "RequestEntityTooLarge", message)
