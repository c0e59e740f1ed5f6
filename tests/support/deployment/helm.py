"""`helm`, as far as our documentation uses it: Helm's own library does what the command would do."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

import helm_python
import yaml

from deployment.chart import Release


def main(arguments: list[str]) -> None:
    """Carry out one command; the cluster is that of $KUBECONFIG."""
    asked = _parser().parse_args(arguments)
    release = Release(Path(os.environ["KUBECONFIG"]), asked.namespace, asked.name)
    if asked.command == "uninstall":
        release.uninstall()
        return
    values = yaml.safe_load(asked.values.read_text()) if asked.values else {}
    for expression in asked.set:
        values |= helm_python.parse_set_string(expression)
    if asked.install and not release.exists:
        release.install(values, create_namespace=asked.create_namespace)
    else:
        release.upgrade(values)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="helm")
    commands = parser.add_subparsers(dest="command", required=True)
    upgrade, uninstall = commands.add_parser("upgrade"), commands.add_parser("uninstall")
    upgrade.add_argument("--install", action="store_true")
    for command in (upgrade, uninstall):
        command.add_argument("name")
        command.add_argument("--namespace", required=True)
    upgrade.add_argument("chart", choices=["deploy/chart"])
    upgrade.add_argument("--create-namespace", action="store_true")
    upgrade.add_argument("--values", type=Path)
    upgrade.add_argument("--set", action="append", default=[])
    return parser


if __name__ == "__main__":
    main(sys.argv[1:])
