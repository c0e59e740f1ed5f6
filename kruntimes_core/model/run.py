"""Runs: the value that plugins see, the observation of a Run object that only the host sees, and their
decoding.

Decoding never raises, whatever the types of the fields are. It does not read source, environment, outputs
and managed fields, so the host keeps none of them.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum
from math import ceil
from typing import NamedTuple
from weakref import WeakValueDictionary

from kruntimes_core.model.fields import (
    NOTHING,
    DecodeError,
    condition,
    is_whole,
    marked_for_deletion,
    members,
    optional_members,
    text,
    texts,
)
from kruntimes_core.model.frozen import CompileCache, FrozenMap, InternedMaps, interned
from kruntimes_core.model.messages import quoted
from kruntimes_core.model.metadata import SharedMetadata
from kruntimes_core.model.quantity import MAX_AMOUNT, QuantityError, read_quantity, request_amount
from kruntimes_core.model.selectors import Affinity, LabelSet, affinity_size, compile_affinity
from kruntimes_core.model.times import parse_duration, parse_time
from kruntimes_core.model.validation import (
    amounts,
    check_instance,
    check_optional_text,
    check_text,
    check_time,
    whole,
)
from kruntimes_core.model.workspace import workspace_name


class Phase(StrEnum):
    """`status.phase` of a Run (API contract). UNKNOWN stands for a phase of a later API version."""

    PENDING = "Pending"
    SCHEDULED = "Scheduled"
    RUNNING = "Running"
    READY = "Ready"
    SUCCEEDED = "Succeeded"
    FAILED = "Failed"
    TIMEOUT = "Timeout"
    CANCELLED = "Cancelled"
    UNKNOWN = "?"


ACTIVE_PHASES = frozenset({Phase.SCHEDULED, Phase.RUNNING, Phase.READY})
TERMINAL_PHASES = frozenset({Phase.SUCCEEDED, Phase.FAILED, Phase.TIMEOUT, Phase.CANCELLED})


class Request(FrozenMap[str, int]):
    """A complete logical request: resource name to a positive integer. It always contains `runs`."""

    __slots__ = ()

    def __init__(self, items: Mapping[str, int] | None = None) -> None:
        """Raises: `TypeError`, `ValueError` for a value that is not an amount, such as a text."""
        super().__init__(items)
        self._items = amounts("Request", self._items)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One execution to be placed, as plugins see it.

    It has no status texts, conditions or versions. These change while the Run still requests the same, and
    the answers of plugins hold until the `Run` changes.
    """

    namespace: str
    name: str
    uid: str
    runtime: str
    labels: LabelSet = field(default_factory=LabelSet)
    annotations: FrozenMap[str, str] = field(default_factory=FrozenMap)
    created: datetime | None = None
    """`metadata.creationTimestamp`, UTC."""
    request: Request = field(default_factory=lambda: Request({"runs": 1}))
    affinity: Affinity = field(default_factory=Affinity)
    workspace: str | None = None
    """The name of the PersistentWorkspace that the Run is tied to."""
    attempt: int = 1
    """`status.attempt`; the first attempt is 1."""

    def __post_init__(self) -> None:
        """Take plain mappings for labels, annotations and request. Raises: `TypeError`, `ValueError`."""
        # Decoded values have the right types. So for most of a hundred thousand Runs this check is enough.
        decoded = (
            (type(self.namespace), type(self.name), type(self.uid), type(self.runtime)) == _FOUR_TEXTS
            and (type(self.labels), type(self.annotations), type(self.request)) == _MAP_TYPES
            and (self.created is None or self.created.tzinfo is UTC)
            and type(self.affinity) is Affinity
            and (self.workspace is None or type(self.workspace) is str)
            and type(self.attempt) is int
            and self.attempt >= 1
        )
        if not decoded:
            self._convert()

    def _convert(self) -> None:
        for name in ("namespace", "name", "uid", "runtime"):
            check_text(f"Run.{name}", getattr(self, name))
        for name, kind in _MAPS:
            value = getattr(self, name)
            if type(value) is not kind:
                object.__setattr__(self, name, kind(value))
        if self.created is not None:
            check_time("Run.created", self.created)
        check_instance("Run.affinity", self.affinity, Affinity)
        check_optional_text("Run.workspace", self.workspace)
        object.__setattr__(self, "attempt", whole("Run.attempt", self.attempt, 1))


# The memory of a Run without labels, request and affinity, and the most that one label and one amount take,
# because the API bounds their lengths.
_RUN_BYTES = 512
_LABEL_BYTES = 512
_REQUEST_BYTES = 512


