"""`python -m kruntimes_core.cli`: the command where no console script is installed."""

import sys

from kruntimes_core.cli.start import start

if __name__ == "__main__":
    sys.exit(start())
