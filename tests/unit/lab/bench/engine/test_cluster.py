"""A measured cluster is as large as it was asked to be, and the same for the same seed."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, replace

import pytest

from kruntimes_core.framework.configuration import Profiles
from kruntimes_core.framework.profile import Profile
from kruntimes_core.lab.bench.engine.cluster import MeasuredCluster
from kruntimes_core.lab.bench.engine.driver import EngineSetup, prepared
from kruntimes_core.lab.bench.engine.shape import DIMENSIONS, Shape

SHAPE = Shape(pods=10, runs=5, known=100, waiting=12, requests=3, cohorts=4)


def test_what_was_asked_for_is_there(means: EngineSetup) -> None:
    site = prepared(SHAPE, means)
    assert site.engine.sizes["runs"] == SHAPE.known + SHAPE.waiting
    assert site.engine.sizes["unschedulable"] == SHAPE.waiting
    assert site.engine.sizes["classes"] == SHAPE.requests
    pods = site.engine.cache.snapshot("bench-0", "bench", site.now.wall).pods
    assert Counter(pod.usage["runs"] for pod in pods.values()) == {4: 10}


def test_where_it_is_full_nothing_has_room(means: EngineSetup) -> None:
    site = prepared(SHAPE, means, full=True)
    pods = site.engine.cache.snapshot("bench-0", "bench", site.now.wall).pods
    assert all(pod.usage["runs"] == pod.capacity["runs"] for pod in pods.values())
    assert len(site.running) == 40


@pytest.mark.parametrize(("namespaces", "runtimes"), [(1, 1), (3, 1), (1, 3), (2, 4), (3, 3)])
def test_pods_and_runs_are_spread_evenly(profiles: Profiles, namespaces: int, runtimes: int) -> None:
    shape = replace(SHAPE, pods=12, known=60, namespaces=namespaces, runtimes=runtimes)
    cluster = MeasuredCluster(shape, profiles)
    assert len({pool.namespace for pool in cluster.pools}) == namespaces
    assert len({pool.runtime for pool in cluster.pools}) == runtimes
    pods = Counter((seen.pod.namespace, seen.pod.runtime) for seen in cluster.pods())
    assert len(pods) == len(cluster.pools) == shape.pools
    assert set(pods.values()) == {12 // shape.pools}
    runs = Counter((life.pool.namespace, life.pool.runtime) for life in cluster.running())
    assert set(runs.values()) == {4 * 12 // shape.pools}


def test_every_pool_has_a_pod_at_least(profiles: Profiles) -> None:
    cluster = MeasuredCluster(replace(SHAPE, pods=1, namespaces=5), profiles)
    assert len(list(cluster.pods())) == cluster.pods_in_all == 5


def test_the_runtimes_of_the_configuration_come_after_the_default(profiles: Profiles) -> None:
    several = Profiles((*profiles.all, Profile(name="batch", runtimes=frozenset({"torch", "jax"}))))
    cluster = MeasuredCluster(replace(SHAPE, runtimes=4), several)
    assert [pool.runtime for pool in cluster.pools] == ["bench", "jax", "torch", "bench-1"]


def arrangement(profiles: Profiles, seed: int) -> list[str]:
    cluster = MeasuredCluster(replace(SHAPE, seed=seed), profiles)
    return [str(life.observation().run.labels) for life in cluster.running()]


def test_the_seed_chooses_what_lies_where(profiles: Profiles) -> None:
    assert arrangement(profiles, 1) == arrangement(profiles, 1)
    assert arrangement(profiles, 1) != arrangement(profiles, 2)


@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_one_dimension_grows_by_itself(dimension: str) -> None:
    grown = SHAPE.sized(dimension, 64)
    changed = {name for name, size in asdict(grown).items() if size != asdict(SHAPE)[name]}
    # Further namespaces and Runtimes bring their Pods, or there would be less and less to decide about.
    assert changed == {dimension} | ({"pods"} if dimension in ("namespaces", "runtimes") else set())


def test_each_pool_keeps_its_pods_when_there_are_more() -> None:
    assert replace(SHAPE, namespaces=2).sized("namespaces", 8).pods == 40