def run_size(run: Run) -> int:
    """About how many bytes a Run takes at most, for the budgets of caches."""
    entries = _LABEL_BYTES * len(run.labels) + _REQUEST_BYTES * len(run.request)
    return _RUN_BYTES + entries + affinity_size(run.affinity)


def run_identity(run: Run) -> Run:
    """A Run with the identity alone, for a Run that was deleted: it takes little memory."""
    return Run(namespace=run.namespace, name=run.name, uid=run.uid, runtime=run.runtime)


class InvalidReason(StrEnum):
    """The host's own reasons for which a Run ends as Failed (API contract)."""

    OBJECT = "InvalidObject"
    RESOURCES = "InvalidResources"
    AFFINITY = "InvalidAffinity"
    WORKSPACE = "InvalidWorkspace"


@dataclass(frozen=True, slots=True)
class InvalidInput:
    """Why a Run can never be scheduled, found while it was decoded.

    `reason` is the CamelCase reason of the Failed status, `path` the field (`spec.resources...`),
    `message` says what to do. `unreadable` is True if the value could not be read at all (`1K`, an unknown
    operator), and False if it was read but is not allowed (`-1`, `500m`).
    """

    reason: str
    path: str
    message: str
    unreadable: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RunObservation:
    """One version of a Run object: the Run, and the parts of its status that only the host needs."""

    run: Run
    version: str = ""
    """`metadata.resourceVersion`."""
    generation: int | None = None
    """`metadata.generation`: incremented when anything outside `metadata` and `status` changes."""
    phase: Phase = Phase.PENDING
    assigned_pod: str | None = None
    assigned_pod_uid: str | None = None
    message: str = ""
    conditions: tuple[object, ...] = ()
    """`status.conditions`, unchanged, for Pending Runs only: a patch must repeat them."""
    stopped_at: datetime | None = None
    """lastTransitionTime of the condition `Running` = False; a retry delay counts from it."""
    backoff_seconds: float = 1.0
    """`spec.retryPolicy.backoff`; 1 when missing, unreadable, zero or negative."""
    cancel_requested: bool = False
    deleting: bool = False
    invalid: InvalidInput | None = None
    held: Request = field(default_factory=lambda: Request({"runs": 1}))
    """What the Run occupies while active: its request, or the readable part of an invalid request."""

    def without_affinity(self) -> RunObservation:
        """The observation without the affinity, to save memory while the Run is not to be placed.

        The next version of the Run is decoded completely, so the affinity comes back.
        """
        return replace(self, run=replace(self.run, affinity=Affinity()), generation=None)

    @property
    def active(self) -> bool:
        """Whether the Run holds room: an active phase, or an unknown one with a Pod."""
        if self.assigned_pod is None:
            return False
        return self.phase in ACTIVE_PHASES or self.phase is Phase.UNKNOWN


_FOUR_TEXTS = (str, str, str, str)
_MAPS = (("labels", LabelSet), ("annotations", FrozenMap), ("request", Request))
_MAP_TYPES = tuple(kind for _, kind in _MAPS)
_PHASES = {phase.value: phase for phase in Phase}
_DEFAULT_BACKOFF_SECONDS = 1.0
_RUNS = "runs"
_REQUESTS = "spec.resources.requests"


class _Resources(NamedTuple):
    """The result of compiling `spec.resources`."""

    request: Request
    held: Request
    invalid: InvalidInput | None


