"""What a plugin returns is looked at, compared and printed by the host: there too it fails alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from enum import Enum
from typing import Any

import pytest

from kruntimes_core import InvalidRun, Reject
from kruntimes_core.engine.decisions import candidates_document
from kruntimes_core.engine.plugin_work import Runners
from kruntimes_core.framework.configuration import Profiles
from kruntimes_core.framework.profile import ActivePlugin, PluginError, Profile
from kruntimes_core.framework.runtime.plugin_calls import describe
from kruntimes_core.testing.builders import NOW, matching
from kruntimes_core.testing.harness import Host
from kruntimes_core.testing.plugins import fake_plugin, profiles_of


class Rude(BaseException):
    """Not what a handler of exceptions expects."""


class Raising:
    """Does nothing that it is asked for."""

    def __eq__(self, other: object) -> bool:
        raise Rude("no comparison")

    def __hash__(self) -> int:
        raise Rude("no hash")

    def __bool__(self) -> bool:
        raise Rude("no truth")

    def __repr__(self) -> str:
        raise Rude("no text")


class Nowhere(tzinfo):
    """A zone that knows no offset: a time in it is as good as naive."""

    def utcoffset(self, _: datetime | None) -> timedelta | None:
        return None

    def dst(self, _: datetime | None) -> timedelta | None:
        return None

    def tzname(self, _: datetime | None) -> str | None:
        return None


class Silent(InvalidRun):
    """Forgets to hand on its reason and its message."""

    def __init__(self) -> None:
        Exception.__init__(self)


class UnprintableError(Exception):
    """Raises again when it is to be shown."""

    def __str__(self) -> str:
        raise Rude("no text")


class Nameless(type):
    """A type whose name cannot be read in the usual way."""

    @property
    def __name__(cls) -> str:  # type: ignore[override]
        raise ValueError("no name")


class NamelessError(Exception, metaclass=Nameless):
    """An error of such a type."""


def failing(error: BaseException) -> Callable[..., Any]:
    def hook() -> Any:
        raise error

    return hook


def no(**parts: Any) -> Callable[..., Any]:
    return lambda pod: Reject("No", **parts)


BROKEN: list[Any] = [
    pytest.param({"filter": no(detail=Raising())}, "detail", id="detail is no text"),
    pytest.param({"filter": no(pinned_elsewhere=[])}, "pinned_elsewhere", id="pinned_elsewhere is no bool"),
    pytest.param({"filter": no(retry_at=datetime(2030, 1, 1, tzinfo=Nowhere()))}, "aware", id="no offset"),
    pytest.param({"filter": lambda pod: Reject(Raising())}, "reason", id="reason is no text"),  # type: ignore[arg-type]
    pytest.param({"filter": lambda pod: Raising()}, "cannot be shown", id="cannot be shown"),
    pytest.param(
        {"filter": failing(UnprintableError())}, "UnprintableError", id="error that cannot be shown"
    ),
    pytest.param({"prefilter": failing(Silent())}, "reason", id="InvalidRun without parts"),
]


@pytest.mark.parametrize(("hooks", "said"), BROKEN)
def test_a_value_out_of_contract_is_the_plugins_error(hooks: dict[str, Any], said: str) -> None:
    host = Host(profiles_of(fake_plugin("Odd", reasons=["No"], **hooks)))
    host.pod("py-0")
    host.run("r1")
    host.settle()
    host.ready("py-0", False)
    host.advance(5)
    error = host.engine.journal.latest[-1].error
    assert isinstance(error, PluginError)
    assert error.plugin == "Odd"
    assert said in error.problem


class Equal:
    """A state whose comparison fails, or cannot be read."""

    def __init__(self, answer: Callable[[], object]) -> None:
        self.answer = answer

    def __eq__(self, other: object) -> Any:
        return self.answer()

    def __hash__(self) -> int:
        return 1


@pytest.mark.parametrize(
    "answer", [failing(ValueError("no")), failing(Rude()), Raising], ids=["raises", "rude", "no truth"]
)
def test_states_that_cannot_be_compared_belong_to_their_runs(answer: Callable[[], object]) -> None:
    closed = fake_plugin(
        "Odd",
        reasons=["No"],
        prefilter=lambda run: Equal(answer),
        filter=lambda pod, state: Reject("No") if pod.labels.get("closed") else None,
    )
    host = Host(profiles_of(closed))
    host.pod("py-0", runs=2, labels={"closed": "yes"})
    host.run("r1")
    host.run("r2")
    host.settle()
    host.pod("py-1", runs=2)
    host.settle()
    assert (host.pod_of("r1"), host.pod_of("r2")) == ("py-1", "py-1")


def test_the_hash_of_a_state_is_taken_once() -> None:
    hashes: Iterator[int] = iter([1, 1])

    class Fickle:
        def __eq__(self, other: object) -> bool:
            return isinstance(other, Fickle)

        def __hash__(self) -> int:
            return next(hashes)

    host = Host(
        profiles_of(fake_plugin("Odd", prefilter=lambda run: Fickle(), filter=lambda pod, state: None))
    )
    host.pod("py-0", runs=2)
    host.run("r1")
    host.run("r2")
    host.settle()
    assert (host.pod_of("r1"), host.pod_of("r2")) == ("py-0", "py-0")


class Word(str, Enum):  # noqa: UP042 - its `str()` is not its text, unlike a StrEnum's
    """How many authors keep their reasons."""

    NO = "No"


def test_the_parts_of_a_rejection_are_plain_from_the_door_on() -> None:
    later = (NOW + timedelta(minutes=1)).astimezone(timezone(timedelta(hours=5)))
    host = Host(
        profiles_of(fake_plugin("Odd", reasons=["No"], filter=lambda pod: Reject(Word.NO, retry_at=later)))
    )
    host.pod("py-0")
    host.run("r1")
    host.settle()
    decision = host.engine.journal.latest[-1]
    assert decision.reason == "No"
    assert type(decision.reason) is str
    assert [type(reason) for _, reason in host.engine.counters.filter_rejections] == [str]


def same(scores: Sequence[Any]) -> list[int]:
    return [50] * len(scores)


class Opaque:
    """A raw score that has no order."""


def hashing(error: BaseException) -> type:
    return type("Hashing", (), {"__hash__": lambda self: failing(error)(), "__lt__": lambda a, b: False})


@pytest.mark.parametrize("raw", [Opaque, hashing(ValueError("no hash"))])
def test_scores_that_cannot_be_compared_are_the_error_of_their_own_plugin(raw: type) -> None:
    innocent = fake_plugin("Innocent", normalize_keeps_best=True, score=lambda pod: 1, normalize=same)
    guilty = fake_plugin("Guilty", normalize_keeps_best=True, score=lambda pod: raw(), normalize=same)
    host = Host(profiles_of(innocent, guilty))
    host.pod("py-0")
    host.pod("py-1")
    host.run("r1")
    host.settle()
    assert host.engine.counters.plugin_errors == {("Guilty", "score"): 1}


class Longer(list[int]):
    """Says that it is shorter than it is."""

    def __len__(self) -> int:
        return 1


def test_a_sequence_that_lies_about_its_length_is_an_error_of_normalize() -> None:
    lying = fake_plugin("Odd", score=lambda pod: 1, normalize=lambda scores: Longer([1, 2, 3]))
    host = Host(profiles_of(lying))
    host.pod("py-0")
    host.run("r1")
    host.settle()
    assert host.engine.counters.plugin_errors == {("Odd", "normalize"): 1}


KEYS = {"r1": (1, "a"), "r2": (2, 3), "r3": (1, 5)}


def test_keys_that_cannot_be_ordered_against_all_others_stop_nothing() -> None:
    """The third key can be ordered against the one before it, and not against the greatest placed."""
    host = Host(profiles_of(fake_plugin("Odd", queue_key=lambda run: KEYS[run.name])))
    for name in KEYS:
        host.pod(f"py-{name}")
        host.run(name)
    host.settle()
    assert all(host.pod_of(name) for name in KEYS)


@pytest.mark.parametrize(
    "raw", [Raising, lambda: 10**6000], ids=["no text", "more digits than Python writes"]
)
def test_a_raw_score_that_cannot_be_written_is_named_in_the_record(raw: Callable[[], Any]) -> None:
    class Mute(int):
        def __str__(self) -> str:
            return str(raw())

    host = Host(profiles_of(fake_plugin("Odd", score=lambda pod: Mute(1), normalize=same)))
    host.pod("py-0")
    host.run("r1")
    host.settle()
    [candidate] = candidates_document(host.engine.journal.latest[-1], Runners().of)
    assert candidate["scores"]["Odd"]["raw"] == "a Mute that cannot be shown"


def test_a_state_may_hold_the_targets_and_ask_them_in_the_filter() -> None:
    taken = fake_plugin(
        "Lazy",
        reasons=["Taken"],
        prefilter=lambda targets: [targets],
        filter=lambda pod, state: Reject("Taken") if state[0].any(matching(app="db")) else None,
    )
    elsewhere = Profile(name="go", plugins=(fake_plugin(),), runtimes=frozenset({"go"}))
    host = Host(Profiles((Profile(plugins=(taken,)), elsewhere)))
    host.pod("py-0")
    host.pod("go-0", runtime="go")
    host.run("db", runtime="go", labels={"app": "db"}, pod="go-0")
    host.run("r1")
    host.settle()
    assert host.pod_of("r1") is None
    host.end("db")
    host.settle()
    assert host.pod_of("r1") == "py-0"


def test_reserve_answers_in_reasons_that_a_reload_took_away() -> None:
    def full(reason: str) -> ActivePlugin:
        return fake_plugin("Odd", reasons=[reason], reserve=lambda pod: Reject(reason))

    host = Host(profiles_of(full("Before")))
    host.pod("py-0")
    host.run("r1")
    host.observe()
    host.finish(host.take())
    reserve = host.take()
    host.engine.reload(profiles_of(full("After")), host.now)
    host.finish(reserve)
    host.settle()
    assert host.status("r1")["message"].startswith("waiting for ")


def test_retry_at_counts_in_whatever_zone_it_is_given() -> None:
    opens = NOW + timedelta(seconds=20)
    asleep = fake_plugin(
        "Nap",
        reasons=["Naps"],
        filter=lambda pod, snapshot: (
            Reject("Naps", retry_at=opens.astimezone(timezone(timedelta(hours=-9))))
            if snapshot.now < opens
            else None
        ),
    )
    host = Host(profiles_of(asleep))
    host.pod("py-0")
    host.run("r1")
    host.advance(19)
    assert host.pod_of("r1") is None
    host.advance(2)
    assert host.pod_of("r1") == "py-0"
    assert opens.tzinfo is UTC


def test_an_error_is_named_though_its_type_hides_the_name() -> None:
    assert describe(NamelessError("odd")) == "NamelessError: odd"
