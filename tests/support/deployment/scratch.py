"""Builds an image without a container engine: the commands of a Dockerfile, in a folder in place of `/`.

What this cannot show: the base image (this Python stands for it), a build in a clean system, and layers.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from deployment.dockerfile import Instruction, expand, stages
from deployment.image import Image
from deployment.scratch import Parts


class Builder:
    """One build: a Dockerfile, a context, arguments, and what is known of the images that it starts from."""

    def __init__(
        self, context: Path, root: Path, arguments: Mapping[str, str], known: Mapping[str, Image]
    ) -> None:
        """root: where the image will be; paths in it are those of its build. known: by their names."""
        self._context = context
        self._root = root
        self._arguments = arguments
        self._known = known
        self._finished: dict[str, Path] = {}

    def build(self, dockerfile: Path) -> Image:
        """Carry out every stage; gives the image of the last one. Raises `BuildError`."""
        image = Image(self._root)
        for number, stage in enumerate(stages(dockerfile)):
            if number:
                self._set_aside(f"stage-{number - 1}")
            image = self._stage(stage)
            name = stage[0].value.partition(" AS ")[2]
            self._finished[name] = self._root.with_name(f"{self._root.name}-stage-{number}")
        return image

    # Inside

    def _set_aside(self, name: str) -> None:
        """Only what the next stage copies is in it, at the path where it was made."""
        self._root.rename(self._root.with_name(f"{self._root.name}-{name}"))

    def _stage(self, stage: Sequence[Instruction]) -> Image:
        name = expand(stage[0].value.partition(" AS ")[0], self._arguments)
        known = self._known.get(name)
        image = known.copied_to(self._root) if known is not None else Image(self._root)
        self._root.mkdir(exist_ok=True)
        parts = Parts(image)
        for one in stage[1:]:
            self._carry_out(one, parts)
        return parts.image()

    def _carry_out(self, one: Instruction, parts: Parts) -> None:
        if one.name == "RUN":
            self._run(one, parts)
        elif one.name == "COPY":
            self._copy(one, parts.folder)
        else:
            parts.take(one)

    def _run(self, one: Instruction, parts: Parts) -> None:
        image, mounted = parts.image(), []
        for _, mount in one.flags:
            settings = dict(part.split("=", 1) for part in mount.split(","))
            target = image.path(settings["target"])
            _copy(self._context / settings["source"], target)
            mounted.append(target)
        declared = {name: value for name, value in self._arguments.items() if name in parts.arguments}
        image.shell(one.value, declared, image.path(parts.folder))
        for target in mounted:
            shutil.rmtree(target) if target.is_dir() else target.unlink()

    def _copy(self, one: Instruction, folder: str) -> None:
        *sources, target = one.words
        place, stage = self._root / (Path(folder) / target).relative_to("/"), one.flag("from")
        for source in sources:
            if stage is not None:
                _move(self._finished[stage] / source.lstrip("/"), place)
            else:
                whole = (self._context / source).is_dir()
                _copy(self._context / source, place if whole else place / Path(source).name)


def _move(source: Path, target: Path) -> None:
    """In place of a copy, because what was made somewhere knows its own path."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.is_dir():
        target.rmdir()
    source.rename(target)


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"), dirs_exist_ok=True)
    else:
        shutil.copyfile(source, target)
