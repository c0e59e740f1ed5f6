"""The options of `kruntimes plan`. What it does is imported when it is called."""

from __future__ import annotations

from shlex import quote

import click

from kruntimes_core.cli.exits import Exit
from kruntimes_core.cli.options import CONFIG, NamespaceName
from kruntimes_core.cli.output.forms import FORMS, form_option
from kruntimes_core.cli.plan.options import PlanOptions


class FilesByOption(click.Command):
    """A command whose files are named by `-f` alone, as kubectl's are: it says so to who forgets it."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the options. Raises: `click.UsageError` for what stands there without one."""
        given = list(args)
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            _, strays, _ = self.make_parser(ctx).parse_args(given)
            if not strays:
                raise
            problem = f"{strays[0]!r} stands without an option: write -f {quote(strays[0])}"
            raise click.UsageError(f"{problem}, with -f before each file", ctx) from error


@click.command(cls=FilesByOption, options_metavar="-f FILE [OPTIONS]")
@click.option(
    "-f",
    "--filename",
    "filenames",
    metavar="FILE",
    multiple=True,
    required=True,
    help="YAML or JSON manifests: a file, a folder (its *.yaml, *.yml and *.json), or - for standard input."
    " May be given many times.",
)
@click.option(
    "-n",
    "--namespace",
    type=NamespaceName(),
    metavar="NAME",
    help="Show the Runs of this namespace only, which the input must have. Objects that name no namespace are"
    " taken to be in it.",
)
@click.option(
    "-A",
    "--all-namespaces",
    is_flag=True,
    help="Show all namespaces, which is the default, and always name them. Not together with -n.",
)
@click.option(
    "--now",
    metavar="TIME",
    help="Judge heartbeats and delays at this time (RFC 3339, as in 2026-01-02T03:04:05Z)."
    " Default: the newest lastProbeTime in the input, else its newest creationTimestamp.",
)
@click.option("--explain", is_flag=True, help="Say for every Pod why it was chosen or not.")
@CONFIG
@form_option(
    FORMS,
    "How to show the plan. name: each decided Run, in order, with the -n that kubectl needs to find it;"
    " not together with --explain.",
)
def plan(**options: object) -> Exit:
    """Show what the scheduler would decide for the Runs in FILE.

    FILE is what "kubectl get runs,pods,persistentworkspaces -A -o yaml" prints. Nothing is read from a
    cluster, and nothing is written to one.

    Exit codes: 0 every pending Run got an answer, 1 a Run waits or fails, 2 bad input or a broken plugin.
    """
    asked = PlanOptions(**options)  # type: ignore[arg-type]
    if asked.all_namespaces and asked.namespace is not None:
        raise click.UsageError("-n and -A exclude each other: give one of them")
    if asked.explain and asked.form == "name":
        raise click.UsageError("--explain adds nothing to -o name: leave one of them out")
    from kruntimes_core.cli.plan.answer import answer

    return answer(asked)
