"""What is installed is known without an import, and no claim to a name is lost."""

from __future__ import annotations

from typing import Any

from kruntimes_core.framework.plugin_registry.registry import discover


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
    [found] = discover(environment.distributions("editable", "", "old"))
    assert (found.distribution, found.version) == ("Acme_Alpha", "1.0")


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
    assert registry.discovered("A")[0].distribution == "an unnamed distribution"
