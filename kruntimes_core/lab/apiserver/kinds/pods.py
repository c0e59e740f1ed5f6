"""Pods: what creation fills in, what an update may change, and a deletion that waits for its kubelet."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kruntimes_core.lab.apiserver.errors import (
    FieldError,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
)
from kruntimes_core.lab.apiserver.kinds.strategy import Decoded, next_generation
from kruntimes_core.lab.apiserver.kinds.typed import TypedStrategy
from kruntimes_core.lab.apiserver.metadata import problems_of_label
from kruntimes_core.lab.apiserver.objects import Object, metadata_of, without

_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_PROBE = {"timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3}


def _with_defaults(container: Object) -> Object:
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


_RESTART_POLICIES = ("Always", "OnFailure", "Never")
_ENDINGS = {
    "Succeeded": {"reason": "Succeeded", "message": "The pod has completed successfully."},
    "Failed": {"reason": "Failed", "message": "The pod failed."},
}
_IMMUTABLE = (
    "only spec.containers[*].image, spec.initContainers[*].image, spec.activeDeadlineSeconds and "
    "spec.tolerations of a pod may be changed"
)
_TOLERATIONS = tuple(
    {
        "effect": "NoExecute",
        "key": f"node.kubernetes.io/{problem}",
        "operator": "Exists",
        "tolerationSeconds": 300,
    }
    for problem in ("not-ready", "unreachable")
)


class PodStrategy(TypedStrategy):
    """Pods."""

    updates_unconditionally = True
    returns_deleted = True
    zero_fields: Object = {"spec": {"containers": None}, "status": {}}  # noqa: RUF012

    def decode(self, obj: Object, old: Object | None) -> Decoded:
        """As every built-in kind, with complete containers."""
        decoded = super().decode(obj, old)
        spec = decoded.object["spec"]
        filled = {
            name: [_with_defaults(container) for container in spec[name]]
            for name in ("initContainers", "containers")
            if name in spec
        }
        return Decoded({**decoded.object, "spec": {**spec, **filled}}, decoded.unknown)

    def prepare_create(self, obj: Object) -> Object:
        """Pending, in the first generation, with the tolerations that admission adds."""
        spec = obj["spec"]
        kept = spec.get("tolerations", [])
        known = {toleration.get("key") for toleration in kept}
        added = [dict(toleration) for toleration in _TOLERATIONS if toleration["key"] not in known]
        status = {"phase": "Pending", "qosClass": _quality(spec)}
        metadata = {**metadata_of(obj), "generation": 1}
        return {
            **obj,
            "metadata": metadata,
            "spec": {**spec, "tolerations": [*kept, *added]},
            "status": status,
        }

    def prepare_update(self, obj: Object, old: Object) -> Object:
        """With the standing status."""
        kept = {**without(obj, "status"), "status": old["status"]}
        return next_generation(kept, old, obj["spec"] != old["spec"])

    def prepare_status(self, obj: Object, old: Object) -> Object:
        """With the standing spec and owners; labels and annotations may be changed beside the status."""
        metadata = {**metadata_of(obj)}
        metadata.pop("ownerReferences", None)
        if "ownerReferences" in metadata_of(old):
            metadata["ownerReferences"] = metadata_of(old)["ownerReferences"]
        status = {"qosClass": old["status"].get("qosClass"), **_with_addresses(obj.get("status", {}))}
        return next_generation(
            {**obj, "metadata": metadata, "spec": old["spec"], "status": status}, old, False
        )

    def problems(self, obj: Object, old: Object | None) -> Iterator[FieldError]:
        """What is wrong with the spec, as far as this system can meet it."""
        spec = obj["spec"]
        if not spec.get("containers"):
            yield required("spec.containers")
        if old is not None:
            yield from _changed(spec, old["spec"])
            return
        seen: set[str] = set()
        for place, container in enumerate(spec.get("containers", ())):
            yield from _container_problems(container, f"spec.containers[{place}]", seen)
        if spec["restartPolicy"] not in _RESTART_POLICIES:
            yield not_supported("spec.restartPolicy", spec["restartPolicy"], _RESTART_POLICIES)

    def row_conditions(self, obj: Object) -> list[Object]:
        """Whether it has ended, so that kubectl can leave it out."""
        found = _ENDINGS.get(obj["status"].get("phase", ""))
        return [] if found is None else [{"type": "Completed", "status": "True", **found}]

    def grace_seconds(self, obj: Object, wanted: int | None) -> int:
        """What the client wants, else the Pod's own grace; 0 for a Pod without a node or one that ended."""
        if not obj["spec"].get("nodeName") or obj["status"].get("phase") in _ENDINGS:
            return 0
        grace: int = obj["spec"].get("terminationGracePeriodSeconds", 0) if wanted is None else wanted
        return grace if grace >= 0 else 1


def _with_addresses(status: Object) -> Object:
    """With the list of addresses that begins with the one, as older clients write only that."""
    address, listed = status.get("podIP"), status.get("podIPs")
    return {**status, "podIPs": [{"ip": address}]} if address and not listed else status


def _container_problems(container: Object, path: str, seen: set[str]) -> Iterator[FieldError]:
    name = container.get("name", "")
    if not name:
        yield required(f"{path}.name")
    elif name in seen:
        yield duplicate(f"{path}.name", name)
    else:
        yield from (invalid(f"{path}.name", name, problem) for problem in problems_of_label(name))
    seen.add(name)
    if not container.get("image"):
        yield required(f"{path}.image")


def _fixed(spec: Object) -> Object:
    """The part of a spec that an update must leave as it is."""
    fixed = without(spec, "activeDeadlineSeconds", "tolerations")
    for name in ("containers", "initContainers"):
        if name in fixed:
            fixed[name] = [without(container, "image") for container in fixed[name]]
    return fixed


def _changed(spec: Object, old: Object) -> Iterator[FieldError]:
    """What is wrong with a change of the spec."""
    if spec is old:
        return
    for name in ("containers", "initContainers"):
        if len(spec.get(name, ())) != len(old.get(name, ())):
            yield forbidden(f"spec.{name}", "pod updates may not add or remove containers")
            return
    if _fixed(spec) != _fixed(old):
        yield forbidden("spec", _IMMUTABLE)


def _quality(spec: Object) -> str:
    resources: list[Any] = [container.get("resources", {}) for container in spec.get("containers", ())]
    if not any(resource.get("requests") or resource.get("limits") for resource in resources):
        return "BestEffort"
    guaranteed = all(
        {"cpu", "memory"} <= set(resource.get("limits", {}))
        and resource.get("requests", resource["limits"]) == resource["limits"]
        for resource in resources
    )
    return "Guaranteed" if guaranteed else "Burstable"
