"""Runs that are created: bounds, rules and defaults of the spec."""

from __future__ import annotations

from contrast.cases import (
    FUNCTION,
    INLINE,
    OF_THE_WHOLE,
    REMOVED,
    REPOSITORY,
    TASK,
    Create,
    accepted,
    refused,
)
from realcluster.client import Object


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

# By what they request: the pattern of Kubernetes quantities, which lets more through than counts.

TAKEN = (1, 0, -1, "2", "2k", "1Ki", "2e3", "2000m", "500m", "+1", ".5", "1.", "1E3", "1e999999999", "1e1.5")
NOT_TAKEN = ("", "two", "1 Gi", "1Kb", "0x10", "1e", "--1", "1,5", "∞", True, 1.5, [1])

REQUESTS: list[Create] = [
    accepted("empty resources", resources={}),
    accepted("name with a slash", resources={"requests": {"example.com/gpu": 1, "runs": "1"}}),
    *(
        accepted(
            f"quantity {value!r}",
            {"resources.requests.tokens": value},
            resources={"requests": {"tokens": value}},
        )
        for value in TAKEN
    ),
    *(
        refused(
            f"quantity {value!r}", "spec.resources.requests.tokens", resources={"requests": {"tokens": value}}
        )
        for value in NOT_TAKEN
    ),
]

# By where their code comes from, and what their paths may lead to.

_ENTRYPOINT = "spec.mode.task.entrypoint"
_INLINE_PATH = "spec.source.inlinePath"


def _starts(entrypoint: str) -> dict[str, object]:
    return {"task": {"entrypoint": entrypoint}}


def _inline_at(path: str) -> dict[str, str]:
    return {**INLINE, "inlinePath": path}


SOURCES: list[Create] = [
    accepted("empty source", source={}),
    accepted("repository without a commit", source={"repoURL": "https://git.example.invalid/jobs.git"}),
    accepted("inline source of 262,144 characters", source={"inline": "x" * 262_144}),
    accepted("inline source counted in characters, not bytes", source={"inline": "é" * 262_144}),
    accepted(
        "URL of 2,048 and commit of 256 characters", source={"repoURL": "u" * 2048, "commitSHA": "c" * 256}
    ),
    refused("inline source of 262,145 characters", "spec.source.inline", source={"inline": "x" * 262_145}),
    refused("URL of 2,049 characters", "spec.source.repoURL", source={"repoURL": "u" * 2049}),
    refused(
        "commit of 257 characters",
        "spec.source.commitSHA",
        source={"repoURL": "u", "commitSHA": "c" * 257},
    ),
    refused("inline source and a repository", "spec.source", source={**INLINE, **REPOSITORY}),
    refused("commit without a repository", "spec.source.commitSHA", source={"commitSHA": "4b825dc"}),
    accepted("dots inside a name of the entrypoint", mode=_starts("v1..2/run...sh")),
    accepted("absolute entrypoint for inline source", mode=_starts("/usr/bin/python3"), source=INLINE),
    accepted("entrypoint above its folder for inline source", mode=_starts("../run"), source=INLINE),
    refused("absolute entrypoint in a repository", _ENTRYPOINT, mode=_starts("/bin/sh")),
    refused("absolute entrypoint without a source", _ENTRYPOINT, mode=_starts("/bin/sh"), source=REMOVED),
    refused("entrypoint that begins above its folder", _ENTRYPOINT, mode=_starts("../run")),
    refused("entrypoint that climbs in the middle", _ENTRYPOINT, mode=_starts("bin/../../run")),
    refused("entrypoint that ends above", _ENTRYPOINT, mode=_starts("bin/..")),
    accepted("inline function", mode=FUNCTION, source=_inline_at("pkg/handler.py")),
    accepted("inline path without an upper bound", mode=FUNCTION, source=_inline_at("p/" * 4096 + "p")),
    accepted("inline function in hidden names", mode=FUNCTION, source=_inline_at(".pkg/..handler")),
    refused("inline function without a path", "spec.source", mode=FUNCTION, source=INLINE),
    refused("inline path of a task", _INLINE_PATH, source=_inline_at("run.py")),
    refused(
        "inline path beside a repository",
        _INLINE_PATH,
        mode=FUNCTION,
        source={**REPOSITORY, "inlinePath": "run.py"},
    ),
    *(
        refused(f"inline path {path!r}", _INLINE_PATH, mode=FUNCTION, source=_inline_at(path))
        for path in ("", "/run.py", "pkg//run.py", "pkg/", "./run.py", "pkg/./run.py", "../run.py", "pkg/..")
    ),
]

