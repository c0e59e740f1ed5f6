"""PyYAML's safe loader, without the habits that turn one text into another's meaning.

A bare timestamp stays text (Kubernetes' times are strings), and so does `12:30`, which YAML 1.1 takes for
a number to the base of 60 and kubectl does not; `=` stays text, a key that stands twice
is refused rather than the last one taken, and so is a value that contains itself. Merge keys (`<<`)
work, and cannot grow a mapping beyond its distinct keys.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable
from typing import Any

import yaml
from yaml.constructor import ConstructorError

try:  # ten times faster, where PyYAML was built with libyaml
    from yaml import CSafeLoader as BaseLoader
except ImportError:  # pragma: no cover - depends on how PyYAML was built
    from yaml import SafeLoader as BaseLoader  # type: ignore[assignment]

_TAG = "tag:yaml.org,2002:"
_MERGE = _TAG + "merge"
_LEFT_AS_TEXT = frozenset({_TAG + "timestamp", _TAG + "value"})
_NARROWED = {
    # PyYAML's own, without the forms to the base of 60.
    _TAG + "int": re.compile(r"[-+]?(?:0b[01_]+|0[0-7_]+|0|[1-9][0-9_]*|0x[0-9a-fA-F_]+)$"),
    _TAG + "float": re.compile(
        r"(?:[-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+][0-9]+)?|\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?"
        r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$"
    ),
}


class Loader(BaseLoader):
    """What this project reads YAML with. Raises `yaml.YAMLError`, `RecursionError`, nothing else."""

    yaml_implicit_resolvers = {  # noqa: RUF012 - PyYAML's own way to configure a loader
        first: [(tag, _NARROWED.get(tag, pattern)) for tag, pattern in resolvers if tag not in _LEFT_AS_TEXT]
        for first, resolvers in BaseLoader.yaml_implicit_resolvers.items()
    }

    def construct_document(self, node: yaml.Node) -> object:
        """Build a document depth first, so that a node met inside of itself is noticed."""
        try:
            return self.construct_object(node, deep=True)
        finally:
            self.constructed_objects: dict[Any, Any] = {}
            self.recursive_objects: dict[Any, Any] = {}
            self.deep_construct = False

    def construct_mapping(self, node: yaml.Node, deep: bool = False) -> dict[Hashable, Any]:
        """Build a mapping; a missing entry means that two keys were equal."""
        mapping: dict[Hashable, Any] = super().construct_mapping(node, deep=deep)  # type: ignore[arg-type]
        if len(mapping) != len(node.value):
            self._refuse_duplicates(node)
        return mapping

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        """Resolve `<<`, as PyYAML does, but keep one entry for each key."""
        merges = any(key.tag == _MERGE for key, _ in node.value)
        if merges:
            self._refuse_duplicates(node)
        super().flatten_mapping(node)
        if merges:
            node.value = list({_identity(key): (key, value) for key, value in node.value}.values())

    def _refuse_duplicates(self, node: yaml.Node) -> None:
        first: dict[object, int] = {}
        for key_node, _ in node.value:
            if key_node.tag == _MERGE or not isinstance(key_node, yaml.ScalarNode):
                continue
            key = self.construct_object(key_node, deep=True)
            if key in first:
                problem = f"the key {key!r} stands twice (first on line {first[key]}): keep one of them"
                raise ConstructorError(None, None, problem, key_node.start_mark)
            first[key] = key_node.start_mark.line + 1


def _identity(key: yaml.Node) -> object:
    """What tells two keys apart before they are built."""
    return (key.tag, key.value) if isinstance(key, yaml.ScalarNode) else id(key)


def _checked(construct: Callable[[Any, Any], object]) -> Callable[[Any, Any], object]:
    """`construct`, with a place in the text for the errors that Python's own types raise."""

    def construct_scalar(loader: Loader, node: yaml.Node) -> object:
        try:
            return construct(loader, node)
        except (ValueError, LookupError, ArithmeticError) as error:
            kind = node.tag.removeprefix(_TAG)
            problem = f"{str(node.value)[:40]!r} is no {kind}: put it in quotes if it is text"
            raise ConstructorError(None, None, problem, node.start_mark) from error

    return construct_scalar


def _text(loader: Any, node: Any) -> object:
    return loader.construct_scalar(node)


Loader.add_constructor(_TAG + "int", _checked(Loader.construct_yaml_int))
Loader.add_constructor(_TAG + "float", _checked(Loader.construct_yaml_float))
Loader.add_constructor(_TAG + "bool", _checked(Loader.construct_yaml_bool))
Loader.add_constructor(_TAG + "timestamp", _text)
