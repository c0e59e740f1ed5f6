"""The product keeps to the shape that `docs/architecture.md` promises."""

import house

ROOMS = ("cluster", "engine", "framework", "model")


def test_no_file_holds_more_than_one_concept_needs() -> None:
    assert house.too_long() == []


def test_one_word_means_one_thing_in_the_rooms_that_decide() -> None:
    among_themselves = {
        name: where
        for name, where in house.class_names_twice(*ROOMS).items()
        if sum(place.split("/")[0] in ROOMS for place in where) > 1
    }
    assert among_themselves == {}
