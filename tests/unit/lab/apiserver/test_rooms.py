"""The server without a network imports no network, and what it costs stays small."""

from __future__ import annotations

import subprocess
import sys
from time import process_time

from embedded.api import Site, new_api
from embedded.bodies import run_body
from kruntimes_core.testing import condition_object


def test_the_pure_server_needs_no_aiohttp_and_no_loop() -> None:
    script = (
        "import sys\n"
        "import kruntimes_core.lab.apiserver.server\n"
        "import kruntimes_core.lab.apiserver.encoding\n"
        "print(sorted({'aiohttp', 'asyncio', 'kubernetes'} & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_a_status_patch_costs_well_under_a_millisecond() -> None:
    runs = Site(new_api(), "runs")
    runs.create(run_body(spec={"source": {"inline": "x" * 200_000}}))
    conditions = [condition_object("Scheduled")]
    begun = process_time()
    for number in range(200):
        runs.merge("r1", {"status": {"message": str(number), "conditions": conditions}}, "status")
    assert (process_time() - begun) / 200 < 0.001
