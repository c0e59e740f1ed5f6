"""The time limit of commands that ask plugins."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TypeVar

from kruntimes_core.cli.debugging import DEBUG
from kruntimes_core.cluster.attended_calls import CurrentCall, attended

T = TypeVar("T")


def patiently(values: Iterator[T], under_way: CurrentCall) -> Iterator[T]:
    """The same values, with the scheduler's limit for a call of a plugin; see `attended`.

    Without one, and on the thread of the caller, for who debugs: a debugger stops a call for as long as
    somebody looks at it.
    """
    return values if os.environ.get(DEBUG) else attended(values, under_way)
