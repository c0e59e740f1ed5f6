"""A real kubectl drives the embedded server: what users of `kruntimes dev` type."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from embedded.bodies import condition_body, event_body
from embedded.http import RUNS, Serving, play, serving
from kruntimes_core.lab.apiserver.http.embedded import new_server

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

    def __init__(self, program: str, site: Serving, home: Path) -> None:
        self.site = site
        self._command = [program, f"--server={site.server.url}", "--namespace=team-a"]
        self._environment = {"HOME": str(home), "PATH": os.environ.get("PATH", ""), "KUBECONFIG": os.devnull}

    async def start(self, *arguments: str, editor: str = "") -> asyncio.subprocess.Process:
        pipe = asyncio.subprocess.PIPE
        return await asyncio.create_subprocess_exec(
            *self._command,
            *arguments,
            stdin=pipe,
            stdout=pipe,
            stderr=asyncio.subprocess.STDOUT,
            env={**self._environment, "EDITOR": editor},
        )

    async def __call__(self, *arguments: str, text: str = "", editor: str = "", fails: bool = False) -> str:
        process = await self.start(*arguments, editor=editor)
        out, _ = await process.communicate(text.encode())
        assert (process.returncode != 0) is fails, out.decode()
        return out.decode()


Scene = Callable[[Kubectl], Awaitable[None]]
Drive = Callable[[Scene], None]


@pytest.fixture
def drive(kubectl: str, tmp_path: Path) -> Drive:
    """Plays a scene with kubectl and a server that has its controllers."""

    def played(scene: Scene) -> None:
        async def whole() -> None:
            async with serving(new_server()) as site:
                tool = Kubectl(kubectl, site, tmp_path)
                await tool("create", "namespace", "team-a")
                await scene(tool)

        play(whole)

    return played


def test_what_there_is(drive: Drive) -> None:
    async def scene(kubectl: Kubectl) -> None:
        assert "Server Version: v1.37" in await kubectl("version")
        kinds = await kubectl("api-resources")
        assert all(kind in kinds for kind in ("Run", "PersistentWorkspace", "Pod", "Lease", "Event"))
        assert "PersistentWorkspace whose Pod" in await kubectl("explain", "run.spec.workspace")
        assert await kubectl("get", "runs", "-A") == "No resources found\n"

    drive(scene)


def test_apply_says_created_configured_and_unchanged(drive: Drive) -> None:
    async def scene(kubectl: Kubectl) -> None:
        both = f"{RUN}---{POD}"
        created = await kubectl("apply", "-f", "-", text=both)
        assert created == "run.kruntimes.io/r1 created\npod/py-0 created\n"
        changed = both.replace("app: web", "app: db").replace("runtime:1", "runtime:2")
        configured = await kubectl("apply", "-f", "-", text=changed)
        assert configured == "run.kruntimes.io/r1 configured\npod/py-0 configured\n"
        again = await kubectl("apply", "-f", "-", text=changed)
        assert again == "run.kruntimes.io/r1 unchanged\npod/py-0 unchanged\n"
        image = await kubectl("get", "pod", "py-0", "-o", "jsonpath={.spec.containers[0].image}")
        assert image == "runtime:2"

    drive(scene)


def test_a_refusal_names_the_field_and_what_is_wrong(drive: Drive) -> None:
    async def scene(kubectl: Kubectl) -> None:
        bad = RUN.replace("task: {entrypoint: m.py}", "")
        said = await kubectl("apply", "-f", "-", text=bad, fails=True)
        assert "spec.mode: Invalid value: exactly one of task and function must be set" in said
        unknown = await kubectl(
            "apply", "-f", "-", text=RUN.replace("mode: {", "mode: {zone: a, "), fails=True
        )
        assert 'the body is not a valid Run: unknown field "spec.mode.zone"' in unknown
        applied = await kubectl("apply", "--server-side", "-f", "-", text=RUN, fails=True)
        assert "apply without --server-side" in applied

    drive(scene)


def test_get_and_describe(drive: Drive) -> None:
    async def scene(kubectl: Kubectl) -> None:
        await kubectl("apply", "-f", "-", text=f"{RUN}---{POD}")
        client = kubectl.site.client
        status = {"phase": "Scheduled", "assignedPod": "py-0", "message": "waits for its files"}
        await client.merge(f"{RUNS}/r1/status", {"status": status})
        await client.post("/apis/events.k8s.io/v1/namespaces/team-a/events", event_body())
        head, row = (await kubectl("get", "rn")).splitlines()
        assert head.split() == ["NAME", "PHASE", "ASSIGNED", "POD", "RUNTIME", "AGE"]
        assert row.split()[:4] == ["r1", "Scheduled", "py-0", "py"]
        head, row = (await kubectl("get", "rn", "-o", "wide")).splitlines()
        assert head.split()[-1] == "MESSAGE"
        assert row.endswith("waits for its files")
        await kubectl("apply", "-f", "-", text=RUNTIME)
        head, row = (await kubectl("get", "rt")).splitlines()
        assert head.split() == ["NAME", "IMAGE", "REPLICAS", "READY", "AGE"]
        assert row.split()[:3] == ["py", "runtime:1", "1"]
        assert (await kubectl("get", "pod")).splitlines()[1].split()[:4] == ["py-0", "0/1", "Pending", "0"]
        described = await kubectl("describe", "run", "r1")
        assert "Assigned Pod:  py-0" in described
        assert "Status:       Pending" in await kubectl("describe", "pod", "py-0")
        assert "assigned to runtime pod py-0" in await kubectl("get", "events")

    drive(scene)


def test_watching_edits_and_waiting(drive: Drive, tmp_path: Path) -> None:
    async def scene(kubectl: Kubectl) -> None:
        await kubectl("apply", "-f", "-", text=RUN)
        watching = await kubectl.start("get", "run", "r1", "--watch")
        assert watching.stdout is not None
        assert (await watching.stdout.readline()).split()[0] == b"NAME"
        await watching.stdout.readline()
        editor = tmp_path / "editor"
        editor.write_text("#!/bin/sh\nsed -i 's/app: web/app: edited/' \"$1\"\n")
        editor.chmod(0o755)
        assert await kubectl("edit", "run", "r1", editor=str(editor)) == "run.kruntimes.io/r1 edited\n"
        waiting = await kubectl.start("wait", "run/r1", "--for=jsonpath={.status.phase}=Succeeded")
        status = {"phase": "Succeeded", "conditions": [condition_body("Completed")]}
        await kubectl.site.client.merge(f"{RUNS}/r1/status", {"status": status})
        out, _ = await waiting.communicate()
        assert (waiting.returncode, out) == (0, b"run.kruntimes.io/r1 condition met\n")
        await kubectl("wait", "run/r1", "--for=condition=Completed")
        assert await kubectl("get", "run", "r1", "-o", "jsonpath={.metadata.labels.app}") == "edited"
        await watching.stdout.readline()
        assert (await watching.stdout.readline()).split()[:2] == [b"r1", b"Succeeded"]
        watching.terminate()
        await watching.communicate()

    drive(scene)


def test_deleting(drive: Drive) -> None:
    async def scene(kubectl: Kubectl) -> None:
        await kubectl("apply", "-f", "-", text=f"{RUN}---{POD}")
        assert "deleted" in await kubectl("delete", "run", "r1")
        assert "deleted" in await kubectl("delete", "pod", "py-0", "--grace-period=0", "--force")
        assert "NotFound" in await kubectl("get", "run", "r1", fails=True)
        await kubectl("apply", "-f", "-", text=RUN)
        await kubectl("delete", "runs", "--all", "--cascade=foreground")
        await kubectl("apply", "-f", "-", text=RUN)
        await kubectl("delete", "namespace", "team-a")
        assert await kubectl("get", "runs", "-A") == "No resources found\n"

    drive(scene)
