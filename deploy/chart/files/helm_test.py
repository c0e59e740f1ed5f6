"""What `helm test` runs in a Pod: each replica serves its metrics, and exactly one of them decides.

Arguments: the name of the headless Service, its port, the number of replicas, and the seconds after which it
gives up.
"""

from __future__ import annotations

import socket
import sys
import time
import urllib.request

DECIDING = "kruntimes_scheduler_deciding "
PAUSE = 1.0
"""Seconds between two looks."""


def addresses(service: str, port: int) -> list[str]:
    """The address of each replica. Raises `OSError` if the name has none."""
    found = socket.getaddrinfo(service, port, type=socket.SOCK_STREAM)
    return sorted({str(address[0]) for *_, address in found})


def deciding(address: str, port: int) -> bool:
    """Whether a replica says that it decides. Raises `OSError` or `ValueError` if it does not say so."""
    host = f"[{address}]" if ":" in address else address
    try:
        with urllib.request.urlopen(f"http://{host}:{port}/metrics", timeout=5) as answer:
            lines = answer.read().decode().splitlines()
    except OSError as error:
        raise OSError(f"{address} does not serve its metrics: {error}") from error
    values = [line.removeprefix(DECIDING) for line in lines if line.startswith(DECIDING)]
    if len(values) != 1:
        raise ValueError(f"{address}: its metrics have no {DECIDING.strip()}")
    return float(values[0]) == 1


def problem(service: str, port: int, replicas: int) -> str:
    """What is wrong now; empty if nothing is."""
    try:
        found = addresses(service, port)
        if len(found) < replicas:
            return f"{service} has {len(found)} of {replicas} replicas: {', '.join(found)}"
        decide = [address for address in found if deciding(address, port)]
    except (OSError, ValueError) as error:
        return f"{service}: {error}"
    if len(decide) == 1:
        return ""
    return f"{len(decide)} of {len(found)} replicas decide, not 1: {', '.join(decide or found)}"


def main(service: str, port: str, replicas: str, seconds: str) -> int:
    """Look until nothing is wrong, or the time is over; say what is wrong."""
    end = time.monotonic() + float(seconds)
    while wrong := problem(service, int(port), int(replicas)):
        if time.monotonic() >= end:
            sys.stderr.write(f"{wrong}\n")
            return 1
        time.sleep(PAUSE)
    sys.stdout.write(f"{replicas} replicas serve their metrics, and one of them decides\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
