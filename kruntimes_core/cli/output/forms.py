"""The forms of `-o`, the same in every command and as in kubectl."""

import click

FORMS = ("table", "wide", "json", "yaml", "name")
FORM = click.Choice(FORMS)
