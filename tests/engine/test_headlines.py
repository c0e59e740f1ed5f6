"""Which reason a waiting Run shows, and how seldom it is written."""

from __future__ import annotations

from typing import Any

import pytest
from engine_scenes import BASE_TEXT, condition, decision

from kruntimes_core import InvalidRun, Reject
from kruntimes_core.engine.decisions import NeverFits
from kruntimes_core.framework.profile import ActivePlugin
from kruntimes_core.testing import affinity_object, term_object
from kruntimes_core.testing.harness import RUNS, Host
from kruntimes_core.testing.plugins import fake_plugin, profiles_of

ANTI_TEXT = "waiting for a runtime pod without the runs that required run anti-affinity excludes"


# Headlines


def judge(name: str, verdicts: dict[str, Reject]) -> ActivePlugin:
    return fake_plugin(
        name,
        reasons=[f"{name}First", f"{name}Second"],
        filter=lambda pod: verdicts.get(pod.name),
    )


def headline(first: dict[str, Reject], second: dict[str, Reject]) -> str:
    host = Host(profiles_of(judge("A", first), judge("B", second)))
    for name in sorted({*first, *second}):
        host.pod(name)
    host.run("r")
    host.settle()
    return decision(host).reason


def test_the_headline_is_that_of_the_pods_that_got_furthest() -> None:
    many = {f"py-{number}": Reject("AFirst") for number in range(5)}
    assert headline(many, {"py-9": Reject("BSecond")}) == "BSecond"


def test_among_the_reasons_of_one_plugin_the_first_declared_wins_whatever_the_numbers() -> None:
    first = {"py-0": Reject("ASecond"), "py-1": Reject("ASecond"), "py-2": Reject("AFirst")}
    assert headline(first, {}) == "AFirst"


def test_pods_elsewhere_make_the_headline_only_when_there_are_no_others() -> None:
    elsewhere = {pod: Reject("BFirst", pinned_elsewhere=True) for pod in ("py-0", "py-1")}
    assert headline({"py-2": Reject("AFirst")}, elsewhere) == "AFirst"
    assert headline({}, elsewhere) == "BFirst"


def test_the_headline_of_a_run_tied_to_a_full_pod_is_that_pods(host: Host) -> None:
    host.pod("py-0", runs=1)
    host.run("x", pod="py-0")
    host.pod("py-1", runs=4)
    host.workspace("ws", bound_pod="py-0")
    host.run("r", workspace="ws")
    host.settle()
    assert host.texts("r") == [BASE_TEXT]


def test_both_kinds_of_affinity_show_that_which_is_still_missing(host: Host) -> None:
    """Affinity is met where anti-affinity rejects, so anti-affinity is what the Run waits for."""
    host.pod("py-0", runs=4)
    host.run("x", labels={"app": "a"}, pod="py-0")
    term = term_object({"app": "a"})
    host.run("r", affinity=affinity_object(required=[term], required_anti=[term]))
    host.advance(100)
    assert host.texts("r") == [ANTI_TEXT]


@pytest.mark.parametrize(
    ("pods", "request_", "never"),
    [
        ([], "9", False),
        ([{"runs": 4}], "5", True),
        ([{"runs": 4, "ready": False}], "5", True),
        ([{"runs": 4, "ready": False}], "4", False),
        ([{"runs": 4}, {"runs": 5}], "5", False),
    ],
)
def test_never_says_that_no_pod_could_hold_it_even_if_idle(
    host: Host, pods: list[dict[str, Any]], request_: str, never: bool
) -> None:
    for number, fields in enumerate(pods):
        host.pod(f"py-{number}", **fields)
        host.run(f"x{number}", pod=f"py-{number}", requests={"runs": str(fields["runs"])})
    host.run("r", requests={"runs": request_})
    host.settle()
    assert NeverFits().of(decision(host)) is never


# Texts over time


def test_each_reason_is_written_once_and_an_unchanged_one_never_again(host: Host) -> None:
    host.run("r", affinity=affinity_object(required_anti=[term_object({"app": "a"})]))
    host.advance(35)
    host.pod("py-0", runs=4)
    host.run("x", labels={"app": "a"}, pod="py-0")
    host.relist(RUNS)
    host.advance(95)
    host.end("x")
    host.settle()
    assert host.texts("r") == [BASE_TEXT, ANTI_TEXT]
    assert host.pod_of("r") == "py-0"


def test_a_text_of_somebody_else_is_replaced_by_a_waiting_text(host: Host) -> None:
    host.run("r", status={"message": "the pod was lost"})
    host.settle()
    assert host.status("r")["message"] == BASE_TEXT


def test_the_texts_of_hopeless_runs_do_not_follow_the_others(host: Host) -> None:
    """Others come and go, and the Pod is full and not full: the reason that got furthest stands."""
    host.pod("py-0", runs=2)
    host.run("x", labels={"app": "a"}, pod="py-0")
    for number in range(3):
        anti = affinity_object(required_anti=[term_object({"app": "a"})])
        host.run(f"hopeless{number}", affinity=anti)
    host.settle()
    for number in range(5):
        host.run(f"r{number}")
        host.settle()
        host.end(f"r{number}")
        host.settle()
    assert [host.texts(f"hopeless{number}") for number in range(3)] == [[ANTI_TEXT]] * 3


def test_a_waiting_text_never_names_a_pod_or_a_run(host: Host) -> None:
    host.pod("secret-pod", runs=1)
    host.run("secret-run", pod="secret-pod", labels={"app": "secret-label"})
    host.run("r", affinity=affinity_object(required_anti=[term_object({"app": "secret-label"})]))
    host.run("r2", requests={"secret-resource": "1"})
    host.settle()
    assert not any("secret" in text for name in ("r", "r2") for text in host.texts(name))
    assert all(text.startswith("waiting for") for name in ("r", "r2") for text in host.texts(name))


def test_long_texts_are_cut_to_the_limits_of_the_api() -> None:
    def prefilter() -> None:
        raise InvalidRun("TooLong", "x" * 100_000)

    host = Host(profiles_of(fake_plugin(prefilter=prefilter)))
    host.run("r")
    host.settle()
    assert len(host.status("r")["message"]) == 4_096
    assert len(condition(host, "Completed")["message"]) == 32_768
