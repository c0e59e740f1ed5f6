"""A real kubectl works on a development cluster."""

from __future__ import annotations

import json

from tests.e2e.dev.conftest import Client

RUNS = """
apiVersion: kruntimes.io/v1alpha1
kind: Run
metadata: {name: embed, labels: {app: embed}}
spec: {runtime: py, mode: {task: {entrypoint: embed.py}}}
---
apiVersion: kruntimes.io/v1alpha1
kind: Run
metadata: {name: train}
spec: {runtime: py, mode: {task: {entrypoint: train.py}}, resources: {requests: {gpu: "4"}}}
"""


def wait(kubectl: Client, name: str, phase: str) -> None:
    kubectl("wait", f"runs/{name}", f"--for=jsonpath={{.status.phase}}={phase}", "--timeout=20s")


def test_runs_are_applied_followed_described_and_deleted(kubectl: Client) -> None:
    assert kubectl("apply", "-f", "-", given=RUNS).splitlines() == [
        "run.kruntimes.io/embed created",
        "run.kruntimes.io/train created",
    ]
    assert "unchanged" in kubectl("apply", "-f", "-", given=RUNS)
    wait(kubectl, "embed", "Succeeded")
    head, embed, train = (line.split() for line in kubectl("get", "runs").splitlines())
    assert head == ["NAME", "PHASE", "ASSIGNED", "POD", "RUNTIME", "AGE"]
    assert embed[:4] == ["embed", "Succeeded", "py-0", "py"]
    assert train[:3] == ["train", "Pending", "py"]
    described = kubectl("describe", "run", "train")
    assert 'waiting for available runtime pods for runtime "py"' in described
    assert "deleted" in kubectl("delete", "run", "embed")
    assert "NotFound" in kubectl("get", "run", "embed", code=1)


def test_a_watch_tells_each_phase(kubectl: Client) -> None:
    process, told = kubectl.following("get", "runs", "-w", "--output-watch-events")
    try:
        kubectl("apply", "-f", "-", given=RUNS.partition("---")[0])
        lines = told.wait(lambda text: "Succeeded" in text).splitlines()
    finally:
        process.terminate()
        process.wait(timeout=30)
    phases = [line.split()[2] for line in lines if " embed " in line]
    assert phases[-1] == "Succeeded"
    assert "Running" in phases


def test_a_run_is_cancelled(kubectl: Client) -> None:
    kubectl("apply", "-f", "-", given=RUNS)
    kubectl("patch", "run", "train", "--type=merge", "-p", '{"spec": {"cancelRequested": true}}')
    wait(kubectl, "train", "Cancelled")


def test_pods_come_back_and_a_runtime_grows(kubectl: Client) -> None:
    kubectl("wait", "pods", "--all", "--for=condition=Ready", "--timeout=20s")
    before = json.loads(kubectl("get", "pod", "py-1", "-o", "json"))["metadata"]["uid"]
    kubectl("delete", "pod", "py-1")
    kubectl("wait", "runtime/py", "--for=jsonpath={.status.readyReplicas}=3", "--timeout=20s")
    kubectl("wait", "pod/py-1", "--for=condition=Ready", "--timeout=20s")
    assert json.loads(kubectl("get", "pod", "py-1", "-o", "json"))["metadata"]["uid"] != before
    kubectl("patch", "runtime", "py", "--type=merge", "-p", '{"spec": {"replicas": 4}}')
    kubectl("wait", "runtime/py", "--for=jsonpath={.status.readyReplicas}=4", "--timeout=20s")
    names = kubectl("get", "pods", "-o", "name").split()
    assert names == [f"pod/py-{number}" for number in range(4)]
    assert kubectl("get", "pod", "py-3", "--no-headers").split()[1:3] == ["1/1", "Running"]


def test_what_the_api_refuses_is_refused(kubectl: Client) -> None:
    wrong = RUNS.partition("---")[0].replace("task: {entrypoint: embed.py}", "task: {entrypoint: [embed.py]}")
    assert "spec.mode.task.entrypoint" in kubectl("apply", "-f", "-", given=wrong, code=1)
