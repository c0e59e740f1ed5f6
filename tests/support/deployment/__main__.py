"""`python -m deployment`: write what follows from something else, after that was changed.

With `--upgrade`, the image gets the newest versions of what it needs, too.
"""

from __future__ import annotations

import sys

from deployment.chart import DEPLOY, MANIFESTS, alert_rules, plain_manifests
from deployment.dashboard import DASHBOARD, dashboard_json
from deployment.locks import NAMES, lock
from deployment.readme import README, REFERENCE, readme, reference
from deployment.schema import SCHEMA, complete_schema, text_of
from kruntimes_core.crds import crd_texts


def main() -> None:
    """Write the copies of the CRDs, the chart's schema and README, the plain manifests and the lock files."""
    for name, text in crd_texts().items():
        (DEPLOY / "crds" / name).write_text(text)
    SCHEMA.write_text(text_of(complete_schema()))
    README.write_text(readme())
    REFERENCE.write_text(reference())
    for name, text in plain_manifests().items():
        (MANIFESTS / name).write_text(text)
    DASHBOARD.write_text(dashboard_json())
    (DEPLOY / "monitoring" / "alerts.yaml").write_text(alert_rules())
    for name in NAMES:
        lock(name, DEPLOY / name, upgrade="--upgrade" in sys.argv[1:])


if __name__ == "__main__":
    main()
