"""What a script works with: one server, one namespace of its own, and a record of all that was said."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any
from urllib.parse import urlencode

from realcluster.client import JSON, PATCHES, PODS, RUNS, Answer, Client, Object, Resource, Watch

Json = Any
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
METADATA = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
METADATA_LIST = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"


class Watching:
    """A watch that is read event by event; each is recorded."""

    def __init__(self, watch: Watch, record: list[Object]) -> None:
        self._watch = watch
        self._record = record

    def next(self) -> Object:
        """The next event; fails when the server ends the watch instead."""
        event = self._watch.next()
        assert event is not None, "the watch ended early"
        self._record.append(event)
        return event

    def take(self, count: int) -> list[tuple[str, str]]:
        """(type, name) of the next events."""
        return [_short(self.next()) for _ in range(count)]

    def rest(self) -> list[tuple[str, str]]:
        """(type, name) of all that comes until the server ends the watch."""
        events = list(iter(self._watch.next, None))
        self._record.extend(events)
        return [_short(event) for event in events]


class Site:
    """The verbs on one server, in one namespace; `record` is what the server said."""

    def __init__(self, client: Client, namespace: str) -> None:
        self._client = client
        self.namespace = namespace
        self.record: list[tuple[str, Object]] = []

    # Whole requests

    def send(
        self,
        method: str,
        path: str,
        body: Json = None,
        *,
        content_type: str = JSON,
        accept: str = JSON,
        **query: Any,
    ) -> Answer:
        """Any request; `body` is sent as JSON unless it is bytes. The query's words are given by name."""
        reply = self._client.request(
            method, path, body, content_type=content_type, accept=accept, query=query
        )
        target = f"{path}?{urlencode(query)}" if query else path
        said = {
            "status": reply.status,
            "type": reply.content_type,
            "warnings": list(reply.warnings),
            "retry": reply.retry_after,
            "body": reply.body,
        }
        self.record.append((f"{method} {target}", said))
        return reply

    def keep(self, part: Json) -> None:
        """Compare only this part of the last answer: for documents of which a real server has more."""
        _, said = self.record[-1]
        said["body"] = part

    def path(self, resource: Resource, name: str | None = None, subresource: str | None = None) -> str:
        """The path of a collection, an object or a subresource, in the namespace of the site."""
        return resource.path(self.namespace, name, subresource)

    # Verbs

    def create(self, resource: Resource, obj: Object, **query: Any) -> Answer:
        """POST."""
        return self.send("POST", self.path(resource), obj, **query)

    def made(self, resource: Resource, obj: Object) -> Object:
        """Create what must be accepted."""
        reply = self.create(resource, obj)
        assert reply.status == 201, reply.body
        body: Object = reply.body
        return body

    def get(self, resource: Resource, name: str, subresource: str | None = None) -> Answer:
        """GET of one object."""
        return self.send("GET", self.path(resource, name, subresource))

    def list(self, resource: Resource, **query: Any) -> Answer:
        """GET of the collection."""
        return self.send("GET", self.path(resource), **query)

    def replace(
        self, resource: Resource, obj: Object, subresource: str | None = None, **query: Any
    ) -> Answer:
        """PUT."""
        return self.send("PUT", self.path(resource, obj["metadata"]["name"], subresource), obj, **query)

    def patch(
        self,
        resource: Resource,
        name: str,
        patch: Json,
        subresource: str | None = None,
        kind: str = "merge",
        **query: Any,
    ) -> Answer:
        """PATCH; `kind` is one of PATCHES."""
        path = self.path(resource, name, subresource)
        return self.send("PATCH", path, patch, content_type=PATCHES[kind], **query)

    def delete(self, resource: Resource, name: str, options: Object | None = None) -> Answer:
        """DELETE of one object; options: a DeleteOptions without its kind."""
        return self.send("DELETE", self.path(resource, name), options)

    def gone(self, resource: Resource, *names: str) -> None:
        """Delete what must be there, at once."""
        for name in names:
            reply = self.delete(resource, name, {"gracePeriodSeconds": 0} if resource == PODS else None)
            assert reply.status == 200, reply.body

    @contextmanager
    def watching(self, resource: Resource, accept: str = JSON, **query: Any) -> Iterator[Watching]:
        """A watch of the collection; 200 is taken for granted."""
        target = f"{self.path(resource)}?{urlencode({'watch': 'true', **query})}"
        events: list[Object] = []
        with closing(self._client.watch(resource, self.namespace, accept=accept, **query)) as watch:
            self.record.append((f"GET {target}", {"status": watch.status, "events": events}))
            assert watch.status == 200
            yield Watching(watch, events)

    def watched(self, resource: Resource, count: int, **query: Any) -> Sequence[tuple[str, str]]:
        """(type, name) of the first events of a watch."""
        with self.watching(resource, **query) as watch:
            return watch.take(count)

    # What most scripts begin with

    def status_of(self, name: str, status: Object, **query: Any) -> Answer:
        """Merge a status into that of a Run."""
        return self.patch(RUNS, name, {"status": status}, "status", **query)


def _short(event: Object) -> tuple[str, str]:
    return event["type"], event["object"].get("metadata", {}).get("name", "")
