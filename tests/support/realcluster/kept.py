"""A client for many requests in a row, which spares the handshakes."""

from __future__ import annotations

from urllib.parse import urlencode

from realcluster.client import Answer, Client, Query, answer_of


class KeptClient(Client):
    """A client that sends one request after the other on one connection."""

    def __init__(self, client: Client) -> None:
        self.__dict__.update(client.__dict__)
        self._kept = self.connection()

    def request(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        content_type: str = "application/json",
        query: Query | None = None,
    ) -> Answer:
        """See `Client.request`."""
        target = f"{path}?{urlencode(query)}" if query else path
        return answer_of(self.send(self._kept, method, target, body, content_type))

    def close(self) -> None:
        """Close the connection."""
        self._kept.close()
