import io
import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from kruntimes_core.engine.clock import SECOND
from kruntimes_core.lab.offline_plan.dump_time import DumpTime
from kruntimes_core.lab.offline_plan.manifest_reader import Reader, Reading
from kruntimes_core.lab.offline_plan.sources import Source, read_sources
from kruntimes_core.model.decode import Decoder
from kruntimes_core.model.messages import InputError
from kruntimes_core.testing import pod_object, run_object, workspace_object
from kruntimes_core.testing.builders import NOW

LIMIT = 15 * SECOND
DUMP = Path(__file__).parents[2] / "data" / "dump.yaml"


def read(*texts: str | Mapping[str, Any], namespace: str = "default") -> Reading:
    """Read texts (or objects, as JSON) as files a.yaml, b.yaml, ..."""
    reader = Reader(Decoder(), namespace)
    for letter, text in zip("abcdef", texts, strict=False):
        content = text if isinstance(text, str) else json.dumps(text, indent=1)
        for _ in reader.read(Source(f"{letter}.yaml", content.encode())):
            pass
    return reader.reading()


def listed(*items: Mapping[str, Any], kind: str = "List", version: str = "v1") -> dict[str, Any]:
    return {"apiVersion": version, "kind": kind, "items": list(items), "metadata": {"resourceVersion": ""}}


def error(*texts: str | Mapping[str, Any]) -> str:
    with pytest.raises(InputError) as caught:
        read(*texts)
    return str(caught.value)


def test_the_dump_of_a_small_busy_cluster() -> None:
    reader = Reader(Decoder())
    counts = [n for source in read_sources([str(DUMP)], io.BytesIO()) for n in reader.read(source)]
    reading = reader.reading()
    world = reading.world
    assert (len(world.runs), len(world.pods), len(world.workspaces)) == (80, 16, 0)
    assert {seen.run.namespace for seen in world.runs} == {"analytics", "ml-batch"}
    assert reading.skipped == {"Pod without the label runtime": 2}
    assert reading.unreadable == ()
    assert world.time.heartbeat == datetime(2026, 11, 30, 0, 0, 40, tzinfo=UTC)
    assert world.time.newest is not None
    assert world.time.newest.at == datetime(2026, 11, 30, 0, 0, 39, tzinfo=UTC)
    assert world.invented_uids == frozenset()
    assert counts[-1] == 96
    assert counts == sorted(counts)


@pytest.mark.parametrize("form", ["json", "yaml"])
def test_lists_documents_and_files_are_one_list(form: str) -> None:
    dump = json.dumps if form == "json" else yaml.safe_dump
    text = dump(listed(run_object("r1"), pod_object("py-0")))
    separator = "\n" if form == "json" else "\n---\n"
    reading = read(text + separator + dump(run_object("r2")), dump(workspace_object("ws")))
    assert [seen.run.name for seen in reading.world.runs] == ["r1", "r2"]
    assert [seen.pod.name for seen in reading.world.pods] == ["py-0"]
    assert [seen.workspace.name for seen in reading.world.workspaces] == ["ws"]


def test_a_list_of_one_kind_says_what_its_items_are() -> None:
    def bare(content: dict[str, Any]) -> dict[str, Any]:
        return {key: value for key, value in content.items() if key not in ("apiVersion", "kind")}

    runs = listed(bare(run_object("r1")), run_object("r2"), kind="RunList", version="kruntimes.io/v1alpha1")
    pods = listed(bare(pod_object("py-0")), kind="PodList")
    reading = read(runs, pods, listed(runs | {"items": [bare(run_object("r3"))]}))
    assert [seen.run.name for seen in reading.world.runs] == ["r1", "r2", "r3"]
    assert [seen.pod.name for seen in reading.world.pods] == ["py-0"]


def test_an_empty_list_is_an_answer() -> None:
    assert read(listed()).world.runs == ()
    assert read("apiVersion: v1\nkind: List\nitems:\n").world.time == DumpTime()


def test_one_list_that_stands_twice_by_an_alias() -> None:
    text = yaml.safe_dump({"items": [run_object("r1")]}).replace("items:", "items: &all")
    assert (
        len(read(f"apiVersion: v1\nkind: List\n{text}---\n{json.dumps(listed(run_object('r1')))}").world.runs)
        == 1
    )
    shared = "apiVersion: v1\nkind: List\nitems:\n- &a {apiVersion: v1, kind: List, items: []}\n- *a\n"
    assert read(shared).world.runs == ()


