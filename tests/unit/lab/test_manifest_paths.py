import pytest

from kruntimes_core.lab.offline_plan.field_lines import steps

RUN = {
    "spec": {
        "resources": {"requests": {"gpu": 1, "example.com/gpu": 2, "example": {}, 7: 3}},
        "terms": [{"key": "a"}, {"key": "b"}],
    }
}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("", []),
        ("spec", ["spec"]),
        ("spec.resources.requests.gpu", ["spec", "resources", "requests", "gpu"]),
        ("spec.resources.requests['gpu']", ["spec", "resources", "requests", "gpu"]),
        ("spec.resources.requests.example.com/gpu", ["spec", "resources", "requests", "example.com/gpu"]),
        ("spec.resources.requests['example.com/gpu']", ["spec", "resources", "requests", "example.com/gpu"]),
        ("spec.resources.requests[7]", ["spec", "resources", "requests", "7"]),
        ("spec.terms[1].key", ["spec", "terms", 1, "key"]),
        ("spec.terms[1]", ["spec", "terms", 1]),
        ("spec.terms[2].key", ["spec", "terms"]),
        ("spec.missing.key", ["spec"]),
        ("specification", []),
    ],
)
def test_a_path_is_followed_as_far_as_the_object_goes(path: str, found: list[str | int]) -> None:
    assert list(steps(RUN, path)) == found


def test_a_long_key_is_found_by_what_a_message_shows_of_it() -> None:
    from kruntimes_core.model.messages import quoted

    key = "x" * 500
    assert list(steps({"requests": {key: 1}}, f"requests[{quoted(key)}]")) == ["requests", key]
