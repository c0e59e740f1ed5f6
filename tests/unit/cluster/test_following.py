"""What is known stays true through every way in which lists and watches go wrong."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest
from memoryapi.calls import Fault, Target, line, status, target
from memoryapi.site import Site, play

from kruntimes_core.cluster.transport.protocol import Call, MaybeSentError, Response
from kruntimes_core.framework.configuration import Profiles
from kruntimes_core.testing.harness import PODS, RUNS

NAMESPACE = "team-a"
Scene = Callable[[Site], None]


def failing(verb: str, plural: str, *answers: Response | Exception | None) -> Fault:
    """Answers for the next calls of a kind, one each; None lets a call through."""
    left = list(answers)

    async def fault(call: Call) -> Response | None:
        what = target(call)
        if (what.verb, what.plural) != (verb, plural) or not left:
            return None
        answer = left.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    return fault


def always(verb: str, plural: str, answer: Response) -> Fault:
    """One answer for all calls of a kind."""

    async def fault(call: Call) -> Response | None:
        what = target(call)
        return answer if (what.verb, what.plural) == (verb, plural) else None

    return fault


async def started(site: Site, runs: int = 1) -> None:
    """One Pod with room for `runs`, and a host that follows."""
    site.pod("py-0", runs=runs)
    site.start()
    await site.passes(1)
    assert site.why_not_ready() == []


def streams(site: Site, plural: str) -> list[object]:
    return [stream for stream in site.api.streams if stream.plural == plural]


# Watches (E1, E2)


@pytest.mark.parametrize("plural", ["runs", "pods"])
def test_a_half_open_watch_is_found_within_a_minute(profiles: Profiles, plural: str) -> None:
    async def scene(site: Site) -> None:
        await started(site, runs=2)
        silent = next(stream for stream in site.api.streams if stream.plural == plural)
        silent.silent = True
        if plural == "pods":
            site.pod("js-0", runtime="js")
        site.run("r1", runtime="js" if plural == "pods" else "py")
        await site.passes(20)
        assert site.pod_of("r1") is None
        await site.passes(40)
        assert site.pod_of("r1") is not None

    play(profiles, scene)


def test_the_age_of_the_last_watch_event_is_visible(profiles: Profiles) -> None:
    async def scene(site: Site) -> None:
        await started(site)
        for stream in site.api.streams:
            stream.silent = True
        await site.passes(30)
        shown = site.host.metrics.exposition().decode()
        ages = re.findall(r'watch_event_age_seconds{resource="(\w+)"} ([0-9.]+)', shown)
        assert {resource for resource, _ in ages} == {"runs", "pods", "persistentworkspaces"}
        assert all(float(age) > 25 for _, age in ages)

    play(profiles, scene)


GONE = {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old resource version"}


@pytest.mark.parametrize("form", ["event", "answer"])
def test_an_expired_version_leads_to_a_new_list_and_to_no_storm(profiles: Profiles, form: str) -> None:
    async def scene(site: Site) -> None:
        await started(site)
        lists = site.api.count("list", "runs")
        if form == "event":
            (stream,) = (one for one in site.api.streams if one.plural == "runs")
            stream.inject.append(line("ERROR", GONE))
        else:
            site.api.oldest = 10**9
            for one in site.api.streams:
                one.cut = True
        await site.passes(30)
        again = site.api.count("list", "runs") - lists
        assert again == 1 if form == "event" else 1 < again < 20
        site.api.oldest = 0
        site.run("r1")
        await site.passes(5)
        assert site.pod_of("r1") == "py-0"

    play(profiles, scene)


def test_an_error_event_is_no_object_and_the_watch_resumes(profiles: Profiles) -> None:
    async def scene(site: Site) -> None:
        await started(site)
        lists, watches = site.api.count("list", "runs"), site.api.count("watch", "runs")
        (stream,) = (one for one in site.api.streams if one.plural == "runs")
        stream.inject.append(line("ERROR", {"kind": "Status", "code": 500, "message": "etcd hiccup"}))
        site.run("r1")
        await site.passes(2)
        assert site.pod_of("r1") == "py-0"
        assert site.api.count("list", "runs") == lists
        assert site.api.count("watch", "runs") == watches + 1
        assert "etcd hiccup" in site.log

    play(profiles, scene)


def test_a_bookmark_moves_the_version_and_is_no_run(profiles: Profiles) -> None:
    async def scene(site: Site) -> None:
        await started(site)
        (stream,) = (one for one in site.api.streams if one.plural == "runs")
        stream.inject.append(line("BOOKMARK", {"kind": "Run", "metadata": {"resourceVersion": "5000"}}))
        await site.passes(1)
        stream.cut = True
        await site.passes(1)
        call = [call for _, what, call in site.api.calls if _is(what, "watch", "runs")][-1]
        assert dict(call.query)["resourceVersion"] == "5000"
        assert site.host.engine.sizes["runs"] == 0

    play(profiles, scene)


def test_unknown_event_types_are_ignored_and_logged_once(profiles: Profiles) -> None:
    async def scene(site: Site) -> None:
        await started(site)
        (stream,) = (one for one in site.api.streams if one.plural == "runs")
        strange = {"metadata": {"name": "x", "namespace": NAMESPACE, "uid": "u", "resourceVersion": "9000"}}
        stream.inject += [line("SHUFFLED", strange), line("DREAMT", strange), b"\n", b"\r\n"]
        site.run("r1")
        await site.passes(1)
        assert site.pod_of("r1") == "py-0"
        assert site.log.count("unknown type") == 1

    play(profiles, scene)


@pytest.mark.parametrize(
    "nonsense", [b"no json\n", b'{"type": "ADDED"}\n', b"[]\n", b'{"type": 1, "object": {}}\n', b"\xff\n"]
)
def test_nonsense_in_a_stream_is_a_broken_connection(profiles: Profiles, nonsense: bytes) -> None:
    async def scene(site: Site) -> None:
        await started(site)
        (stream,) = (one for one in site.api.streams if one.plural == "runs")
        stream.inject.append(nonsense)
        site.run("r1")
        await site.passes(2)
        assert site.pod_of("r1") == "py-0"
        assert "an event cannot be read" in site.log

    play(profiles, scene)


def test_objects_of_wrong_types_stop_nobody(profiles: Profiles) -> None:
    async def scene(site: Site) -> None:
        await started(site)
        for stream in site.api.streams:
            stream.inject += [
                line("ADDED", {"metadata": []}),
                line("DELETED", {"metadata": None}),
                line("MODIFIED", {"metadata": {"name": 5, "resourceVersion": 7}}),
            ]
        site.run("r1")
        await site.passes(2)
        assert site.pod_of("r1") == "py-0"

    play(profiles, scene)


def test_clean_ends_in_a_row_do_not_become_a_storm(profiles: Profiles) -> None:
    async def scene(site: Site) -> None:
        site.pod("py-0", runs=1)
        site.api.faults.append(_ended_at_once("runs"))
        site.start()
        await site.passes(60)
        assert 10 < site.api.count("watch", "runs") < 40
        site.run("r1")
        await site.passes(6)
        assert site.pod_of("r1") == "py-0"

    play(profiles, scene)


def _ended_at_once(plural: str) -> Fault:
    """Watches of a resource end as soon as they have said what there was to say."""

    async def fault(call: Call) -> Response | None:
        if _is(target(call), "watch", plural):
            query = dict(call.query)
            assert query["timeoutSeconds"] == "40"
            object.__setattr__(call, "query", tuple({**query, "timeoutSeconds": "0"}.items()))
        return None

    return fault


def _is(what: Target, verb: str, plural: str) -> bool:
    return (what.verb, what.plural) == (verb, plural)


# What was missed (C4, C9)


def test_what_vanished_while_the_watch_was_down_is_noticed(profiles: Profiles) -> None:
    async def scene(site: Site) -> None:
        await started(site)
        site.run("x", pod="py-0")
        site.run("r1")
        await site.passes(1)
        assert site.pod_of("r1") is None
        site.api.oldest = 10**9
        for stream in site.api.streams:
            stream.cut = True
        site.delete("x")
        await site.passes(1)
        site.api.oldest = 0
        await site.passes(5)
        assert site.pod_of("r1") == "py-0"
        assert site.host.engine.find(NAMESPACE, "x") is None

    play(profiles, scene)


def test_a_pod_that_vanished_unseen_is_never_chosen(profiles: Profiles) -> None:
    async def scene(site: Site) -> None:
        await started(site)
        site.pod("py-1", runs=5)
        await site.passes(1)
        site.api.faults.append(always("watch", "pods", status(503)))
        for stream in site.api.streams:
            stream.cut = True
        site.delete("py-1", kind=PODS)
        site.run("r1")
        site.api.oldest = 10**9
        await site.passes(2)
        site.api.faults.clear()
        site.api.oldest = 0
        await site.passes(8)
        assert site.pod_of("r1") == "py-0"

    play(profiles, scene)


def test_a_list_from_the_past_is_not_believed(profiles: Profiles) -> None:
    async def scene(site: Site) -> None:
        await started(site)
        site.run("r1")
        await site.passes(1)
        old = Response(200, json.dumps({"metadata": {"resourceVersion": "2"}, "items": []}).encode())
        site.api.faults.append(failing("list", "runs", *[old] * 3))
        (stream,) = (one for one in site.api.streams if one.plural == "runs")
        stream.inject.append(line("ERROR", GONE))
        await site.passes(1)
        assert "answered from the past" in " ".join(site.why_not_ready())
        assert site.host.engine.find(NAMESPACE, "r1") is not None
        site.run("r2")
        await site.passes(15)
        assert site.why_not_ready() == []
        assert site.pod_of("r2") is None

    play(profiles, scene)


def test_a_server_that_was_restored_to_an_older_state_is_found_and_calls_for_a_restart(
    profiles: Profiles,
) -> None:
    async def scene(site: Site) -> None:
        await started(site)
        (stream,) = (one for one in site.api.streams if one.plural == "runs")
        stream.inject.append(line("BOOKMARK", {"metadata": {"resourceVersion": "5000"}}))
        await site.passes(1)
        stream.cut = True
        await site.passes(45)
        assert "answered from the past" in " ".join(site.why_not_ready())
        assert site.host.parts.duty.why_not_go_on() == ""
        site.run("r1")
        await site.passes(65)
        assert site.log.count("answered from the past") == 1
        assert [check.name for check in site.host.alive() if not check.holds] == ["versions"]
        assert "more was seen than the API server has: runs" in site.host.parts.duty.why_not_go_on()
        assert site.pod_of("r1") is None

    play(profiles, scene)


@pytest.mark.parametrize(("seconds", "dead"), [(3, []), (30, ["versions"])])
def test_a_history_that_was_rewritten_stays_so_when_its_versions_have_caught_up(
    profiles: Profiles, seconds: float, dead: list[str]
) -> None:
    async def scene(site: Site) -> None:
        await started(site)
        site.run("r1")
        await site.passes(1)
        old = Response(200, json.dumps({"metadata": {"resourceVersion": "2"}, "items": []}).encode())
        site.api.faults.append(always("list", "runs", old))
        (stream,) = (one for one in site.api.streams if one.plural == "runs")
        stream.inject.append(line("ERROR", GONE))
        await site.passes(seconds)
        assert "answered from the past" in " ".join(site.why_not_ready())
        site.api.faults.clear()
        await site.passes(70)
        assert site.why_not_ready() == []
        assert [check.name for check in site.host.alive() if not check.holds] == dead

    play(profiles, scene)


def test_a_watch_that_tells_of_nothing_but_a_bookmark_is_no_reason_to_list(profiles: Profiles) -> None:
    async def scene(site: Site) -> None:
        await started(site)
        await site.passes(130)
        assert site.api.count("watch", "runs") == 4
        assert site.api.count("list", "runs") == 1

    play(profiles, scene)


def test_a_version_that_expired_in_an_outage_is_no_reason_to_wait_on(profiles: Profiles) -> None:
    async def scene(site: Site) -> None:
        await started(site)
        for plural in ("runs", "pods", "persistentworkspaces"):
            site.api.faults.append(always("watch", plural, status(503)))
        for stream in site.api.streams:
            stream.cut = True
        site.api.oldest = 10**9
        await site.passes(60)
        site.api.faults.clear()
        await site.passes(10)
        calls = [(at, what.verb) for at, what, _ in site.api.calls if what.plural == "runs"]
        listed = next(at for at, verb in calls if verb == "list" and at > 60)
        expired = max(at for at, verb in calls if verb == "watch" and at < listed)
        assert listed - expired < 0.3

    play(profiles, scene)


def test_no_list_is_asked_for_in_a_version_of_the_clients_choice(profiles: Profiles) -> None:
    async def scene(site: Site) -> None:
        await started(site)
        lists = [call for _, what, call in site.api.calls if what.verb == "list"]
        assert len(lists) == 3
        assert not any("resourceVersion" in dict(call.query) for call in lists)

    play(profiles, scene)


# Lists (E6)


def _many(site: Site) -> None:
    for number in range(30):
        site.run(f"a{number:02}", pod="py-0")
    for number in range(5):
        site.run(f"w{number}")


@pytest.mark.parametrize("broken", [status(410, "Expired"), MaybeSentError("reset"), Response(200, b"{}")])
def test_half_a_list_is_no_list(profiles: Profiles, broken: Response | Exception) -> None:
    async def scene(site: Site) -> None:
        site.api.page_size = 10
        await started(site, runs=30)
        _many(site)
        await site.passes(1)
        (stream,) = (one for one in site.api.streams if one.plural == "runs")
        # The first page comes, the second one breaks: twice, and then all is asked for at once.
        site.api.faults.append(failing("list", "runs", None, broken, None, broken))
        stream.inject.append(line("ERROR", GONE))
        for _ in range(100):
            await site.passes(0.1)
            assert len(site.host.engine.state.targets(NAMESPACE)) > 0
            assert not any(site.pod_of(f"w{number}") for number in range(5))
        lists = [dict(call.query) for _, what, call in site.api.calls if _is(what, "list", "runs")][-5:]
        assert [("limit" in query, "continue" in query) for query in lists] == [
            (True, False),
            (True, True),
            (True, False),
            (True, True),
            (False, False),
        ]
        assert site.host.engine.sizes["runs"] == 35
        assert site.why_not_ready() == []

    play(profiles, scene)


def test_a_page_of_another_version_breaks_the_list(profiles: Profiles) -> None:
    async def scene(site: Site) -> None:
        site.api.page_size = 10
        site.pod("py-0", runs=30)
        _many(site)
        other = Response(200, json.dumps({"metadata": {"resourceVersion": "999"}, "items": []}).encode())
        site.api.faults.append(failing("list", "runs", None, other))
        site.start()
        await site.passes(3)
        assert "of another version" in site.log
        assert site.host.engine.sizes["runs"] == 35

    play(profiles, scene)


def test_short_pages_and_a_server_without_pages_are_fine(profiles: Profiles) -> None:
    async def scene(site: Site) -> None:
        site.api.page_size = 1
        site.pod("py-0", runs=31)
        _many(site)
        site.start()
        await site.passes(3)
        assert site.host.engine.sizes["runs"] == 35
        assert sum(site.pod_of(f"w{number}") is not None for number in range(5)) == 1

    play(profiles, scene)


# Refusals (E5, E9)


def test_an_overloaded_server_is_asked_less_and_less_and_recovers(profiles: Profiles) -> None:
    async def scene(site: Site) -> None:
        await started(site)
        site.api.faults.append(always("watch", "runs", status(500, "InternalError", "boom")))
        for stream in site.api.streams:
            stream.cut = True
        before = site.api.count("watch", "runs")
        site.run("r1")
        await site.passes(60)
        assert 10 < site.api.count("watch", "runs") - before < 45
        assert any("cannot watch runs.kruntimes.io" in why and "boom" in why for why in site.why_not_ready())
        assert not site.host.deciding
        site.api.faults.clear()
        await site.passes(5)
        assert site.pod_of("r1") == "py-0"
        assert site.why_not_ready() == []

    play(profiles, scene)


@pytest.mark.parametrize(
    ("asked", "waited"), [("2", 2), ("3600", 30), ("nonsense", 0), ("Fri, 02 Jan 2026 03:04:25 GMT", 15)]
)
def test_retry_after_is_honoured_within_a_cap(profiles: Profiles, asked: str, waited: int) -> None:
    async def scene(site: Site) -> None:
        site.api.faults.append(failing("list", "pods", status(429, "TooManyRequests", "", retry_after=asked)))
        site.start()
        await site.passes(60)
        first, second = (when for when, what, _ in site.api.calls if _is(what, "list", "pods"))
        assert waited - 6 <= second - first <= waited + 6
        assert second - first >= min(waited, 2)

    play(profiles, scene)


@pytest.mark.parametrize("verb", ["list", "watch"])
@pytest.mark.parametrize("plural", ["pods", "runs", "persistentworkspaces"])
def test_a_missing_right_is_named_and_recovers_when_it_is_granted(
    profiles: Profiles, verb: str, plural: str
) -> None:
    async def scene(site: Site) -> None:
        site.pod("py-0")
        site.run("r1")
        site.api.faults.append(always(verb, plural, status(403, "Forbidden", "user cannot")))
        site.start()
        await site.passes(10)
        (why,) = (why for why in site.why_not_ready() if "forbidden" in why)
        assert why.startswith(f"cannot {verb} {plural}")
        assert site.log.count("forbidden") == 1
        assert site.pod_of("r1") is None
        assert site.status("r1").get("message") is None
        site.api.faults.clear()
        await site.passes(5)
        assert site.pod_of("r1") == "py-0"

    play(profiles, scene)


def test_credentials_that_are_refused_keep_the_host_from_deciding(profiles: Profiles) -> None:
    async def scene(site: Site) -> None:
        site.api.faults.append(always("list", "runs", status(401, "Unauthorized")))
        site.start()
        await site.passes(5)
        assert any("the credentials are not accepted" in why for why in site.why_not_ready())

    play(profiles, scene)


def test_workspaces_that_are_not_served_are_none_until_they_are(profiles: Profiles) -> None:
    async def scene(site: Site) -> None:
        site.api.missing.add("persistentworkspaces")
        await started(site, runs=2)
        site.run("r1")
        site.run("tied", workspace="ws")
        await site.passes(3)
        assert site.pod_of("r1") == "py-0"
        assert site.pod_of("tied") is None
        assert 1 <= site.api.count("list", "persistentworkspaces") <= 2
        site.api.missing.clear()
        site.workspace("ws", bound_pod="py-0")
        await site.passes(62)
        assert site.pod_of("tied") == "py-0"

    play(profiles, scene)


def test_runs_that_are_not_served_are_no_empty_cluster(profiles: Profiles) -> None:
    async def scene(site: Site) -> None:
        site.api.missing.add("runs")
        site.start()
        await site.passes(5)
        assert any("install the CRDs" in why for why in site.why_not_ready())
        assert not site.host.deciding

    play(profiles, scene)


def test_namespaces_are_followed_one_by_one(profiles: Profiles) -> None:
    async def scene(site: Site) -> None:
        for namespace in ("team-a", "team-b", "team-c"):
            site.pod("py-0", namespace=namespace)
            site.run("r1", namespace=namespace, uid=f"uid-in-{namespace}")
        denied = always("list", "pods", status(403, "Forbidden"))

        async def in_team_b(call: Call) -> Response | None:
            return await denied(call) if target(call).namespace == "team-b" else None

        site.api.faults.append(in_team_b)
        site.start()
        await site.passes(3)
        assert not site.host.deciding
        site.api.faults.clear()
        await site.passes(6)
        placed = [site.pod_of("r1", namespace) for namespace in ("team-a", "team-b", "team-c")]
        assert placed == ["py-0", "py-0", None]
        assert all(what.namespace for _, what, _ in site.api.calls)

    play(profiles, scene, namespaces=["team-a", "team-b"])


def test_a_list_of_one_namespace_leaves_the_others_alone(profiles: Profiles) -> None:
    async def scene(site: Site) -> None:
        for namespace in ("team-a", "team-b"):
            site.pod("py-0", namespace=namespace)
            site.run("x", namespace=namespace, pod="py-0")
        site.start()
        await site.passes(1)
        stream = next(one for one in site.api.streams if one.plural == "runs")
        stream.inject.append(line("ERROR", GONE))
        await site.passes(2)
        assert site.host.engine.sizes["runs"] == 2
        assert site.server.list(RUNS).objects

    play(profiles, scene, namespaces=["team-a", "team-b"])
