"""Whether anybody is still there to read what is written."""

from __future__ import annotations

import errno
import select
from collections.abc import Iterable
from typing import IO

_GONE = select.POLLERR | select.POLLHUP | select.POLLNVAL
# A pipe that nobody reads answers EPIPE, a terminal that was closed EIO, as a broken disk does too.
_CAN_MEAN_NO_READER = (errno.EPIPE, errno.EIO)


def nobody_reads(out: IO[str]) -> bool:
    """Whether the other end of `out` is gone: found without writing. A file has no other end."""
    try:
        descriptor = out.fileno()
    except (OSError, ValueError):
        return False
    poll = select.poll()
    poll.register(descriptor, 0)
    return any(events & _GONE for _, events in poll.poll(0))


def for_want_of_a_reader(error: OSError, streams: Iterable[IO[str]]) -> bool:
    """Whether `error` only says that one of `streams` has lost its reader."""
    if isinstance(error, BrokenPipeError):
        return True
    return error.errno in _CAN_MEAN_NO_READER and any(nobody_reads(stream) for stream in streams)
