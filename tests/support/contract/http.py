"""HTTP without interpretation: what was said, with the headers that belong to the contract."""

from __future__ import annotations

import json
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPResponse, HTTPSConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

_TIMEOUT_SECONDS = 20


@dataclass(frozen=True)
class Reply:
    """One answer. `body` is what its JSON says, or its text when it is no JSON."""

    status: int
    body: Any
    content_type: str
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


@dataclass(frozen=True)
class Endpoint:
    """Where a server is, and how to come in."""

    url: str
    token: str | None = None
    ca_file: Path | None = None


class Line:
    """A connection that is used again for one request after the other."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._tls = ssl.create_default_context(cafile=str(endpoint.ca_file)) if endpoint.ca_file else None
        self._kept = self._connection()

    def close(self) -> None:
        """Hang up."""
        self._kept.close()

    def send(self, method: str, target: str, body: bytes | None, headers: Mapping[str, str]) -> Reply:
        """One request and its answer."""
        self._kept.request(method, target, body, self._all(headers))
        response = self._kept.getresponse()
        return _reply(response, response.read())

    @contextmanager
    def stream(self, target: str, headers: Mapping[str, str]) -> Iterator[HTTPResponse]:
        """A watch, on a connection of its own."""
        connection = self._connection()
        try:
            connection.request("GET", target, headers=self._all(headers))
            yield connection.getresponse()
        finally:
            connection.close()

    def _all(self, headers: Mapping[str, str]) -> dict[str, str]:
        token = self._endpoint.token
        bearer = {"Authorization": f"Bearer {token}"} if token else {}
        return {**bearer, **headers}

    def _connection(self) -> HTTPConnection:
        place = urlsplit(self._endpoint.url)
        assert place.hostname is not None
        if self._tls is None:
            return HTTPConnection(place.hostname, place.port, timeout=_TIMEOUT_SECONDS)
        return HTTPSConnection(place.hostname, place.port, timeout=_TIMEOUT_SECONDS, context=self._tls)


def _reply(response: HTTPResponse, text: bytes) -> Reply:
    content_type = response.headers.get("Content-Type", "")
    is_json = content_type.partition(";")[0] == "application/json"
    return Reply(
        status=response.status,
        body=json.loads(text) if is_json and text else text.decode("utf-8", "replace"),
        content_type=content_type,
        warnings=tuple(response.headers.get_all("Warning", ())),
        retry_after=response.headers.get("Retry-After"),
    )
