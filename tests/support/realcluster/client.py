"""A small HTTP client for tests, which shows what the server said and interprets nothing.

It is not the scheduler's driver on purpose: what is tested is not what tests with.
"""

from __future__ import annotations

import json
import ssl
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPResponse, HTTPSConnection
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode, urlsplit

from realcluster.client import ExpiredError, Following

Object = dict[str, Any]
Query = Mapping[str, str | int]

PATCHES = {
    "merge": "application/merge-patch+json",
    "json": "application/json-patch+json",
    "strategic": "application/strategic-merge-patch+json",
    "apply": "application/apply-patch+yaml",
}


class Answer(NamedTuple):
    """What the server said: the HTTP status, and the object, list or Status."""

    status: int
    body: Object


@dataclass(frozen=True)
class Resource:
    """A resource type of the API; the core group is the empty string."""

    group: str
    version: str
    plural: str

    def path(self, namespace: str | None, name: str | None = None, subresource: str | None = None) -> str:
        """The path of the collection, of one object, or of its subresource."""
        root = f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"
        inside = f"/namespaces/{namespace}" if namespace else ""
        return root + inside + "/".join(["", self.plural, *filter(None, [name, subresource])])


RUNS = Resource("kruntimes.io", "v1alpha1", "runs")
RUNTIMES = Resource("kruntimes.io", "v1alpha1", "runtimes")
WORKSPACES = Resource("kruntimes.io", "v1alpha1", "persistentworkspaces")
PODS = Resource("", "v1", "pods")
NAMESPACES = Resource("", "v1", "namespaces")
SERVICE_ACCOUNTS = Resource("", "v1", "serviceaccounts")
CRDS = Resource("apiextensions.k8s.io", "v1", "customresourcedefinitions")


class Client:
    """Requests to one server as one user; every request has its own connection."""

    def __init__(
        self, url: str, *, token: str | None = None, ca_file: Path | None = None, timeout_seconds: float = 30
    ) -> None:
        self.url = url
        bearer = {"Authorization": f"Bearer {token}"} if token else {}
        self._headers = {"Accept": "application/json", **bearer}
        self._tls = ssl.create_default_context(cafile=str(ca_file)) if ca_file else None
        self._timeout_seconds = timeout_seconds

    def get(self, resource: Resource, name: str, namespace: str | None = None) -> Answer:
        """Read one object."""
        return self.request("GET", resource.path(namespace, name))

    def list(self, resource: Resource, namespace: str | None = None, **query: str | int) -> Answer:
        """List a namespace, or everything; `query` is limit, continue, labelSelector, ..."""
        return self.request("GET", resource.path(namespace), query=query)

    def create(
        self, resource: Resource, obj: Object, namespace: str | None = None, subresource: str | None = None
    ) -> Answer:
        """Create an object, or the subresource of the object that bears the name of `obj`."""
        name = obj["metadata"]["name"] if subresource else None
        return self.request("POST", resource.path(namespace, name, subresource), obj)

    def replace(
        self, resource: Resource, obj: Object, namespace: str | None = None, subresource: str | None = None
    ) -> Answer:
        """Update a whole object or its subresource (PUT)."""
        return self.request("PUT", resource.path(namespace, obj["metadata"]["name"], subresource), obj)

    def patch(
        self,
        resource: Resource,
        name: str,
        patch: object,
        namespace: str | None = None,
        subresource: str | None = None,
        kind: str = "merge",
    ) -> Answer:
        """Patch an object or its subresource; `kind` is one of PATCHES."""
        path = resource.path(namespace, name, subresource)
        return self.request("PATCH", path, patch, content_type=PATCHES[kind])

    def delete(
        self, resource: Resource, name: str, namespace: str | None = None, **query: str | int
    ) -> Answer:
        """Delete one object; a Pod needs `gracePeriodSeconds=0`, because no kubelet ends it."""
        return self.request("DELETE", resource.path(namespace, name), query=query)

    def watch(
        self, resource: Resource, namespace: str | None = None, *, seconds: int = 10, **query: str | int
    ) -> Generator[Object, None, None]:
        """Watch events until the server ends the watch after `seconds`; closing the iterator ends it too.

        A refused watch gives its Status as one event of type `REFUSED`.
        """
        asked = {"watch": "true", "timeoutSeconds": seconds, **query}
        connection = self.connection()
        try:
            response = self.send(connection, "GET", f"{resource.path(namespace)}?{urlencode(asked)}")
            if response.status != 200:
                yield {"type": "REFUSED", "object": json.loads(response.read())}
                return
            while line := response.readline():
                yield json.loads(line)
        finally:
            connection.close()

    def follow(self, resource: Resource, namespace: str, version: str, seconds: int) -> Following:
        """Watch from a version until the watch is closed, or `seconds` have passed.

        Raises `ExpiredError` for a version that is too old, and `ConnectionError` for any other refusal.
        """
        query = {"watch": "true", "timeoutSeconds": seconds, "resourceVersion": version}
        connection = self.connection(seconds)
        try:
            response = self.send(connection, "GET", f"{resource.path(namespace)}?{urlencode(query)}")
            if response.status == 410:
                raise ExpiredError
            if response.status != 200:
                raise ConnectionError(response.read())
        except BaseException:
            connection.close()
            raise
        return Following(connection, response)

    def request(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        content_type: str = "application/json",
        query: Query | None = None,
    ) -> Answer:
        """Send any request; `body` is sent as JSON. An answer that is no JSON comes as `text`."""
        connection = self.connection()
        try:
            target = f"{path}?{urlencode(query)}" if query else path
            return answer_of(self.send(connection, method, target, body, content_type))
        finally:
            connection.close()

    def connection(self, timeout_seconds: float | None = None) -> HTTPConnection:
        place = urlsplit(self.url)
        assert place.hostname is not None
        limit = timeout_seconds or self._timeout_seconds
        if self._tls is None:
            return HTTPConnection(place.hostname, place.port, timeout=limit)
        return HTTPSConnection(place.hostname, place.port, timeout=limit, context=self._tls)

    def send(
        self,
        connection: HTTPConnection,
        method: str,
        target: str,
        body: object = None,
        content_type: str = "application/json",
    ) -> HTTPResponse:
        sent = None if body is None else json.dumps(body).encode()
        connection.request(method, target, sent, {**self._headers, "Content-Type": content_type})
        return connection.getresponse()


def answer_of(response: HTTPResponse) -> Answer:
    text = response.read()
    is_json = response.headers.get_content_type() == "application/json"
    return Answer(response.status, json.loads(text) if is_json else {"text": text.decode()})
