"""A built plugin is its functions, bound, with the names of what each is to be given."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from kruntimes_core.framework.plugin_registry import LoadError, build_plugin
from kruntimes_core.framework.profile import ActivePlugin

WITH_ARGUMENTS = """
class Alpha:
    class Arguments(BaseModel):
        limit: int = 3
    def __init__(self, arguments):
        self.limit = arguments.limit
        self.reasons = {"Full": f"one of {self.limit}"}
    @hookimpl
    def prefilter(self, run): return run
    @hookimpl
    def filter(self, state, pod): return (self.limit, state, pod)
"""


def build(environment: Any, name: str = "Alpha", **options: Any) -> ActivePlugin:
    return build_plugin(environment.registry().load(name), **options)


def test_a_class_is_built_with_its_checked_arguments(environment: Any) -> None:
    environment.install("Alpha", WITH_ARGUMENTS, version="4.2")
    plugin = build(environment, arguments={"limit": 8}, weight=5)
    assert (plugin.name, plugin.origin, plugin.weight) == ("Alpha", "acme-alpha 4.2", 5)
    assert plugin.hooks["filter"].names == ("state", "pod")
    assert plugin.hooks["filter"].function("s", "p") == (8, "s", "p")
    assert plugin.reasons == {"Full": "one of 8"}


def test_arguments_default_and_are_refused_by_the_plugins_own_model(environment: Any) -> None:
    environment.install("Alpha", WITH_ARGUMENTS)
    assert build(environment).hooks["filter"].function(1, 2)[0] == 3
    with pytest.raises(ValidationError):
        build(environment, arguments={"limit": "many"})


def test_each_profile_has_an_instance_of_its_own(environment: Any) -> None:
    environment.install("Alpha")
    installed = environment.registry().load("Alpha")
    first, second = (build_plugin(installed) for _ in range(2))
    instances = [getattr(built.hooks["filter"].function, "__self__") for built in (first, second)]  # noqa: B009
    assert instances[0] is not instances[1]


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("@hookimpl\ndef filter(run, pod): return (run, pod)", ""),
        (
            "class Any_:\n  @hookimpl\n  def filter(self, run, pod): return (run, pod)\nthing = Any_()",
            ":thing",
        ),
        ("class Alpha:\n  @hookimpl\n  @staticmethod\n  def filter(run, pod): return (run, pod)", ":Alpha"),
        (
            "class Alpha:\n  @hookimpl\n  @classmethod\n  def filter(cls, run, pod): return (run, pod)",
            ":Alpha",
        ),
        ("class Alpha:\n  @hookimpl\n  def filter(self, run, pod, /): return (run, pod)", ":Alpha"),
    ],
    ids=["module", "object", "static method", "class method", "positional only"],
)
def test_every_kind_of_plugin_ends_as_plain_functions(environment: Any, source: str, value: str) -> None:
    environment.install("Alpha", source, value=value)
    hook = build(environment).hooks["filter"]
    assert hook.names == ("run", "pod")
    assert hook.function("r", "p") == ("r", "p")


@pytest.mark.parametrize(
    ("constructor", "words"),
    [
        ("def __init__(self, extra): ...", "it cannot be built: TypeError: "),
        ("def __init__(self): raise SystemExit(1)", "it cannot be built: SystemExit: 1"),
        ("def __init__(self): self.reasons = 3", "reasons is a int"),
        ("def __init__(self): self.filter = print", "filter is a function without a mark"),
        ("def __init__(self): self.score = functools.partial(print)", "score is a functools.partial"),
        ("reasons = property(lambda self: 1 / 0)", "its attribute reasons cannot be read: ZeroDivisionError"),
    ],
)
def test_a_plugin_that_breaks_while_it_is_built(environment: Any, constructor: str, words: str) -> None:
    environment.install(
        "Alpha", f"class Alpha:\n  {constructor}\n  @hookimpl\n  def filter(self, pod): ...\n"
    )
    with pytest.raises(LoadError) as caught:
        build(environment)
    assert words in caught.value.cause
    assert "acme-alpha 1.0" in str(caught.value)


def test_a_model_of_arguments_that_raises_oddly_is_the_plugins_fault(environment: Any) -> None:
    source = WITH_ARGUMENTS.replace(
        "limit: int = 3", "limit: int = 3\n        def model_post_init(self, context): raise KeyError('x')"
    )
    environment.install("Alpha", source)
    with pytest.raises(LoadError, match="its Arguments fail: KeyError"):
        build(environment)
