"""A broken plugin is never read as a rejection, and never stops another Run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kruntimes_core import InvalidRun, Reject
from kruntimes_core.engine.counters import SyncResult
from kruntimes_core.engine.decisions import Outcome
from kruntimes_core.framework.configuration import Profiles
from kruntimes_core.framework.profile import ActivePlugin, Profile
from kruntimes_core.testing.builders import NAMESPACE
from kruntimes_core.testing.harness import Host
from kruntimes_core.testing.plugins import fake_plugin, profiles_of


class Rude(BaseException):
    """Neither an Exception nor anything that a handler expects."""


class MuteError(Exception):
    """Cannot even be shown."""

    def __str__(self) -> str:
        raise RuntimeError("no text")


def recurse(*_: Any) -> Any:
    return recurse()


def raising(error: BaseException) -> Callable[..., Any]:
    def fail(*_: Any) -> Any:
        raise error

    return fail


FAILURES: list[Any] = [
    pytest.param(raising(RuntimeError("no")), id="raises"),
    pytest.param(raising(SystemExit(1)), id="exits"),
    pytest.param(raising(GeneratorExit()), id="GeneratorExit"),
    pytest.param(raising(Rude()), id="BaseException"),
    pytest.param(raising(MuteError()), id="unprintable"),
    pytest.param(recurse, id="recursion"),
    pytest.param(raising(InvalidRun("Wrong", "not from here")), id="InvalidRun"),
]


def host_with(broken: ActivePlugin) -> Host:
    """`r` meets the broken plugin; the Runs of Runtime js have a profile without it."""
    return Host(
        Profiles(
            (
                Profile(plugins=(broken,)),
                Profile(
                    name="js", plugins=(fake_plugin(filter=lambda pod: None),), runtimes=frozenset({"js"})
                ),
            )
        )
    )


def held_back(host: Host, hook: str) -> None:
    """One Run meets the plugin: nothing is reserved or written, it is retried, others go on."""
    host.pod("py-0", runs=9)
    host.pod("js-0", runtime="js", runs=9)
    host.run("r")
    host.run("other", runtime="js")
    host.settle()
    assert host.pod_of("other") == "js-0"
    assert host.status("r") == {"phase": "Pending"}
    assert not host.writes("r")
    assert not host.engine.cache.snapshot(NAMESPACE, "py", host.now.wall).pods["py-0"].usage
    assert host.engine.counters.plugin_errors == {("Broken", hook): 1}
    assert not host.engine.counters.filter_rejections
    assert host.engine.counters.syncs[SyncResult.SELECTION_ERROR] == 1
    entry = host.engine.find(NAMESPACE, "r")
    assert entry is not None
    assert entry.decision is not None
    assert (entry.decision.outcome, entry.decision.reason) == (Outcome.BACKOFF, "PluginError")
    assert "plugin Broken (fake-broken 1.0)" in str(entry.decision.error)
    host.advance(8)
    assert host.engine.counters.plugin_errors == {("Broken", hook): 4}


@pytest.mark.parametrize("failure", FAILURES)
@pytest.mark.parametrize("hook", ["filter", "score", "normalize"])
def test_whatever_a_hook_raises_is_its_plugins_error(hook: str, failure: Callable[..., Any]) -> None:
    hooks: dict[str, Any] = {
        "filter": lambda pod: failure(),
        "score": lambda pod: failure(),
        "normalize": lambda scores: failure(),
    }
    chosen: dict[str, Any] = {hook: hooks[hook]}
    if hook == "normalize":
        chosen["score"] = lambda pod: 1
    held_back(host_with(fake_plugin("Broken", **chosen)), hook)


@pytest.mark.parametrize("failure", FAILURES[:-1])
def test_whatever_a_prefilter_raises_but_invalid_run_is_its_plugins_error(
    failure: Callable[..., Any],
) -> None:
    held_back(host_with(fake_plugin("Broken", prefilter=lambda request: failure())), "prefilter")


@pytest.mark.parametrize(
    ("reason", "message"),
    [("not camel case", "text"), ("", "text"), ("X" * 2_000, "text"), (7, "text"), ("Good", None)],
)
def test_an_invalid_run_out_of_contract_is_an_error(reason: Any, message: Any) -> None:
    held_back(host_with(fake_plugin("Broken", prefilter=raising_named(reason, message))), "prefilter")


def raising_named(reason: Any, message: Any) -> Callable[..., Any]:
    def prefilter(request: Any) -> None:
        raise InvalidRun(reason, message)

    return prefilter


@pytest.mark.parametrize(
    "answer",
    [True, False, "no", Reject, Reject("Undeclared"), Reject("Known", retry_at="soon"), 0, ()],  # type: ignore[arg-type]
    ids=repr,
)
def test_a_filter_answers_none_or_a_declared_rejection(answer: Any) -> None:
    held_back(host_with(fake_plugin("Broken", filter=lambda pod: answer, reasons=["Known"])), "filter")


@pytest.mark.parametrize("score", [-1, 101, 50.5, float("nan"), None, True, "7", [], float("inf")], ids=repr)
def test_a_score_is_a_plain_int_from_0_to_100(score: Any) -> None:
    held_back(host_with(fake_plugin("Broken", score=lambda pod: score)), "score")


@pytest.mark.parametrize("score", [0, 1, 99, 100])
def test_plain_scores_in_range_pass(score: int) -> None:
    host = Host(profiles_of(fake_plugin(score=lambda pod: score)))
    host.pod("py-0")
    host.run("r")
    host.settle()
    assert host.pod_of("r") == "py-0"


@pytest.mark.parametrize("raw", [None, float("nan")], ids=repr)
def test_a_raw_score_can_be_ordered(raw: Any) -> None:
    broken = fake_plugin("Broken", score=lambda pod: raw, normalize=lambda scores: [0] * len(scores))
    held_back(host_with(broken), "score")


@pytest.mark.parametrize(
    "answer",
    [[-1], [101], [1.0], [True], [None], ["7"], [], [1, 2], None, 7, "7", {"py-0": 7}, {7}],
    ids=repr,
)
def test_normalize_gives_one_plain_int_for_each_score(answer: Any) -> None:
    broken = fake_plugin("Broken", score=lambda pod: 1, normalize=lambda scores: answer)
    held_back(host_with(broken), "normalize")


def test_raw_scores_of_two_kinds_blame_the_scorer() -> None:
    raws = {"py-0": 1, "py-1": "one"}
    broken = fake_plugin(
        "Broken",
        score=lambda pod: raws[pod.name],
        normalize=lambda scores: [0] * len(scores),
        normalize_keeps_best=True,
    )
    host = host_with(broken)
    host.pod("py-1", runs=9)
    held_back(host, "score")


def test_an_error_on_one_pod_holds_up_the_runs_that_meet_it_and_no_others() -> None:
    def judge(pod: Any, state: Any) -> Reject | None:
        if state and pod.name == "py-1":
            raise RuntimeError("no")
        return None

    host = Host(profiles_of(fake_plugin(prefilter=lambda labels: bool(labels), filter=judge)))
    host.pod("py-0", runs=9)
    host.pod("py-1", runs=9)
    host.run("meets", labels={"app": "a"})
    host.run("other")
    host.settle()
    assert (host.pod_of("meets"), host.pod_of("other")) == (None, "py-0")


def test_a_plugin_that_recovers_lets_the_run_go_on() -> None:
    failures = [RuntimeError("no"), RuntimeError("no")]

    def judge(pod: Any) -> None:
        if failures:
            raise failures.pop()

    host = Host(profiles_of(fake_plugin(filter=judge)))
    host.pod("py-0")
    host.run("r")
    host.advance(3)
    assert host.pod_of("r") == "py-0"


def test_an_interrupt_is_the_operators() -> None:
    host = Host(profiles_of(fake_plugin(filter=lambda pod: raising(KeyboardInterrupt())())))
    host.pod("py-0")
    host.run("r")
    with pytest.raises(KeyboardInterrupt):
        host.settle()
