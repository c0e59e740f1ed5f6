"""What a request to an API server asks for, read off its path."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import parse_qsl, urlencode, urlsplit

from faultproxy.requests import Head


@dataclass(frozen=True)
class Request:
    """One request of the client, whole."""

    head: Head
    body: bytes

    @property
    def method(self) -> str:
        return self.head.first.split(" ")[0]

    @property
    def target(self) -> str:
        return self.head.first.split(" ")[1]

    @property
    def query(self) -> dict[str, str]:
        return dict(parse_qsl(urlsplit(self.target).query))

    @property
    def verb(self) -> str:
        """The verb as a Role names it."""
        if self.method == "GET":
            return "get" if self.name else "watch" if "watch" in self.query else "list"
        return self.method.lower()

    @property
    def plural(self) -> str:
        """The resource; empty for what is about none."""
        return self._place[0]

    @property
    def name(self) -> str:
        """The name of the object; empty for a collection."""
        return self._place[1]

    @property
    def _place(self) -> tuple[str, str]:
        root, _, rest = urlsplit(self.target).path.strip("/").partition("/")
        parts = rest.split("/")[{"api": 1, "apis": 2}.get(root, 99) :]
        if parts[:1] == ["namespaces"]:
            parts = parts[2:]
        return (parts[0] if parts else "", parts[1] if len(parts) > 1 else "")

    def with_query(self, **changed: str) -> Request:
        """The same request with other parameters."""
        path = urlsplit(self.target).path
        first = f"{self.method} {path}?{urlencode({**self.query, **changed})} HTTP/1.1"
        return Request(Head(first, self.head.fields), self.body)


@dataclass(frozen=True)
class Match:
    """Which requests are meant."""

    verb: str
    plural: str
    name: str = ""
    """Empty: of any object."""
    later_page: bool = False
    """Of a list, a page after the first."""

    def __call__(self, request: Request) -> bool:
        """Whether a request is meant."""
        return (
            (request.verb, request.plural) == (self.verb, self.plural)
            and self.name in ("", request.name)
            and (not self.later_page or "continue" in request.query)
        )
