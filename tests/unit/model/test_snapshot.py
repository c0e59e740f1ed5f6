import pytest
from hypothesis import given
from hypothesis import strategies as st

from kruntimes_core.model.pod import shortage
from kruntimes_core.model.run import Request
from kruntimes_core.model.snapshot import ChangeMark, Pods
from kruntimes_core.testing import make_pod

NAMES = ["py-0", "py-1", "py-2", "py-3"]


def test_a_change_makes_a_new_picture_and_leaves_the_old_one() -> None:
    first, second = make_pod("py-0"), make_pod("py-0", usage={"runs": 1})
    before = Pods({"py-0": first})
    after = before.replacing("py-0", second)
    assert (before["py-0"], after["py-0"]) == (first, second)
    gone = after.replacing("py-0", None)
    assert (len(gone), "py-0" in gone, list(gone)) == (0, False, [])
    assert after["py-0"] is second
    with pytest.raises(KeyError):
        gone.replacing("py-0", None)


def test_a_reader_learns_what_changed_since_its_mark() -> None:
    pods = Pods()
    for name in ("py-0", "py-1", "py-0"):
        pods = pods.replacing(name, make_pod(name))
    mark = pods.mark
    assert pods.changed_since(mark) == []
    later = pods.replacing("py-2", make_pod("py-2")).replacing("py-1", None)
    assert later.changed_since(mark) == ["py-2", "py-1"]
    assert pods.changed_since(mark) == []
    assert pods.changed_since(later.mark) is None


def test_two_futures_of_one_picture_do_not_see_each_others_changes() -> None:
    pods = Pods().replacing("py-0", make_pod("py-0"))
    mark = pods.mark
    first = pods.replacing("py-1", make_pod("py-1"))
    second = pods.replacing("py-2", make_pod("py-2"))
    assert first.changed_since(mark) == ["py-1"]
    assert second.changed_since(mark) is None
    assert second.replacing("py-3", make_pod("py-3")).changed_since(second.mark) == ["py-3"]
    assert first.changed_since(second.mark) is None
    assert (sorted(first), sorted(second)) == (["py-0", "py-1"], ["py-0", "py-2"])


def test_the_log_of_changes_does_not_grow_for_ever() -> None:
    pods = Pods({name: make_pod(name) for name in NAMES})
    mark, longest = pods.mark, 0
    for n in range(10_000):
        pods = pods.replacing(NAMES[n % 4], make_pod(NAMES[n % 4]))
        longest = max(longest, len(pods.mark.log))
    assert longest <= 100
    assert pods.changed_since(mark) is None


@pytest.mark.parametrize(
    ("asked", "figures"),
    [
        ({"runs": 1}, None),
        ({"cpu": 1}, None),
        ({"cpu": 2}, "cpu: 7 in use + 2 requested > 8"),
        ({"runs": 1, "cpu": 9}, "cpu: 7 in use + 9 requested > 8"),
        ({"runs": 2, "cpu": 9}, "runs: 0 in use + 2 requested > 1"),
        ({"gpu": 1}, "gpu is not advertised"),
    ],
)
def test_what_a_pod_lacks_is_told_with_figures(asked: dict[str, int], figures: str | None) -> None:
    pod = make_pod("py-0", capacity={"runs": 1, "cpu": 8}, usage={"cpu": 7})
    request = Request(asked)
    assert shortage(pod, request) == figures
    assert pod.fits(request) is (figures is None)


changes = st.lists(st.tuples(st.integers(0, 400), st.sampled_from(NAMES), st.integers(0, 3)), max_size=120)


@given(changes)
def test_what_a_reader_is_told_is_all_that_differs(steps: list[tuple[int, str, int]]) -> None:
    """Pictures are made from any earlier one; a reader may come from any other."""
    history = [Pods()]
    marks: list[ChangeMark] = [history[0].mark]
    for origin, name, usage in steps:
        base = history[max(len(history) - 1 - origin // 100, 0)]
        pod = make_pod(name, usage={"runs": usage}) if usage else None
        if pod is None and name not in base:
            continue
        history.append(base.replacing(name, pod))
        marks.append(history[-1].mark)
    now = history[-1]
    for before, mark in zip(history, marks, strict=True):
        told = now.changed_since(mark)
        if told is not None:
            differing = {name for name in NAMES if before.get(name) is not now.get(name)}
            assert differing <= set(told)
