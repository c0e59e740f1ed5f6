"""What a kube-apiserver fills into the containers of a Pod, beside what the schema says."""

from __future__ import annotations

from typing import Any

from kruntimes_core.lab.apiserver.objects import Object

_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_PROBE = {"timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3}


def with_defaults(container: Object) -> Object:
    """A container with the pull policy that follows from its image's tag, and complete parts."""
    filled = {"imagePullPolicy": _pull_policy(container.get("image", "")), **container}
    for name, complete in (("ports", _port), ("env", _variable)):
        if name in filled:
            filled[name] = [complete(item) if isinstance(item, dict) else item for item in filled[name]]
    for name in _PROBES:
        if isinstance(filled.get(name), dict):
            filled[name] = _probe(filled[name])
    return {**filled, "resources": _resources(container.get("resources", {}))}


def _pull_policy(image: str) -> str:
    last = image.rpartition("/")[2]
    tagged = "@" in last or (":" in last and not last.endswith(":latest"))
    return "IfNotPresent" if tagged else "Always"


def _port(port: Object) -> Object:
    return {"protocol": "TCP", **port}


def _variable(variable: Object) -> Object:
    source: Any = variable.get("valueFrom")
    if not isinstance(source, dict) or not isinstance(source.get("fieldRef"), dict):
        return variable
    return {**variable, "valueFrom": {**source, "fieldRef": {"apiVersion": "v1", **source["fieldRef"]}}}


def _probe(probe: Object) -> Object:
    filled = {**_PROBE, **probe}
    if isinstance(probe.get("httpGet"), dict):
        filled["httpGet"] = {"path": "/", "scheme": "HTTP", **probe["httpGet"]}
    return filled


def _resources(resources: Object) -> Object:
    """Who says only limits requests as much."""
    limits = resources.get("limits")
    return {**resources, "requests": {**limits, **resources.get("requests", {})}} if limits else resources
