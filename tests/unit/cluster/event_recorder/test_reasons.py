"""Every other reason: what must be so for its Event, what the Event says, and what it never says."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from virtual.calls import status, target
from virtual.site import Site

from kruntimes_core.cluster.client.transport import Call, MaybeSentError, Response
from kruntimes_core.cluster.event_recorder.event import EventReason, Lane
from kruntimes_core.framework.hookspecs import InvalidRun
from kruntimes_core.testing.builders import NAMESPACE
from kruntimes_core.testing.harness.object_tracker import PODS
from kruntimes_core.testing.objects import affinity_object, term_object
from kruntimes_core.testing.plugins import fake_plugin, profiles_of
from tests.unit.cluster.event_recorder.scene import AFTER, REPEAT, EventWay, Play, recorder_of
from tests.unit.cluster.played import event_scene

SECRET = "hunter2"  # noqa: S105 - it is what must not be told


def failing(broken: Callable[[], bool]) -> Callable[..., None]:
    """A filter that raises while `broken`, with what nobody may read."""

    def ask(pod: object) -> None:
        if broken():
            raise RuntimeError(f"cannot log in with {SECRET}")

    return ask


# PluginError


def test_a_plugin_that_fails_for_long_is_named_with_its_hook_and_without_its_words(announced: Play) -> None:
    profiles = profiles_of(fake_plugin("Fickle", filter=failing(lambda: True)))

    async def scene(site: Site, way: EventWay) -> None:
        site.pod("py-0")
        site.start()
        site.run("r1")
        await site.passes(3 * AFTER)
        (event,) = way.of("r1")
        assert event["reason"] == "PluginError"
        assert event["note"] == (
            "plugin Fickle (fake-fickle 1.0) fails in filter: the scheduler's log says how"
        )
        assert SECRET in site.log
        assert not any(SECRET.encode() in (call.body or b"") for _, call in way.calls)

    announced(scene, of=profiles)


def test_a_plugin_that_fails_once_makes_none(announced: Play) -> None:
    fails = [True]
    profiles = profiles_of(fake_plugin("Fickle", filter=failing(lambda: bool(fails) and fails.pop())))

    async def scene(site: Site, way: EventWay) -> None:
        site.pod("py-0")
        site.start()
        site.run("r1")
        await site.passes(3 * AFTER)
        assert site.pod_of("r1") == "py-0"
        assert way.calls == []

    announced(scene, of=profiles)


def test_a_long_wait_is_no_reason_to_tell_of_one_failure(announced: Play) -> None:
    broken = [False]
    profiles = profiles_of(fake_plugin("Fickle", filter=failing(lambda: broken[0])))

    async def scene(site: Site, way: EventWay) -> None:
        site.start()
        site.run("r1")
        await site.passes(AFTER + REPEAT - 1)
        assert way.said() == [("r1", "FailedScheduling", 1)]
        broken[0] = True
        site.pod("py-0")
        await site.passes(2)
        assert "plugin Fickle" in site.log
        assert way.said() == [("r1", "FailedScheduling", 1)]
        await site.passes(3 * AFTER)
        assert [event["reason"] for event in way.of("r1")] == ["FailedScheduling", "PluginError"]

    announced(scene, of=profiles)


# FailedUpdateStatus


@pytest.mark.parametrize(
    ("code", "says"), [(403, "answers 403"), (422, "answers 422"), (504, "no clear answer")]
)
def test_what_cannot_be_written_for_long_is_said(announced: Play, code: int, says: str) -> None:
    async def refuse(call: Call) -> Response | None:
        return status(code, "No", f"because of {SECRET}") if target(call).verb == "patch" else None

    async def scene(site: Site, way: EventWay) -> None:
        site.pod("py-0")
        site.api.faults.append(refuse)
        site.start()
        site.run("r1")
        await site.passes(AFTER)
        assert way.calls == []
        await site.passes(4 * AFTER)
        (event,) = way.of("r1")
        assert (event["reason"], event["action"]) == ("FailedUpdateStatus", "UpdatingStatus")
        assert event["note"].endswith(says)
        assert SECRET not in json.dumps(event)
        site.api.faults.clear()
        await site.passes(61)
        assert site.pod_of("r1") == "py-0"
        assert recorder_of(site).lengths[Lane.LASTING] == 0

    announced(scene)


def test_one_conflict_of_a_run_that_then_queues_for_long_makes_none(announced: Play) -> None:
    left = [True]

    async def conflict_once(call: Call) -> Response | None:
        if target(call).verb == "patch" and left:
            left.clear()
            site_of[0].change("r1", metadata={"labels": {"touched": "yes"}})
            return status(409, "Conflict")
        return None

    site_of: list[Site] = []

    async def scene(site: Site, way: EventWay) -> None:
        site_of.append(site)
        site.pod("py-0")
        site.api.faults.append(conflict_once)
        site.start()
        site.run("r1")
        await site.passes(3 * AFTER)
        assert site.pod_of("r1") == "py-0"
        assert way.calls == []

    announced(scene)


# InvalidRun


@event_scene()
async def test_a_run_that_is_ended_as_failed_is_told_of_at_once_without_its_selectors(
    site: Site, way: EventWay
) -> None:
    site.start()
    site.run("r1", affinity=affinity_object(required=[term_object({"-no key-": SECRET})]))
    await site.passes(1)
    assert site.status("r1")["phase"] == "Failed"
    (event,) = way.of("r1")
    assert (event["reason"], event["action"]) == ("InvalidRun", "Scheduling")
    assert event["note"] == "can never be scheduled (InvalidAffinity): status.message says what to correct"
    await site.passes(2 * REPEAT)
    assert way.said() == [("r1", "InvalidRun", 1)]


def test_what_a_plugin_says_of_an_invalid_run_stays_in_its_status(announced: Play) -> None:
    def prefilter(run: object) -> None:
        raise InvalidRun("OwnerMissing", f"not with {SECRET}")

    async def scene(site: Site, way: EventWay) -> None:
        site.pod("py-0")
        site.start()
        site.run("r1")
        await site.passes(1)
        assert SECRET in site.status("r1")["message"]
        (event,) = way.of("r1")
        assert "(OwnerMissing)" in event["note"]
        assert SECRET not in event["note"]

    announced(scene, of=profiles_of(fake_plugin("Owners", prefilter=prefilter)))


def test_a_lost_answer_does_not_keep_an_invalid_run_from_its_event(announced: Play) -> None:
    lost = [True]

    async def lose_once(call: Call) -> Response | None:
        if target(call).verb != "patch" or not lost:
            return None
        lost.clear()
        site_of[0].api.serve(call)
        raise MaybeSentError("the connection broke")

    site_of: list[Site] = []

    async def scene(site: Site, way: EventWay) -> None:
        site_of.append(site)
        site.api.faults.append(lose_once)
        site.start()
        site.run("r1", requests={"runs": "500m"})
        await site.passes(2 * AFTER + REPEAT)
        assert way.said() == [("r1", "InvalidRun", 1)]

    announced(scene)


@event_scene()
async def test_a_run_that_is_cancelled_makes_none(site: Site, way: EventWay) -> None:
    site.start()
    site.run("r1")
    await site.passes(1)
    site.change("r1", spec={"cancelRequested": True})
    await site.passes(2 * AFTER)
    assert site.status("r1")["phase"] == "Cancelled"
    assert way.calls == []


# RuntimePodOversold


@event_scene()
async def test_a_pod_that_holds_more_than_it_has_is_told_of_with_the_run(site: Site, way: EventWay) -> None:
    pod = site.pod("py-0", runs=1)
    site.start()
    site.run("r1", pod="py-0")
    await site.passes(1)
    assert way.calls == []
    site.run("r2", pod="py-0")
    await site.passes(6)
    (event,) = way.events
    assert (event["reason"], event["action"]) == ("RuntimePodOversold", "Watching")
    assert event["regarding"]["kind"] == "Pod"
    assert event["regarding"]["apiVersion"] == "v1"
    assert event["regarding"]["uid"] == pod["metadata"]["uid"]
    assert (event["related"]["kind"], event["related"]["name"]) == ("Run", "r2")


@event_scene()
async def test_a_pod_that_advertises_less_than_it_holds_is_told_of_when_that_is_seen(
    site: Site, way: EventWay
) -> None:
    site.pod("py-0", runs=2)
    site.start()
    site.run("r1")
    site.run("r2")
    await site.passes(1)
    lowered = {"metadata": {"annotations": {"kruntimes.io/capacity.runs": "1"}}}
    site.server.change(PODS, NAMESPACE, "py-0", lowered)
    await site.passes(45)
    assert way.said() == [("py-0", "RuntimePodOversold", 1)]
    assert "related" not in way.events[0]
    # Heartbeats come by, and its Runs go on: it is the same state.
    site.change("r1", status={"phase": "Running"})
    await site.passes(12)
    assert way.said() == [("py-0", "RuntimePodOversold", 1)]


# Scheduled


@pytest.mark.parametrize("placements", [True, False])
def test_a_bind_makes_an_event_only_where_that_is_asked_for(announced: Play, placements: bool) -> None:
    async def scene(site: Site, way: EventWay) -> None:
        site.pod("py-0")
        site.start()
        site.run("r1")
        await site.passes(1)
        assert site.pod_of("r1") == "py-0"
        assert way.said() == ([("r1", "Scheduled", 1)] if placements else [])
        for event in way.events:
            assert (event["type"], event["action"]) == ("Normal", "Binding")
            assert (event["related"]["kind"], event["related"]["name"]) == ("Pod", "py-0")
            assert "py-0" not in event["note"]

    announced(scene, placements=placements)


def test_these_are_all_reasons() -> None:
    assert [reason.value for reason in EventReason] == [
        "FailedScheduling",
        "NeverFits",
        "HeartbeatStale",
        "PluginError",
        "FailedUpdateStatus",
        "InvalidRun",
        "RuntimePodOversold",
        "Scheduled",
    ]
