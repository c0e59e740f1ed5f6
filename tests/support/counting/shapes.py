"""The clusters that are compared: one, and the same with twice as much of one thing."""

from __future__ import annotations

from dataclasses import replace

from kruntimes_core.lab.bench.engine.shape import Shape

BASE = Shape(pods=600, runs=10, known=1_000, waiting=600, requests=4, cohorts=10)
POOLS = Shape(pods=160, runs=10, known=800, waiting=160, requests=4, cohorts=4, namespaces=8)
SIZES = {
    "pods": (BASE, replace(BASE, pods=1_200)),
    "known": (BASE, replace(BASE, known=2_000)),
    "waiting": (BASE, replace(BASE, waiting=1_200)),
    "cohorts": (BASE, replace(BASE, cohorts=20)),
    "namespaces": (POOLS, replace(POOLS, pods=320, known=1_600, waiting=320, namespaces=16)),
    "runtimes": (
        replace(POOLS, namespaces=1, runtimes=8),
        replace(POOLS, pods=320, known=1_600, waiting=320, namespaces=1, runtimes=16),
    ),
}
# What two sizes may differ by without a loop over what was doubled, which is a twelfth and more, or
# a copy of it: an order of hashes, a log that is cut now and then.
LINES, SPARE_BYTES = 1.05, 1_500
