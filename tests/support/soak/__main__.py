"""`python -m soak [--minutes N] [--seed N]`: says how it goes, and prints the figures as JSON at the end.

Exit 1 where a rule was broken. The same seed draws the same faults in the same order.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

from soak.soak import soak


def main() -> int:
    """Run it."""
    parser = argparse.ArgumentParser(prog="python -m soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="kruntimes-soak-") as folder:
        figures = soak(asked.minutes * 60, asked.seed, _say, Path(folder))
    sys.stdout.write(f"{json.dumps(asdict(figures), indent=2)}\n")
    return 1 if figures.broken else 0


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
