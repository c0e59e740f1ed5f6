"""What users, runtimed and the platform do: the steps of a history."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from kruntimes_core.testing import affinity_object, term_object

Step = tuple[Any, ...]


def _of(kind: str, term: Any) -> dict[str, Any]:
    return {kind: [term]}


apps = st.sampled_from(["a", "b", "c"])
run_names = st.sampled_from([f"r{number}" for number in range(8)])
pod_names = st.sampled_from(["py-0", "py-1", "py-2", "js-0"])

affinities = st.one_of(
    st.just(None),
    st.builds(
        lambda kind, app: affinity_object(**_of(kind, term_object({"app": app}))),
        st.sampled_from(["required", "required_anti"]),
        apps,
    ),
    st.builds(
        lambda kind, app, weight: affinity_object(**_of(kind, (weight, term_object({"app": app})))),
        st.sampled_from(["preferred", "preferred_anti"]),
        apps,
        st.integers(1, 3),
    ),
)
runs = st.fixed_dictionaries(
    {
        "labels": st.builds(lambda app: {"app": app}, apps),
        "runtime": st.sampled_from(["py", "py", "py", "js"]),
        "affinity": affinities,
        "requests": st.sampled_from([None, None, {"runs": "2"}, {"gpu": "1"}]),
        "workspace": st.sampled_from([None, None, None, "ws"]),
    }
)
creations: st.SearchStrategy[Step] = st.tuples(st.just("create"), run_names, runs)
pods: st.SearchStrategy[Step] = st.tuples(st.just("pod"), pod_names, st.integers(1, 3))
steps: st.SearchStrategy[Step] = st.one_of(
    creations,
    creations,
    st.tuples(st.just("end"), run_names),
    st.tuples(st.just("delete"), run_names),
    st.tuples(st.just("label"), run_names, apps),
    st.tuples(st.just("cancel"), run_names),
    st.tuples(st.just("requeue"), run_names),
    pods,
    st.tuples(st.just("grow"), pod_names, st.integers(3, 5)),
    st.tuples(st.just("ready"), pod_names, st.booleans()),
    st.tuples(st.just("workspace"), st.sampled_from(["Pending", "Bound", "Lost"]), pod_names),
    st.tuples(st.just("advance"), st.sampled_from([0.3, 2.0, 20.0])),
)


def histories(*more: st.SearchStrategy[Step]) -> st.SearchStrategy[list[Step]]:
    """Histories of a cluster that has some Pods and Runs to begin with. more: steps besides the common ones.

    Without that beginning, and with short histories, hardly any of them would place a Run.
    """
    return st.builds(
        lambda first, then, rest: [*first, *then, *rest],
        st.lists(pods, min_size=1, max_size=4),
        st.lists(creations, min_size=3, max_size=10),
        st.lists(st.one_of(steps, *more), min_size=10, max_size=30),
    )
