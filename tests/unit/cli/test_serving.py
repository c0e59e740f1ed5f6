"""What the configuration file decides reaches the host."""

from __future__ import annotations

from pathlib import Path

import pytest

from embedded.place import ADMINISTRATOR, embedded_place
from kruntimes_core.cli.main import main
from kruntimes_core.cli.scheduler import serve as serving
from kruntimes_core.cluster.host.host import Host
from kruntimes_core.cluster.host.means import Means
from realcluster.kubeconfigs import kubeconfig_of


@pytest.fixture
def means(monkeypatch: pytest.MonkeyPatch) -> list[Means]:
    """What each host was given; none of them stays."""
    given: list[Means] = []

    class Leaving(Host):
        """A host that ends when it is to begin."""

        def __init__(self, means: Means) -> None:
            given.append(means)
            super().__init__(means)

        async def run(self) -> None:
            return None

    monkeypatch.setattr(serving, "Host", Leaving)
    return given


@pytest.mark.parametrize(("text", "expected"), [("", 32), ("requestsInFlight: 7\n", 7)])
def test_requests_in_flight_are_those_of_the_file(
    text: str, expected: int, means: list[Means], tmp_path: Path
) -> None:
    configuration = tmp_path / "scheduler.yaml"
    configuration.write_text(text)
    addresses = (f"--{name}-bind-address=127.0.0.1:0" for name in ("metrics", "health-probe"))
    with embedded_place([]) as place:
        kubeconfig = kubeconfig_of(place, ADMINISTRATOR, tmp_path)
        arguments = ["scheduler", f"--kubeconfig={kubeconfig}", f"--config={configuration}", *addresses]
        assert main(arguments) == 0
    assert [one.in_flight for one in means] == [expected]
