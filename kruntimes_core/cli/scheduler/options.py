"""What `kruntimes scheduler` was asked, as the command line said it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class SchedulerOptions:
    """The options of one call."""

    leader_elect: bool = False
    leader_elect_lease_duration: float = 15.0
    """Seconds, as the next two."""
    leader_elect_renew_deadline: float = 10.0
    leader_elect_retry_period: float = 2.0
    lease_namespace: str | None = None
    metrics_bind_address: str = ":8080"
    health_probe_bind_address: str = ":8081"
    config: str | None = None
    kubeconfig: str | None = None
    context: str | None = None
    namespaces: tuple[str, ...] = ()
    """Empty: all namespaces."""
    verbosity: int = 0
    log_format: str = "text"
    dry_run: bool = False
    output: str | None = None
    """Form of a dry run's report: `table` or `json`; None for the usual one."""
