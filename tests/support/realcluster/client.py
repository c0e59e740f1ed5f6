"""A small HTTP client for tests, which shows what the server said and interprets nothing.

It is not the scheduler's driver on purpose: what is tested is not what tests with.
"""

from __future__ import annotations

import json
import socket
import ssl
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

Object = dict[str, Any]
Query = Mapping[str, str | int]
JSON = "application/json"

PATCHES = {
    "merge": "application/merge-patch+json",
    "json": "application/json-patch+json",
    "strategic": "application/strategic-merge-patch+json",
    "apply": "application/apply-patch+yaml",
}


@dataclass(frozen=True)
class Answer:
    """What the server said. body: the object, list or Status; a text where it is no JSON."""

    status: int
    body: Any
    content_type: str = ""
    warnings: tuple[str, ...] = ()
    retry_after: str | None = None

    @property
    def reason(self) -> str:
        """The reason of a Status."""
        return str(self.body.get("reason", ""))

    @property
    def message(self) -> str:
        """The message of a Status."""
        return str(self.body["message"])

    @property
    def fields(self) -> list[str]:
        """The fields of the causes of a Status."""
        return [cause["field"] for cause in self.body["details"]["causes"]]

    @property
    def names(self) -> list[str]:
        """The names of a list's items."""
        return [item["metadata"]["name"] for item in self.body["items"]]

    @property
    def version(self) -> str:
        """The resourceVersion of an object or list."""
        return str(self.body["metadata"]["resourceVersion"])


class Watch:
    """An open watch, or the refusal of one by its `status`: read by one thread, ended by any."""

    def __init__(self, connection: HTTPConnection, response: HTTPResponse) -> None:
        self.status = response.status
        self._connection = connection
        self._response = response

    def next(self) -> Object | None:
        """The next event; None when the server has ended the watch."""
        line = self._response.readline()
        return json.loads(line) if line else None

    def __iter__(self) -> Iterator[Object]:
        """The events, until the server or `end` ends it."""
        # A socket that another thread shut down ends in one of several ways.
        with suppress(OSError, ValueError, HTTPException):
            while (event := self.next()) is not None:
                yield event

    def end(self) -> None:
        """End it from another thread: the one that reads sees its end."""
        with suppress(OSError):
            if self._connection.sock is not None:
                self._connection.sock.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """End it from the thread that reads it."""
        self._response.close()
        self._connection.close()


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
        self.headers = {"Authorization": f"Bearer {token}"} if token else {}
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
        self,
        resource: Resource,
        namespace: str | None = None,
        *,
        seconds: int = 10,
        accept: str = JSON,
        **query: str | int,
    ) -> Watch:
        """Watch until the server ends it after `seconds`; to be closed. query: resourceVersion, ..."""
        asked = urlencode({"watch": "true", "timeoutSeconds": seconds, **query})
        connection = self._connection(max(self._timeout_seconds, seconds))
        try:
            target = f"{resource.path(namespace)}?{asked}"
            return Watch(connection, self._send(connection, "GET", target, accept=accept))
        except BaseException:
            connection.close()
            raise

    def request(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        content_type: str = JSON,
        accept: str = JSON,
        query: Query | None = None,
    ) -> Answer:
        """Send any request; `body` is sent as JSON unless it is bytes."""
        target = f"{path}?{urlencode(query)}" if query else path
        connection = self._begin()
        try:
            return _answer_of(self._send(connection, method, target, body, content_type, accept))
        finally:
            self._done(connection)

    def _connection(self, timeout_seconds: float) -> HTTPConnection:
        place = urlsplit(self.url)
        assert place.hostname is not None
        if self._tls is None:
            return HTTPConnection(place.hostname, place.port, timeout=timeout_seconds)
        return HTTPSConnection(place.hostname, place.port, timeout=timeout_seconds, context=self._tls)

    def _send(
        self,
        connection: HTTPConnection,
        method: str,
        target: str,
        body: object = None,
        content_type: str = JSON,
        accept: str = JSON,
    ) -> HTTPResponse:
        sent = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        headers = {**self.headers, "Accept": accept}
        if sent is not None:
            headers["Content-Type"] = content_type
        connection.request(method, target, sent, headers)
        return connection.getresponse()

    def _begin(self) -> HTTPConnection:
        return self._connection(self._timeout_seconds)

    def _done(self, connection: HTTPConnection) -> None:
        connection.close()


class KeptClient(Client):
    """A client that sends one request after the other on one connection; to be closed."""

    def __init__(self, client: Client) -> None:
        self.__dict__.update(client.__dict__)
        self._kept = self._connection(self._timeout_seconds)

    def close(self) -> None:
        """Close the connection; the next request opens it again."""
        self._kept.close()

    def _begin(self) -> HTTPConnection:
        return self._kept

    def _done(self, connection: HTTPConnection) -> None:
        """It is kept."""


def _answer_of(response: HTTPResponse) -> Answer:
    text, headers = response.read(), response.headers
    is_json = headers.get_content_type() == JSON and text
    return Answer(
        status=response.status,
        body=json.loads(text) if is_json else text.decode(errors="replace"),
        content_type=headers.get("Content-Type", ""),
        warnings=tuple(headers.get_all("Warning", ())),
        retry_after=headers.get("Retry-After"),
    )


@dataclass(frozen=True)
class Reachable:
    """An API server, and what an administrator needs to use it."""

    url: str
    ca_file: Path | None
    """Of the authority that signed its certificate; None for plain HTTP."""
    token: str

    def client(self, token: str | None = None) -> Client:
        """A client for the bearer of `token`; without one, for the administrator."""
        return Client(self.url, token=token or self.token, ca_file=self.ca_file)

    def kubeconfig_of(self, token: str, folder: Path) -> Path:
        """A kubeconfig for the bearer of a token, as a file in a folder."""
        authority = {"certificate-authority": str(self.ca_file)} if self.ca_file else {}
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "test", "cluster": {"server": self.url, **authority}}],
            "users": [{"name": "test", "user": {"token": token}}],
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}],
            "current-context": "test",
        }
        path = folder / "kubeconfig"
        path.write_text(json.dumps(config))
        return path
