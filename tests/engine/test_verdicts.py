"""What a decision says: the specification's status table, headlines, `never`, texts, retry delays."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from kruntimes_core import InvalidRun, Reject, RuntimePod
from kruntimes_core.engine.record.decision import Decision, NeverFits, Outcome
from kruntimes_core.engine.settings import Settings
from kruntimes_core.engine.tally import Result
from kruntimes_core.framework.profile import ActivePlugin
from kruntimes_core.testing import affinity_object, condition_object, term_object
from kruntimes_core.testing.builders import NAMESPACE, NOW
from kruntimes_core.testing.harness import RUNS, Host
from kruntimes_core.testing.plugins import fake_plugin, profiles_of

BASE_TEXT = 'waiting for available runtime pods for runtime "py"'
AFFINITY_TEXT = "waiting for a runtime pod that satisfies required run affinity"
ANTI_TEXT = "waiting for a runtime pod without the runs that required run anti-affinity excludes"


def decision(host: Host, name: str = "r") -> Decision:
    entry = host.engine.find(NAMESPACE, name)
    assert entry is not None
    assert entry.decision is not None
    return entry.decision


def condition(host: Host, kind: str, name: str = "r") -> dict[str, Any]:
    (found,) = [c for c in host.status(name)["conditions"] if c["type"] == kind]
    return dict(found)


# The specification's table


@pytest.mark.parametrize(
    ("prepare", "run", "text"),
    [
        (lambda host: None, {}, BASE_TEXT),
        (lambda host: host.pod("py-0", ready=False), {}, BASE_TEXT),
        (lambda host: host.pod("py-0", runs=1), {"requests": {"runs": "2"}}, BASE_TEXT),
        (
            lambda host: host.pod("py-0"),
            {"affinity": affinity_object(required=[term_object({"app": "a"})])},
            AFFINITY_TEXT,
        ),
        (
            lambda host: (host.pod("py-0", runs=4), host.run("x", labels={"app": "a"}, pod="py-0")),
            {"affinity": affinity_object(required_anti=[term_object({"app": "a"})])},
            ANTI_TEXT,
        ),
    ],
    ids=["no pod", "no ready pod", "no capacity", "affinity", "anti-affinity"],
)
def test_what_cannot_be_satisfied_now_stays_pending_with_a_bounded_text(
    host: Host, prepare: Any, run: dict[str, Any], text: str
) -> None:
    prepare(host)
    host.run("r", **run)
    host.settle()
    assert host.status("r")["phase"] == "Pending"
    assert host.texts("r") == [text]
    assert host.engine.tally.syncs[Result.NO_PODS] == 1


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"requests": {"gpu": "1e999999999"}}, "InvalidResources"),
        ({"requests": {"gpu": "500m"}}, "InvalidResources"),
        ({"requests": {"gpu": "-1"}}, "InvalidResources"),
        ({"affinity": affinity_object(required=[term_object()])}, "InvalidAffinity"),
        (
            {"spec": {"workspace": {"name": "ws", "kind": "Deployment"}}},
            "InvalidWorkspace",
        ),
        (
            {
                "affinity": affinity_object(
                    required=[term_object(expressions=[{"key": "app", "operator": "in", "values": ["a"]}])]
                )
            },
            "InvalidAffinity",
        ),
    ],
)
@pytest.mark.parametrize("pods", [0, 2])
def test_an_invalid_constraint_fails_once_and_never_loops(
    host: Host, fields: dict[str, Any], reason: str, pods: int
) -> None:
    for number in range(pods):
        host.pod(f"py-{number}")
    host.run("r", **fields)
    host.run("ok")
    host.advance(100)
    status = host.status("r")
    assert status["phase"] == "Failed"
    assert status["completionTime"] == "2026-01-02T03:04:05Z"
    assert status["message"]
    for kind in ("Running", "Completed"):
        assert (condition(host, kind)["status"], condition(host, kind)["reason"]) == ("False", reason)
    assert len(host.writes("r")) == 1
    assert host.pod_of("ok") == ("py-0" if pods else None)


def test_an_active_runs_own_invalid_selector_harms_nobody(host: Host) -> None:
    host.pod("py-0", runs=2)
    host.run("x", pod="py-0", affinity=affinity_object(required=[term_object()]))
    host.run("r")
    host.settle()
    assert host.pod_of("r") == "py-0"
    assert not host.writes("x")


def test_a_prefilter_may_end_a_run_with_a_reason_of_its_own() -> None:
    def prefilter(labels: Any) -> None:
        if "tenant" not in labels:
            raise InvalidRun("TenantMissing", "set the label tenant")

    host = Host(profiles_of(fake_plugin(prefilter=prefilter)))
    host.pod("py-0")
    host.run("r")
    host.run("ok", labels={"tenant": "a"})
    host.settle()
    assert host.status("r")["message"] == "set the label tenant"
    assert condition(host, "Completed")["reason"] == "TenantMissing"
    assert host.pod_of("ok") == "py-0"


def test_a_preference_that_cannot_be_met_is_no_constraint(host: Host) -> None:
    host.pod("py-0")
    host.run("r", affinity=affinity_object(preferred=[(100, term_object({"app": "nowhere"}))]))
    host.settle()
    assert host.pod_of("r") == "py-0"


def test_a_pod_that_turns_unhealthy_after_the_bind_is_the_platforms_affair(host: Host) -> None:
    host.pod("py-0")
    host.pod("py-1")
    host.run("r")
    host.settle()
    host.ready("py-0", False)
    host.advance(120)
    assert host.pod_of("r") == "py-0"
    assert len(host.writes("r")) == 1


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
    elsewhere = {"py-0": Reject("BFirst", elsewhere=True), "py-1": Reject("BFirst", elsewhere=True)}
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
    assert len(condition(host, "Completed")["message"]) <= 32_768


# Retry delay


def requeued(attempt: int, *, backoff: str | None = None, since: int = 0) -> dict[str, Any]:
    policy = {"maxAttempts": 100, **({"backoff": backoff} if backoff is not None else {})}
    stopped = condition_object("Running", False, since=NOW + timedelta(seconds=since))
    return {"spec": {"retryPolicy": policy}, "status": {"attempt": attempt, "conditions": [stopped]}}


@pytest.mark.parametrize(
    ("attempt", "backoff", "since", "delay"),
    [
        (1, "10s", 0, 0),
        (2, None, 0, 1),
        (2, "10s", 0, 10),
        (3, "10s", 0, 20),
        (4, "10s", 0, 40),
        (5, "10s", 0, 60),
        (2, "10s", -4, 6),
        (2, "10s", -400, 0),
        (2, "10s", 300, 10),
        (2, "5m", 0, 60),
        (2, "nonsense", 0, 1),
        (2, "-5s", 0, 1),
        (2_147_483_647, "1ms", 0, 60),
    ],
)
def test_a_requeued_run_waits_its_retry_delay_and_no_longer(
    host: Host, attempt: int, backoff: str | None, since: int, delay: int
) -> None:
    host.pod("py-0")
    host.run("r", **requeued(attempt, backoff=backoff, since=since))
    host.settle()
    if delay:
        host.advance(delay - 0.001)
        assert host.pod_of("r") is None
        assert host.cycles == 0
        assert decision(host).outcome is Outcome.BACKOFF
        host.advance(0.001)
    assert host.pod_of("r") == "py-0"


def test_the_delay_counts_from_first_sight_and_no_edit_renews_it(host: Host) -> None:
    host.pod("py-0")
    host.run("r", **requeued(2, backoff="10s", since=300))
    for step in range(9):
        host.advance(1)
        host.change("r", metadata={"labels": {"step": str(step)}})
    host.advance(0.999)
    assert host.pod_of("r") is None
    host.advance(0.001)
    assert host.pod_of("r") == "py-0"


def test_the_delay_does_not_follow_a_wall_clock_that_jumps(host: Host) -> None:
    host.pod("py-0")
    host.run("r", **requeued(2, backoff="10s"))
    host.settle()
    host.jump(-3_600)
    host.advance(10)
    assert host.pod_of("r") == "py-0"


def test_each_attempt_has_a_delay_of_its_own(host: Host) -> None:
    host.pod("py-0")
    host.run("r", **requeued(2, backoff="2s"))
    host.advance(2)
    assert host.pod_of("r") == "py-0"
    stopped = condition_object("Running", False, since=host.now.wall)
    host.change(
        "r",
        status={
            "phase": "Pending",
            "assignedPod": None,
            "assignedPodUID": None,
            "attempt": 3,
            "conditions": [stopped],
        },
    )
    host.advance(3.9)
    assert host.pod_of("r") is None
    host.advance(0.1)
    assert host.pod_of("r") == "py-0"


def test_no_timer_makes_a_busy_loop(host: Host) -> None:
    """Delays end at their moment, each wakes once, and nothing polls."""
    for number in range(20):
        host.run(f"r{number}", **requeued(2, backoff="10s"))
    host.advance(29)
    assert host.cycles == 20


@pytest.mark.parametrize(("failures", "seconds"), [(1, 1), (2, 2), (6, 32), (7, 60), (64, 60), (2**31, 60)])
def test_the_backoff_doubles_up_to_its_cap_however_many_failures(failures: int, seconds: int) -> None:
    assert Settings().backoff(failures) == seconds * 1_000_000


def test_a_run_value_keeps_what_a_pod_advertises_exactly(host: Host) -> None:
    """`2500m` holds two, `999m` holds none: no rounding decides."""
    host.pod("py-0", runs=9, capacity={"half": "2500m", "almost": "999m"})
    for number in range(3):
        host.run(f"half{number}", requests={"half": "1"})
    host.run("almost", requests={"almost": "1"})
    host.settle()
    assert [host.pod_of(f"half{number}") for number in range(3)] == ["py-0", "py-0", None]
    assert host.pod_of("almost") is None


def test_an_available_pod_is_what_its_value_says(host: Host) -> None:
    host.pod("py-0", runs=3)
    host.run("r", labels={"app": "a"})
    host.settle()
    pod: RuntimePod = host.engine.state.snapshot(NAMESPACE, "py", NOW).pods["py-0"]
    assert (pod.available, dict(pod.usage), dict(pod.capacity)) == (True, {"runs": 1}, {"runs": 3})
