"""Runs by what they request: the pattern of Kubernetes quantities, which lets more through than counts."""

from __future__ import annotations

from contrast.cases import Create, accepted, refused

TAKEN = (1, 0, -1, "2", "2k", "1Ki", "2e3", "2000m", "500m", "+1", ".5", "1.", "1E3", "1e999999999", "1e1.5")
NOT_TAKEN = ("", "two", "1 Gi", "1Kb", "0x10", "1e", "--1", "1,5", "∞", True, 1.5, [1])

REQUESTS: list[Create] = [
    accepted("empty resources", resources={}),
    accepted("name with a slash", resources={"requests": {"example.com/gpu": 1, "runs": "1"}}),
    *(
        accepted(
            f"quantity {value!r}",
            {"resources.requests.tokens": value},
            resources={"requests": {"tokens": value}},
        )
        for value in TAKEN
    ),
    *(
        refused(
            f"quantity {value!r}", "spec.resources.requests.tokens", resources={"requests": {"tokens": value}}
        )
        for value in NOT_TAKEN
    ),
]
