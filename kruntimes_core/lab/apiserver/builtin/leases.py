"""Leases: what leader election writes; a PUT may create one."""

from __future__ import annotations

from collections.abc import Iterator

from kruntimes_core.lab.apiserver.builtin.typed import TypedStrategy
from kruntimes_core.lab.apiserver.field_errors import FieldError, invalid
from kruntimes_core.lab.apiserver.objects import Object, without

_COORDINATED = ("strategy", "preferredHolder")


class LeaseStrategy(TypedStrategy):
    """Leases of `coordination.k8s.io/v1`."""

    creates_on_update = True
    zero_fields: Object = {"spec": {}}  # noqa: RUF012

    def prepare_create(self, obj: Object) -> Object:
        """Without what belongs to coordinated leader election, which is off unless it is asked for."""
        return {**obj, "spec": without(obj["spec"], *_COORDINATED)}

    def prepare_update(self, obj: Object, old: Object) -> Object:
        """The same for an update."""
        return self.prepare_create(obj)

    def problems(self, obj: Object, old: Object | None) -> Iterator[FieldError]:
        """Durations and counts that cannot be."""
        spec = obj["spec"]
        duration = spec.get("leaseDurationSeconds")
        if duration is not None and duration <= 0:
            yield invalid("spec.leaseDurationSeconds", duration, "must be greater than 0")
        transitions = spec.get("leaseTransitions")
        if transitions is not None and transitions < 0:
            yield invalid("spec.leaseTransitions", transitions, "must be greater than or equal to 0")
