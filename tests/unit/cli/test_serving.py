"""What the configuration file decides reaches the host."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from embedded.place import ADMINISTRATOR, embedded_place
from kruntimes_core.cli.main import main
from kruntimes_core.cli.scheduler import serve as serving
from kruntimes_core.cluster.scheduler.scheduler import Scheduler


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What each host was given; none of them stays."""
    given: list[dict[str, Any]] = []

    class Leaving(Scheduler):
        """A host that ends when it is to begin."""

        def __init__(self, **arguments: Any) -> None:
            given.append(arguments)
            super().__init__(**arguments)

        async def run(self) -> None:
            return None

    monkeypatch.setattr(serving, "Scheduler", Leaving)
    return given


@pytest.mark.parametrize(("text", "expected"), [("", 32), ("requestsInFlight: 7\n", 7)])
def test_requests_in_flight_are_those_of_the_file(
    text: str, expected: int, given: list[dict[str, Any]], tmp_path: Path
) -> None:
    configuration = tmp_path / "scheduler.yaml"
    configuration.write_text(text)
    addresses = (f"--{name}-bind-address=127.0.0.1:0" for name in ("metrics", "health-probe"))
    with embedded_place() as place:
        kubeconfig = place.kubeconfig_of(ADMINISTRATOR, tmp_path)
        arguments = ["scheduler", f"--kubeconfig={kubeconfig}", f"--config={configuration}", *addresses]
        assert main(arguments) == 0
    assert [one["in_flight"] for one in given] == [expected]
