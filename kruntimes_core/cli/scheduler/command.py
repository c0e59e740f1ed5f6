"""The options of `kruntimes scheduler`. What it does is imported when it is called."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import click

from kruntimes_core.cli.commands import Exit
from kruntimes_core.cli.options import CONFIG, NAMESPACE, Command, Count
from kruntimes_core.model.times import parse_duration


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
    debug_bind_address: str = "0"
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


_TRUE = frozenset({"1", "t", "T", "true", "TRUE", "True"})
_FALSE = frozenset({"0", "f", "F", "false", "FALSE", "False"})


class GoBoolean(click.ParamType[bool]):
    """A boolean as Go reads it; an option without a value means true."""

    name = "true|false"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> bool:
        """The value, or a usage error."""
        if isinstance(value, bool):
            return value
        if value not in _TRUE | _FALSE:
            self.fail(f"{value!r} is not a valid boolean: write true or false", param, ctx)
        return value in _TRUE


class GoDuration(click.ParamType[float]):
    """A duration as Go writes it (`15s`, `1m30s`), in seconds."""

    name = "duration"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The seconds, or a usage error."""
        if isinstance(value, float):
            return value
        seconds = parse_duration(value)
        if seconds is None:
            self.fail(f"{value!r} is not a valid duration: write 15s or 1m30s", param, ctx)
        return seconds


class GoCommand(click.Command):
    """A command whose long options may have one dash: `-leader-elect`, `-leader-elect=true`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments, with the second dash where Go needs none."""
        return super().parse_args(ctx, list(self._dashed(args)))

    def _dashed(self, args: Iterable[str]) -> Iterator[str]:
        known = {name for param in self.params for name in param.opts}
        for argument in args:
            # `-v2` is short; any other word is long, known or not, so that an error names all of it.
            word = re.fullmatch(r"-([a-zA-Z][\w-]+)(=.*)?", argument, re.DOTALL)
            is_long = f"-{argument.partition('=')[0]}" in known or (word and argument[:2] not in known)
            yield f"-{argument}" if is_long else argument


def _names(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """Namespaces, given many times or with commas. An empty name is a mistake, not all namespaces."""
    names = [name.strip() for value in values for name in value.split(",")]
    if not all(names):
        raise click.BadParameter("a name is empty: leave the option out for all namespaces")
    return tuple(dict.fromkeys(NAMESPACE.convert(name, param, ctx) for name in names))


def _switch(name: str, about: str) -> Callable[[Command], Command]:
    return click.option(
        name,
        type=GoBoolean(),
        is_flag=False,
        flag_value="true",
        default=False,
        help=f"{about} Default: false.",
    )


def _duration(name: str, default: str, about: str) -> Callable[[Command], Command]:
    return click.option(
        name, type=GoDuration(), metavar="DURATION", default=default, show_default=True, help=about
    )


def _address(name: str, default: str, about: str) -> Callable[[Command], Command]:
    return click.option(name, metavar="ADDRESS", default=default, show_default=True, help=about)


@click.command(cls=GoCommand)
@_switch("--leader-elect", "Elect the scheduler that decides among several, with a Lease.")
@_duration(
    "--leader-elect-lease-duration",
    "15s",
    "How long the Lease must stay unchanged before another scheduler takes it.",
)
@_duration(
    "--leader-elect-renew-deadline", "10s", "How long a leader writes after its last successful renewal."
)
@_duration("--leader-elect-retry-period", "2s", "How often a leader renews the Lease.")
@click.option(
    "--lease-namespace",
    metavar="NAME",
    help="The namespace of the Lease. Default: $POD_NAMESPACE, else the ServiceAccount's namespace,"
    " else the namespace of the kubeconfig's context.",
)
@_address("--metrics-bind-address", ":8080", "Where to serve /metrics; 0 switches it off.")
@_address(
    "--health-probe-bind-address",
    ":8081",
    "Where to serve /healthz, /livez and /readyz; 0 switches them off. May be the same address as that of the"
    " metrics.",
)
@_address(
    "--debug-bind-address",
    "0",
    "Where to serve /checks, /configuration, /plugins and a dry run's /dry-run, which contain names of Runs"
    " and namespaces. Must be a loopback address; 0 switches them off.",
)
@_switch("--dry-run", "Write nothing and take no Lease; compare with what the running scheduler does.")
@click.option(
    "-o",
    "--output",
    type=click.Choice(["table", "json"]),
    help="Form of the report that a dry run prints at its end. Default: table.",
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
    help="Place Runs in these namespaces only, which needs rights in these alone. Separated by commas, or"
    " given many times. Default: all namespaces.",
)
@click.option(
    "-v",
    "--v",
    "verbosity",
    metavar="LEVEL",
    type=Count(0),
    default=0,
    show_default=True,
    help="0: what an operator needs to know, 1: each decision, 2: each request.",
)
@click.option(
    "--log-format",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="Form of the log lines.",
)
def scheduler(**options: object) -> Exit:
    """Place the Runs of a cluster, until SIGTERM or SIGINT.

    After the signal the scheduler begins no new cycle, and waits until each request in flight has an answer
    or has reached its time limit. A second signal ends it at once. On SIGHUP it reads its configuration
    again.

    Exit codes: 0 stopped by a signal, 2 it cannot start.
    """
    given = SchedulerOptions(**options)  # type: ignore[arg-type]
    if given.output is not None and not given.dry_run:
        raise click.UsageError("-o is the form of a dry run's report: add --dry-run")
    from kruntimes_core.cli.scheduler.serve import serve

    return serve(given)
