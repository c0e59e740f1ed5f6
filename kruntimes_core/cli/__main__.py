"""`python -m kruntimes_core.cli`: the command where no console script is installed."""

import sys

from kruntimes_core.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
