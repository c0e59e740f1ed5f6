"""`python -m realcluster serve`: a cluster of one's own until Ctrl-C, to try and to measure things on."""

from __future__ import annotations

import signal
import sys
import tempfile
from pathlib import Path

from kruntimes_core.crds import crds
from realcluster.access import install_crds
from realcluster.build import ensure
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
