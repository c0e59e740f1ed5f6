"""`python -m deployment`: write what follows from something else, after that was changed."""

from __future__ import annotations

import sys

from deployment.chart import CHART, DEPLOY
from deployment.plain import MANIFESTS, plain_manifests
from deployment.schema import SCHEMA, complete_schema, text_of
from kruntimes_core.crds import crd_texts


def main() -> None:
    """Write the CRDs and the schema of the chart, and then the plain manifests."""
    for name, text in crd_texts().items():
        (DEPLOY / "crds" / name).write_text(text)
        (CHART / "crds" / name).write_text(text)
    SCHEMA.write_text(text_of(complete_schema()))
    for name, text in plain_manifests().items():
        (MANIFESTS / name).write_text(text)
        sys.stdout.write(f"{MANIFESTS / name}\n")


if __name__ == "__main__":
    main()
