"""Whether an API server may be loaded, and has what it takes."""

from __future__ import annotations

from ipaddress import ip_address
from urllib.parse import urlsplit

from pydantic_core import from_json

from kruntimes_core.cluster.client.connection import Connection
from kruntimes_core.cluster.client.resources import RUNS
from kruntimes_core.lab.bench.live.api import Api
from kruntimes_core.model.messages import InputError


def is_loopback(connection: Connection) -> bool:
    """Whether the server is on this machine, as far as its address tells."""
    host = (urlsplit(connection.server).hostname or "").lower()
    if connection.proxy is not None:
        return False
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def check_loopback(connection: Connection) -> None:
    """Raises `InputError` for a server that is not on this machine."""
    if not is_loopback(connection):
        where = "not on this machine" if connection.proxy is None else "behind a proxy"
        raise InputError(
            f"{connection.server} ({connection.origin}) is {where}, and a bench loads a"
            " server as hard as it can: add --yes-load-this-cluster if that is what you want"
        )


async def check_crds(api: Api) -> None:
    """Raises `InputError` if Runs are not served."""
    answer = await api.get(f"/apis/{RUNS.group}/{RUNS.version}")
    names = [one["name"] for one in from_json(answer.body)["resources"]] if answer.status == 200 else []
    if not {RUNS.plural, f"{RUNS.plural}/status"} <= set(names):
        raise InputError(
            f"the API server does not serve {RUNS.title}: install the CRDs,"
            " as by kubectl apply -f deploy/crds"
        )


async def version_of(api: Api) -> str:
    """What the server says it is."""
    answer = await api.get("/version")
    return str(from_json(answer.body).get("gitVersion", "")) if answer.status == 200 else ""
