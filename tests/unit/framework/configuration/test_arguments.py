"""Arguments: secrets are never shown, what is shown means the same when read back, and no key is ignored."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from pydantic import ValidationError

from kruntimes_core.cli.output.documents import _yaml
from kruntimes_core.framework.configuration import (
    ConfigurationError,
    build_profiles,
    describe_plugins,
    effective_document,
    load_configuration,
)
from kruntimes_core.framework.configuration.arguments import MASK
from kruntimes_core.framework.runtime.plugin_calls import describe

VAULT = """
from pydantic import ConfigDict, Field, SecretBytes, SecretStr, field_validator
class Login(BaseModel):
    user: str = "me"
    token: SecretStr = Field(min_length=20)
class Hidden(BaseModel):
    model_config = ConfigDict(hide_input_in_errors=True)
    pin: int
class Vault:
    class Arguments(BaseModel):
        limit: int = 3
        token: SecretStr = Field("x" * 20, min_length=20)
        login: Login | None = None
        logins: list[Login] = []
        by_name: dict[str, Login] = {}
        hidden: Hidden | None = None
        either: SecretBytes | int | None = None
        quoted: SecretStr | None = None
        @field_validator("quoted", mode="before")
        @classmethod
        def check(cls, value): raise ValueError(f"{value} will not do")
    def __init__(self, arguments): ...
    @hookimpl
    def filter(self, pod): ...
"""


def configured(arguments: Any) -> str:
    return yaml.safe_dump({"plugins": {"enabled": [{"name": "Vault", "arguments": arguments}]}})


@pytest.fixture
def vault(environment: Any) -> Any:
    environment.supplied()
    environment.install("Vault", VAULT)
    return environment


@pytest.mark.parametrize(
    "arguments",
    [
        {"token": "hunter2"},
        {"login": {"token": "hunter2"}},
        {"logins": [{"token": "hunter2"}]},
        {"by_name": {"a": {"token": "hunter2"}}},
        {"hidden": {"pin": "hunter2"}},
        {"either": ["hunter2"]},
        {"quoted": "hunter2"},
        {"tokn": "hunter2"},
        {"login": "hunter2"},
        "hunter2",
    ],
)
def test_a_secret_is_in_no_error(vault: Any, arguments: Any) -> None:
    registry = vault.registry()
    with pytest.raises(ConfigurationError) as caught:
        build_profiles(load_configuration(configured(arguments), "c.yaml"), registry)
    error: BaseException | None = caught.value
    assert "c.yaml:" in str(error)
    while error is not None:
        shown = "" if error.__suppress_context__ else str(error.__context__ or "")
        assert "hunter2" not in f"{error} {shown}" or isinstance(arguments, str)
        error = error.__cause__
    if isinstance(arguments, dict):
        states = describe_plugins(load_configuration(configured(arguments), "c.yaml"), registry)
        assert "hunter2" not in str(states)


def test_a_value_that_is_no_secret_is_named(vault: Any) -> None:
    with pytest.raises(ConfigurationError, match=r"limit: must be a valid integer.*not 'many'"):
        build_profiles(load_configuration(configured({"limit": "many"}), "c.yaml"), vault.registry())


def test_an_error_of_pydantic_inside_of_a_plugin_is_described_without_its_input(vault: Any) -> None:
    model = vault.registry().load("Vault").declaration.arguments
    with pytest.raises(ValidationError) as caught:
        model.model_validate({"token": "hunter2"})
    assert "hunter2" in str(caught.value)
    assert "hunter2" not in describe(caught.value)
    assert "token" in describe(caught.value)


def test_a_configuration_that_is_printed_shows_no_arguments() -> None:
    assert "hunter2" not in repr(load_configuration(configured({"token": "hunter2"}), "c.yaml"))


def test_a_secret_is_shown_as_a_mask_and_a_mask_is_refused(vault: Any) -> None:
    secret = "hunter2" * 4
    given = {
        "limit": 5,
        "token": secret,
        "logins": [{"user": "you", "token": secret}],
        "by_name": {"a": {"token": secret}},
        "hidden": {"pin": 1234},
        "either": secret,
    }
    registry = vault.registry()
    configuration = load_configuration(configured(given), "c.yaml")
    build_profiles(configuration, registry)
    document = effective_document(configuration, registry)
    [shown] = [one["arguments"] for one in document["plugins"]["enabled"] if one["name"] == "Vault"]
    assert shown == {
        "limit": 5,
        "token": MASK,
        "logins": [{"user": "you", "token": MASK}],
        "by_name": {"a": {"token": MASK}},
        "hidden": {"pin": MASK},
        "either": MASK,
    }
    with pytest.raises(ConfigurationError, match="write the secret itself"):
        load_configuration(json.dumps(document), "shown.yaml")


# Round trip

FREE = """
from pydantic import ConfigDict
class Free:
    class Arguments(BaseModel):
        model_config = ConfigDict(extra="allow")
    def __init__(self, arguments): ...
    @hookimpl
    def filter(self, pod): ...
