"""A plugin that exits, raises oddly or answers out of contract harms the Runs that meet it, and no others."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Iterable
from functools import partial

import pytest

from kruntimes_core.testing import pod_object, run_object
from tests.scenarios.conftest import Write
from tests.scenarios.planning import Decision, Object
from tests.scenarios.site import COMMAND, Site

# `act` is what each of them does in its filter.
BAD_FILTER = """
import os, sys, signal
class Oddity(BaseException):
    pass
class Unspeakable(Exception):
    def __str__(self):
        raise RuntimeError
class {name}:
    on_by_default = False
    reasons = {"Declared": "something"}
    def exits(self): sys.exit(1)
    def exits_silently(self): raise SystemExit
    def raises_an_oddity(self): raise Oddity("odd\\n\\ttext")
    def cannot_say_why(self): raise Unspeakable
    def stops_a_generator(self): raise GeneratorExit
    def recurses(self): return self.recurses()
    def fails_an_assertion(self): assert False
    def answers_true(self): return True
    def answers_text(self): return "no"
    def answers_the_class(self): return Reject
    def has_a_reason_of_its_own(self): return Reject("Undeclared")
    def gives_a_naive_time(self):
        from datetime import datetime
        return Reject("Declared", retry_at=datetime(2026, 1, 1))
    def says_that_it_is_invalid(self): raise InvalidRun("Bad", "only prefilter may")
    @hookimpl
    def filter(self, pod):
        return self.{act}()
"""
ACTS = {
    "exits": "SystemExit: 1",
    "exits_silently": "SystemExit",
    "raises_an_oddity": "Oddity: odd text",
    "cannot_say_why": "Unspeakable",
    "stops_a_generator": "GeneratorExit",
    "recurses": "RecursionError",
    "fails_an_assertion": "AssertionError",
    "answers_true": "returned True",
    "answers_text": "returned 'no'",
    "answers_the_class": "returned <class",
    "has_a_reason_of_its_own": "gave reason 'Undeclared'",
    "gives_a_naive_time": "gave retry_at datetime.datetime(2026",
    "says_that_it_is_invalid": "InvalidRun",
}


def profiles_of(plugins: dict[str, str]) -> str:
    """A configuration that gives each plugin a profile and a Runtime of its own, named in lower case."""
    sections = [
        f"- {{name: {name.lower()}, runtimes: [{name.lower()}], plugins: {{enabled: [{entry}]}}}}"
        for name, entry in plugins.items()
    ]
    return "\n".join(["profiles:", *sections])


def named(act: str) -> str:
    return act.title().replace("_", "")


Outcome = tuple[int, dict[str, Decision], list[str]]


def decide(site: Site, config: str, runtimes: Iterable[str]) -> Outcome:
    """Exit code, decisions by Runtime, and lines of standard error, for a Run and two Pods of each."""
    objects: list[Object] = []
    for runtime in ["py", *runtimes]:
        objects += [pod_object(f"{runtime}-{number}", runtime=runtime) for number in (0, 1)]
        objects.append(run_object(f"run-{runtime}", runtime=runtime))
    (site.root / "objects.json").write_text(
        json.dumps({"apiVersion": "v1", "kind": "List", "items": objects})
    )
    (site.root / "config.yaml").write_text(config)
    arguments = ("-f", site.root / "objects.json", "--config", site.root / "config.yaml", "-o", "json")
    result = site.run("plan", *arguments, "--explain")
    decisions = {one["runtime"]: one for one in json.loads(result.stdout)["decisions"]}
    return result.returncode, decisions, result.stderr.splitlines()


@pytest.fixture(scope="module")
def filtered(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """A plan of Runtimes that each meet a filter which breaks in another way."""
    site = Site(tmp_path_factory.mktemp("filters") / "site")
    for act in ACTS:
        site.install(f"acme-{act}", {named(act): BAD_FILTER.replace("{act}", act)}, version="0.7")
    return decide(
        site, profiles_of({named(act): named(act) for act in ACTS}), (named(a).lower() for a in ACTS)
    )


@pytest.mark.parametrize("act", ACTS)
def test_the_run_that_meets_it_backs_off(filtered: Outcome, act: str) -> None:
    code, decisions, lines = filtered
    (line,) = [line for line in lines if f"plugin {named(act)} (" in line]
    assert f"(acme-{act} 0.7" in line
    assert f"failed in filter: {ACTS[act]}" in line
    bad = decisions[named(act).lower()]
    assert (bad["outcome"], bad["reason"], bad["pod"]) == ("Backoff", "PluginError", None)
    assert bad["until"] == "2026-01-02T03:04:06Z"
    assert (bad["message"], bad["never"], bad["candidates"]) == ("", False, [])
    assert code == 2


def test_the_others_are_placed(filtered: Outcome) -> None:
    _, decisions, lines = filtered
    assert decisions["py"]["pod"] == "py-0"
    assert len(lines) == len(ACTS) == len(decisions) - 1


def test_a_plugin_that_fails_for_many_runs_is_one_line(site: Site, manifests: Write) -> None:
    source = BAD_FILTER.replace("{act}", "exits").replace("on_by_default = False", "")
    site.install("acme-bad", {"Bad": source})
    file = manifests(pod_object("py-0"), *[run_object(f"r{number}") for number in range(20)])
    result = site.run("plan", "-f", file, "-o", "name")
    assert len(result.stdout.splitlines()) == 20
    assert len(result.stderr.splitlines()) == 1


def test_ctrl_c_in_the_middle_of_a_plugin_is_obeyed(site: Site, manifests: Write) -> None:
    hanging = """
    import os, signal
    class {name}:
        @hookimpl
        def filter(self, pod):
            os.write(2, b"here")
            while True:
                signal.pause()
    """
    site.install("acme-hanging", {"Hanging": hanging})
    with subprocess.Popen(
        [COMMAND, "plan", "-f", manifests(pod_object("py-0"), run_object("r"))],
        env={"PYTHONPATH": str(site.root), "PATH": ""},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # A shell without job control lets what it starts aside ignore Ctrl-C.
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
    ) as process:
        assert process.stderr is not None
        assert process.stderr.read(4) == b"here"
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=30)
        assert (process.returncode, said) == (130, b"")


BAD_SCORER = """
import math
from typing import Any
from pydantic import BaseModel
class {name}:
    on_by_default = False
    class Arguments(BaseModel):
        value: Any = None
    def __init__(self, arguments):
        self.value = float("nan") if arguments.value == "nan" else arguments.value
    @hookimpl
    def score(self, pod):
        return self.value
