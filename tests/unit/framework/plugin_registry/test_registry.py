"""Plugins are found without an import and loaded once; no claim to a name is lost."""

from __future__ import annotations

from typing import Any

import pytest

from kruntimes_core import __version__
from kruntimes_core.framework.plugin_registry import LoadError
from kruntimes_core.framework.plugin_registry.discovery import discover

FAILURES = [
    ('raise ImportError("no module named snowflake")', "ImportError: no module named snowflake"),
    ("import kruntimes_no_such_module", "No module named 'kruntimes_no_such_module'"),
    ("def broken(:", "SyntaxError: "),
    ("raise SystemExit(3)", "SystemExit: 3"),
    ("class Odd(BaseException): pass\nraise Odd('of\\n its own')", "Odd: of its own"),
    ("1 / 0", "ZeroDivisionError: "),
    ("x = 1", "has no attribute 'Alpha'"),
    ("raise GeneratorExit", "GeneratorExit"),
    ("def again(): again()\nagain()", "RecursionError: "),
]


@pytest.mark.parametrize(("source", "cause"), FAILURES)
def test_a_plugin_that_cannot_be_imported_says_whose_it_is_and_why(
    environment: Any, source: str, cause: str
) -> None:
    module = environment.install("Alpha", source, distribution="acme-alpha", version="0.3")
    error = environment.registry().error("Alpha")
    assert str(error).startswith(
        f"cannot load plugin Alpha (acme-alpha 0.3, entry point {module}:Alpha)"
        f" into kruntimes-core {__version__}: "
    )
    assert cause in error.cause
    assert error.cause.endswith("correct or upgrade acme-alpha")
    assert "\n" not in str(error)


def test_the_place_in_the_plugin_that_raised_is_named(environment: Any) -> None:
    module = environment.install("Alpha", "\ndef fail():\n    raise ValueError('x')\nfail()")
    assert f"{module}.py:10)" in environment.registry().error("Alpha").cause


def test_the_users_own_interrupt_is_no_failure_of_a_plugin(environment: Any) -> None:
    environment.install("Alpha", "raise KeyboardInterrupt")
    with pytest.raises(KeyboardInterrupt):
        environment.registry().load("Alpha")


def test_a_plugin_is_imported_at_most_once_broken_or_not(environment: Any) -> None:
    log = environment.root / "imports"
    log.touch()
    note = f"import pathlib\np = pathlib.Path({str(log)!r})\np.write_text(p.read_text() + '{{name}} ')\n"
    environment.install("Good", note + "class Good:\n  @hookimpl\n  def score(self): return 1")
    environment.install("Bad", note + "1 / 0")
    registry = environment.registry()
    for _ in range(3):
        assert registry.load("Good") is registry.load("Good")
        with pytest.raises(LoadError):
            registry.load("Bad")
    assert sorted(log.read_text().split()) == ["Bad", "Good"]


def test_a_name_that_two_distributions_claim_belongs_to_neither(environment: Any) -> None:
    environment.install("Alpha", distribution="acme", version="1.0")
    environment.install("Alpha", distribution="zoo", version="2.0")
    registry = environment.registry()
    message = str(registry.error("Alpha"))
    assert "acme 1.0 and zoo 2.0" in message
    assert message.endswith("both claim this name: uninstall one of them")
    assert registry.is_duplicate("Alpha")
    assert environment.imported() == []


def test_a_loaded_plugin_knows_its_hooks_and_what_it_declares(environment: Any) -> None:
    environment.install(
        "Alpha",
        """
class Alpha:
    reasons = {"Full": 'room for runtime "{runtime}"'}
    stateful = True
    provides = {"capacity"}
    normalize_keeps_best = True
    on_by_default = False
    host_api = ">=1,<2"
    class Arguments(BaseModel):
        limit: int = 3
    def __init__(self, arguments): self.arguments = arguments
    @hookimpl
    def prefilter(self, run): return None
    @hookimpl
    def filter(self, state, pod): return None
""",
    )
    installed = environment.registry().load("Alpha")
    named = {name: hook.names for name, hook in installed.hooks.items()}
    assert named == {"prefilter": ("run",), "filter": ("state", "pod")}
    declared = installed.declaration
    assert declared.reasons == {"Full": 'room for runtime "{runtime}"'}
    assert (declared.stateful, declared.normalize_keeps_best, declared.on_by_default) == (True, True, False)
    assert declared.provides == {"capacity"}
    assert declared.arguments is not None


def test_a_broken_plugin_could_still_say_that_it_is_off_by_default(environment: Any) -> None:
    environment.install("Alpha", "class Alpha:\n  on_by_default = False\n")
    assert environment.registry().error("Alpha").off_by_default


def test_every_claim_is_found_by_name_and_nothing_is_imported(environment: Any) -> None:
    environment.install("Zeta", "raise SystemExit(3)")
    environment.install("Alpha", distribution="acme-plugins", version="2.5")
    found = discover(environment.distributions())
    assert [(one.name, one.distribution, one.version) for one in found] == [
        ("Alpha", "acme-plugins", "2.5"),
        ("Zeta", "acme-zeta", "1.0"),
    ]
    assert environment.imported() == []


def test_a_distribution_that_is_on_the_path_twice_counts_once(environment: Any) -> None:
    module = environment.install("Alpha")
    environment.claim("Acme_Alpha", "1.0", f"Alpha = {module}:Alpha", folder="editable")
    environment.claim("acme.alpha", "0.9", f"Alpha = {module}:Alpha", folder="old")
    [found, other] = discover(environment.distributions("editable", "", "old"))
    assert (found.distribution, found.version, found.shadowed_by) == ("Acme_Alpha", "1.0", None)
    assert other.version == "0.9"
    assert str(other.shadowed_by).startswith(f"Acme_Alpha 1.0 in {environment.root / 'editable'}")


def test_two_distributions_that_claim_one_name_are_both_kept(environment: Any) -> None:
    environment.install("Alpha", distribution="zoo")
    environment.install("Alpha", distribution="acme")
    assert [one.distribution for one in discover(environment.distributions())] == ["acme", "zoo"]


def test_other_groups_and_other_distributions_are_none_of_ours(environment: Any) -> None:
    environment.claim("tool", "1", "a = b:c\n[console_scripts]\nAlpha = b:c")
    (environment.root / "plain-1.dist-info").mkdir()
    [found] = discover(environment.distributions())
    assert found.name == "a"
    assert found.problem is not None
    assert "UpperCamelCase" in found.problem


def test_metadata_that_cannot_be_read_is_a_broken_plugin_of_its_distribution(environment: Any) -> None:
    environment.claim("acme-odd", "1", "no equals sign")
    (environment.root / "nameless-1.dist-info").mkdir()
    (environment.root / "nameless-1.dist-info" / "entry_points.txt").write_text(
        "[kruntimes.plugins]\nA = m:A\n"
    )
    registry = environment.registry()
    assert registry.names == ("A", "acme-odd")
    assert "reinstall acme-odd" in registry.error("acme-odd").cause
    assert registry.discovered("A")[0].distribution == "nameless-1"