# By their affinity to other Runs.

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_SELECTOR: Object = {"matchLabels": {"cohort": "a"}}


def _term(selector: object = _SELECTOR, key: object = "kruntimes.io/runtime-pod") -> Object:
    term = {"labelSelector": selector, "topologyKey": key}
    return {name: value for name, value in term.items() if value is not REMOVED}


def _expressing(**expression: object) -> Object:
    return _term({"matchExpressions": [{"key": "cohort", **expression}]})


def _onto(*terms: Object) -> Object:
    return {"runAffinity": {_REQUIRED: list(terms)}}


def _apart(*terms: Object) -> Object:
    return {"runAntiAffinity": {_REQUIRED: list(terms)}}


def _preferring(weight: object, term: Object, count: int = 1) -> Object:
    weighted = {name: value for name, value in (("weight", weight), ("runAffinityTerm", term)) if value}
    return {"runAffinity": {_PREFERRED: [weighted] * count}}


_ONTO = f"spec.affinity.runAffinity.{_REQUIRED}"
_APART = f"spec.affinity.runAntiAffinity.{_REQUIRED}"
_PREFERS = f"spec.affinity.runAffinity.{_PREFERRED}"

AFFINITY: list[Create] = [
    accepted("empty affinity", affinity={}),
    accepted("required term", affinity=_onto(_term())),
    accepted("required term apart", affinity=_apart(_expressing(operator="NotIn", values=["a", "b"]))),
    accepted("32 required terms", affinity=_onto(*[_term()] * 32)),
    accepted("32 preferences", affinity=_preferring(1, _term(), 32)),
    accepted("weight of 100", affinity=_preferring(100, _term())),
    accepted("operator that nobody knows", affinity=_onto(_expressing(operator="Near"))),
    accepted("operator without its values", affinity=_onto(_expressing(operator="In"))),
    refused("33 required terms", _ONTO, affinity=_onto(*[_term()] * 33)),
    refused("33 preferences", _PREFERS, affinity=_preferring(1, _term(), 33)),
    refused("weight of 101", f"{_PREFERS}[0].weight", affinity=_preferring(101, _term())),
    refused("negative weight", f"{_PREFERS}[0].weight", affinity=_preferring(-1, _term())),
    refused("preference without a weight", f"{_PREFERS}[0].weight", affinity=_preferring(None, _term())),
    refused("preference without a term", f"{_PREFERS}[0].runAffinityTerm", affinity=_preferring(1, {})),
    refused("empty selector", f"{_ONTO}[0].labelSelector", affinity=_onto(_term({}))),
    refused(
        "selector of empty parts",
        f"{_APART}[0].labelSelector",
        affinity=_apart(_term({"matchLabels": {}, "matchExpressions": []})),
    ),
    refused(
        "empty selector in a preference",
        f"{_PREFERS}[0].runAffinityTerm.labelSelector",
        affinity=_preferring(1, _term({})),
    ),
    refused("no selector", f"{_ONTO}[0].labelSelector", affinity=_onto(_term(REMOVED))),
    refused("no topology key", f"{_ONTO}[1].topologyKey", affinity=_onto(_term(), _term(key=REMOVED))),
    refused(
        "topology of nodes", f"{_ONTO}[0].topologyKey", affinity=_onto(_term(key="kubernetes.io/hostname"))
    ),
    refused(
        "expression without an operator",
        f"{_ONTO}[0].labelSelector.matchExpressions[0].operator",
        affinity=_onto(_expressing()),
    ),
]

CREATIONS: list[Create] = [*RUNTIME, *MODE, *SOURCES, *ENV, *REQUESTS, *AFFINITY, *WORKSPACE, *LIFE]
