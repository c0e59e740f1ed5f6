"""Options that several commands have, spelt and explained once."""

import click

CONFIG = click.option(
    "--config", metavar="FILE", help="The configuration of the scheduler. Default: all its defaults."
)