"""


@pytest.mark.parametrize(
    "text",
    [
        *(".inf", "-.inf", ".nan", "[.inf]", "{a: .nan}"),
        *("!!set {a, b}", "!!binary aGk=", "!!omap [a: 1]", "{1: a}", "{true: a}", "{~: a}", "{1.5: a}"),
    ],
)
def test_what_json_has_no_value_for_is_refused_with_its_place(text: str) -> None:
    with pytest.raises(ConfigurationError, match=r"c.yaml:5: plugins.enabled\[0\].arguments.x"):
        load_configuration(
            f"plugins:\n  enabled:\n  - name: Free\n    arguments:\n      x: {text}\n", "c.yaml"
        )


@pytest.mark.parametrize(
    "value",
    [
        *(
            "2026-01-02",
            "2026-01-02T03:04:05Z",
            "12:30",
            "1e3",
            "0o17",
            "yes",
            "y",
            "null",
            "~",
            "",
            " a ",
            "=",
            "<<",
        ),
        *("a\nb", "caf\xe9", "\u2028", "\x07", "a: b # c", "\ufeff", "0x1F", "1_000", ".5", "on", "😀"),
        *(1e16, 1e-7, 2.0, 10**30, -0.0, True, None, [], {}, [[1, {"a": [None]}]], {"1": {"y": 2}}),
    ],
)
def test_what_is_shown_means_the_same_in_json_and_yaml(environment: Any, value: Any) -> None:
    environment.supplied()
    environment.install("Free", FREE)
    registry = environment.registry()
    given = {"x": value, "y": [value]}
    text = json.dumps({"plugins": {"enabled": [{"name": "Free", "arguments": given}]}})
    document = effective_document(load_configuration(text, "c.json"), registry)
    for shown in (json.dumps(document, allow_nan=False), _yaml(document)):
        again = load_configuration(shown, "shown")
        [arguments] = [one.arguments for one in again.plugins.enabled if one.name == "Free"]
        assert repr(arguments) == repr(given)


# Unknown keys

STRICT = """
from pydantic import AliasChoices, ConfigDict, Field, model_validator
class Inner(BaseModel):
    depth: int = 1
class Loose(BaseModel):
    model_config = ConfigDict(extra="ignore")
class Old(BaseModel):
    new: int = 1
    @model_validator(mode="before")
    @classmethod
    def renamed(cls, value): return {"new": value["old"]} if "old" in value else value
class Strict:
    class Arguments(BaseModel):
        label: str = ""
        inner: Inner = Inner()
        inners: list[Inner] = []
        maybe: Inner | None = None
        loose: Loose = Loose()
        old: Old = Old()
        renamed: int = Field(1, validation_alias=AliasChoices("first", "second"))
    def __init__(self, arguments): ...
    @hookimpl
    def filter(self, pod): ...
"""


def build(environment: Any, arguments: Any) -> None:
    environment.supplied()
    environment.install("Strict", STRICT)
    text = json.dumps({"plugins": {"enabled": [{"name": "Strict", "arguments": arguments}]}}, indent=1)
    build_profiles(load_configuration(text, "c.json"), environment.registry())


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"lable": "a"}, "arguments.lable: unknown argument: did you mean label?"),
        ({"inner": {"dept": 1}}, "arguments.inner.dept: unknown argument: did you mean depth?"),
        ({"inners": [{}, {"x": 1}]}, "arguments.inners[1].x: unknown argument: known are depth"),
        ({"maybe": {"x": 1}}, "arguments.maybe.x: unknown argument: known are depth"),
        ({"renamed": 1}, "arguments.renamed: unknown argument"),
    ],
)
def test_a_key_that_no_field_takes_is_refused(environment: Any, arguments: Any, problem: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        build(environment, arguments)
    assert problem in str(caught.value)


def test_a_model_that_says_what_it_does_with_further_keys_decides(environment: Any) -> None:
    build(environment, {"loose": {"x": 1}, "old": {"old": 2}, "second": 3})
