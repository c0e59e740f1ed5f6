"""Ends a scheduler whose bench is gone, however that went: `python watcher.py GROUP`.

A bench that is killed hard cleans up nothing, and a scheduler that goes on then places Runs for nobody. Its
standard input is a pipe that the bench holds: it ends with the bench. A bench that ends the scheduler itself
says so first. It is run by its path, and imports little, so that it costs nothing while times are taken.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from contextlib import suppress

DISMISSED = b"dismissed"
"""What a bench says that needs no watcher any more."""
_GRACE_SECONDS = 15.0
_PAUSE_SECONDS = 0.1


def main(group: int) -> None:
    """Wait for the end of the pipe, and then for that of the process group."""
    if sys.stdin.buffer.read() == DISMISSED:
        return
    given_up_at = time.monotonic() + _GRACE_SECONDS
    with suppress(ProcessLookupError):
        os.killpg(group, signal.SIGTERM)
        while time.monotonic() < given_up_at:
            time.sleep(_PAUSE_SECONDS)
            os.killpg(group, 0)
        os.killpg(group, signal.SIGKILL)


if __name__ == "__main__":
    main(int(sys.argv[1]))
