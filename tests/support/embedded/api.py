"""The server without a network, on a clock that a test moves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from random import Random
from typing import Any

import pytest

from embedded.bodies import NAMESPACE, Object, namespace_body
from kruntimes_core.lab.apiserver.errors import ApiError
from kruntimes_core.lab.apiserver.kinds.strategy import MERGE, Resource
from kruntimes_core.lab.apiserver.requests import Answer, DeleteOptions, ListOptions, Patch
from kruntimes_core.lab.apiserver.server import ApiServer
from kruntimes_core.lab.apiserver.watch_cache import Watch

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


@dataclass
class Clock:
    """The time that the server reads."""

    now: datetime = field(default=NOW)

    def __call__(self) -> datetime:
        return self.now

    def move(self, seconds: float) -> None:
        """Let time pass."""
        self.now += timedelta(seconds=seconds)


def new_api(clock: Clock | None = None, **arguments: Any) -> ApiServer:
    """A server with the namespace team-a; uids are u-1, u-2, ..."""
    numbers = count(1)
    api = ApiServer(now=clock or Clock(), uid=lambda: f"u-{next(numbers)}", source=Random(1), **arguments)
    api.create(api.resources.named("namespaces"), None, namespace_body())
    return api


class Site:
    """The verbs on one resource in one namespace, for short."""

    def __init__(self, api: ApiServer, plural: str, group: str | None = None) -> None:
        self.api = api
        self.resource: Resource = api.resources.named(plural, group)
        self.place = NAMESPACE if self.resource.namespaced else None

    def create(self, body: Object) -> Object:
        return self.api.create(self.resource, self.place, body).object

    def get(self, name: str) -> Object:
        return self.api.get(self.resource, self.place, name)

    def names(self, **options: Any) -> list[str]:
        page = self.api.page(self.resource, self.place, ListOptions(**options))
        return [str(stored.object["metadata"]["name"]) for stored in page.items]

    def update(self, body: Object, subresource: str = "") -> Object:
        name = body["metadata"]["name"]
        return self.api.update(self.resource, self.place, name, body, subresource).object

    def merge(self, name: str, document: Object, subresource: str = "") -> Object:
        patch = Patch(MERGE, document)
        return self.api.patch(self.resource, self.place, name, patch, subresource).object

    def patch(self, name: str, media_type: str, document: Any, subresource: str = "") -> Object:
        patch = Patch(media_type, document)
        return self.api.patch(self.resource, self.place, name, patch, subresource).object

    def delete(self, name: str, **options: Any) -> Answer:
        return self.api.delete(self.resource, self.place, name, DeleteOptions(**options))

    def watch(self, **options: Any) -> Watch:
        return self.api.watch(self.resource, self.place, ListOptions(**options), lambda: None)


def told(watch: Watch) -> list[tuple[str, str]]:
    """(type, name) of what is new in a watch."""
    return [(event.type, event.stored.object["metadata"]["name"]) for event in watch.pending()]


def refusal(call: Callable[[], object]) -> ApiError:
    """The error that a call ends with."""
    with pytest.raises(ApiError) as caught:
        call()
    return caught.value


def causes(error: ApiError) -> set[tuple[str, str]]:
    """(field, type) of the causes of an error."""
    found = (error.details or {}).get("causes", [])
    return {(cause["field"], cause["reason"]) for cause in found}
