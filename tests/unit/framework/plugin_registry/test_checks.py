"""What pluggy would accept and a cycle could not honour is refused at load, in words for its author."""

from __future__ import annotations

from typing import Any

import pytest

LONG = "x" * 1_025

REFUSED = [
    ("@hookimpl\ndef filter(self, pod=None): ...", "filter gives pod a default"),
    ("@hookimpl\ndef filter(self, *, pod): ...", "filter takes pod by keyword only"),
    ("@hookimpl\ndef filter(self, *pods): ...", "filter takes *pods"),
    ("@hookimpl\ndef filter(self, **all): ...", "filter takes *all"),
    ("@hookimpl\nasync def filter(self, pod): ...", "filter is async"),
    ("@hookimpl\nasync def filter(self, pod): yield", "filter is async"),
    ("@hookimpl\ndef filter(self, pod): yield", "filter is a generator"),
    ("@hookimpl(wrapper=True)\ndef filter(self, pod): yield", "marked with wrapper"),
    ("@hookimpl(hookwrapper=True)\ndef filter(self, pod): yield", "marked with hookwrapper"),
    ("@hookimpl(tryfirst=True)\ndef filter(self, pod): ...", "marked with tryfirst"),
    ("@hookimpl(trylast=True)\ndef filter(self, pod): ...", "marked with trylast"),
    ("@hookimpl(optionalhook=True)\ndef filter(self, pod): ...", "marked with optionalhook"),
    ("@hookimpl(specname='filter')\ndef reject(self, pod): ...", "marked with specname"),
    (
        "@hookimpl(optionalhook=True)\ndef fliter(self, pod): ...",
        "'fliter', which is not a hook: did you mean filter?",
    ),
    ("@hookimpl\ndef fliter(self, pod): ...", "'fliter', which is not a hook: did you mean filter?"),
    ("@hookimpl\ndef pre_filter(self): ...", "'pre_filter', which is not a hook: write prefilter"),
    ("@hookimpl\ndef bind(self): ...", "'bind', which is not a hook: known are filter, normalize"),
    ("@hookimpl\ndef filter(self, pood): ...", "'pood', which this hook does not provide: did you mean pod?"),
    (
        "@hookimpl\ndef score(self, node): ...",
        "'node', which this hook does not provide: known are pod, run, snapshot, state",
    ),
    ("@hookimpl\ndef filter(self, bound): ...", "filter takes an argument 'bound'"),
    ("@hookimpl\ndef filter(pod): ...", "filter is a method without self"),
    ("@hookimpl\ndef filter(): ...", "filter is a method without self"),
    ("@hookimpl\ndef filter(self, pod, state): ...", "filter takes state, but there is no prefilter"),
    ("@hookimpl\ndef unreserve(self, state): ...", "unreserve takes state, but there is no prefilter"),
    ("@hookimpl\ndef normalize(self, scores): ...", "normalize without score"),
    ("def helper(self): ...", "it has no hooks"),
    ("def filter(self, pod): ...", "filter is a function without a mark"),
    ("@hookimpl\ndef score(self): ...\ndef filter(self, pod): ...", "filter is a function without a mark"),
    (
        "@hookimpl\ndef score(self): ...\n@staticmethod\ndef filter(pod): ...",
        "filter is a function without a mark",
    ),
    ("@hookimpl\ndef score(self): ...\nfilter = functools.partial(print)", "filter is a functools.partial"),
    ("filter = hookimpl(functools.partial(print))", "filter is a functools.partial"),
    (
        "@hookimpl\ndef score(self): ...\nfilter = functools.partialmethod(score)",
        "filter is a functools.partial",
    ),
    ("@hookimpl\n@functools.lru_cache\ndef filter(self, pod): ...", "filter is a _lru_cache_wrapper"),
    ("@hookimpl\ndef score(self): ...\n@property\ndef filter(self): ...", "filter is a property"),
    ("@hookimpl\ndef filter(self, pod: Run): ...", "filter takes pod as Run, but the hook says RuntimePod"),
    ("@hookimpl\ndef prefilter(self, labels: dict[str, str]): ...", "prefilter takes labels as dict"),
    ("@hookimpl\ndef filter(self, pod) -> bool: ...", "filter returns bool, but the hook says"),
    ("@hookimpl\ndef filter(self, pod) -> int | str: ...", "filter returns int | str, but the hook says"),
    ("@hookimpl\ndef score(self) -> float: ...", "score returns float, but the hook says int"),
    ("@hookimpl\ndef score(self) -> None: ...", "score returns None, but the hook says int"),
    ("@hookimpl\ndef unreserve(self) -> bool: ...", "unreserve returns bool"),
    (
        "@hookimpl\ndef score(self): ...\n@hookimpl\ndef normalize(self, scores) -> dict: ...",
        "normalize returns dict",
    ),
    ("@hookimpl\ndef queue_key(self, now: float): ...", "queue_key takes now as float"),
]

