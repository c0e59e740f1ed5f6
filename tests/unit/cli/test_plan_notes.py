from collections import Counter

from kruntimes_core.cli import plan_output
from kruntimes_core.framework.plugin_results import PluginError
from kruntimes_core.lab.manifests.reader import Unreadable
from kruntimes_core.model.decode import Decoder
from kruntimes_core.testing import run_object

UNREADABLE = {"gpu": "1e999999999"}


def unreadable(name: str, namespace: str = "team-a", pod: str | None = None) -> Unreadable:
    observation = Decoder().run(run_object(name, namespace=namespace, requests=UNREADABLE, pod=pod))
    return Unreadable(observation, f"{name}.yaml:7")


def test_what_is_left_out_is_one_line_with_the_most_first() -> None:
    skipped = Counter({"ConfigMap": 3, "Deployment": 9, "Alpha": 3})
    assert list(plan_output.skipped(skipped)) == [
        "skipped 15 objects of other kinds: 9 Deployment, 3 Alpha, 3 ConfigMap"
    ]
    assert list(plan_output.skipped(Counter({"Secret": 1}))) == ["skipped 1 object of other kinds: 1 Secret"]
    assert list(plan_output.skipped(Counter())) == []


def test_only_a_run_that_failed_is_told_to_be_unreadable() -> None:
    found = [unreadable("bad"), unreadable("cancelled"), unreadable("bad", "team-b")]
    decisions = [
        {"namespace": "team-a", "run": "bad", "outcome": "Failed"},
        {"namespace": "team-a", "run": "cancelled", "outcome": "Cancelled"},
    ]
    (line,) = plan_output.failed_unread(found, decisions)
    assert line.startswith("bad.yaml:7: Run team-a/bad: spec.resources.requests['gpu']: '1e999999999' ")


def test_an_active_run_whose_request_cannot_be_read_is_a_warning() -> None:
    found = [unreadable("pending"), unreadable("active", pod="py-0"), unreadable("other", "team-b", "py-0")]
    (line,) = plan_output.guessed_usage(found, "team-a")
    assert line.startswith("warning: active.yaml:7: Run team-a/active: ")
    assert len(list(plan_output.guessed_usage(found, None))) == 2


def test_a_broken_plugin_is_named_with_its_owner() -> None:
    error = PluginError("Mine", "mine 1.2", "filter", "KeyError: 'x'")
    (line,) = plan_output.broken_plugins([error])
    assert line.startswith("error: plugin Mine (mine 1.2) failed in filter: KeyError: 'x'; ")


def test_the_sum_names_each_outcome_in_one_order() -> None:
    outcomes = ["Waiting", "Cancelled", "Scheduled", "Waiting", "Later"]
    decisions = [{"outcome": outcome} for outcome in outcomes]
    assert plan_output.summary(decisions, None) == "5 Runs: 1 Scheduled, 2 Waiting, 1 Cancelled, 1 Later"
    assert plan_output.summary(decisions[:1], "team-a") == "1 Run: 1 Waiting"


def test_a_plan_without_runs_says_so() -> None:
    assert plan_output.summary([], None) == "no pending Runs"
    assert plan_output.summary([], "team-a") == "no pending Runs in the namespace team-a"
