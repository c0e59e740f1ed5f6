"""How a plugin fails to load: always with its owner, its version and the cause, in one line."""

from __future__ import annotations

import traceback

from kruntimes_core.framework.loading.host import HOST
from kruntimes_core.framework.runtime.calls import describe
from kruntimes_core.model.messages import InputError


class Refusal(Exception):  # noqa: N818 - not an error of the host: its answer to a plugin
    """Why a plugin cannot be used, in words that do not name it. Becomes a `LoadError`."""


class LoadError(InputError):
    """A plugin cannot be loaded.

    name: the plugin's. origin: its distribution and version. cause: what is wrong.
    off_by_default: the plugin could say so before it failed, so nobody who does not name it needs it.
    """

    def __init__(
        self, name: str, origin: str, cause: str, *, advice: str = "", off_by_default: bool = False
    ) -> None:
        super().__init__(f"cannot load plugin {name} ({origin}) into {HOST}: {cause}{advice}")
        self.name = name
        self.origin = origin
        self.cause = cause
        self.off_by_default = off_by_default

    def advising(self, advice: str) -> LoadError:
        """The same error, with what to do about it at the place where the plugin is wanted."""
        return LoadError(
            self.name, self.origin, self.cause, advice=f"; {advice}", off_by_default=self.off_by_default
        )


def describe_exception(error: BaseException) -> str:
    """One line: the exception's type and text, and the place in the plugin's code that raised it."""
    described = describe(error)
    if isinstance(error, SyntaxError):
        return described
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if _is_foreign(frame.filename)]
    return f"{described} (at {frames[-1].filename}:{frames[-1].lineno})" if frames else described


def _is_foreign(filename: str) -> bool:
    """Whether a frame is neither the import system's nor this host's own."""
    return (
        not filename.startswith("<") and "importlib" not in filename and __package__ not in _dotted(filename)
    )


def _dotted(filename: str) -> str:
    return filename.replace("\\", "/").replace("/", ".")
