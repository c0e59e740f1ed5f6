"""A call that does not return blocks its profile alone, and what is called afterwards are new instances."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from engine_scenes import executed, planning, returned

from kruntimes_core.cluster.plugin_worker import ThreadPluginWorker
from kruntimes_core.engine.decisions import Outcome
from kruntimes_core.framework.profile import ActivePlugin, CurrentCall, PluginError, Profile, Profiles
from kruntimes_core.testing.builders import NAMESPACE
from kruntimes_core.testing.harness import Host
from kruntimes_core.testing.plugins import fake_plugin

HOOKS = ["prefilter", "filter", "score", "normalize", "reserve", "unreserve", "queue_key"]


class Hanger:
    """A plugin with every hook, of which one hangs in one of its instances."""

    def __init__(self, hook: str, hang: Callable[[], object]) -> None:
        self.hook, self.hang = hook, hang
        self.instances: list[list[tuple[str, str]]] = []
        """What was called of each instance, and on which thread."""
        self.failure: Exception | None = None
        """Raised by the constructor."""

    def build(self, current: CurrentCall) -> tuple[ActivePlugin, ...]:
        """A new instance."""
        if self.failure is not None:
            raise self.failure
        with current.load("Hanger", "fake-hanger 1.0", "constructor"):
            self.met("constructor", [])
            calls: list[tuple[str, str]] = []
            self.instances.append(calls)
        return (
            fake_plugin(
                "Hanger",
                stateful=True,
                prefilter=lambda request: self.met("prefilter", calls),
                filter=lambda pod: self.met("filter", calls),
                score=lambda pod: self.met("score", calls, 1),
                normalize=lambda scores: self.met("normalize", calls, [1 for _ in scores]),
                reserve=lambda pod: self.met("reserve", calls),
                unreserve=lambda pod: self.met("unreserve", calls),
                queue_key=lambda run: self.met("queue_key", calls, run.name),
            ),
        )

    def met(self, hook: str, calls: list[tuple[str, str]], answer: Any = None) -> Any:
        calls.append((hook, threading.current_thread().name))
        if hook == self.hook:
            self.hang()
        return answer


def host_of(hanger: Hanger) -> Host:
    """One with the profile `default`, whose plugin hangs, and `go`, in which the same plugin does not."""
    default = Profile(plugins=hanger.build(CurrentCall()), build=hanger.build)
    go = Profile(name="go", plugins=(fake_plugin("Hanger", score=lambda pod: 1),), runtimes=frozenset({"go"}))
    host = Host(Profiles((default, go)))
    host.pod("py-0", runs=9)
    host.pod("go-0", runtime="go", runs=9)
    return host


async def settle(worker: ThreadPluginWorker, host: Host) -> None:
    """Do all work on the worker, and send all requests."""
    while True:
        host.observe()
        work = host.engine.take(host.now)
        if work is not None:
            done: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
            worker.submit(work, done.set_result)
            await asyncio.sleep(0)
            if not done.done() and worker.free:
                return  # an unreserve that is deferred
            host.engine.finish(work, await done, host.now)
        elif not host.send():
            return


def outcome(host: Host, name: str) -> Outcome | None:
    entry = host.engine.find(NAMESPACE, name)
    return entry.decision.outcome if entry is not None and entry.decision is not None else None


@pytest.mark.parametrize("hook", HOOKS)
def test_a_hook_that_hangs_blocks_its_profile_and_no_other(hook: str) -> None:
    release = threading.Event()
    hanger = Hanger(hook, lambda: release.wait(30))
    host = host_of(hanger)
    default, go = host.engine.profiles.all

    async def scene(worker: ThreadPluginWorker) -> None:
        host.run("r1")
        await settle(worker, host)
        assert worker.stuck == {"Hanger": 1}
        block = worker.block_of(default, host.engine.profiles.queue_profile)
        assert block is not None
        assert (block.error.plugin, block.error.hook) == ("Hanger", hook)
        assert host.engine.counters.plugin_errors["Hanger", hook] == 1
        called = len(hanger.instances[0])
        host.run("r2")
        host.run("g1", runtime="go")
        await settle(worker, host)
        assert worker.stuck == {"Hanger": 1}
        assert len(hanger.instances[0]) == called
        assert host.pod_of("r2") is None
        if hook == "queue_key":
            assert worker.block_of(go, host.engine.profiles.queue_profile) is block
        else:
            assert worker.block_of(go, host.engine.profiles.queue_profile) is None
            assert host.pod_of("g1") == "go-0"
        hanger.hook = "none"
        release.set()
        await returned(worker)
        host.pass_time(60)
        host.beat_all()
        await settle(worker, host)
        assert [host.pod_of(name) for name in ("r1", "r2", "g1")] == ["py-0", "py-0", "go-0"]
        assert len(hanger.instances[0]) == called

    planning(scene)
    assert len(hanger.instances) == (2 if hook == "queue_key" else 3)


def swallowing(release: threading.Event) -> None:
    while not release.is_set():
        try:
            time.sleep(0.01)
        except BaseException:  # noqa: BLE001, S112 - as rude as can be
            continue


def locked(release: threading.Event) -> None:
    lock = threading.Lock()
    lock.acquire()

    def unlock() -> None:
        release.wait(30)
        lock.release()

    threading.Thread(target=unlock).start()
    lock.acquire()


def in_c(release: threading.Event) -> None:
    """It never comes back: the thread ends with the process."""
    time.sleep(1e9)


@pytest.mark.parametrize("hang", [swallowing, locked, in_c])
def test_however_it_hangs_the_other_profile_goes_on(hang: Callable[[threading.Event], None]) -> None:
    release = threading.Event()
    hanger = Hanger("filter", lambda: hang(release))
    host = host_of(hanger)

    async def scene(worker: ThreadPluginWorker) -> None:
        host.run("r1")
        host.run("g1", runtime="go")
        await settle(worker, host)
        assert host.pod_of("g1") == "go-0"
        assert worker.stuck == {"Hanger": 1}
        assert worker.block_of(host.engine.profiles.all[0], None) is not None
        release.set()
        if hang is not in_c:
            await returned(worker)

    planning(scene)


def test_after_an_interrupted_call_the_instances_are_new_too() -> None:
    def spin() -> None:
        while True:
            pass

    hanger = Hanger("filter", spin)
    host = host_of(hanger)

    async def scene(worker: ThreadPluginWorker) -> None:
        host.run("r1")
        await settle(worker, host)
        assert worker.stuck == {}
        hanger.hook = "none"
        host.pass_time(60)
        host.beat_all()
        await settle(worker, host)
        assert host.pod_of("r1") == "py-0"
        assert [len(calls) > 0 for calls in hanger.instances] == [True, True]

    planning(scene)


def test_a_constructor_that_hangs_on_the_fresh_thread_is_named() -> None:
    release = threading.Event()
    hanger = Hanger("filter", lambda: None)
    host = host_of(hanger)

    def spin() -> None:
        while True:
            pass

    async def scene(worker: ThreadPluginWorker) -> None:
        hanger.hang = spin
        host.run("r1")
        await settle(worker, host)
        hanger.hook, hanger.hang = "constructor", lambda: release.wait(30)
        host.pass_time(60)
        host.beat_all()
        await settle(worker, host)
        assert worker.stuck == {"Hanger": 1}
        assert host.engine.counters.plugin_errors["Hanger", "constructor"] == 1
        hanger.hook = "none"
        release.set()
        await returned(worker)

    assert "abandoned a call plugin=Hanger" in planning(scene)


def test_a_constructor_that_fails_on_the_fresh_thread_is_tried_again() -> None:
    release = threading.Event()
    hanger = Hanger("filter", lambda: release.wait(30))
    host = host_of(hanger)

    async def scene(worker: ThreadPluginWorker) -> None:
        host.run("r1")
        await settle(worker, host)
        release.set()
        await returned(worker)
        hanger.hook = "none"
        hanger.failure = PluginError("Hanger", "fake-hanger 1.0", "constructor", "no database")
        host.pass_time(60)
        host.beat_all()
        await settle(worker, host)
        assert host.engine.counters.plugin_errors["Hanger", "constructor"] == 1
        hanger.failure = None
        host.pass_time(60)
        host.beat_all()
        await settle(worker, host)
        assert host.pod_of("r1") == "py-0"

    planning(scene)


@pytest.mark.parametrize("fails", [False, True])
def test_a_reservation_of_the_old_instance_is_given_back_to_the_new_one(fails: bool) -> None:
    """Exactly once, also if the constructor of the new one fails at first."""
    release = threading.Event()
    hanger = Hanger("none", lambda: release.wait(30))
    host = host_of(hanger)

    async def scene(worker: ThreadPluginWorker) -> None:
        host.run("r1")
        host.observe()
        while "reserve" not in [hook for hook, _ in hanger.instances[0]]:
            work = host.engine.take(host.now)
            assert work is not None
            host.engine.finish(work, await executed(worker, work), host.now)
        hanger.hook = "filter"
        host.run("r2")
        await settle(worker, host)
        assert worker.stuck == {"Hanger": 1}
        hanger.hook = "none"
        if fails:
            hanger.failure = PluginError("Hanger", "fake-hanger 1.0", "constructor", "no database")
        release.set()
        await returned(worker)
        await asyncio.sleep(0.3)
        hanger.failure = None
        while "unreserve" not in [hook for calls in hanger.instances[1:] for hook, _ in calls]:
            await asyncio.sleep(0)
        await asyncio.sleep(0.2)
        called = [hook for calls in hanger.instances for hook, _ in calls]
        assert called.count("unreserve") == called.count("reserve") == 1
        assert "unreserve" not in [hook for hook, _ in hanger.instances[0]]

    assert ("unreserve is called later" in planning(scene)) is fails


def test_threads_of_a_former_configuration_end() -> None:
    hanger = Hanger("none", lambda: None)
    host = host_of(hanger)

    async def scene(worker: ThreadPluginWorker) -> None:
        before = threading.active_count()
        for _ in range(5):
            host.run(f"r{threading.active_count()}-{len(hanger.instances)}")
            await settle(worker, host)
            default = Profile(plugins=hanger.build(CurrentCall()), build=hanger.build)
            host.engine.reload(Profiles((default,)), host.now)
            worker.keep(host.engine.profiles_in_use)
        await asyncio.sleep(0.1)
        assert threading.active_count() <= before + 1

    planning(scene)
