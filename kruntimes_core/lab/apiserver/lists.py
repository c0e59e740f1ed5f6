"""Lists: whole or in pages, all pages from one version, and a 410 when that is out of reach."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from kruntimes_core.lab.apiserver.history import Stored
from kruntimes_core.lab.apiserver.objects import Object, key_of, metadata_of
from kruntimes_core.lab.apiserver.requests import ListOptions
from kruntimes_core.lab.apiserver.resources import Resource
from kruntimes_core.lab.apiserver.selectors.fields import FieldSelector
from kruntimes_core.lab.apiserver.selectors.labels import LabelSelector
from kruntimes_core.lab.apiserver.status import bad_request, expired, expired_token, too_large_version
from kruntimes_core.lab.apiserver.store import Table

_TOKEN_VERSION = "meta.k8s.io/v1"  # noqa: S105 - the format of continue tokens, no secret
_INCONSISTENT = -1
"""The version of a token that goes on at whatever is current then."""


class Selection:
    """Which objects are meant: a namespace, labels and fields."""

    def __init__(self, resource: Resource, namespace: str | None, options: ListOptions) -> None:
        """namespace: None for all. Raises `ApiError` (400) for selectors that cannot be read."""
        self._namespace = namespace
        self._labels = LabelSelector(options.label_selector)
        self._fields = FieldSelector(options.field_selector, resource.fields)

    @property
    def selective(self) -> bool:
        """Whether labels or fields leave something out."""
        return not (self._labels.empty and self._fields.empty)

    def matches(self, obj: Object) -> bool:
        """Whether a stored object is meant."""
        metadata = metadata_of(obj)
        return (
            (self._namespace is None or metadata.get("namespace", "") == self._namespace)
            and self._labels.matches(metadata.get("labels", {}))
            and self._fields.matches(obj)
        )


@dataclass(frozen=True, slots=True)
class Page:
    """A list, or a part of one: the objects as stored, their version, and how to go on."""

    items: Sequence[Stored]
    version: int
    continue_token: str = ""
    remaining: int | None = None


def page(table: Table, current: int, selection: Selection, options: ListOptions) -> Page:
    """The page that the options ask for; current: the version of the server's last write.

    Raises `ApiError`: 400 for options that make no sense, 410 for a version that is out of reach, 504 for
    one that is not reached yet.
    """
    options.check_list()
    start = ""
    if options.continue_token:
        version, start = read_token(options.continue_token)
        if version == _INCONSISTENT:
            version = current
        elif version < table.history.forgotten:
            raise expired_token(write_token(_INCONSISTENT, start))
    else:
        version = _version(table, current, options)
    everything = table.now() if version >= current else table.at(version)
    meant = [one for one in everything if _path(one) >= start and selection.matches(one.object)]
    # Version 0 is answered from memory on a real server too, which has no pages.
    limit = 0 if options.resource_version == "0" and not options.continue_token else options.limit
    return _cut(meant, version, limit, selection.selective)


def _version(table: Table, current: int, options: ListOptions) -> int:
    wanted = options.version_number()
    if wanted > current:
        raise too_large_version(wanted, current)
    if options.resource_version_match == "Exact" or (
        wanted and options.limit and not options.resource_version_match
    ):
        if wanted < table.history.forgotten:
            raise expired("The resourceVersion for the provided list is too old.")
        return wanted
    return current


def _cut(meant: Sequence[Stored], version: int, limit: int, selective: bool) -> Page:
    if not limit or len(meant) <= limit:
        return Page(meant, version)
    token = write_token(version, _path(meant[limit - 1]) + "\0")
    return Page(meant[:limit], version, token, None if selective else len(meant) - limit)


def _path(stored: Stored) -> str:
    return "/".join(key_of(stored.object))


def write_token(version: int, start: str) -> str:
    """A continue token: go on at the key `start`, in the state of `version`."""
    text = json.dumps({"v": _TOKEN_VERSION, "rv": version, "start": start}, separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def read_token(token: str) -> tuple[int, str]:
    """(version, start) of a continue token. Raises `ApiError` (400)."""
    try:
        if (wrong := _not_base64(token)) is not None:
            raise ValueError(f"illegal base64 data at input byte {wrong}")
        found = json.loads(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)))
        version = found.get("v", "")
        if version != _TOKEN_VERSION:
            raise ValueError(f"server does not recognize this encoded version {version}")
        return int(found["rv"]), str(found["start"])
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise bad_request(f"invalid continue token: continue key is not valid: {error}") from error


def _not_base64(token: str) -> int | None:
    """The place of the first character that is none of base64, or of the one that is too much."""
    wrong = re.search(r"[^\w-]", token, re.ASCII)
    if wrong is not None:
        return wrong.start()
    return len(token) - 1 if len(token) % 4 == 1 else None
