"""A real API server that the chart's objects are sent to with kubectl, as an operator would."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from deployment.chart import Object, Rendered
from realcluster.scheduler import COMMAND, Scheduler
from realcluster.servers import Cluster

_RESTRICTED = {f"pod-security.kubernetes.io/{mode}": "restricted" for mode in ("enforce", "warn")}


class Site:
    """kubectl on a cluster, as its administrator."""

    def __init__(self, cluster: Cluster, kubectl: str) -> None:
        self.cluster = cluster
        self._kubectl = kubectl

    def kubectl(self, *arguments: str, text: str = "") -> str:
        """What a command prints; it must succeed, and warn of nothing."""
        command = [self._kubectl, f"--kubeconfig={self.cluster.kubeconfig}", *arguments]
        done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, ""), done.stderr
        return done.stdout

    def apply(self, objects: Iterable[Object]) -> None:
        """Server-side apply of objects; an unknown field, or one that stands twice, is an error."""
        text = "\n---\n".join(json.dumps(one) for one in objects)
        self.kubectl("apply", "--server-side", "--validate=strict", "--filename=-", text=text)

    def have_namespace(self, name: str, *, restricted: bool) -> None:
        """Have a namespace; restricted: Pods of that level of Pod security alone may be made in it."""
        metadata = {"name": name, "labels": _RESTRICTED if restricted else {}}
        self.apply([{"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}])

    def install_crd(self, crd: Object) -> None:
        """Have a CRD, and wait until it is served."""
        self.apply([crd])
        name = crd["metadata"]["name"]
        self.kubectl("wait", "--for=condition=Established", "--timeout=20s", f"crd/{name}")

    @contextmanager
    def started(
        self, rendered: Rendered, folder: Path, program: Sequence[str] = (COMMAND,)
    ) -> Iterator[Scheduler]:
        """The process of the rendered Pod: its arguments, configuration and account, on free ports.

        program: what is started with them.
        """
        for name, text in rendered.files.items():
            (folder / name).write_text(text)
        account = rendered.one("ServiceAccount")["metadata"]
        token = self.kubectl("create", "token", account["name"], f"--namespace={account['namespace']}")
        _, *arguments = rendered.pod["spec"]["containers"][0]["args"]
        there = [one.replace("/etc/kruntimes", str(folder)) for one in arguments]
        scheduler = Scheduler(
            [
                *there,
                f"--kubeconfig={self.cluster.kubeconfig_of(token.strip(), folder)}",
                f"--lease-namespace={account['namespace']}",
                "--metrics-bind-address=127.0.0.1:0",
                "--health-probe-bind-address=127.0.0.1:0",
                "--debug-bind-address=127.0.0.1:0",
            ],
            program,
        )
        try:
            yield scheduler
        finally:
            scheduler.kill()