DECLARED = [
    ("reasons = ['Full']", "reasons is a list"),
    ("reasons = 'Full'", "reasons is a str"),
    ("reasons = {'full': 'x'}", "'full' is not a CamelCase name"),
    ("reasons = {'No Room': 'x'}", "'No Room' is not a CamelCase name"),
    ("reasons = {1: 'x'}", "1 is not a CamelCase name"),
    (f"reasons = {{'A{LONG}': 'x'}}", "is not a CamelCase name"),
    ("reasons = {'Full': ''}", "Full has no text"),
    ("reasons = {'Full': None}", "Full has no text"),
    (f"reasons = {{'Full': '{LONG}'}}", "Full has 1025 characters"),
    ("reasons = {'Full': 'room on {pod}'}", "Full has other braces"),
    ("reasons = {'Full': 'room {runtime!r}'}", "Full has other braces"),
    ("reasons = {'Full': 'room {'}", "Full has other braces"),
    ("provides = 'capacity'", "provides is 'capacity': make it a set"),
    ("provides = {'Capacity'}", "it provides 'Capacity', which this host does not know: write capacity"),
    ("provides = 3", "provides is 3"),
    ("stateful = 1", "stateful is 1: make it True or False"),
    ("normalize_keeps_best = 'yes'", "normalize_keeps_best is 'yes'"),
    ("on_by_default = None", "on_by_default is None"),
    ("host_api = 1", "host_api is 1: make it a version range"),
    ("host_api = 'one'", "host_api is 'one'"),
    ("host_api = '>=2'", "it works with host API >=2, but this host has 1.0"),
    ("host_api = '<1'", "it works with host API <1, but"),
    ("class Arguments: ...", "make it a subclass of pydantic.BaseModel"),
    ("Arguments = {'limit': 3}", "make it a subclass of pydantic.BaseModel"),
]


def cause(environment: Any, body: str) -> str:
    indented = "".join(f"    {line}\n" for line in body.splitlines())
    environment.install("Plugin", "class Plugin:\n" + indented)
    error = environment.registry().error("Plugin")
    assert error is not None, "the plugin was accepted"
    assert "\n" not in str(error)
    return str(error.cause)


@pytest.mark.parametrize(("body", "words"), REFUSED)
def test_a_hook_that_could_not_be_honoured(environment: Any, body: str, words: str) -> None:
    assert words in cause(environment, body)


@pytest.mark.parametrize(("declaration", "words"), DECLARED)
def test_a_declaration_that_makes_no_sense(environment: Any, declaration: str, words: str) -> None:
    body = f"{declaration}\n@hookimpl\ndef filter(self, pod): return None"
    assert words in cause(environment, body)


FAILS_WHEN_LOOKED_AT = [
    "def __dir__(self): raise RuntimeError('no')",
    "class M(dict):\n    def items(self): raise RuntimeError('no')\nreasons = M(Full='room')",
    "class V:\n    def __repr__(self): raise RuntimeError('no')\nstateful = V()",
    "class V:\n    def __ne__(self, other): raise SystemExit('no')\nprovides = [V()]",
]


@pytest.mark.parametrize("code", FAILS_WHEN_LOOKED_AT)
def test_a_plugin_that_fails_when_it_is_looked_at(environment: Any, code: str) -> None:
    body = "".join(f"    {line}\n" for line in f"{code}\n@hookimpl\ndef filter(self, pod): ...".splitlines())
    environment.install("Plugin", f"class Plugin:\n{body}\nready = Plugin()", value=":ready")
    assert "\n" not in str(environment.registry().error("Plugin"))


