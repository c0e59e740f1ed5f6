"""The instructions of a Dockerfile that change no file, and say how processes are started."""

from __future__ import annotations

from deployment.dockerfile import Instruction
from deployment.image import BuildError, Image


class Parts:
    """What the instructions of a stage said until now of its image."""

    def __init__(self, image: Image) -> None:
        self._root = image.root
        self._variables = dict(image.variables)
        self._labels = dict(image.labels)
        self._user, self._entry_point, self._command = image.user, image.entry_point, image.command
        self.folder = "/"
        self.arguments: set[str] = set()

    def take(self, one: Instruction) -> None:
        """An instruction that changes no file. One that is not known is a mistake."""
        match one.name:
            case "ENV":
                self._variables.update(one.pairs)
            case "ARG":
                self.arguments.update(one.words)
            case "LABEL":
                self._labels.update(one.pairs)
            case "WORKDIR":
                self.folder = one.value
                (self._root / one.value.lstrip("/")).mkdir(parents=True, exist_ok=True)
            case "USER":
                self._user = one.value
            case "ENTRYPOINT":
                self._entry_point = tuple(one.words)
            case "CMD":
                self._command = tuple(one.words)
            case "EXPOSE":
                pass
            case _:
                raise BuildError(f"{one.name}: not known here: add it to deployment/scratch.py")

    def image(self) -> Image:
        """The image as it is now."""
        return Image(self._root, self._variables, self._user, self._entry_point, self._command, self._labels)