def test_kinds_that_do_not_matter_are_counted() -> None:
    other = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}}
    reading = read(
        listed(
            other,
            other,
            {"apiVersion": "kruntimes.io/v1alpha1", "kind": "Runtime", "metadata": {"name": "py"}},
            {"apiVersion": "ci.example.com/v1", "kind": "Run", "metadata": {"name": "r"}},
            {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web-0", "labels": {"app": "web"}}},
            {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web-1"}},
            {"apiVersion": "v1", "kind": "PriceList"},
        )
    )
    assert reading.world.runs == ()
    assert reading.world.pods == ()
    assert reading.skipped == {
        "Deployment": 2,
        "Runtime": 1,
        "Run of ci.example.com/v1": 1,
        "Pod without the label runtime": 2,
        "PriceList": 1,
    }


def test_a_run_of_another_version_of_the_api_is_refused() -> None:
    text = "kind: Run\napiVersion: kruntimes.io/v1beta1\nmetadata: {name: r}\n"
    assert error(text) == "a.yaml:2: Run of kruntimes.io/v1beta1: only kruntimes.io/v1alpha1 is understood"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "- 1\n",
            "a.yaml:1: expected an object with apiVersion and kind, found a list: make it the items of a",
        ),
        (
            "No resources found",
            "a.yaml:1: expected an object with apiVersion and kind, found a text: give manifests, as kubectl"
            " get runs,pods,persistentworkspaces -A -o yaml prints them",
        ),
        (
            "apiVersion: v1\nkind: List\nitems:\n-\n",
            "a.yaml:4: expected an object with apiVersion and kind, found null: remove it",
        ),
        ("apiVersion: v1\nkind: List\nitems: {}x\n", "a.yaml:3: "),
        (
            "apiVersion: v1\nkind: List\nitems: 7\n",
            "a.yaml:3: the items of a list must be a list: write a dash before each",
        ),
        ("\n\napiVersion: v1\n", "a.yaml:3: an object without kind"),
        ("kind: Run\n", "a.yaml:1: an object without apiVersion"),
        ("apiVersion: v1\nkind: List\nitems:\n- metadata: {}\n", "a.yaml:4: an object without apiVersion"),
        ("apiVersion: v1\nkind: 7\n", "a.yaml:1: an object without kind"),
        ('{"a": }', "a.yaml:1: "),
    ],
)
def test_what_is_no_object_is_refused_with_its_line(text: str, message: str) -> None:
    assert error(text).startswith(message)


@pytest.mark.parametrize("text", ["", "---\n---\n", "# only a comment\n"])
def test_input_without_any_object_is_an_error(text: str) -> None:
    assert error(text) == (
        "the input is empty: give what kubectl get runs,pods,persistentworkspaces -A -o yaml prints"
    )
    assert read(text, run_object("r")).world.runs[0].run.name == "r"


RUN = "apiVersion: kruntimes.io/v1alpha1\nkind: Run\n"


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        ("", "a.yaml:1: Run: metadata is missing or no mapping"),
        ("metadata: []", "a.yaml:3: Run: metadata is missing or no mapping"),
        ("metadata:\n  generateName: r-", "a.yaml:3: Run: metadata.name is missing"),
        ("metadata:\n  name: 12", "a.yaml:4: Run: metadata.name must be text, not 12: put it in quotes"),
        ("metadata:\n  name: a\n  namespace: [b]", "a.yaml:5: Run: metadata.namespace must be text"),
        ("metadata:\n  name: a\n  uid: 1", "a.yaml:5: Run: metadata.uid must be text"),
    ],
)
def test_metadata_that_names_nothing(metadata: str, message: str) -> None:
    assert error(RUN + metadata).startswith(message)


def test_what_hand_written_files_leave_out() -> None:
    text = RUN + "metadata: {name: r}\n"
    world = read(text).world
    assert world.runs[0].run.namespace == "default"
    assert world.runs[0].run.uid == "name:default/r"
    assert world.invented_uids == {"name:default/r"}
    assert world.time == DumpTime()
    assert read(text, namespace="team-a").world.runs[0].run.namespace == "team-a"
    assert read(run_object(namespace="team-b"), namespace="team-a").world.runs[0].run.namespace == "team-b"


def test_an_object_that_is_given_twice_counts_once() -> None:
    reading = read(run_object("r"), run_object("r"), listed(pod_object("py-0"), pod_object("py-0")))
    assert len(reading.world.runs) == len(reading.world.pods) == 1
    text = RUN + "metadata: {name: r}\nspec: {runtime: py}\n"
    assert len(read(text, text).world.runs) == 1
    # One version of one object: whatever else a client shows of it does not matter.
    assert (
        len(read(run_object("r", version="7"), run_object("r", version="7", labels={"a": "b"})).world.runs)
        == 1
    )


@pytest.mark.parametrize(
    "other",
    [
        run_object("r", version="2"),
        run_object("r", uid="another"),
        run_object("r", version="", metadata={"uid": None}, labels={"a": "b"}),
    ],
)
def test_two_objects_of_one_name_contradict_each_other(other: dict[str, Any]) -> None:
    message = error(run_object("x"), run_object("r"), listed(other))
    assert message == (
        "c.yaml:5: Run team-a/r is given twice, and differs: leave one of them out (the other: b.yaml:1)"
    )


