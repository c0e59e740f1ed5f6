"""The chart's objects as plain manifests, for those who have no Helm."""

from __future__ import annotations

import re

from deployment.chart import DEPLOY, render

MANIFESTS = DEPLOY / "manifests"
BY_HAND = frozenset({"namespace.yaml", "kustomization.yaml"})
"""What no chart makes: Helm makes the namespace itself."""

# True of a release alone.
_OF_HELM = re.compile(r"^ *(app\.kubernetes\.io/managed-by|helm\.sh/chart): .*\n", re.MULTILINE)


def plain_manifests() -> dict[str, str]:
    """The text of each file by its name: what the default values give, without what Helm says of itself."""
    texts = render().texts
    return {
        name: _OF_HELM.sub("", text.strip() + "\n") for name, text in texts.items() if name.endswith(".yaml")
    }
