import reprlib
from typing import Any

import pytest

from kruntimes_core.model.fields import DecodeError
from kruntimes_core.model.selectors import LabelSelector, Operator, Requirement, compile_selector


def expression(**fields: Any) -> dict[str, Any]:
    return {"matchExpressions": [{"key": "tier", "operator": "In", "values": ["gold"]} | fields]}


@pytest.mark.parametrize(
    ("value", "path", "says"),
    [
        (expression(operator="in"), "matchExpressions[0].operator", "unknown operator 'in' on key 'tier'"),
        (expression(operator="IN"), "matchExpressions[0].operator", "write In, NotIn, Exists, DoesNotExist"),
        (expression(operator=""), "matchExpressions[0].operator", "''"),
        (expression(operator=None), "matchExpressions[0].operator", "null"),
        (expression(operator=["In"]), "matchExpressions[0].operator", "a list"),
        (expression(values=[]), "matchExpressions[0].values", "operator In on key 'tier' needs"),
        (expression(values=None), "matchExpressions[0].values", "operator In on key 'tier' needs"),
        (expression(operator="NotIn", values=[]), "matchExpressions[0].values", "operator NotIn"),
        (expression(operator="Exists"), "matchExpressions[0].values", "Exists on key 'tier' takes no values"),
        (expression(operator="DoesNotExist"), "matchExpressions[0].values", "takes no values"),
        (expression(values="gold"), "matchExpressions[0].values", "'gold' is not a list"),
        (expression(values={"gold": ""}), "matchExpressions[0].values", "an object"),
        (expression(values=["v" * 64]), "matchExpressions[0].values", "'vvv"),
        (expression(values=["two words"]), "matchExpressions[0].values", "'two words' of key 'tier'"),
        (expression(values=["gold", "-x"]), "matchExpressions[0].values", "'-x'"),
        (expression(values=["gold\n"]), "matchExpressions[0].values", r"'gold\\n'"),
        (
            expression(values=["\N{LATIN SMALL LETTER E WITH ACUTE}"]),
            "matchExpressions[0].values",
            "not a label",
        ),
        (expression(values=[1]), "matchExpressions[0].values", "1 of key 'tier'"),
        (expression(values=[None]), "matchExpressions[0].values", "null"),
        (expression(key=None), "matchExpressions[0].key", "null is not a label key"),
        (expression(key=""), "matchExpressions[0].key", "''"),
        (expression(key="k" * 64), "matchExpressions[0].key", "not a label key"),
        (expression(key="/tier"), "matchExpressions[0].key", "'/tier'"),
        (expression(key="a/b/tier"), "matchExpressions[0].key", "'a/b/tier'"),
        (expression(key="Example.com/tier"), "matchExpressions[0].key", "not a label key"),
        (expression(key="d" * 254 + "/tier"), "matchExpressions[0].key", "not a label key"),
        (expression(key="tier\n"), "matchExpressions[0].key", "not a label key"),
        ({"matchExpressions": {}}, "matchExpressions", "an object is not a list"),
        ({"matchExpressions": ["tier"]}, "matchExpressions[0]", "'tier' is not an object"),
        ({"matchExpressions": [None]}, "matchExpressions[0].key", "null"),
        ({"matchLabels": ["app"]}, "matchLabels", "a list is not an object"),
        ({"matchLabels": {"app": None}}, "matchLabels", "null of key 'app'"),
        ({"matchLabels": {"app": 1}}, "matchLabels", "1 of key 'app'"),
        ({"matchLabels": {"app": "a b"}}, "matchLabels", "'a b' of key 'app'"),
        ({"matchLabels": {"a b": "x"}}, "matchLabels", "'a b' is not a label key"),
    ],
    ids=reprlib.repr,
)
def test_what_kubernetes_cannot_compile_is_unreadable(value: object, path: str, says: str) -> None:
    with pytest.raises(DecodeError, match=says) as refusal:
        compile_selector(value)
    assert refusal.value.path == f"labelSelector.{path}"
    assert refusal.value.unreadable


@pytest.mark.parametrize("value", [None, "app=a", 1, True, []])
def test_what_is_no_object_is_no_selector(value: object) -> None:
    with pytest.raises(DecodeError, match="is not a selector") as refusal:
        compile_selector(value)
    assert refusal.value.unreadable


@pytest.mark.parametrize(
    "value",
    [
        {},
        {"matchLabels": {}},
        {"matchExpressions": []},
        {"matchLabels": None, "matchExpressions": None},
        {"matchLables": {"app": "a"}},
    ],
)
def test_an_empty_selector_would_match_all_and_is_not_allowed(value: object) -> None:
    with pytest.raises(DecodeError, match="it is empty") as refusal:
        compile_selector(value)
    assert not refusal.value.unreadable


@pytest.mark.parametrize("value", ["", "v" * 63, "a", "A-b_c.d", "0"])
def test_label_values_up_to_the_limits_compile(value: str) -> None:
    requirement = Requirement("app", Operator.IN, frozenset({value}))
    assert compile_selector({"matchLabels": {"app": value}}) == LabelSelector(frozenset({requirement}))


@pytest.mark.parametrize(
    "key", ["k" * 63, "example.com/k", "a.b-c.d0/K_k.k", "/".join(["d" * 63, "k"]), "d." * 126 + "d/k"]
)
def test_keys_up_to_the_limits_compile(key: str) -> None:
    requirement = Requirement(key, Operator.EXISTS)
    compiled = compile_selector({"matchExpressions": [{"key": key, "operator": "Exists", "values": []}]})
    assert compiled == LabelSelector(frozenset({requirement}))