def test_a_copied_uid_is_noticed() -> None:
    message = error(run_object("r", uid="U1"), run_object("s", uid="U1"))
    assert message.startswith("b.yaml:1: Run team-a/s has the uid of Run team-a/r: give each")
    assert len(read(run_object("r", uid="U1"), run_object("r", uid="U1", namespace="team-b")).world.runs) == 2
    assert len(read(run_object("r", uid="U1"), pod_object("r", uid="U1")).world.pods) == 1


def test_the_namespaces_of_the_input_are_those_of_all_objects() -> None:
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "d", "namespace": "shop"},
    }
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}}
    odd = {"apiVersion": "v1", "kind": "Event", "metadata": {"name": "e", "namespace": 7}}
    stranger = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "dns", "namespace": "kube-system"}}
    bare = RUN + "metadata: {name: r}\n"
    reading = read(
        listed(deployment, node, odd, stranger, run_object("r", namespace="team-a")), bare, namespace="b"
    )
    assert reading.namespaces == {"shop", "kube-system", "team-a", "b"}
    assert read(listed()).namespaces == frozenset()


def test_the_time_of_a_dump_is_that_of_its_newest_heartbeat() -> None:
    older, newer = NOW - timedelta(seconds=9), NOW + timedelta(seconds=3)
    world = read(
        listed(pod_object("py-0", probed_at=newer), pod_object("py-1", probed_at=older), run_object("r"))
    ).world
    assert world.time.heartbeat == world.time.at(LIMIT) == newer
    assert read(run_object("r")).world.time.at(LIMIT) == NOW


def test_a_field_that_cannot_be_read_is_told_with_its_line_and_stops_nobody() -> None:
    bad = run_object("bad", requests={"cpu": "1", "gpu": "1e999999999"})
    reading = read(run_object("good"), listed(run_object("good2"), bad))
    assert [seen.run.name for seen in reading.world.runs] == ["good", "good2", "bad"]
    (found,) = reading.unreadable
    lines = json.dumps(listed(run_object("good2"), bad), indent=1).splitlines()
    number = next(n for n, text in enumerate(lines, start=1) if "1e999999999" in text)
    assert str(found).startswith(f"b.yaml:{number}: Run team-a/bad: spec.resources.requests['gpu']: ")


def test_a_field_that_can_be_read_and_is_not_allowed_is_no_matter_of_input() -> None:
    reading = read(listed(run_object("r", requests={"gpu": "-1"}), run_object("s", requests={"gpu": "500m"})))
    assert reading.unreadable == ()
    assert [bool(seen.invalid) for seen in reading.world.runs] == [True, True]


MARKED = [
    "---\n\ufeff",
    "---\r\n\ufeff",
    "--- # the second\n\ufeff",
    "\ufeff---\n",
    "\ufeff---\n\ufeff",
]


@pytest.mark.parametrize("separator", MARKED)
def test_a_byte_order_mark_at_a_later_document_is_read_as_kubectl_reads_it(separator: str) -> None:
    first, second = (yaml.safe_dump(run_object(name)) for name in ("one", "two"))
    assert [seen.run.name for seen in read(f"\ufeff{first}{separator}{second}").world.runs] == ["one", "two"]
    bad = second.replace("name: two", "name: 2")
    line = (first + separator).count("\n") + bad[: bad.index("  name: 2")].count("\n") + 1
    assert error(f"{first}{separator}{bad}").startswith(f"a.yaml:{line}: Run: metadata.name must be text")


def test_a_byte_order_mark_inside_a_text_stays() -> None:
    run = run_object("one")
    run["metadata"]["annotations"] = {"a": "x\ufeffy"}
    [seen] = read(run).world.runs
    assert seen.run.annotations["a"] == "x\ufeffy"


STATUS = {"apiVersion": "v1", "kind": "Status"}
FORBIDDEN = {"status": "Failure", "message": "runs is forbidden", "code": 403}
NOT_WHOLE = {"apiVersion": "meta.k8s.io/v1", "items": [], "rows": []}
PAGE = {"apiVersion": "v1", "kind": "List", "items": [], "metadata": {"continue": "abc"}}


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (STATUS | FORBIDDEN, "a Status of an API server, not objects: runs is forbidden: correct"),
        (STATUS | {"status": "Failure", "reason": "Expired"}, "not objects: Expired"),
        (STATUS | {"status": "Success"}, "not objects: Success"),
        (NOT_WHOLE | {"kind": "Table"}, "a Table has no whole objects: give"),
        (NOT_WHOLE | {"kind": "PartialObjectMetadataList"}, "has no whole objects: give"),
        ({"type": "ADDED", "object": run_object("r")}, "an event of a watch"),
        (PAGE, "the List is one page, and more follow"),
    ],
)
def test_an_answer_without_all_objects_is_not_an_input_without_runs(
    answer: dict[str, Any], problem: str
) -> None:
    for text in (json.dumps(answer, indent=1), yaml.safe_dump(answer)):
        assert problem in error(pod_object(), text)
    assert problem in error(listed(pod_object(), answer))