"""
BAD_NORMALIZER = """
class {name}:
    on_by_default = False
    @hookimpl
    def score(self, pod):
        return pod.name
    @hookimpl
    def normalize(self, scores):
        return {answer}
"""


SCORES = {
    "-1": "-1",
    "101": "101",
    "50.5": "50.5",
    "50.0": "50.0",
    "nan": "nan",
    "null": "None",
    "true": "True",
    "'7'": "'7'",
    "[7]": "[7]",
}
NORMALIZED = {
    "[50]": "returned 1 value for 2 scores",
    "[50, 50, 50]": "returned 3 values for 2 scores",
    "[]": "returned 0 values",
    "{score: 5 for score in scores}": "returned {",
    "(50 for score in scores)": "returned <generator",
    "None": "returned None",
    "'ab'": "returned 'ab'",
    "b'ab'": "returned b'ab'",
    "[50, 50.0]": "gave 50.0",
    "[True, False]": "gave True",
    "[101, 0]": "gave 101",
    "[0, -1]": "gave -1",
}
UNORDERED = ("pod", "{}", "float('nan')", "None", "(1, {'of': pod.name})")
GOOD = ("0", "1", "100")


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """A plan of Runtimes that each meet a scorer with another answer."""
    site = Site(tmp_path_factory.mktemp("scorers") / "site")
    entries = {}
    for number, written in enumerate((*SCORES, *GOOD)):
        site.install(f"acme-s{number}", {f"S{number}": BAD_SCORER})
        entries[f"S{number}"] = f"{{name: S{number}, arguments: {{value: {written}}}}}"
    for number, answer in enumerate(NORMALIZED):
        site.install(f"acme-n{number}", {f"N{number}": BAD_NORMALIZER.replace("{answer}", answer)})
        entries[f"N{number}"] = f"N{number}"
    for number, value in enumerate(UNORDERED):
        source = BAD_NORMALIZER.replace("return pod.name", f"return {value}")
        source = source.replace("{answer}", "[0 for _ in sorted(scores)]")
        site.install(f"acme-u{number}", {f"U{number}": source})
        entries[f"U{number}"] = f"U{number}"
    return decide(site, profiles_of(entries), (name.lower() for name in entries))


def assert_broken(outcome: Outcome, name: str, problem: str) -> None:
    code, decisions, lines = outcome
    (line,) = [line for line in lines if f"plugin {name} (acme-{name.lower()} 1.0" in line]
    assert problem in line
    made = decisions[name.lower()]
    assert (code, made["outcome"], made["reason"], made["pod"]) == (2, "Backoff", "PluginError", None)


@pytest.mark.parametrize("written", SCORES)
def test_a_score_out_of_contract_is_an_error_that_shows_it(scored: Outcome, written: str) -> None:
    shown = SCORES[written]
    assert_broken(scored, f"S{[*SCORES].index(written)}", f"failed in score: returned {shown}; return an int")


@pytest.mark.parametrize("written", GOOD)
def test_a_score_within_the_contract_is_none(scored: Outcome, written: str) -> None:
    name = f"s{[*SCORES, *GOOD].index(written)}"
    assert scored[1][name]["pod"] == f"{name}-0"
    assert not any(name.upper() + " (" in line for line in scored[2])


@pytest.mark.parametrize("answer", NORMALIZED)
def test_a_normalize_out_of_contract_is_an_error_that_shows_it(scored: Outcome, answer: str) -> None:
    assert_broken(scored, f"N{[*NORMALIZED].index(answer)}", f"failed in normalize: {NORMALIZED[answer]}")


@pytest.mark.parametrize("value", UNORDERED)
def test_a_raw_score_that_has_no_order_is_an_error(scored: Outcome, value: str) -> None:
    assert_broken(scored, f"U{UNORDERED.index(value)}", "failed in ")
