"""From the text of a field's path, as messages show it, to the steps that lead to the field.

A dot separates keys and may stand in a key, and a foreign key is quoted and cut
(`spec.resources.requests['example.com/gpu']`): the text alone does not tell the steps, the object does.
"""

from __future__ import annotations

from collections.abc import Iterator

from kruntimes_core.lab.offline_plan.field_lines import Step
from kruntimes_core.model.messages import quoted


def steps(content: object, path: str) -> Iterator[Step]:
    """The steps along `path`, as far as `content` has them. In: `spec.terms[0].labelSelector`."""
    rest = path
    while rest:
        found = max(_written(content, rest), key=lambda way: len(way[0]), default=None)
        if found is None:
            return
        text, step, content = found
        yield step
        rest = rest[len(text) :].removeprefix(".")


def _written(content: object, rest: str) -> Iterator[tuple[str, Step, object]]:
    """Each way in which `rest` may begin with a step into `content`: the text, the step, what is there."""
    if isinstance(content, dict):
        for key, value in content.items():
            for text in (str(key), f"[{quoted(key)}]"):
                if _begins(rest, text):
                    yield text, str(key), value
    elif isinstance(content, list):
        for position, value in enumerate(content):
            if _begins(rest, f"[{position}]"):
                yield f"[{position}]", position, value


def _begins(rest: str, text: str) -> bool:
    return bool(text) and rest.startswith(text) and rest[len(text) : len(text) + 1] in ("", ".", "[")
