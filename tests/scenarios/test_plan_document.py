"""The plan document of the installed command: its shape, its bytes, its exit code, and that it adds up."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
import yaml

from kruntimes_core.framework.configuration import Profiles
from kruntimes_core.model.yaml_files import load_documents
from kruntimes_core.testing import affinity_object, pod_object, run_object, term_object
from tests.scenarios.clusters import Clusters
from tests.scenarios.conftest import Command, Write
from tests.scenarios.planning import Object, document_of
from tests.scenarios.site import run_command

NOW = ("--now", "2026-01-02T03:04:05Z")
EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"


def story() -> list[Object]:
    liking = affinity_object(preferred=[(30, term_object({"app": "a"}))])
    return [
        pod_object("py-0", uid="P0", capacity={"runs": "4"}),
        pod_object("py-1", uid="P1", capacity={"runs": "4"}),
        pod_object("py-2", uid="P2", ready=False),
        run_object("x", pod="py-1", pod_uid="P1", labels={"app": "a"}),
        run_object("r1", uid="U1", affinity=liking),
        run_object("r2", uid="U2", requests={"gpu": "1"}),
        run_object("r3", uid="U3", requests={"gpu": "1.5"}),
    ]


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    file = tmp_path_factory.mktemp("shape") / "objects.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": story()}))
    result = run_command("plan", "-f", file, "--explain", "-o", "json")
    assert result.returncode == 1
    loaded: dict[str, Any] = json.loads(result.stdout)
    return loaded


class TestShape:
    """Exactly the document that programs read."""

    def test_head(self, document: dict[str, Any]) -> None:
        assert list(document) == ["apiVersion", "now", "plugins", "decisions"]
        assert document["apiVersion"] == "kruntimes.io/plan/v1"
        assert document["now"] == "2026-01-02T03:04:05Z"
        assert document["plugins"][-1] == {
            "name": "LeastLoaded",
            "distribution": "kruntimes-least-loaded",
            "version": "0.1.0",
            "weight": 1,
        }

    def test_a_placed_run_and_why(self, document: dict[str, Any]) -> None:
        made = document["decisions"][0]
        candidates = made["candidates"]
        assert list(made.items())[:-1] == [
            ("namespace", "team-a"),
            ("run", "r1"),
            ("uid", "U1"),
            ("runtime", "py"),
            ("outcome", "Scheduled"),
            ("pod", "py-0"),
            ("podUID", "P0"),
            ("reason", "Assigned"),
            ("message", ""),
            ("never", False),
            ("until", None),
        ]
        assert [list(one) for one in candidates] == [
            ["pod", "verdict", "plugin", "reason", "detail", "scores", "total"]
        ] * 3
        assert [(one["pod"], one["verdict"], one["total"]) for one in candidates] == [
            ("py-0", "chosen", 100),
            ("py-1", "feasible", 100),
            ("py-2", "rejected", None),
        ]
        assert {name: list(score) for name, score in candidates[0]["scores"].items()} == {
            "PreferredRunAffinity": ["raw", "normalized", "weight"],
            "LeastLoaded": ["raw", "normalized", "weight"],
        }
        assert candidates[1]["scores"]["PreferredRunAffinity"] == {
            "raw": "30",
            "normalized": 100,
            "weight": 1,
        }
        assert candidates[2] == {
            "pod": "py-2",
            "verdict": "rejected",
            "plugin": "RuntimePodAvailability",
            "reason": "PodNotReady",
            "detail": None,
            "scores": {},
            "total": None,
        }

    def test_a_waiting_run(self, document: dict[str, Any]) -> None:
        made = document["decisions"][1]
        assert (made["outcome"], made["pod"], made["podUID"], made["never"]) == ("Waiting", None, None, True)
        assert [one["detail"] for one in made["candidates"]] == ["gpu is not advertised"] * 2 + [None]

    def test_a_failed_run_was_never_offered_a_pod(self, document: dict[str, Any]) -> None:
        made = document["decisions"][2]
        assert (made["outcome"], made["reason"], made["candidates"]) == ("Failed", "InvalidResources", [])

    def test_without_explain_there_are_no_candidates(
        self, document: dict[str, Any], manifests: Write, kruntimes: Command
    ) -> None:
        plain = json.loads(kruntimes("plan", "-f", manifests(*story()), "-o", "json").stdout)
        shorter = [
            {key: value for key, value in made.items() if key != "candidates"}
            for made in document["decisions"]
        ]
        assert plain == {**document, "decisions": shorter}


def test_what_is_explained_adds_up(profiles: Profiles) -> None:
    clusters = Clusters(Random(11))
    chosen = 0
    for _ in range(250):
        for made in document_of(clusters.cluster(), profiles, explain=True)["decisions"]:
            candidates = made["candidates"]
            names = [one["pod"] for one in candidates]
            assert names == sorted(names)
            scored = [one for one in candidates if one["verdict"] != "rejected"]
            for one in scored:
                given = one["scores"].values()
                assert one["total"] == sum(score["normalized"] * score["weight"] for score in given)
                assert (one["plugin"], one["reason"], one["detail"]) == (None, None, None)
            assert all(
                one["plugin"] and one["reason"] and one["scores"] == {} and one["total"] is None
                for one in candidates
                if one["verdict"] == "rejected"
            )
            best = min(scored, key=lambda one: (-one["total"], one["pod"]), default=None)
            assert made["pod"] == (best["pod"] if best else None)
            assert [one["pod"] for one in scored if one["verdict"] == "chosen"] == (
                [made["pod"]] if best else []
            )
            chosen += best is not None
    assert chosen > 300


class TestInput:
    """One plan, however its objects are written down."""

    @pytest.mark.parametrize("seed", range(12))
    def test_yaml_json_and_the_objects_themselves_are_one_plan(
        self, seed: int, profiles: Profiles, manifests: Write, kruntimes: Command
    ) -> None:
        objects = Clusters(Random(1000 + seed)).cluster()
        expected = document_of(objects, profiles, explain=True)
        for name in ("objects.json", "objects.yaml"):
            told = kruntimes("plan", "-f", manifests(*objects, name=name), *NOW, "--explain", "-o", "json")
            assert json.loads(told.stdout) == expected

    def test_many_files_a_folder_and_standard_input_are_one_list(self, tmp_path: Path) -> None:
        objects = story()
        folder = tmp_path / "folder"
        folder.mkdir()
        (folder / "a.yaml").write_text(yaml.safe_dump_all(objects[:3]))
        (folder / "b.json").write_text(json.dumps(objects[3]))
        (folder / "notes.txt").write_text("no manifest")
        alone = tmp_path / "alone.yml"
        alone.write_text(yaml.safe_dump({"apiVersion": "v1", "kind": "List", "items": objects[4:6]}))
        last = json.dumps({"apiVersion": "kruntimes.io/v1alpha1", "kind": "RunList", "items": [objects[6]]})
        whole = tmp_path / "whole.json"
        whole.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects[::-1]}))
        parts = run_command("plan", "-f", folder, "-f", "-", "-f", alone, "-o", "yaml", stdin=last)
        together = run_command("plan", "-f", whole, "-o", "yaml")
        assert parts.returncode == together.returncode == 1
        assert parts.stdout == together.stdout
        assert parts.stderr == together.stderr == ""

    def test_other_kinds_are_counted(self, manifests: Write, kruntimes: Command) -> None:
        service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a"}}
        runtime = {"apiVersion": "kruntimes.io/v1alpha1", "kind": "Runtime", "metadata": {"name": "py"}}
        stranger = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"}}
        file = manifests(*story()[:2], service, service, runtime, stranger, run_object("r"))
        result = kruntimes("plan", "-f", file, "-o", "json")
        assert [one["run"] for one in json.loads(result.stdout)["decisions"]] == ["r"]
        assert result.stderr.startswith("skipped 4 objects of other kinds: 2 Service, ")

    @pytest.mark.parametrize("form", ["json", "yaml", "table", "wide", "name"])
    def test_the_same_bytes_each_time(self, form: str, manifests: Write, kruntimes: Command) -> None:
        objects = Clusters(Random(5)).cluster()
        texts = set()
        for seed in range(6):
            file = manifests(*Random(seed).sample(objects, len(objects)))
            texts.add(kruntimes("plan", "-f", file, *NOW, "--explain", "-o", form).stdout)
        assert len(texts) == 1

    def test_the_order_of_keys_is_nobodys_business(self, manifests: Write, kruntimes: Command) -> None:
        objects = [
            pod_object("py-0", capacity={"b": "1", "a": "1"}),
            run_object("r1", requests={"b": "9", "a": "9"}, labels={"y": "1", "x": "2"}),
            run_object("r2", requests={"a": "9", "b": "9"}, labels={"x": "2", "y": "1"}),
        ]
        backwards = [json.loads(json.dumps(one, sort_keys=True)) for one in reversed(objects)]
        plans = [
            kruntimes("plan", "-f", manifests(*listed), "--explain", "-o", "json").stdout
            for listed in (objects, backwards)
        ]
        assert plans[0] == plans[1]
        assert "a: 0 in use + 9 requested > 1" in plans[0]

    def test_yaml_output_says_what_json_says(self, manifests: Write, kruntimes: Command) -> None:
        file = manifests(*story())
        written = kruntimes("plan", "-f", file, "--explain", "-o", "yaml").stdout
        ((_, document),) = load_documents(written, "plan.yaml")
        assert document == json.loads(kruntimes("plan", "-f", file, "--explain", "-o", "json").stdout)


class TestExitCodes:
    """0 every pending Run got an answer that is no no, 1 one waits or fails, 2 the question was bad."""

    @pytest.mark.parametrize(
        ("run", "code"),
        [
            (run_object("r"), 0),
            (run_object("r", pod="py-0"), 0),
            (run_object("r", spec={"cancelRequested": True}), 0),
            (run_object("r", metadata={"deletionTimestamp": "2026-01-02T03:04:05Z"}), 0),
            (run_object("r", runtime="js"), 1),
            (run_object("r", requests={"gpu": "1"}), 1),
            (run_object("r", requests={"gpu": "-1"}), 1),
            (run_object("r", requests={"gpu": "500m"}), 1),
            (run_object("r", requests={"gpu": "1K"}), 2),
        ],
        ids=[
            "placed",
            "active",
            "cancelled",
            "leaving",
            "no Pods",
            "never",
            "negative",
            "fraction",
            "unread",
        ],
    )
    def test_the_answer_in_a_number(
        self, run: Object, code: int, manifests: Write, kruntimes: Command
    ) -> None:
        assert kruntimes("plan", "-f", manifests(pod_object("py-0"), run)).returncode == code

    def test_only_the_namespace_that_was_asked_about_counts(
        self, manifests: Write, kruntimes: Command
    ) -> None:
        file = manifests(pod_object("py-0"), run_object("r"), run_object("s", namespace="team-b"))
        assert kruntimes("plan", "-f", file).returncode == 1
        asked = kruntimes("plan", "-f", file, "-n", "team-a", "-o", "json")
        assert asked.returncode == 0
        assert [one["run"] for one in json.loads(asked.stdout)["decisions"]] == ["r"]
        assert kruntimes("plan", "-f", file, "-n", "team-b").returncode == 1
        nobody = kruntimes("plan", "-f", file, "-n", "team-c")
        assert (nobody.returncode, nobody.stdout) == (2, "")
        assert nobody.stderr == "error: the input has no namespace team-c; it has team-a, team-b\n"


SPELLED = {
    "1e3": True,
    "1E3": True,
    "1k": True,
    "1000": True,
    "1000.0": True,
    "1000000m": True,
    "1.0e3": True,
    "'1000'": True,
    "1K": False,
    "500m": False,
    "0.1": False,
    "-1": False,
    "true": False,
    "'1_000'": False,
    ".nan": False,
    ".inf": False,
    "''": False,
}


def test_quantities_in_yaml_are_what_kubectl_would_send(tmp_path: Path, kruntimes: Command) -> None:
    pod = yaml.safe_dump(pod_object("py-0", capacity={"runs": "99", "slots": "1000"}))
    documents = [pod]
    for number, spelling in enumerate(SPELLED):
        run = yaml.safe_dump(run_object(f"r{number:02}", requests={"slots": "AMOUNT"}))
        documents.append(run.replace("AMOUNT", spelling))
    file = tmp_path / "runs.yaml"
    readable = 0
    for document, reads in zip(documents[1:], SPELLED.values(), strict=True):
        file.write_text("---\n".join([pod, document]))
        (made,) = json.loads(kruntimes("plan", "-f", file, "-o", "json").stdout)["decisions"]
        assert (made["pod"] == "py-0") is reads, document
        assert made["reason"] == ("Assigned" if reads else "InvalidResources")
        readable += reads
    assert readable == 8


@pytest.mark.parametrize("number", ["1e3", "1000.0", "1000", '"1e3"', '"1k"', "1E+3"])
def test_quantities_in_json_may_be_numbers(tmp_path: Path, kruntimes: Command, number: str) -> None:
    pod = pod_object("py-0", capacity={"slots": "1000"})
    text = json.dumps(
        {"apiVersion": "v1", "kind": "List", "items": [pod, run_object("r", requests={"slots": 7})]}
    )
    file = tmp_path / "runs.json"
    file.write_text(text.replace('"slots": 7', f'"slots": {number}'))
    assert kruntimes("plan", "-f", file).returncode == 0
    file.write_text(file.read_text().replace('capacity.slots": "1000"', 'capacity.slots": "999"'))
    assert kruntimes("plan", "-f", file).returncode == 1


def test_the_first_example_of_the_documentation() -> None:
    result = run_command("plan", "-f", EXAMPLES / "first-plan.yaml", "-o", "json")
    decided = [(one["run"], one["pod"], one["never"]) for one in json.loads(result.stdout)["decisions"]]
    assert decided == [
        ("embed", "py-1", False),
        ("evaluate", "py-1", False),
        ("report", None, False),
        ("train", None, True),
    ]


def test_thousands_of_runs_are_planned_while_one_waits_for_them(tmp_path: Path) -> None:
    """2,000 Runs on 200 Pods of 9 places each; the command has 50 s, and needs about one."""
    pods = [pod_object(f"py-{number:03}", capacity={"runs": "9", "cpu": "20"}) for number in range(200)]
    runs = [
        run_object(f"r{number:04}", labels={"app": f"a{number % 7}"}, requests={"cpu": str(1 + number % 3)})
        for number in range(2000)
    ]
    file = tmp_path / "many.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [*runs, *pods]}))
    result = run_command("plan", "-f", file, "-o", "json")
    made = json.loads(result.stdout)["decisions"]
    assert len(made) == 2000
    free = {pod["metadata"]["name"]: [9, 20] for pod in pods}
    for one in made:
        if one["pod"]:
            free[one["pod"]][0] -= 1
            free[one["pod"]][1] -= 1 + int(one["run"][1:]) % 3
    assert min(min(left) for left in free.values()) == 0
    assert sum(one["pod"] is not None for one in made) == 1800
    assert {one["reason"] for one in made} == {"Assigned", "InsufficientCapacity"}
    assert result.returncode == 1
