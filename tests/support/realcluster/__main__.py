"""`python -m realcluster`: have the binaries ready before any test's time runs.

`python -m realcluster serve KUBECONFIG` starts them too, writes that file, and serves until Ctrl-C.

Exit 0 when they are there, or when nobody can get them and the tests will be skipped; 1 under CI, where
they must not be skipped, and for a build that fails.
"""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from pathlib import Path

from kruntimes_core.crds import crds
from realcluster.access import install_crds
from realcluster.assets import TOOLS, AssetsError, locate
from realcluster.build import ensure, find_go
from realcluster.servers import running_cluster

_ENDS = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}


def serve(kubeconfig: Path) -> None:
    """Start the servers, install our CRDs, write an administrator's kubeconfig, and wait for the end."""
    ensure()
    # Before any thread begins: each of them inherits it.
    signal.pthread_sigmask(signal.SIG_BLOCK, _ENDS)
    with tempfile.TemporaryDirectory(prefix="kruntimes-cluster-") as folder:
        with running_cluster(Path(folder)) as cluster:
            install_crds(cluster, crds())
            kubeconfig.touch(mode=0o600)
            kubeconfig.write_text(cluster.kubeconfig.read_text())
            sys.stdout.write(f"serving {cluster.url} until Ctrl-C\n  export KUBECONFIG={kubeconfig}\n")
            sys.stdout.flush()
            signal.sigwait(_ENDS)
        kubeconfig.unlink(missing_ok=True)


def main() -> int:
    """Print each binary's path, or serve; returns the exit code."""
    try:
        if sys.argv[1:2] == ["serve"] and len(sys.argv) == 3:
            serve(Path(sys.argv[2]).absolute())
            return 0
        missing = [tool.name for tool in TOOLS if locate(tool) is None]
        if missing and find_go() is None and not os.environ.get("CI"):
            sys.stderr.write(f"no Go to build {', '.join(missing)} with: tests that need them are skipped\n")
            return 0
        for name, path in ensure().items():
            sys.stdout.write(f"{name} {path}\n")
    except AssetsError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
