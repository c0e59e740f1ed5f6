"""The chart's README and the page of its values: both are made from `values.yaml` and `Chart.yaml`."""

from __future__ import annotations

import yaml

from deployment.chart import CHART, DEPLOY
from deployment.schema import Value, documented_values

README = CHART / "README.md"
REFERENCE = DEPLOY.parent / "docs" / "reference" / "chart.md"

_END = "...\n"
"""What YAML writes after a bare scalar."""
_TABLE = "## Values\n\n"
_README = """# {name}

{description}. Chart {version}, for version {appVersion} of the scheduler; it needs Kubernetes {kubeVersion}.

```bash
helm upgrade --install {name} . --namespace kruntimes-system --create-namespace \\
  --set image.repository=registry.example.com/{name}
helm test {name} --namespace kruntimes-system
```

`image.repository` must name an image that you built from `deploy/Dockerfile` and pushed. The chart contains
no CustomResourceDefinitions: the chart of the platform owns them. `docs/how-to/install-in-a-cluster.md` has
all steps, and `docs/reference/chart.md` says what belongs together.

"""


def readme() -> str:
    """The README of the chart."""
    return _README.format(**yaml.safe_load((CHART / "Chart.yaml").read_text())) + _values()


def reference() -> str:
    """The page of the documentation, with the table of values as it is now."""
    return REFERENCE.read_text().partition(_TABLE)[0] + _values()


def _values() -> str:
    rows = "".join(map(_row, documented_values()))
    return f"{_TABLE}| value | default | meaning |\n| --- | --- | --- |\n{rows}"


def _row(value: Value) -> str:
    default = yaml.safe_dump(value.default, default_flow_style=True, width=float("inf"))
    cells = (f"`{value.path}`", f"`{default.removesuffix(_END).strip()}`", value.comment)
    return f"| {' | '.join(cells)} |\n"
