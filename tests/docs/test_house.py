"""The product keeps to the shape that `docs/architecture.md` promises."""

import house


def test_no_file_holds_more_than_one_concept_needs() -> None:
    assert house.too_long() == []


def test_one_word_means_one_thing_in_the_rooms_that_decide() -> None:
    among_themselves = {
        name: where
        for name, where in house.class_names_twice("engine", "framework", "model").items()
        if sum(place.startswith(("engine/", "framework/", "model/")) for place in where) > 1
    }
    assert among_themselves == {}
