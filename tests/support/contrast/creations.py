"""Runs that are created: bounds, rules and defaults of the spec."""

from __future__ import annotations

from contrast.affinity import AFFINITY
from contrast.cases import FUNCTION, OF_THE_WHOLE, REMOVED, TASK, Create, accepted, refused
from contrast.requests import REQUESTS
from contrast.sources import SOURCES


def _task(**fields: object) -> dict[str, object]:
    return {"task": {"entrypoint": "main", **fields}}


def _function(**fields: object) -> dict[str, object]:
    return {"function": {"handler": "app.handle", **fields}}


def _variables(count: int) -> list[dict[str, str]]:
    return [{"name": f"V{number}", "value": str(number)} for number in range(count)]


RUNTIME = [
    accepted("runtime of 63 characters", runtime="r" * 63),
    accepted("runtime with all that a label value may have", runtime="Py-3.12_slim"),
    refused("no runtime", "spec.runtime", runtime=REMOVED),
    refused("empty runtime", "spec.runtime", runtime=""),
    refused("runtime of 64 characters", "spec.runtime", runtime="r" * 64),
    refused("runtime that ends with a hyphen", "spec.runtime", runtime="python-"),
    refused("runtime with a slash", "spec.runtime", runtime="team/python"),
]

MODE = [
    accepted("task without a source, with a relative entrypoint", source=REMOVED),
    accepted("function from a repository", mode=FUNCTION),
    accepted("task without any field", mode={"task": {}}),
    accepted("task without an entrypoint", mode={"task": {"args": ["--all"]}}),
    accepted("function without any field", mode={"function": {}}),
    accepted("field of a task that nobody knows", mode=_task(interpreter="bash")),
    accepted("field of a function that nobody knows", mode=_function(concurrency=4)),
    accepted("entrypoint of 4,096 characters", mode=_task(entrypoint="e" * 4096)),
    accepted("256 arguments", mode=_task(args=["x"] * 256)),
    accepted("argument of 8,192 characters", mode=_task(args=["x" * 8192])),
    accepted("handler of 512 characters", mode=_function(handler="h" * 512)),
    accepted("idle for one second", mode=_function(idleTimeoutSeconds=1)),
    accepted("idle for as long as there are numbers", mode=_function(idleTimeoutSeconds=2**31 - 1)),
    refused("no mode", "spec.mode", mode=REMOVED),
    refused("neither task nor function", "spec.mode", mode={}),
    refused("both task and function", "spec.mode", mode={**TASK, **FUNCTION}),
    refused("entrypoint of 4,097 characters", "spec.mode.task.entrypoint", mode=_task(entrypoint="e" * 4097)),
    refused("257 arguments", "spec.mode.task.args", mode=_task(args=["x"] * 257)),
    refused("argument of 8,193 characters", "spec.mode.task.args[0]", mode=_task(args=["x" * 8193])),
    refused("argument that is a number", "spec.mode.task.args[1]", mode=_task(args=["-n", 3])),
    refused("handler of 513 characters", "spec.mode.function.handler", mode=_function(handler="h" * 513)),
    refused(
        "idle for no time", "spec.mode.function.idleTimeoutSeconds", mode=_function(idleTimeoutSeconds=0)
    ),
    refused("idle for longer than that", OF_THE_WHOLE, mode=_function(idleTimeoutSeconds=2**31)),
]

ENV = [
    accepted("256 variables", env=_variables(256)),
    accepted(
        "variable from a field",
        env=[{"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}],
    ),
    accepted(
        "variable from an optional secret",
        env=[{"name": "KEY", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k", "optional": True}}}],
    ),
    accepted(
        "variable from a resource",
        env=[{"name": "CPU", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu", "divisor": "1m"}}}],
    ),
    accepted(
        "variable from a config map without a name",
        {"env.0.valueFrom.configMapKeyRef.name": ""},
        env=[{"name": "COLOUR", "valueFrom": {"configMapKeyRef": {"key": "colour"}}}],
    ),
    refused("257 variables", "spec.env", env=_variables(257)),
    refused("variable without a name", "spec.env[0].name", env=[{"value": "1"}]),
    refused("variable that is a number", "spec.env[0].value", env=[{"name": "N", "value": 1}]),
    refused(
        "variable from a secret without a key",
        "spec.env[0].valueFrom.secretKeyRef.key",
        env=[{"name": "KEY", "valueFrom": {"secretKeyRef": {"name": "s"}}}],
    ),
]

WORKSPACE = [
    accepted(
        "workspace by its name",
        {"workspace.kind": "PersistentWorkspace", "workspace.apiGroup": "kruntimes.io/v1alpha1"},
        workspace={"name": "notebooks.team-a"},
    ),
    accepted("workspace name of 253 characters", workspace={"name": "w" * 253}),
    refused("workspace without a name", "spec.workspace.name", workspace={}),
    refused("workspace with an empty name", "spec.workspace.name", workspace={"name": ""}),
    refused("workspace name of 254 characters", "spec.workspace.name", workspace={"name": "w" * 254}),
    refused("workspace name in capitals", "spec.workspace.name", workspace={"name": "Notebooks"}),
    refused("workspace of another kind", "spec.workspace.kind", workspace={"name": "w", "kind": "Volume"}),
    refused(
        "workspace of a group without its version",
        "spec.workspace.apiGroup",
        workspace={"name": "w", "apiGroup": "kruntimes.io"},
    ),
]

LIFE = [
    accepted("timeout", timeout="1h30m"),
    accepted("cancelled from the beginning", cancelRequested=True),
    accepted("empty retry policy", {"retryPolicy": {}}, retryPolicy={}),
    accepted("no retry policy", {"retryPolicy": REMOVED}),
    accepted("100 attempts", {"retryPolicy": {"maxAttempts": 100}}, retryPolicy={"maxAttempts": 100}),
    accepted("32 reasons to retry", retryPolicy={"retryableReasons": ["r" * 128] * 32}),
    accepted("deleted as soon as finished", ttlSecondsAfterFinished=0),
    accepted("deleted after the longest time", ttlSecondsAfterFinished=2**31 - 1),
    accepted("field that nobody knows", nice=19),
    accepted("object that nobody knows", network={"egress": ["10.0.0.0/8", {"port": 443, "tls": None}]}),
    Create(title="no spec", spec=None),
    refused("timeout that is a number", "spec.timeout", timeout=90),
    refused("cancelled in words", "spec.cancelRequested", cancelRequested="true"),
    refused("no attempt", "spec.retryPolicy.maxAttempts", retryPolicy={"maxAttempts": 0}),
    refused("101 attempts", "spec.retryPolicy.maxAttempts", retryPolicy={"maxAttempts": 101}),
    refused(
        "33 reasons to retry",
        "spec.retryPolicy.retryableReasons",
        retryPolicy={"retryableReasons": ["r"] * 33},
    ),
    refused(
        "reason of 129 characters",
        "spec.retryPolicy.retryableReasons[0]",
        retryPolicy={"retryableReasons": ["r" * 129]},
    ),
    refused("deleted before it is finished", "spec.ttlSecondsAfterFinished", ttlSecondsAfterFinished=-1),
    refused("deleted after a longer time", OF_THE_WHOLE, ttlSecondsAfterFinished=2**31),
]

CREATIONS: list[Create] = [*RUNTIME, *MODE, *SOURCES, *ENV, *REQUESTS, *AFFINITY, *WORKSPACE, *LIFE]