class RunDecoder:
    """Decodes Runs. Runs with equal requests share one `Request`, and so with affinities."""

    def __init__(self, metadata: SharedMetadata) -> None:
        self._metadata = metadata
        self._requests: InternedMaps[int, Request] = InternedMaps(Request)
        self._affinities: WeakValueDictionary[Hashable, Affinity] = WeakValueDictionary()
        self._resources = CompileCache(self._compile_resources)
        self._affinity = CompileCache(self._compile_affinity)

    def decode(self, obj: Mapping[str, object], before: RunObservation | None = None) -> RunObservation:
        """One version of a Run. Its `invalid` is the first problem in the order InvalidObject,
        InvalidResources, InvalidAffinity, InvalidWorkspace.

        before: the last observation of the Run of that name. Most events change only the status of a Run;
        then everything else is taken from `before`.
        """
        fields = members(obj)
        unchanged = before is not None and self._asks_the_same(fields, before)
        desired = before if before is not None and unchanged else self._desired(fields)
        metadata, status = members(fields.get("metadata")), members(fields.get("status"))
        phase, conditions = _phase(status.get("phase")), status.get("conditions")
        return RunObservation(
            run=desired.run,
            version=text(metadata.get("resourceVersion")),
            generation=desired.generation,
            phase=phase,
            assigned_pod=interned(text(status.get("assignedPod"))) or None,
            assigned_pod_uid=interned(text(status.get("assignedPodUID"))) or None,
            message=interned(text(status.get("message"))),
            conditions=tuple(conditions) if phase is Phase.PENDING and isinstance(conditions, list) else (),
            stopped_at=_stopped_at(conditions),
            backoff_seconds=desired.backoff_seconds,
            cancel_requested=desired.cancel_requested,
            deleting=marked_for_deletion(metadata),
            invalid=desired.invalid,
            held=desired.held,
        )

    def _asks_the_same(self, fields: Mapping[str, object], before: RunObservation) -> bool:
        """Whether this version of the Run certainly requests the same as the version `before`.

        An API server increments the generation with every change outside of `metadata` and `status`. So if
        UID and generation are equal, `spec` is equal (Kubernetes API conventions, Metadata). Labels,
        annotations and the attempt may change within a generation, so they are compared.
        """
        if before.generation is None or before.invalid is not None:
            return False
        run, metadata = before.run, members(fields.get("metadata"))
        status = fields.get("status")
        return (
            _generation(metadata) == before.generation
            and run.uid != ""
            and metadata.get("uid") == run.uid
            and metadata.get("name") == run.name
            and metadata.get("namespace") == run.namespace
            and (status is None or isinstance(status, dict))
            and _attempt(members(status)) == run.attempt
            and self._has_same_metadata(metadata, run)
        )

    def _has_same_metadata(self, metadata: Mapping[str, object], run: Run) -> bool:
        labels, annotations = metadata.get("labels"), metadata.get("annotations")
        if not (is_whole(labels, run.labels) and self._metadata.labels(labels) is run.labels):
            return False
        if annotations is None:
            return not run.annotations
        readable = texts(annotations)
        return is_whole(annotations, readable) and self._metadata.annotations(readable) is run.annotations

    def _desired(self, fields: Mapping[str, object]) -> RunObservation:
        """An observation of everything outside of the status, without version and deletion."""
        metadata, spec = members(fields.get("metadata")), members(fields.get("spec"))
        resources = self._resources.of(spec.get("resources"))
        affinity, bad_affinity = self._affinity.of(spec.get("affinity"))
        workspace, bad_workspace = _workspace(spec.get("workspace"))
        run = Run(
            namespace=interned(text(metadata.get("namespace"))),
            name=text(metadata.get("name")),
            uid=text(metadata.get("uid")),
            runtime=interned(text(spec.get("runtime"))),
            labels=self._metadata.labels(metadata.get("labels")),
            annotations=self._metadata.annotations(texts(metadata.get("annotations"))),
            created=parse_time(metadata.get("creationTimestamp")),
            request=resources.request,
            affinity=affinity,
            workspace=workspace,
            attempt=_attempt(members(fields.get("status"))),
        )
        return RunObservation(
            run=run,
            generation=_generation(metadata),
            backoff_seconds=_backoff_seconds(members(spec.get("retryPolicy")).get("backoff")),
            cancel_requested=spec.get("cancelRequested") is True,
            invalid=_invalid_object(fields, run) or resources.invalid or bad_affinity or bad_workspace,
            held=resources.held,
        )

    def _compile_resources(self, value: object) -> _Resources:
        """The complete request: positive integers by resource name, `runs` always among them.

        Zero is dropped, but a zero or missing `runs` is 1. The first amount that is not an integer from 0
        up to 2^63-1 makes the request invalid (API contract, Resources).
        """
        entries, invalid = NOTHING, None
        amounts: dict[str, int] = {}
        try:
            entries = optional_members(optional_members(value, "spec.resources").get("requests"), _REQUESTS)
        except DecodeError as error:
            invalid = _invalid(InvalidReason.RESOURCES, error)
        for resource, quantity in entries.items():
            try:
                amounts[resource] = _amount(resource, quantity)
            except DecodeError as error:
                invalid = invalid or _invalid(InvalidReason.RESOURCES, error)
                amounts[resource] = _readable(resource, quantity)
        one = {_RUNS: 1}
        held = self._requests.of(
            one | {resource: amount for resource, amount in amounts.items() if amount > 0}
        )
        return _Resources(held if invalid is None else self._requests.of(one), held, invalid)

    def _compile_affinity(self, value: object) -> tuple[Affinity, InvalidInput | None]:
        try:
            affinity, invalid = compile_affinity(value), None
        except DecodeError as error:
            affinity, invalid = Affinity(), _invalid(InvalidReason.AFFINITY, error)
        key = (affinity.required, affinity.required_anti, affinity.preferred, affinity.preferred_anti)
        return self._affinities.setdefault(key, affinity), invalid


