"""The plain manifests are what the chart gives by default. Neither has a CRD: the platform owns those."""

import yaml

from deployment.chart import BY_HAND, CHART, DEPLOY, MANIFESTS, NAMESPACE, objects_in, plain_manifests, render
from kruntimes_core.crds import crd_texts

FILES = {path.name: path.read_text() for path in MANIFESTS.glob("*.yaml")}


def test_they_are_up_to_date() -> None:
    generated = {name: text for name, text in FILES.items() if name not in BY_HAND}
    assert generated == plain_manifests(), "run `python -m deployment`"


def test_only_what_helm_says_of_itself_is_missing() -> None:
    generated = FILES.keys() - BY_HAND
    plain = [one for name in generated for one in objects_in(FILES[name], name)]
    assert {one["kind"] for one in plain} == {one["kind"] for one in render().installed}
    assert not any("elm" in text.replace("helm.sh", "") for text in FILES.values())


def test_kustomize_takes_all_of_them() -> None:
    listed = yaml.safe_load(FILES["kustomization.yaml"])["resources"]
    assert sorted(listed) == sorted(set(FILES) - {"kustomization.yaml"})


def test_the_namespace_asks_for_restricted_pods() -> None:
    metadata = yaml.safe_load(FILES["namespace.yaml"])["metadata"]
    assert metadata["name"] == NAMESPACE
    assert metadata["labels"]["pod-security.kubernetes.io/enforce"] == "restricted"


def test_neither_the_chart_nor_the_manifests_contain_a_crd() -> None:
    """A sync of either would overwrite those of the platform's own chart."""
    texts = [
        path.read_text() for folder in (CHART, MANIFESTS) for path in folder.rglob("*") if path.is_file()
    ]
    assert not any("kind: CustomResourceDefinition" in text for text in texts)
    assert not (CHART / "crds").exists()


def test_the_crds_for_clusters_without_the_platform_are_those_of_the_host() -> None:
    assert {path.name: path.read_text() for path in (DEPLOY / "crds").glob("*.yaml")} == crd_texts()
