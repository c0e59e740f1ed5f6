"""The CRDs as files: what needs no server to be known. What they do is shown in tests/cluster."""

from pathlib import Path

import pytest

from kruntimes_core.crds import crd_texts, crds

DEPLOY = Path(__file__).parents[3] / "deploy" / "crds"
SHORT_NAMES = {"runs": ["rn"], "runtimes": ["rt"], "persistentworkspaces": ["pw"]}


def test_the_copies_to_deploy_are_equal() -> None:
    assert {path.name: path.read_text(encoding="utf-8") for path in DEPLOY.glob("*.yaml")} == crd_texts()


def test_each_crd_lies_in_the_file_of_its_name() -> None:
    named = [f"{crd['spec']['group']}_{crd['spec']['names']['plural']}.yaml" for crd in crds()]
    assert named == list(crd_texts())


@pytest.mark.parametrize("crd", crds(), ids=lambda crd: str(crd["spec"]["names"]["kind"]))
def test_what_all_have_in_common(crd: dict[str, dict[str, object]]) -> None:
    spec = crd["spec"]
    assert isinstance(spec["names"], dict)
    plural = spec["names"]["plural"]
    assert crd["metadata"]["name"] == f"{plural}.kruntimes.io"
    assert (spec["group"], spec["scope"]) == ("kruntimes.io", "Namespaced")
    assert spec["names"]["shortNames"] == SHORT_NAMES[plural]
    assert isinstance(spec["versions"], list)
    (version,) = spec["versions"]
    assert (version["name"], version["served"], version["storage"]) == ("v1alpha1", True, True)
    assert version["subresources"] == {"status": {}}


def test_each_call_gives_objects_of_its_own() -> None:
    crds()[0]["spec"]["group"] = "example.com"
    assert crds()[0]["spec"]["group"] == "kruntimes.io"
