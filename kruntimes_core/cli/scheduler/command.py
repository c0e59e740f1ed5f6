"""The options of `kruntimes scheduler`. What it does is imported when it is called."""

from __future__ import annotations

import click

from kruntimes_core.cli.commands import Exit
from kruntimes_core.cli.options import CONFIG, Count, NamespaceName
from kruntimes_core.cli.scheduler.go_flags import GoBoolean, GoCommand, GoDuration
from kruntimes_core.cli.scheduler.options import SchedulerOptions


def _names(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """Namespaces, given many times or with commas. An empty name is a mistake, not all namespaces."""
    names = [name.strip() for value in values for name in value.split(",")]
    if not all(names):
        raise click.BadParameter("a name is empty: leave the option out for all namespaces")
    return tuple(dict.fromkeys(NamespaceName().convert(name, param, ctx) for name in names))


@click.command(cls=GoCommand)
@click.option(
    "--leader-elect",
    type=GoBoolean(),
    is_flag=False,
    flag_value="true",
    default=False,
    help="Let one of several schedulers decide, by a Lease. Default: false.",
)
@click.option(
    "--leader-elect-lease-duration",
    type=GoDuration(),
    metavar="DURATION",
    default="15s",
    show_default=True,
    help="How long the Lease must stand still before another takes it.",
)
@click.option(
    "--leader-elect-renew-deadline",
    type=GoDuration(),
    metavar="DURATION",
    default="10s",
    show_default=True,
    help="How long a leader writes after the last renewal that worked.",
)
@click.option(
    "--leader-elect-retry-period",
    type=GoDuration(),
    metavar="DURATION",
    default="2s",
    show_default=True,
    help="How often a leader renews the Lease.",
)
@click.option(
    "--lease-namespace",
    metavar="NAME",
    help="Where the Lease is. Default: $POD_NAMESPACE, else the ServiceAccount's namespace,"
    " else that of the kubeconfig's context.",
)
@click.option(
    "--metrics-bind-address",
    metavar="ADDRESS",
    default=":8080",
    show_default=True,
    help="Where /metrics is served; 0 switches it off.",
)
@click.option(
    "--health-probe-bind-address",
    metavar="ADDRESS",
    default=":8081",
    show_default=True,
    help="Where /healthz, /livez and /readyz are served; 0 switches them off."
    " May be the address of the metrics.",
)
@click.option(
    "--dry-run",
    type=GoBoolean(),
    is_flag=False,
    flag_value="true",
    default=False,
    help="Write nothing and take no Lease; compare with what the running scheduler does. Default: false.",
)
@click.option(
    "-o",
    "--output",
    type=click.Choice(["table", "json"]),
    help="Form of the report of a dry run, at its end. Default: table.",
)
@CONFIG
@click.option(
    "--kubeconfig",
    metavar="FILE",
    help="How to reach the cluster. Default: as a Pod of it, else $KUBECONFIG, else ~/.kube/config.",
)
@click.option("--context", metavar="NAME", help="The context of the kubeconfig. Default: the current one.")
@click.option(
    "--namespaces",
    metavar="NAMES",
    multiple=True,
    callback=_names,
    help="Place Runs in these namespaces only, with rights in them alone. Commas, or many times."
    " Default: all namespaces.",
)
@click.option(
    "-v",
    "--v",
    "verbosity",
    metavar="LEVEL",
    type=Count(0),
    default=0,
    show_default=True,
    help="0: what an operator wants to know, 1: each decision, 2: each request.",
)
@click.option(
    "--log-format",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="Form of lines.",
)
def scheduler(**options: object) -> Exit:
    """Place the Runs of a cluster, until SIGTERM or SIGINT.

    Then no new cycle begins, and what is in flight settles; a second signal ends it at once. SIGHUP lets it
    read its configuration again.

    Exit codes: 0 stopped as asked, 2 it cannot start.
    """
    asked = SchedulerOptions(**options)  # type: ignore[arg-type]
    if asked.output is not None and not asked.dry_run:
        raise click.UsageError("-o is the form of a dry run's report: give --dry-run too")
    from kruntimes_core.cli.scheduler.serve import serve

    return serve(asked)
