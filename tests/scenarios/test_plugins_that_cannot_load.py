"""A plugin that cannot be loaded stops the host where it is wanted, and is shown where it is not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kruntimes_core.testing import pod_object, run_object
from tests.scenarios.conftest import Command, Configure, Write
from tests.scenarios.site import Completed, Site

BROKEN = {
    "Raising": (
        """
        raise RuntimeError("the licence server does not answer")
        """,
        "RuntimeError: the licence server does not answer",
    ),
    "Absent": (
        """
        class Abscent:
            pass
        """,
        "Absent",
    ),
    "WrongArgument": (
        """
        class {name}:
            @hookimpl
            def filter(self, pode):
                return None
        """,
        "pode",
    ),
    "WrongHook": (
        """
        class {name}:
            @hookimpl
            def filtre(self, pod):
                return None
        """,
        "filtre",
    ),
}
SUPPLIED_ALONE = """
    plugins:
      disabled: ["*"]
      enabled: [RuntimePodAvailability, RunAffinity, WorkspacePlacement, PreferredRunAffinity, LeastLoaded]
    """


@pytest.fixture
def one_run(manifests: Write) -> Path:
    return manifests(pod_object("py-0"), run_object("r"))


@pytest.fixture(params=BROKEN)
def broken(request: pytest.FixtureRequest, site: Site) -> str:
    name: str = request.param
    site.install(f"acme-{name.lower()}", {name: BROKEN[name][0]}, version="3.2")
    return name


def the_line(result: Completed) -> str:
    """The one line that a refusal is."""
    assert (result.returncode, result.stdout) == (2, "")
    (line,) = result.stderr.splitlines()
    return line


def is_about(line: str, name: str) -> bool:
    """Whether a line names distribution, version, entry point and cause."""
    return all(word in line for word in (f"acme-{name.lower()} 3.2", f":{name}", BROKEN[name][1]))


def test_configured_it_stops_the_host(broken: str, site: Site, one_run: Path, configured: Configure) -> None:
    config = configured(f"plugins: {{enabled: [{broken}]}}")
    line = the_line(site.run("plan", "-f", one_run, "--config", config))
    assert is_about(line, broken)
    assert "take it out of plugins.enabled" in line


def test_without_a_configuration_it_is_meant_too(broken: str, site: Site, one_run: Path) -> None:
    line = the_line(site.run("plan", "-f", one_run))
    assert is_about(line, broken)
    assert f"to start without it, configure plugins: {{disabled: [{broken}]}}" in line


def test_the_advice_of_the_refusal_works(
    broken: str, site: Site, one_run: Path, configured: Configure
) -> None:
    config = configured(f"plugins: {{disabled: [{broken}]}}")
    assert site.run("plan", "-f", one_run, "--config", config).returncode == 0


def test_beside_a_configuration_that_names_its_plugins_it_is_only_shown(
    broken: str, site: Site, one_run: Path, configured: Configure
) -> None:
    config = configured(SUPPLIED_ALONE)
    assert site.run("plan", "-f", one_run, "--config", config).returncode == 0
    listed = site.run("plugins", "list", "--config", config, "-o", "json")
    (row,) = [one for one in json.loads(listed.stdout)["plugins"] if one["name"] == broken]
    assert (row["state"], row["distribution"], row["version"]) == ("broken", f"acme-{broken.lower()}", "3.2")
    assert BROKEN[broken][1] in row["why"]
    assert listed.returncode == 0


def test_what_has_nothing_to_do_with_plugins_works(site: Site) -> None:
    for name, (source, _) in BROKEN.items():
        site.install(f"acme-{name.lower()}", {name: source})
    for arguments in (["--version"], ["--help"], ["plan", "--help"]):
        result = site.run(*arguments)
        assert (result.returncode, result.stderr) == (0, "")
    # It works, and its answer is that the host would not start.
    listed = site.run("plugins", "list", "-o", "name")
    assert listed.returncode == 1
    assert {*BROKEN, "LeastLoaded"} <= set(listed.stdout.split())


def test_one_that_is_disabled_is_not_imported(
    site: Site, one_run: Path, configured: Configure, tmp_path: Path
) -> None:
    trace = tmp_path / "imported"
    site.install("acme-trap", {"Trap": f"open({str(trace)!r}, 'w')\nraise SystemExit(7)\n"})
    config = configured("plugins: {disabled: [Trap]}")
    assert site.run("plan", "-f", one_run, "--config", config).returncode == 0
    listed = json.loads(site.run("plugins", "list", "--config", config, "-o", "json").stdout)["plugins"]
    assert {one["name"]: (one["state"], one["version"]) for one in listed}["Trap"] == ("disabled", "1.0")
    assert not trace.exists()
    assert "Trap" in the_line(site.run("plan", "-f", one_run))
    assert trace.exists()


def test_two_distributions_that_claim_one_name_are_both_named(
    site: Site, one_run: Path, configured: Configure
) -> None:
    site.install("acme-load", {"LeastLoaded": "class {name}:\n    pass\n"}, version="9.9")
    line = the_line(site.run("plan", "-f", one_run))
    assert "LeastLoaded" in line
    assert "acme-load 9.9" in line
    assert "kruntimes-least-loaded" in line
    rows = json.loads(site.run("plugins", "list", "-o", "json").stdout)["plugins"]
    claims = [one["distribution"] for one in rows if one["state"] == "duplicate"]
    assert claims == ["acme-load", "kruntimes-least-loaded"]
    without = configured("plugins: {disabled: [LeastLoaded]}")
    assert site.run("plan", "-f", one_run, "--config", without).returncode == 0


class TestDisabling:
    """What may stand in `disabled`, and what is said about the rest."""

    @pytest.mark.parametrize(
        ("written", "words"),
        [
            ("LeastLoaded", "[LeastLoaded]"),
            ("[least-loaded]", "LeastLoaded"),
            ("[least_loaded]", "LeastLoaded"),
            ("[leastloaded]", "LeastLoaded"),
            ("[Least_Loaded]", "LeastLoaded"),
            ("[NoSuchPlugin]", "NoSuchPlugin"),
            ("[5]", "plugins.disabled[0]"),
            ("{LeastLoaded: true}", "plugins.disabled"),
            ("['']", "plugins.disabled[0]"),
        ],
    )
    def test_a_mistake_is_one_line(
        self, kruntimes: Command, one_run: Path, configured: Configure, written: str, words: str
    ) -> None:
        config = configured(f"plugins:\n  disabled: {written}\n")
        line = the_line(kruntimes("plan", "-f", one_run, "--config", config))
        assert line.startswith(f"error: {config}:2: plugins.disabled")
        assert words in line

    @pytest.mark.parametrize("written", ["[]", "null", "", "[ZoneSpread]"])
    def test_nothing_disabled_is_all_enabled(
        self, kruntimes: Command, one_run: Path, configured: Configure, written: str
    ) -> None:
        config = configured(f"plugins:\n  disabled: {written}\n")
        told = kruntimes("plan", "-f", one_run, "--config", config, "-o", "json")
        assert told.returncode == 0
        assert len(json.loads(told.stdout)["plugins"]) == 5

    def test_it_is_listed_with_its_version(self, kruntimes: Command, configured: Configure) -> None:
        config = configured("plugins: {disabled: [LeastLoaded]}")
        rows = json.loads(kruntimes("plugins", "list", "--config", config, "-o", "json").stdout)["plugins"]
        row = next(one for one in rows if one["name"] == "LeastLoaded")
        assert (row["state"], row["hooks"], row["weight"]) == ("disabled", [], None)
        assert row["version"]
        assert "plugins.disabled" in row["why"]
