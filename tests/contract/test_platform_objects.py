"""Objects as the platform's users, controller and daemons write them: nothing is dropped, nothing refused.

Every field of the API contract is in one of them, defaults too, so that what is stored is what was sent.
"""

from __future__ import annotations

import base64
import copy

from contract import Site, contract
from realcluster.client import RUNS, RUNTIMES, WORKSPACES, Object, Resource

NOW, LATER = "2026-01-02T03:04:05Z", "2026-01-02T03:05:06Z"
KINDS = {RUNS: "Run", RUNTIMES: "Runtime", WORKSPACES: "PersistentWorkspace"}
TERM: Object = {
    "labelSelector": {
        "matchLabels": {"cohort": "a"},
        "matchExpressions": [
            {"key": "tier", "operator": "In", "values": ["warm", "hot"]},
            {"key": "old", "operator": "DoesNotExist"},
        ],
    },
    "topologyKey": "kruntimes.io/runtime-pod",
}
TERMS: Object = {
    "requiredDuringSchedulingIgnoredDuringExecution": [TERM],
    "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 100, "runAffinityTerm": TERM}],
}
S3_STORE: Object = {
    "driver": "s3",
    "s3": {
        "bucket": "results",
        "prefix": "team-a/",
        "region": "eu-central-1",
        "endpoint": "https://s3.example.invalid",
        "credentialsSecretName": "s3-credentials",
        "forcePathStyle": True,
        "uploadConcurrency": 4,
        "uploadPartSize": 8 * 2**20,
    },
}
FILE_STORE: Object = {"driver": "filesystem", "filesystem": {"volumeClaimName": "results"}}

RUN_SPEC: Object = {
    "runtime": "python",
    "mode": {"task": {"entrypoint": "bin/start", "args": ["--all", ""]}},
    "source": {"repoURL": "https://git.example.invalid/jobs.git", "commitSHA": "4b825dc"},
    "env": [
        {"name": "JSON", "value": "1"},
        {"name": "KEY", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k", "optional": True}}},
        {"name": "MAP", "valueFrom": {"configMapKeyRef": {"name": "m", "key": "k", "optional": False}}},
        {"name": "NODE", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "spec.nodeName"}}},
        {
            "name": "CPU",
            "valueFrom": {
                "resourceFieldRef": {"containerName": "runtime", "resource": "limits.cpu", "divisor": "1m"}
            },
        },
    ],
    "resources": {"requests": {"runs": 1, "memory": "2Gi", "tokens": "2000m"}},
    "affinity": {"runAffinity": TERMS, "runAntiAffinity": TERMS},
    "workspace": {"name": "notebooks", "kind": "PersistentWorkspace", "apiGroup": "kruntimes.io/v1alpha1"},
    "timeout": "1h30m0s",
    "cancelRequested": False,
    "retryPolicy": {"maxAttempts": 3, "backoff": "2s", "retryableReasons": ["Evicted", "PodLost"]},
    "ttlSecondsAfterFinished": 3600,
}
FUNCTION_SPEC: Object = {
    "runtime": "python",
    "mode": {"function": {"handler": "app.handle", "idleTimeoutSeconds": 300}},
    "source": {"inline": "def handle(): ...\n", "inlinePath": "pkg/app.py"},
}
WORKFLOW_STEP_SPEC: Object = {
    "runtime": "bash",
    "mode": {"task": {}},
    "source": {"inline": "echo hello"},
    "resources": {},
    "retryPolicy": {},
}

RUNTIME_SPEC: Object = {
    "replicas": 2,
    "port": 9191,
    "daemonImage": "example.invalid/runtimed:1",
    "capacity": {"resources": {"runs": 4, "memory": "8Gi"}},
    "workspace": {
        "ephemeral": {
            "volumeClaimTemplate": {
                "metadata": {"creationTimestamp": None},
                "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
            }
        }
    },
    "artifactStore": S3_STORE,
    "template": {
        "metadata": {
            "creationTimestamp": None,
            "labels": {"tier": "warm"},
            "annotations": {"example.com/a": "b"},
        },
        "spec": {
            "containers": [
                {
                    "name": "runtime",
                    "image": "example.invalid/python:1",
                    "command": ["/runtime"],
                    "env": [{"name": "A", "value": "1"}],
                    "ports": [{"name": "grpc", "containerPort": 9090, "protocol": "TCP"}],
                    "resources": {"requests": {"cpu": "500m"}, "limits": {"memory": "1Gi"}},
                    "securityContext": {"runAsNonRoot": True, "capabilities": {"drop": ["ALL"]}},
                    "volumeMounts": [{"name": "cache", "mountPath": "/cache"}],
                },
                {"name": "logs", "image": "example.invalid/logs:1", "resources": {}},
            ],
            "initContainers": [
                {"name": "init", "image": "example.invalid/init:1", "restartPolicy": "Always"}
            ],
            "volumes": [{"name": "cache", "emptyDir": {}}],
            "restartPolicy": "Always",
            "serviceAccountName": "runtimes.team-a",
            "imagePullSecrets": [{"name": "registry"}],
            "nodeSelector": {"disk": "ssd"},
            "tolerations": [{"key": "gpu", "operator": "Exists"}],
            "terminationGracePeriodSeconds": 30,
        },
    },
}
WORKSPACE_SPEC: Object = {
    "runtime": "python",
    "mode": "RuntimePodLocal",
    "cleanupPolicy": "Retain",
    "ttlSecondsAfterUnused": 86_400,
}


def condition(kind: str, status: str = "True", reason: str = "Started", at: str = NOW) -> Object:
    return {
        "type": kind,
        "status": status,
        "reason": reason,
        "message": f"{kind} since then",
        "lastTransitionTime": at,
        "observedGeneration": 1,
    }


