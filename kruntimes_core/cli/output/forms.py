"""The forms of `-o`, the same in every command and as in kubectl."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

FORMS = ("table", "wide", "json", "yaml", "name")
TABLE_OR_DOCUMENT = ("table", "json")
_Command = TypeVar("_Command", bound=Callable[..., Any])


def form_option(forms: Sequence[str], explained: str) -> Callable[[_Command], _Command]:
    """`-o` with these forms, as the argument `form` of a command. explained: its help."""
    return click.option(
        "-o",
        "--output",
        "form",
        type=click.Choice(forms),
        default="table",
        show_default=True,
        help=explained,
    )
