"""A real kubectl drives the embedded server: what users of `kruntimes dev` type."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from embedded.bodies import event_body
from embedded.place import serving
from kruntimes_core.lab.apiserver.http.embedded import new_server
from kruntimes_core.testing import condition_object
from realcluster.client import RUNS, Client, Resource

EVENTS = Resource("events.k8s.io", "v1", "events")

RUN = """
apiVersion: kruntimes.io/v1alpha1
kind: Run
metadata: {name: r1, labels: {app: web}}
spec: {runtime: py, mode: {task: {entrypoint: m.py}}}
"""
RUNTIME = """
apiVersion: kruntimes.io/v1alpha1
kind: Runtime
metadata: {name: py}
spec: {template: {spec: {containers: [{name: runtime, image: "runtime:1"}]}}}
"""
POD = """
apiVersion: v1
kind: Pod
metadata: {name: py-0, labels: {runtime: py}}
spec: {containers: [{name: runtime, image: "runtime:1"}]}
"""


class Kubectl:
    """kubectl in a home of its own, in the namespace team-a."""

    def __init__(self, program: str, url: str, home: Path) -> None:
        self.client = Client(url)
        self._command = [program, f"--server={url}", "--namespace=team-a"]
        self._environment = {"HOME": str(home), "PATH": os.environ.get("PATH", ""), "KUBECONFIG": os.devnull}

    def start(self, *arguments: str, editor: str = "") -> subprocess.Popen[str]:
        return subprocess.Popen(
            [*self._command, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**self._environment, "EDITOR": editor},
        )

    def __call__(self, *arguments: str, text: str = "", editor: str = "", fails: bool = False) -> str:
        with self.start(*arguments, editor=editor) as process:
            out, _ = process.communicate(text, timeout=20)
        assert (process.returncode != 0) is fails, out
        return out


@pytest.fixture(name="kubectl")
def kubectl_on_embedded(kubectl: str, tmp_path: Path) -> Iterator[Kubectl]:
    """Kubectl with a server that has its controllers."""
    with serving(new_server()) as server:
        tool = Kubectl(kubectl, server.url, tmp_path)
        tool("create", "namespace", "team-a")
        yield tool


def test_what_there_is(kubectl: Kubectl) -> None:
    assert "Server Version: v1.37" in kubectl("version")
    kinds = kubectl("api-resources")
    assert all(kind in kinds for kind in ("Run", "PersistentWorkspace", "Pod", "Lease", "Event"))
    assert "PersistentWorkspace whose Pod" in kubectl("explain", "run.spec.workspace")
    assert kubectl("get", "runs", "-A") == "No resources found\n"


def test_apply_says_created_configured_and_unchanged(kubectl: Kubectl) -> None:
    both = f"{RUN}---{POD}"
    created = kubectl("apply", "-f", "-", text=both)
    assert created == "run.kruntimes.io/r1 created\npod/py-0 created\n"
    changed = both.replace("app: web", "app: db").replace("runtime:1", "runtime:2")
    configured = kubectl("apply", "-f", "-", text=changed)
    assert configured == "run.kruntimes.io/r1 configured\npod/py-0 configured\n"
    again = kubectl("apply", "-f", "-", text=changed)
    assert again == "run.kruntimes.io/r1 unchanged\npod/py-0 unchanged\n"
    image = kubectl("get", "pod", "py-0", "-o", "jsonpath={.spec.containers[0].image}")
    assert image == "runtime:2"


def test_a_refusal_names_the_field_and_what_is_wrong(kubectl: Kubectl) -> None:
    bad = RUN.replace("task: {entrypoint: m.py}", "")
    said = kubectl("apply", "-f", "-", text=bad, fails=True)
    assert "spec.mode: Invalid value: exactly one of task and function must be set" in said
    unknown = kubectl("apply", "-f", "-", text=RUN.replace("mode: {", "mode: {zone: a, "), fails=True)
    assert 'the body is not a valid Run: unknown field "spec.mode.zone"' in unknown
    applied = kubectl("apply", "--server-side", "-f", "-", text=RUN, fails=True)
    assert "apply without --server-side" in applied


def test_get_and_describe(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", "-", text=f"{RUN}---{POD}")
    status = {"phase": "Scheduled", "assignedPod": "py-0", "message": "waits for its files"}
    kubectl.client.patch(RUNS, "r1", {"status": status}, "team-a", "status")
    kubectl.client.create(EVENTS, event_body(), "team-a")
    head, row = kubectl("get", "rn").splitlines()
    assert head.split() == ["NAME", "PHASE", "ASSIGNED", "POD", "RUNTIME", "AGE"]
    assert row.split()[:4] == ["r1", "Scheduled", "py-0", "py"]
    head, row = kubectl("get", "rn", "-o", "wide").splitlines()
    assert head.split()[-1] == "MESSAGE"
    assert row.endswith("waits for its files")
    kubectl("apply", "-f", "-", text=RUNTIME)
    head, row = kubectl("get", "rt").splitlines()
    assert head.split() == ["NAME", "IMAGE", "REPLICAS", "READY", "AGE"]
    assert row.split()[:3] == ["py", "runtime:1", "1"]
    assert kubectl("get", "pod").splitlines()[1].split()[:4] == ["py-0", "0/1", "Pending", "0"]
    described = kubectl("describe", "run", "r1")
    assert "Assigned Pod:  py-0" in described
    assert "Status:       Pending" in kubectl("describe", "pod", "py-0")
    assert "assigned to runtime pod py-0" in kubectl("get", "events")


def test_watching_edits_and_waiting(kubectl: Kubectl, tmp_path: Path) -> None:
    kubectl("apply", "-f", "-", text=RUN)
    watching = kubectl.start("get", "run", "r1", "--watch")
    assert watching.stdout is not None
    assert watching.stdout.readline().split()[0] == "NAME"
    watching.stdout.readline()
    editor = tmp_path / "editor"
    editor.write_text("#!/bin/sh\nsed -i 's/app: web/app: edited/' \"$1\"\n")
    editor.chmod(0o755)
    assert kubectl("edit", "run", "r1", editor=str(editor)) == "run.kruntimes.io/r1 edited\n"
    waiting = kubectl.start("wait", "run/r1", "--for=jsonpath={.status.phase}=Succeeded")
    status = {"phase": "Succeeded", "conditions": [condition_object("Completed")]}
    kubectl.client.patch(RUNS, "r1", {"status": status}, "team-a", "status")
    out, _ = waiting.communicate()
    assert (waiting.returncode, out) == (0, "run.kruntimes.io/r1 condition met\n")
    kubectl("wait", "run/r1", "--for=condition=Completed")
    assert kubectl("get", "run", "r1", "-o", "jsonpath={.metadata.labels.app}") == "edited"
    watching.stdout.readline()
    assert watching.stdout.readline().split()[:2] == ["r1", "Succeeded"]
    watching.terminate()
    watching.communicate()


def test_deleting(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", "-", text=f"{RUN}---{POD}")
    assert "deleted" in kubectl("delete", "run", "r1")
    assert "deleted" in kubectl("delete", "pod", "py-0", "--grace-period=0", "--force")
    assert "NotFound" in kubectl("get", "run", "r1", fails=True)
    kubectl("apply", "-f", "-", text=RUN)
    kubectl("delete", "runs", "--all", "--cascade=foreground")
    kubectl("apply", "-f", "-", text=RUN)
    kubectl("delete", "namespace", "team-a")
    assert kubectl("get", "runs", "-A") == "No resources found\n"


NOT_SERVED = {
    "another group": "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: x}\n",
    "our group": "apiVersion: kruntimes.io/v1alpha1\nkind: Runn\nmetadata: {name: x}\n",
    "the core group": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n",
    "another version": "apiVersion: kruntimes.io/v9\nkind: Run\nmetadata: {name: x}\n",
}
VERBS = {
    "apply": ("apply", "-f", "-"),
    "create": ("create", "-f", "-"),
    "replace": ("replace", "-f", "-"),
    "delete": ("delete", "-f", "-"),
    "apply on the client": ("apply", "--dry-run=client", "-f", "-"),
    "apply on the server": ("apply", "--server-side", "-f", "-"),
}


@pytest.mark.parametrize("manifest", NOT_SERVED)
def test_a_kind_that_is_not_served_is_named(kubectl: Kubectl, manifest: str) -> None:
    for verb in VERBS.values():
        said = kubectl(*verb, text=NOT_SERVED[manifest], fails=True)
        assert "no matches for kind" in said, verb
        assert "mime" not in said


def test_a_namespace_waits_for_a_finalizer(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", "-", text=RUN.replace("{name: r1,", "{name: r1, finalizers: [x.io/y],"))
    kubectl("apply", "-f", "-", text=POD)
    said = kubectl("delete", "namespace", "team-a", "--timeout=1s", fails=True)
    assert "timed out waiting" in said
    assert kubectl("get", "namespace", "team-a").splitlines()[1].split()[:2] == ["team-a", "Terminating"]
    described = kubectl("describe", "namespace", "team-a")
    for line in ("SomeFinalizersRemain", "SomeResourcesRemain", "1 of runs.kruntimes.io", "1 of x.io/y"):
        assert line in described
    assert kubectl("get", "pods") == "No resources found in team-a namespace.\n"
    assert "is being terminated" in kubectl("apply", "-f", "-", text=POD, fails=True)
    with kubectl.start("delete", "namespace", "team-a") as waiting:
        kubectl("patch", "run", "r1", "--type=merge", "-p", '{"metadata": {"finalizers": null}}')
        out, _ = waiting.communicate(timeout=20)
    assert waiting.returncode == 0, out
    assert "NotFound" in kubectl("get", "namespace", "team-a", fails=True)


def test_a_namespace_is_finalized_with_force(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", "-", text=RUN.replace("{name: r1,", "{name: r1, finalizers: [x.io/y],"))
    kubectl("delete", "namespace", "team-a", "--wait=false")
    final = '{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team-a"}, "spec": {}}'
    kubectl("replace", "--raw", "/api/v1/namespaces/team-a/finalize", "-f", "-", text=final)
    assert "NotFound" in kubectl("get", "namespace", "team-a", fails=True)
