"""Heartbeats at their limit, delays of Runs that are tried again, and times and durations of other hands."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import Any

import pytest

from kruntimes_core.testing import pod_object, run_object
from kruntimes_core.testing.builders import NOW
from tests.scenarios.conftest import Command, Configure, Planned, Write
from tests.scenarios.planning import Object

RUN = run_object("r")


def probed(written: Any) -> Object:
    pod = pod_object("py-0")
    pod["status"]["conditions"][1]["lastProbeTime"] = written
    return pod


class TestHeartbeats:
    """Fresh up to and at the limit; no probe time that can be trusted is no heartbeat."""

    @pytest.mark.parametrize(
        ("age", "reason"),
        [
            (timedelta(0), "Assigned"),
            (timedelta(seconds=14.999999), "Assigned"),
            (timedelta(seconds=15), "Assigned"),
            (timedelta(seconds=15, microseconds=1), "HeartbeatStale"),
            (timedelta(seconds=15, milliseconds=1), "HeartbeatStale"),
            (timedelta(days=3650), "HeartbeatStale"),
            (timedelta(seconds=-1), "Assigned"),
            (timedelta(seconds=-3600), "Assigned"),
        ],
        ids=str,
    )
    def test_exactly_the_limit_is_fresh(self, plan: Planned, age: timedelta, reason: str) -> None:
        assert plan(pod_object("py-0"), RUN, now=NOW + age)["r"]["reason"] == reason

    @pytest.mark.parametrize(
        ("offset", "code"),
        [("20Z", 0), ("20.000Z", 0), ("20.001Z", 1), ("20.000000001Z", 0), ("20.000001Z", 1), ("21Z", 1)],
    )
    def test_the_same_through_the_command(
        self, manifests: Write, kruntimes: Command, offset: str, code: int
    ) -> None:
        file = manifests(pod_object("py-0"), RUN)
        assert kruntimes("plan", "-f", file, "--now", f"2026-01-02T03:04:{offset}").returncode == code

    @pytest.mark.parametrize("written", [None, "", "yesterday", "2026-01-02T03:04:05", "2026-01-02", 5, True])
    def test_no_time_is_no_heartbeat(self, plan: Planned, written: Any) -> None:
        made = plan(probed(written), RUN)["r"]
        assert (made["reason"], made["never"]) == ("RuntimedNotReady", False)

    @pytest.mark.parametrize("status", ["False", "Unknown", "true", None, True])
    def test_only_true_is_true(self, plan: Planned, status: Any) -> None:
        pod = pod_object("py-0")
        pod["status"]["conditions"][1]["status"] = status
        assert plan(pod, RUN)["r"]["reason"] == "RuntimedNotReady"

    def test_an_absent_condition_is_not_ready(self, plan: Planned) -> None:
        pod = pod_object("py-0")
        del pod["status"]["conditions"][1]
        assert plan(pod, RUN)["r"]["reason"] == "RuntimedNotReady"

    @pytest.mark.parametrize(
        "written",
        [
            "2026-01-02T03:04:05Z",
            "2026-01-02T03:04:05.000Z",
            "2026-01-02T03:04:05.000000Z",
            "2026-01-02T03:04:05.000000999Z",
            "2026-01-02T08:34:05+05:30",
            "2026-01-01T23:04:05-04:00",
            "2026-01-02t03:04:05z",
        ],
    )
    def test_one_instant_in_its_spellings(self, plan: Planned, written: str) -> None:
        at_the_limit = NOW + timedelta(seconds=15)
        pod = probed(written)
        assert plan(pod, RUN, now=at_the_limit)["r"]["pod"] == "py-0"
        past = at_the_limit + timedelta(microseconds=1)
        assert plan(pod, RUN, now=past)["r"]["reason"] == "HeartbeatStale"

    def test_the_limit_is_the_configurations(
        self, manifests: Write, configured: Configure, kruntimes: Command
    ) -> None:
        file = manifests(pod_object("py-0"), RUN)
        config = configured("heartbeatStalenessSeconds: 2.5")
        for second, code in (("07.5", 0), ("07.6", 1)):
            time = f"2026-01-02T03:04:{second}Z"
            assert kruntimes("plan", "-f", file, "--config", config, "--now", time).returncode == code


def retried(attempt: int, backoff: Any, stopped: Any, **more: Any) -> Object:
    stop = {"type": "Running", "status": "False", "lastTransitionTime": stopped}
    status = {"attempt": attempt, "conditions": [stop], **more.pop("status", {})}
    policy = {} if backoff is None else {"retryPolicy": {"backoff": backoff}}
    return run_object("r", status=status, spec={**policy, **more})


class TestRetryDelays:
    """stopped + min(backoff * 2^(attempt-2), 60 s), and never longer than that delay from now."""

    @pytest.mark.parametrize(
        ("attempt", "backoff", "stopped", "until"),
        [
            (2, "10s", "03:04:05Z", "03:04:15Z"),
            (2, "10s", "03:04:00Z", "03:04:10Z"),
            (3, "10s", "03:04:05Z", "03:04:25Z"),
            (4, "10s", "03:04:05Z", "03:04:45Z"),
            (5, "10s", "03:04:05Z", "03:05:05Z"),
            (100, "10s", "03:04:05Z", "03:05:05Z"),
            (10**9, "1ns", "03:04:05Z", "03:05:05Z"),
            (38, "1ns", "03:04:05Z", "03:05:05Z"),
            (20, "100us", "03:04:05Z", "03:04:31Z"),
            (2, "2h", "03:04:05Z", "03:05:05Z"),
            (2, "1m30s", "03:04:00Z", "03:05:00Z"),
            (2, "90000ms", "03:04:00Z", "03:05:00Z"),
            # The time is five minutes in the future: the delay counts from now.
            (2, "10s", "03:09:05Z", "03:04:15Z"),
            (2, "10s", "23:59:59Z", "03:04:15Z"),
            # Missing, of no sense, zero or negative: one second.
            *[
                (2, backoff, "03:04:05Z", "03:04:06Z")
                for backoff in (None, "", "1d", "10", 5, "-5s", "0s", "0")
            ],
            (2, "1.5h", "03:04:05+00:00", "03:05:05Z"),
            (2, "5s", "08:34:05+05:30", "03:04:10Z"),
            (2, "2500ms", "03:04:05.5Z", "03:04:07Z"),
            (2, "2000000us", "03:04:05Z", "03:04:07Z"),
            (2, "2000000\N{MICRO SIGN}s", "03:04:05Z", "03:04:07Z"),
            (2, "2000000\N{GREEK SMALL LETTER MU}s", "03:04:05Z", "03:04:07Z"),
        ],
    )
    def test_a_run_that_is_tried_again_waits(
        self, plan: Planned, attempt: int, backoff: Any, stopped: str, until: str
    ) -> None:
        made = plan(pod_object("py-0"), retried(attempt, backoff, f"2026-01-02T{stopped}"))["r"]
        assert (made["outcome"], made["reason"], made["pod"]) == ("Backoff", "RetryDelay", None)
        assert made["until"] == f"2026-01-02T{until}"

    @pytest.mark.parametrize(
        ("backoff", "stopped"), [("5s", "03:04:00Z"), ("1s", "03:04:03Z"), ("4s", "03:03:00Z")]
    )
    def test_a_delay_that_is_over_is_none(self, plan: Planned, backoff: str, stopped: str) -> None:
        assert plan(pod_object("py-0"), retried(2, backoff, f"2026-01-02T{stopped}"))["r"]["pod"] == "py-0"

    @pytest.mark.parametrize("attempt", [0, 1, -3, None, "2", 2.0, True])
    def test_a_first_attempt_has_none(self, plan: Planned, attempt: Any) -> None:
        assert plan(pod_object("py-0"), retried(attempt, "45s", "2026-01-02T03:04:05Z"))["r"]["pod"] == "py-0"

    @pytest.mark.parametrize("stopped", [None, "", "noon", "2026-01-02T03:04:05", 5])
    def test_without_a_time_there_is_none(self, plan: Planned, stopped: Any) -> None:
        assert plan(pod_object("py-0"), retried(2, "45s", stopped))["r"]["pod"] == "py-0"

    def test_a_cancel_does_not_wait(self, plan: Planned) -> None:
        made = plan(pod_object("py-0"), retried(2, "45s", "2026-01-02T03:04:05Z", cancelRequested=True))["r"]
        assert (made["outcome"], made["reason"], made["until"]) == ("Cancelled", "Cancelled", None)

    def test_a_delayed_run_holds_back_no_other(self, plan: Planned) -> None:
        pod = pod_object("py-0", capacity={"runs": "1"})
        made = plan(pod, retried(2, "45s", "2026-01-02T03:04:05Z"), run_object("s"))
        assert made.pods == {"r": None, "s": "py-0"}

    def test_it_is_neither_a_yes_nor_a_no(self, manifests: Write, kruntimes: Command) -> None:
        file = manifests(pod_object("py-0"), retried(2, "45s", "2026-01-02T03:04:05Z"))
        result = kruntimes("plan", "-f", file, "-o", "wide")
        assert result.returncode == 0
        assert "2026-01-02T03:04:50Z" in result.stdout
        assert result.stderr == "1 Run: 1 Backoff\n"


class TestNow:
    """`--now` and what stands for it."""

    @pytest.mark.parametrize(
        ("written", "shown"),
        [
            ("2026-01-02T03:04:05Z", "2026-01-02T03:04:05Z"),
            ("2026-01-02t03:04:05.999z", "2026-01-02T03:04:05Z"),
            ("2026-01-02T08:34:05+05:30", "2026-01-02T03:04:05Z"),
        ],
    )
    def test_it_is_shown_in_utc_and_whole_seconds(
        self, manifests: Write, kruntimes: Command, written: str, shown: str
    ) -> None:
        told = kruntimes("plan", "-f", manifests(RUN), "--now", written, "-o", "json")
        assert json.loads(told.stdout)["now"] == shown

    @pytest.mark.parametrize(
        "written",
        [
            "",
            "now",
            "2026-01-02",
            "2026-01-02T03:04:05",
            "2026-01-02 03:04:05Z",
            "2026-02-30T00:00:00Z",
            "5",
            "-1s",
        ],
    )
    def test_what_is_no_time_is_one_line(self, manifests: Write, kruntimes: Command, written: str) -> None:
        result = kruntimes("plan", "-f", manifests(RUN), f"--now={written}")
        assert (result.returncode, result.stdout) == (2, "")
        (line,) = result.stderr.splitlines()
        assert line.endswith("write it as in 2026-01-02T03:04:05Z")

    def test_a_dump_is_judged_at_its_newest_probe(self, manifests: Write, kruntimes: Command) -> None:
        old, new = pod_object("py-0"), pod_object("py-1", probed_at=NOW + timedelta(seconds=16))
        new["status"]["conditions"][0]["status"] = "False"
        told = json.loads(kruntimes("plan", "-f", manifests(old, new, RUN), "-o", "json").stdout)
        assert told["now"] == "2026-01-02T03:04:21Z"
        assert told["decisions"][0]["reason"] == "HeartbeatStale"

    def test_a_probe_of_the_future_does_not_move_other_clocks(self, plan: Planned) -> None:
        ahead = pod_object("py-0", probed_at=NOW + timedelta(hours=1))
        made = plan(ahead, pod_object("py-1", probed_at=NOW - timedelta(seconds=16)), RUN)
        assert made["r"]["pod"] == "py-0"

    def test_creation_in_the_future_is_no_reason_to_wait(self, plan: Planned) -> None:
        later: datetime = NOW + timedelta(seconds=5)
        run = run_object("r", metadata={"creationTimestamp": later.strftime("%Y-%m-%dT%H:%M:%SZ")})
        assert plan(pod_object("py-0"), run)["r"]["pod"] == "py-0"
