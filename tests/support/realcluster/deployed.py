"""The rights of `deploy/manifests`: all of them, and one less."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from kruntimes_core.cluster.permissions import Permission
from realcluster.access import Rule
from realcluster.scheduler import STEADY

HASTY = f"{STEADY}events: {{afterSeconds: 1, repeatSeconds: 1}}\n"
"""A configuration with which what lasts for a second is announced, and again after another."""

_MANIFESTS = Path(__file__).parents[3] / "deploy" / "manifests"


def placing_rules() -> list[Rule]:
    """What is needed where Runs are: everywhere, or in each namespace that the scheduler is told."""
    return _rules("clusterrole")


def electing_rules() -> list[Rule]:
    """What is needed in the namespace of the Lease."""
    return _rules("role")


def rights_of(rules: Sequence[Rule]) -> set[Permission]:
    """Every right that some rules grant."""
    return {
        Permission(verb, resource, group)
        for rule in rules
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }


def without(right: Permission, rules: Sequence[Rule]) -> list[Rule]:
    """The rules that grant all but one right; each of the manifests' names one resource."""
    left = []
    for rule in rules:
        if rule["apiGroups"] == [right.group] and rule["resources"] == [right.resource]:
            rule = {**rule, "verbs": [verb for verb in rule["verbs"] if verb != right.verb]}
        if rule["verbs"]:
            left.append(rule)
    assert rights_of(left) == rights_of(rules) - {right}
    return left


def _rules(name: str) -> list[Rule]:
    role: dict[str, Any] = yaml.safe_load((_MANIFESTS / f"{name}.yaml").read_text())
    return list(role["rules"])