def _invalid(reason: InvalidReason, error: DecodeError) -> InvalidInput:
    return InvalidInput(reason.value, error.path, str(error), error.unreadable)


def _phase(value: object) -> Phase:
    if value is None or value == "":
        return Phase.PENDING
    return _PHASES.get(text(value), Phase.UNKNOWN)


def _stopped_at(conditions: object) -> datetime | None:
    running = condition(conditions, "Running")
    return parse_time(running.get("lastTransitionTime")) if running.get("status") == "False" else None


def _backoff_seconds(value: object) -> float:
    seconds = parse_duration(value)
    return seconds if seconds is not None and seconds > 0 else _DEFAULT_BACKOFF_SECONDS


def _generation(metadata: Mapping[str, object]) -> int | None:
    """`metadata.generation`; None where it is not a positive integer."""
    value = metadata.get("generation")
    return value if type(value) is int and value >= 1 else None


def _attempt(status: Mapping[str, object]) -> int:
    """`status.attempt`, 1-based; 1 where it is not a positive integer."""
    value = status.get("attempt")
    return value if type(value) is int and value >= 1 else 1


def _amount(resource: object, value: object) -> int:
    path = f"{_REQUESTS}[{quoted(resource)}]"
    if not isinstance(resource, str):
        raise DecodeError(path, "a resource name must be a string")
    try:
        return request_amount(value)
    except QuantityError as error:
        raise DecodeError(path, str(error), unreadable=error.unreadable) from None


def _readable(resource: object, value: object) -> int:
    """What can be read of an amount that is not valid: an active Run must not hold less than that.

    A fraction is rounded up, what is above 2^63-1 counts as that, all else as 0 (API contract, Resources).
    """
    try:
        return min(ceil(read_quantity(value)), MAX_AMOUNT) if isinstance(resource, str) else 0
    except QuantityError:
        return 0


def _workspace(value: object) -> tuple[str | None, InvalidInput | None]:
    """The workspace that a Run names, and why it cannot be placed on any (InvalidWorkspace)."""
    try:
        return workspace_name(value), None
    except DecodeError as error:
        return None, _invalid(InvalidReason.WORKSPACE, error)


def _invalid_object(fields: Mapping[str, object], run: Run) -> InvalidInput | None:
    """Why the object is not a Run (InvalidObject), or None. `run` is what was read of it."""
    try:
        metadata = members(fields.get("metadata"))
        if not (run.namespace and run.name):
            _check_name(metadata, "namespace")
            _check_name(metadata, "name")
        if not run.uid and metadata.get("uid") is not None:
            raise DecodeError("metadata.uid", f"{quoted(metadata['uid'])} is not a UID: write a string")
        _check_texts(metadata, "labels", run.labels)
        _check_texts(metadata, "annotations", texts(metadata.get("annotations")))
        if not run.runtime:
            _check_runtime(fields.get("spec"))
        if not isinstance(fields.get("status"), Mapping | None):
            raise DecodeError("status", f"{quoted(fields['status'])} is not an object")
    except DecodeError as error:
        return _invalid(InvalidReason.OBJECT, error)
    return None


def _check_name(metadata: Mapping[str, object], field: str) -> None:
    value = metadata.get(field)
    if not isinstance(value, str) or not value:
        raise DecodeError(f"metadata.{field}", f"{quoted(value)} is not a {field}: write a string")


def _check_texts(metadata: Mapping[str, object], field: str, readable: Mapping[str, str]) -> None:
    if not is_whole(metadata.get(field), readable):
        problem = "keys and values must be strings: quote numbers, true, false and null"
        raise DecodeError(f"metadata.{field}", problem)


def _check_runtime(spec: object) -> None:
    if not isinstance(spec, Mapping):
        raise DecodeError("spec", f"{quoted(spec)} is not an object: write spec.runtime and more")
    raise DecodeError(
        "spec.runtime", f"{quoted(spec.get('runtime'))} is not a Runtime: write the name of one"
    )
