"""A development cluster has Events too: the same host makes them."""

from __future__ import annotations

import json
from pathlib import Path

from devcluster import running
from tests.e2e.dev.conftest import Client
from tests.e2e.dev.test_kubectl import RUNS

CONFIGURATION = "events: {afterSeconds: 1, repeatSeconds: 1}\n"


def test_a_run_that_waits_shows_why_in_its_description(kubectl_path: str, tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    config.write_text(CONFIGURATION)
    options = ("--config", str(config), "--kubeconfig-out", str(tmp_path / "kubeconfig"))
    with running(tmp_path, *options) as started:
        started.url()
        kubectl = Client(kubectl_path, tmp_path)
        kubectl("apply", "-f", "-", given=RUNS)
        told = "--for=jsonpath={.series.count}=2"
        selector = "--field-selector=involvedObject.name=train"
        process, lines = kubectl.following("get", "events", selector, "-w")
        try:
            lines.wait(lambda text: "NeverFits" in text)
        finally:
            process.terminate()
            process.wait(timeout=30)
        (event,) = json.loads(kubectl("get", "events", selector, "-o", "json"))["items"]
        kubectl("wait", f"events/{event['metadata']['name']}", told, "--timeout=20s")
        described = kubectl("describe", "run", "train")
        assert all(text in described for text in ("Warning", "NeverFits", "kruntimes.com/scheduler"))