def reference(name: str, kind: str, driver: str, location: Object) -> Object:
    return {
        "name": name,
        "type": kind,
        "driver": driver,
        "location": {driver: location},
        "sizeBytes": 12,
        "createdAt": LATER,
        "digest": "sha256:00",
        "contentType": "text/csv",
    }


PLACED: Object = {
    "phase": "Scheduled",
    "assignedPod": "python-0",
    "assignedPodUID": "3f6c",
    "attempt": 2,
    "conditions": [condition("Scheduled", reason="Assigned"), condition("Running", "False", "Evicted")],
}
STARTED: Object = {
    **PLACED,
    "phase": "Running",
    "startTime": NOW,
    "message": "executing",
    "artifactStore": S3_STORE,
    "conditions": [condition("Scheduled", reason="Assigned"), condition("Running")],
}
FINISHED: Object = {
    **STARTED,
    "phase": "Succeeded",
    "completionTime": LATER,
    "message": "",
    "outputs": {"rows": "12", "note": "ä\n", "empty": ""},
    "artifactRefs": [
        reference("rows", "file", "s3", {"bucket": "results", "key": "team-a/rows.csv"}),
        reference("logs", "directory", "filesystem", {"path": "out/logs", "volumeClaimName": "results"}),
    ],
    "conditions": [
        condition("Scheduled", reason="Assigned"),
        condition("Running", "False", "Completed", LATER),
        condition("Completed", reason="Succeeded", at=LATER),
    ],
}
SERVING: Object = {
    **STARTED,
    "phase": "Ready",
    "artifactStore": FILE_STORE,
    "endpoint": {
        "protocol": "HTTPS",
        "url": "https://10.0.0.7:8443/v1/functions/f",
        "caBundle": base64.b64encode(b"certificate").decode(),
    },
    "conditions": [*STARTED["conditions"], condition("Ready", reason="Serving")],
}


def stored(site: Site, resource: Resource, name: str, spec: Object) -> None:
    """Create it as a strict client does, and find it whole."""
    body = {
        "apiVersion": "kruntimes.io/v1alpha1",
        "kind": KINDS[resource],
        "metadata": {"name": name},
        "spec": spec,
    }
    reply = site.create(resource, body, fieldValidation="Strict")
    assert (reply.status, reply.warnings) == (201, ()), reply.body
    assert site.get(resource, name).body["spec"] == spec


def told(site: Site, resource: Resource, name: str, *statuses: Object) -> None:
    """One status after the other, by a patch as a daemon sends it and by an update as a controller does."""
    for status in statuses:
        patched = site.patch(resource, name, {"status": status}, "status", fieldValidation="Strict")
        assert patched.status == 200, patched.body
        whole = copy.deepcopy(patched.body)
        replaced = site.replace(resource, whole, "status", fieldValidation="Strict")
        assert replaced.status == 200, replaced.body
        assert site.get(resource, name).body["status"] == status


def changed(site: Site, resource: Resource, name: str, **fields: object) -> None:
    """A patch of the spec; all else stays."""
    spec = site.get(resource, name).body["spec"]
    reply = site.patch(resource, name, {"spec": fields}, fieldValidation="Strict")
    assert reply.status == 200, reply.body
    assert site.get(resource, name).body["spec"] == {**spec, **fields}


@contract
def test_a_task_from_its_creation_to_its_end(site: Site) -> None:
    stored(site, RUNS, "task", RUN_SPEC)
    told(site, RUNS, "task", {"phase": "Pending", "attempt": 1}, PLACED, STARTED)
    changed(site, RUNS, "task", cancelRequested=True)
    told(site, RUNS, "task", FINISHED)
    changed(site, RUNS, "task", ttlSecondsAfterFinished=0)


@contract
def test_a_function_that_serves(site: Site) -> None:
    stored(site, RUNS, "function", FUNCTION_SPEC)
    told(site, RUNS, "function", PLACED, {**SERVING, "endpoint": {}}, SERVING)
    changed(site, RUNS, "function", ttlSecondsAfterFinished=60)


@contract
def test_a_step_of_a_workflow(site: Site) -> None:
    stored(site, RUNS, "step", WORKFLOW_STEP_SPEC)
    told(site, RUNS, "step", PLACED, FINISHED)


@contract
def test_a_runtime(site: Site) -> None:
    stored(site, RUNTIMES, "python", RUNTIME_SPEC)
    told(
        site,
        RUNTIMES,
        "python",
        {"readyReplicas": 0},
        {"readyReplicas": 2, "conditions": [condition("Ready")]},
    )
    changed(
        site, RUNTIMES, "python", replicas=3, artifactStore=S3_STORE, future={"field": [1, {"deep": True}]}
    )
    volumes: list[Object] = [{"emptyDir": {}}, {"persistentVolumeClaim": {"claimName": "work"}}]
    for volume in volumes:
        stored(site, RUNTIMES, next(iter(volume)).lower(), {**RUNTIME_SPEC, "workspace": volume})


@contract
def test_a_workspace(site: Site) -> None:
    stored(site, WORKSPACES, "notebooks", WORKSPACE_SPEC)
    bound = {
        "phase": "Bound",
        "boundPod": "python-0",
        "runtime": "python",
        "path": "/work",
        "lastUsedTime": NOW,
    }
    told(
        site,
        WORKSPACES,
        "notebooks",
        {"phase": "Pending", "conditions": [condition("Bound", "False", "NotImplemented")]},
        {**bound, "conditions": [condition("Bound", reason="Bound")]},
    )
    changed(site, WORKSPACES, "notebooks", cleanupPolicy="DeleteAfterTTL", ttlSecondsAfterUnused=0)
