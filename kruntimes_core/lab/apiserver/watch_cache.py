"""Lists and watches of the stored objects: whole lists, pages of one version, and changes since a version.

A version that is out of reach is a 410. A watch does not wait by itself: it is polled for what is new, and
its listener is called when there may be something. So it works in virtual time as well as in an event loop.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from kruntimes_core.lab.apiserver.errors import (
    ApiError,
    bad_request,
    expired,
    too_large_version,
)
from kruntimes_core.lab.apiserver.kinds.strategy import Resource
from kruntimes_core.lab.apiserver.objects import Object, key_of, metadata_of
from kruntimes_core.lab.apiserver.requests import ListOptions
from kruntimes_core.lab.apiserver.selectors import field_requirements, label_requirements
from kruntimes_core.lab.apiserver.storage import Change, Stored, Table

_TOKEN_VERSION = "meta.k8s.io/v1"  # noqa: S105 - the format of continue tokens, no secret
_TOO_OLD_TO_CONTINUE = (
    "the continue token is too old for a consistent list: start a new list without it, or go on with the "
    "token in this response, which may show or miss objects that changed meanwhile"
)
_INCONSISTENT = -1
"""The version of a token that goes on at whatever is current then."""


class Selection:
    """Which objects are meant: a namespace, labels and fields."""

    def __init__(self, resource: Resource, namespace: str | None, options: ListOptions) -> None:
        """namespace: None for all. Raises `ApiError` (400) for selectors that cannot be read."""
        self._namespace = namespace
        self._labels = list(label_requirements(options.label_selector))
        self._fields = list(field_requirements(options.field_selector, resource.fields))

    @property
    def selective(self) -> bool:
        """Whether labels or fields leave something out."""
        return bool(self._labels or self._fields)

    def matches(self, obj: Object) -> bool:
        """Whether a stored object is meant."""
        metadata = metadata_of(obj)
        if self._namespace is not None and metadata.get("namespace", "") != self._namespace:
            return False
        labels = metadata.get("labels", {})
        return all(meant(labels) for meant in self._labels) and all(meant(obj) for meant in self._fields)


@dataclass(frozen=True, slots=True)
class Page:
    """A list, or a part of one: the objects as stored, their version, and how to go on."""

    items: Sequence[Stored]
    version: int
    continue_token: str = ""
    remaining: int | None = None


def list_page(table: Table, current: int, selection: Selection, options: ListOptions) -> Page:
    """The page that the options describe; current: the version of the server's last write.

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
            raise expired(_TOO_OLD_TO_CONTINUE, write_token(_INCONSISTENT, start))
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
        text = base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_", validate=True)
        found = json.loads(text)
        if found["v"] != _TOKEN_VERSION:
            raise ValueError(f"the encoding {found['v']!r} is not known")
        return int(found["rv"]), str(found["start"])
    except (ValueError, KeyError, TypeError) as error:
        raise bad_request(f"the continue token is not valid: {error}") from error


@dataclass(frozen=True, slots=True)
class Event:
    """`ADDED`, `MODIFIED` or `DELETED`, with the object as stored at `version`."""

    type: str
    stored: Stored
    version: int


class Watch:
    """One watch. Close it when it is not read any more."""

    def __init__(
        self,
        table: Table,
        selection: Selection,
        since: int | None,
        current: Callable[[], int],
        wake: Callable[[], None],
    ) -> None:
        """since: tell what is later than this version; None: tell first what is there now, as added.

        current: the version of the server's last write. wake: called when there may be something new.
        Raises `ApiError` (410) when `since` is out of reach.
        """
        self._current = current
        self._table = table
        self._selection = selection
        self._wake = wake
        self.version = current() if since is None else since
        """Everything up to this version has been told."""
        self._initial = list(self._now()) if since is None else []
        if self.version < table.history.forgotten:
            raise self._lost()
        table.history.listeners.add(wake)

    def close(self) -> None:
        """Stop listening."""
        self._table.history.listeners.discard(self._wake)

    def pending(self) -> list[Event]:
        """What is new since the last call, in order. Raises `ApiError` (410) when some of it is lost."""
        if self._table.history.missed(self.version):
            raise self._lost()
        events, self._initial = self._initial, []
        for change in self._table.history.after(self.version):
            self.version = change.version
            event = self._event(change)
            if event is not None:
                events.append(event)
        # What happened to other kinds has been told too: it was nothing.
        self.version = max(self.version, self._current())
        return events

    def _lost(self) -> ApiError:
        return expired(f"too old resource version: {self.version} ({self._table.history.forgotten})")

    def _now(self) -> Iterator[Event]:
        for stored in self._table.now():
            if self._selection.matches(stored.object):
                yield Event("ADDED", stored, stored.version)

    def _event(self, change: Change) -> Event | None:
        """What a change means to this watch: an object may come into its selection, or leave it."""
        was = change.before is not None and self._selection.matches(change.before.object)
        now = change.after is not None and self._selection.matches(change.after.object)
        if now and change.after is not None:
            return Event("MODIFIED" if was else "ADDED", change.after, change.version)
        if not was or change.before is None:
            return None
        told = change.told if change.after is None else _left(change.before, change.version)
        return Event("DELETED", told, change.version)


def _left(before: Stored, version: int) -> Stored:
    """An object that left the selection: as it was when it still belonged, at the version of the change."""
    metadata = {**before.object["metadata"], "resourceVersion": str(version)}
    return Stored({**before.object, "metadata": metadata}, version)