def test_an_error_that_cannot_be_shown_is_named(environment: Any) -> None:
    source = "class Mute(Exception):\n    def __str__(self): raise SystemExit('no text')\nraise Mute"
    environment.install("Plugin", source)
    assert "Mute: its message cannot be read" in environment.registry().error("Plugin").cause


def test_capacity_needs_a_filter(environment: Any) -> None:
    body = "provides = {'capacity'}\n@hookimpl\ndef score(self, pod): return 1"
    assert "has no filter that could" in cause(environment, body)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (
            "class Arguments(BaseModel): ...\n@hookimpl\ndef filter(pod): ...",
            "a module cannot be given Arguments",
        ),
        ("def filter(pod): ...", "filter is a function without a mark"),
        ("", "it has no hooks"),
        ("@hookimpl\ndef fliter(pod): ...", "did you mean filter?"),
    ],
)
def test_a_module_is_held_to_the_same(environment: Any, source: str, words: str) -> None:
    environment.install("Plugin", source, value="")
    assert words in environment.registry().error("Plugin").cause


ACCEPTED = [
    "def filter(self, pod, /): ...",
    "def filter(self, pod: RuntimePod) -> Reject | None: ...",
    "def filter(self, pod: object, snapshot: Any) -> Optional[Reject]: ...",
    "def filter(self, pod: 'TypeCheckingOnly') -> None: ...",
    "def filter(self, pod: RuntimePod | Run) -> Reject: ...",
    "def filter(self, pod: 1 + 'x'): ...",
    "def prefilter(self, workspace: Workspace, labels: Mapping[str, str], request: Hashable): ...",
    "def prefilter(self, workspace: Workspace | None) -> tuple[int, ...]: ...",
    "def score(self) -> bool: ...",
    "def queue_key(self, run: Run, now, last: tuple[int, str] | None) -> tuple[int, str]: ...",
    "def unreserve(self, bound: int) -> None: ...",
    "def filter(cls, pod): ...",
]


@pytest.mark.parametrize("function", ACCEPTED)
def test_what_may_be_right_is_accepted(environment: Any, function: str) -> None:
    environment.install("Plugin", f"class Plugin:\n    @hookimpl\n    {function}\n")
    assert environment.registry().error("Plugin") is None


@pytest.mark.parametrize("kind", ["classmethod", "staticmethod"])
def test_class_and_static_methods_are_functions_too(environment: Any, kind: str) -> None:
    first = "cls, " if kind == "classmethod" else ""
    environment.install(
        "Plugin", f"class Plugin:\n    @hookimpl\n    @{kind}\n    def filter({first}pod): ...\n"
    )
    hooks = environment.registry().load("Plugin").hooks
    assert {name: hook.names for name, hook in hooks.items()} == {"filter": ("pod",)}


def test_a_decorated_hook_is_judged_by_what_it_wraps(environment: Any) -> None:
    source = """
def logged(function):
    @functools.wraps(function)
    def wrapper(*arguments):
        return function(*arguments)
    return wrapper
class Plugin:
    @hookimpl
    @logged
    {kind} filter(self, pod): ...
"""
    environment.install("Plugin", source.replace("{kind}", "def"))
    hooks = environment.registry().load("Plugin").hooks
    assert {name: hook.names for name, hook in hooks.items()} == {"filter": ("pod",)}
    environment.install("Other", source.replace("{kind}", "async def").replace("Plugin", "Other"))
    assert "filter is async" in environment.registry().error("Other").cause


def test_a_scorer_with_its_own_normalize_scores_in_any_type(environment: Any) -> None:
    source = """
class Plugin:
    @hookimpl
    def score(self, pod) -> tuple[float, str]: ...
    @hookimpl
    def normalize(self, scores: list[tuple[float, str]]) -> Sequence[int]: ...
"""
    environment.install("Plugin", source.replace("scores: list[tuple[float, str]]", "scores: Sequence[Any]"))
    assert environment.registry().error("Plugin") is None


def test_reserve_needs_no_unreserve_and_the_other_way_round(environment: Any) -> None:
    for name, hook in (("One", "reserve"), ("Two", "unreserve")):
        environment.install(name, f"class {name}:\n    @hookimpl\n    def {hook}(self, pod): ...\n")
        assert environment.registry().error(name) is None
