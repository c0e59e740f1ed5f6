import reprlib
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kruntimes_core.model.times import format_time, parse_duration, parse_time

T0 = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-01-02T03:04:05Z", T0),
        ("2026-01-02T03:04:05.120Z", T0 + timedelta(milliseconds=120)),
        ("2026-01-02T03:04:05.123456Z", T0 + timedelta(microseconds=123456)),
        ("2026-01-02T03:04:05.123456789Z", T0 + timedelta(microseconds=123456)),
        ("2026-01-02T03:04:05.999999999Z", T0 + timedelta(microseconds=999999)),
        ("2026-01-02T03:04:05.5Z", T0 + timedelta(milliseconds=500)),
        ("2026-01-02T08:34:05+05:30", T0),
        ("2026-01-01T23:04:05.000-04:00", T0),
        ("2026-01-02T03:04:05-00:00", T0),
        ("2026-01-02t03:04:05z", T0),
        ("2026-01-02t03:04:05.250z", T0 + timedelta(milliseconds=250)),
    ],
)
def test_a_time_of_rfc_3339_is_that_moment_in_utc(text: str, moment: datetime) -> None:
    parsed = parse_time(text)
    assert parsed == moment
    assert parsed is not None
    assert parsed.utcoffset() == timedelta(0)


@pytest.mark.parametrize(
    "value",
    [
        "",
        "2026-01-02T03:04:05",
        "2026-01-02",
        "2026-01-02 03:04:05Z",
        "20260102T030405Z",
        "2026-W01-5T03:04:05Z",
        "2026-01-02T03:04Z",
        "2026-01-02T03:04:05.Z",
        "2026-01-02T03:04:05,5Z",
        "2026-01-02T03:04:60Z",
        "2026-01-02T24:00:00Z",
        "2026-13-01T00:00:00Z",
        "2026-02-29T00:00:00Z",
        "0000-01-02T03:04:05Z",
        "0001-01-01T00:00:00+05:30",
        "9999-12-31T23:59:59-01:00",
        "2026-01-02T03:04:05+24:00",
        "2026-01-02T03:04:05+99:99",
        "2026-01-02T03:04:05+05:60",
        "2026-01-02T03:04:05+0530",
        "2026-01-02T03:04:05Z\n",
        " 2026-01-02T03:04:05Z",
        "\N{ARABIC-INDIC DIGIT TWO}026-01-02T03:04:05Z",
        "-026-01-02T03:04:05Z",
        "2026-01-02T03:04:05." + "1" * 1_000_000 + "Z",
        None,
        True,
        1767323045,
        1767323045.5,
        [],
        {},
        T0,
    ],
    ids=reprlib.repr,
)
def test_anything_else_is_no_time(value: object) -> None:
    assert parse_time(value) is None


@given(st.text(max_size=40))
def test_no_text_makes_the_reader_of_times_raise(text: str) -> None:
    parsed = parse_time(text)
    assert parsed is None or parsed.tzinfo is UTC


@given(st.datetimes(timezones=st.just(UTC)), st.integers(-23 * 60, 23 * 60))
def test_a_moment_survives_being_written_with_any_offset(moment: datetime, minutes: int) -> None:
    try:
        local = moment.astimezone(timezone(timedelta(minutes=minutes)))
    except OverflowError:
        local = moment
    assert parse_time(local.isoformat()) == moment


@pytest.mark.parametrize(
    ("moment", "text"),
    [
        (T0, "2026-01-02T03:04:05Z"),
        (T0 + timedelta(microseconds=999_999), "2026-01-02T03:04:05Z"),
        (T0.astimezone(timezone(timedelta(hours=5, minutes=30))), "2026-01-02T03:04:05Z"),
        (datetime(9, 1, 2, tzinfo=UTC), "0009-01-02T00:00:00Z"),
    ],
)
def test_times_are_written_in_utc_and_whole_seconds(moment: datetime, text: str) -> None:
    assert format_time(moment) == text
    assert parse_time(format_time(moment)) == moment.replace(microsecond=0)


def test_a_time_without_a_zone_cannot_be_written() -> None:
    with pytest.raises(ValueError, match="give it a time zone"):
        format_time(T0.replace(tzinfo=None))


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1h30m", 5400.0),
        ("30m1h", 5400.0),
        ("1.5s", 1.5),
        (".5s", 0.5),
        ("1.s", 1.0),
        ("100ms", 0.1),
        ("1us", 1e-6),
        ("1\N{MICRO SIGN}s", 1e-6),
        ("1\N{GREEK SMALL LETTER MU}s", 1e-6),
        ("1ns", 1e-9),
        ("0.5ns", 0.0),
        ("-5s", -5.0),
        ("+5s", 5.0),
        ("-1h0.5m", -3630.0),
        ("0", 0.0),
        ("-0", 0.0),
        ("0s", 0.0),
        ("9223372036854775807ns", 9223372036.854775807),
        ("-9223372036854775808ns", -9223372036.854775808),
        ("2562047h47m16.854775807s", 9223372036.854775807),
    ],
)
def test_a_duration_follows_gos_syntax(text: str, seconds: float) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize(
    "value",
    [
        "",
        "1d",
        "10",
        "1",
        "00",
        "s",
        ".s",
        "-",
        "+",
        ".",
        "-.s",
        "1h30",
        "1 h",
        " 1s",
        "1s ",
        "1s\n",
        "1S",
        "1e3s",
        "--1s",
        "1h-30m",
        "1.2.3s",
        "\N{ARABIC-INDIC DIGIT ONE}s",
        "9223372036854775808ns",
        "-9223372036854775809ns",
        "2562047h47m16.854775808s",
        "3000000h",
        "9" * 200 + "h",
        "0" * 1_000_000 + "1s",
        "1s" * 1_000_000,
        5,
        0,
        1.5,
        True,
        None,
        [],
        {},
    ],
    ids=reprlib.repr,
)
def test_anything_else_is_no_duration(value: object) -> None:
    assert parse_duration(value) is None


@given(st.text("0123456789.+-hmsnu\N{MICRO SIGN} ", max_size=20))
def test_no_text_makes_the_reader_of_durations_raise(text: str) -> None:
    seconds = parse_duration(text)
    assert seconds is None or abs(seconds) <= 2**63 / 10**9


@given(st.integers(-(2**63), 2**63 - 1))
def test_every_count_of_nanoseconds_is_that_many_seconds(count: int) -> None:
    assert parse_duration(f"{count}ns") == count / 10**9
