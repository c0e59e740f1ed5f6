"""A hook that asks only what a Pod's targets match is asked once for each way it can go."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kruntimes_core import LabelSelector, LabelSet, RuntimePod, Snapshot
from kruntimes_core.framework.outcomes import PluginError
from kruntimes_core.framework.profile import ActivePlugin, Hook
from kruntimes_core.framework.runner import target_changes
from kruntimes_core.framework.runner.columns import Columns, Effort
from kruntimes_core.framework.runner.outcomes import Prepared
from kruntimes_core.framework.runner.paths import Paths
from kruntimes_core.framework.runner.pool import Pool
from kruntimes_core.framework.runner.reads import Reads
from kruntimes_core.framework.runner.sharing import StateKey
from kruntimes_core.framework.runner.verdicts import Verdicts, checked
from kruntimes_core.model.snapshot import Pods
from kruntimes_core.testing import make_pod, make_run, matching

Filter = Callable[[RuntimePod], Any]
APPS = "abc"
A, B, C = (matching(app=app) for app in APPS)


class Site:
    """Pods that follow changes, and the answers of a column about them, brought up as a column is."""

    def __init__(self, ask: Filter, pods: int = 4) -> None:
        self.asked: list[str] = []
        self.pods = Pods({f"p{number}": make_pod(f"p{number}") for number in range(pods)})
        self.pool = Pool()
        self.pool.follow(self.pods)
        self.paths = Paths(self.pool)
        self.known: dict[str, Any] = {}
        self.due: list[str] = []
        self._ask, self._turn = ask, 0

    def put(self, name: str, targets: Sequence[dict[str, str]]) -> None:
        """A Pod carries these from now on."""
        self.pods = self.pods.replacing(name, make_pod(name, targets=targets))

    def bring_up(self) -> None:
        """Look at what is due."""
        self.pool.follow(self.pods)
        due, _ = self.paths.after(self._turn)
        self._turn = self.pool.turn
        self.due = [self.pool.pod(position).name for position in due]
        answers = self.paths.answers(due, self._asked)
        assert len(answers) == len(due) or self.paths.lost
        self.known.update(zip(self.due, answers, strict=False))

    def _asked(self, pod: RuntimePod) -> Any:
        self.asked.append("question")
        return self._ask(pod)

    def directly(self) -> dict[str, Any]:
        """What the hook says of each Pod."""
        return {name: self._ask(pod) for name, pod in self.pods.items()}


def near_a(pod: RuntimePod) -> str:
    return "near" if pod.targets.any(A) else "far"


def test_one_question_for_each_way_whatever_the_number_of_pods() -> None:
    site = Site(near_a, pods=1_000)
    site.bring_up()
    assert (len(site.due), len(site.asked)) == (1_000, 1)
    site.put("p7", [{"app": "a"}])
    site.bring_up()
    assert (site.due, len(site.asked)) == (["p7"], 2)
    site.put("p8", [{"app": "a"}])
    site.bring_up()
    assert (site.due, len(site.asked)) == (["p8"], 2)
    assert site.known == site.directly()


def test_others_that_come_and_go_are_no_change() -> None:
    site = Site(near_a)
    site.bring_up()
    site.put("p0", [{"app": "b"}])
    site.put("p1", [{"app": "b"}, {"app": "c"}])
    site.bring_up()
    assert site.due == []
    site.put("p1", [{"app": "a"}, {"app": "c"}])
    site.bring_up()
    assert site.due == ["p1"]
    site.put("p1", [{"app": "a"}, {"app": "a"}])
    site.bring_up()
    assert site.due == []


def test_a_pod_at_the_place_of_another_is_looked_at() -> None:
    site = Site(near_a)
    site.bring_up()
    site.pods = site.pods.replacing("p3", None).replacing("new", make_pod("new", targets=[{"app": "a"}]))
    site.bring_up()
    assert site.due == ["new"]
    assert site.known["new"] == "near"


def reads_name(pod: RuntimePod) -> str:
    return pod.name if pod.targets.any(A) else "far"


def counts(pod: RuntimePod) -> int:
    return pod.targets.count(A)


def looks_at_all(pod: RuntimePod) -> int:
    return len(pod.targets)


@pytest.mark.parametrize("ask", [reads_name, counts, looks_at_all])
def test_what_follows_from_more_has_no_paths(ask: Filter) -> None:
    site = Site(ask)
    site.put("p2", [{"app": "a"}])
    site.bring_up()
    assert site.paths.lost
    assert site.paths.beyond
    assert site.known == {name: site.directly()[name] for name in site.known}, "what was answered is right"


def test_what_reads_nothing_has_no_paths_but_another_state_may() -> None:
    site = Site(lambda pod: None)
    site.bring_up()
    assert site.paths.lost
    assert not site.paths.beyond


def test_a_hook_that_contradicts_itself_is_left_to_be_asked_each_time() -> None:
    orders = [[A, B], [B, A]]
    site = Site(lambda pod: [pod.targets.any(selector) for selector in orders.pop()])
    site.put("p1", [{"app": "a"}])
    site.bring_up()
    assert site.paths.lost


def test_a_hook_with_very_many_ways_is_asked_each_time() -> None:
    selectors = [matching(app=str(number)) for number in range(100)]
    site = Site(lambda pod: [selector for selector in selectors if pod.targets.any(selector)], pods=100)
    for number in range(100):
        site.put(f"p{number}", [{"app": str(number)}])
    site.bring_up()
    assert site.paths.lost
    assert len(site.asked) == 65


def test_more_selectors_than_are_followed_make_all_look_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(target_changes, "_FOLLOWED", 2)
    site = Site(near_a)
    site.bring_up()
    others = [Paths(site.pool) for _ in range(2)]
    for paths, selector in zip(others, (B, C), strict=True):
        paths.answers([0], lambda pod, selector=selector: pod.targets.any(selector))  # type: ignore[misc]
    site.bring_up()
    assert sorted(site.due) == sorted(site.pods), "what changed meanwhile was not noted"
    site.put("p2", [{"app": "a"}])
    site.bring_up()
    assert site.due == ["p2"]
    assert site.known == site.directly()


Tree = Any
"""An answer, or a selector with what follows where it is not matched, and where it is."""
trees = st.recursive(
    st.integers(0, 3), lambda inner: st.tuples(st.sampled_from([A, B, C]), inner, inner), max_leaves=8
)
loads = st.lists(st.sampled_from(APPS).map(lambda app: {"app": app}), max_size=3)
steps = st.lists(st.lists(st.tuples(st.sampled_from(["p0", "p1", "p2"]), loads), max_size=4), max_size=8)


def grown(tree: Tree) -> Filter:
    """The hook that goes by this tree."""

    def ask(pod: RuntimePod) -> Any:
        place = tree
        while isinstance(place, tuple):
            selector, unmatched, matched = place
            place = matched if pod.targets.any(selector) else unmatched
        return place

    return ask


@given(trees.filter(lambda tree: isinstance(tree, tuple)), steps)
def test_answers_are_those_of_the_hook_after_any_changes(tree: Tree, steps: list[Any]) -> None:
    site = Site(grown(tree), pods=3)
    for step in steps:
        for name, targets in step:
            site.put(name, targets)
        site.bring_up()
        assert not site.paths.lost
        assert site.known == site.directly()


def test_labels_and_selectors_that_nobody_shares_are_told_apart() -> None:
    everything = LabelSelector()
    site = Site(lambda pod: pod.targets.any(everything))
    site.bring_up()
    site.put("p0", [{}])
    site.bring_up()
    assert site.known == {"p0": True, "p1": False, "p2": False, "p3": False}
    assert site.pods["p0"].targets[LabelSet()] == 1
    assert isinstance(Snapshot(namespace="n", runtime="r", pods=site.pods).pods["p0"], RuntimePod)


def test_an_answer_out_of_contract_is_not_kept() -> None:
    answers: list[Any] = ["no rejection", None]

    def ask(pod: RuntimePod) -> Any:
        pod.targets.any(A)
        return answers.pop(0)

    plugin = ActivePlugin(
        name="Odd", distribution="acme-odd", version="1", hooks={"filter": Hook(ask, ("pod",))}
    )
    columns = Columns(plugin, "filter", 0, Verdicts, checked, Effort(), kept=1_000)
    pool, key = Pool(), StateKey(None)
    snapshot = Snapshot(namespace="team-a", runtime="py", pods=Pods({"p0": make_pod("p0")}))
    pool.follow(snapshot.pods)
    prepared = Prepared(states=(None,), keys=(key,), together=key, class_key=key, reads=Reads())
    run = make_run()
    column = columns.of(pool, prepared, run)
    with pytest.raises(PluginError, match="return None or Reject"):
        columns.bring_up(column, pool, pool.present, prepared, run, snapshot)
    columns.bring_up(column, pool, pool.present, prepared, run, snapshot)
    assert column.passed == pool.present
