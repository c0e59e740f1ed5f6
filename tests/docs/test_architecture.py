"""The map shows the rooms, the stages and the modules that there are."""

import re
from configparser import ConfigParser

from kruntimes_core.engine.api_calls import CallPriority, WriteKind
from kruntimes_core.engine.runs import Stage
from tests.docs.pages import ROOT, first_column, page, rows

MAP = page("docs/architecture.md")


def rules() -> ConfigParser:
    parser = ConfigParser(interpolation=None)
    parser.read_string((ROOT / ".importlinter").read_text())
    return parser


def test_the_rooms_are_those_that_are_enforced() -> None:
    assert first_column(MAP.section("Rooms")) == re.findall(
        r"\((\w+)\)", rules()["importlinter:contract:rooms"]["layers"]
    )


def test_what_the_engine_never_imports_is_what_is_enforced() -> None:
    (row,) = [row for row in rows(MAP.section("Rooms")) if row[0] == "engine"]
    forbidden = rules()["importlinter:contract:engine"]["forbidden_modules"].split()
    assert set(re.findall(r"\w+", row[2])) - {"imports", "or"} == set(forbidden)


def test_the_stages_are_those_of_the_engine() -> None:
    assert first_column(MAP.section("Where a Run stands")) == [stage.name for stage in Stage]


def test_the_drawn_states_are_those_of_the_table() -> None:
    section = MAP.section("The life of a reservation")
    drawn = set(re.findall(r"^ +(\w+) --> |--> (\w+)", section, re.MULTILINE))
    assert {name for pair in drawn for name in pair if name} == set(first_column(section))


def test_every_state_but_the_last_two_leads_on() -> None:
    section = MAP.section("The life of a reservation")
    leads = set(re.findall(r"^ +(\w+) --> (?:\w+|\[\*\]):", section, re.MULTILINE))
    assert leads == set(first_column(section))


def test_requests_are_named_by_urgency() -> None:
    for priority in CallPriority:
        assert f"`{priority.name}` are" in MAP.text
        kinds = [kind.name for kind in WriteKind if kind.priority is priority]
        assert f"writes `{kinds[0]}` and `{kinds[1]}`" in MAP.text


def test_the_way_of_a_run_is_short() -> None:
    way = first_column(MAP.section("The way of a Run"))
    around = first_column(MAP.section("Around the engine, in a cluster"))
    assert len(way) <= 12
    assert len({*way, *around}) == len(way) + len(around) <= 20
    assert all((ROOT / "kruntimes_core" / name).is_file() for name in (*way, *around))


def test_the_map_of_the_runtime_has_all_of_its_files() -> None:
    files = {path.name for path in (ROOT / "kruntimes_core/framework/runtime").glob("*.py")}
    mapped = first_column(MAP.section("Inside the runtime"))
    assert len(mapped) == len(set(mapped))
    assert set(mapped) == files - {"__init__.py"}


def test_modules_that_are_named_exist() -> None:
    named = set(re.findall(r"\b((?:model|framework|engine|cluster|lab|cli)/[\w/]+(?:\.py|/))", MAP.text))
    assert len(named) > 20
    assert [name for name in sorted(named) if not (ROOT / "kruntimes_core" / name).exists()] == []
