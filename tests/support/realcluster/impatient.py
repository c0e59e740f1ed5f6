"""`kruntimes` with watches of two seconds, so that a test sees what else takes most of a minute."""

from __future__ import annotations

import sys

from kruntimes_core.cli.main import main
from kruntimes_core.cluster.informers import lister_watcher

SECONDS = 2
"""How long a watch is asked for, and how much longer it may last."""

if __name__ == "__main__":
    lister_watcher.STREAM_SECONDS = lister_watcher.OVERDUE_SECONDS = SECONDS
    sys.exit(main())
