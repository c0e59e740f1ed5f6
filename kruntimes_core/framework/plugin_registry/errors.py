"""The errors of a plugin that cannot be loaded: one line with its owner, its version and the cause."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager

from kruntimes_core import __version__
from kruntimes_core.framework.runtime.plugin_calls import describe
from kruntimes_core.model.messages import InputError

HOST_API = "1.0"
"""The version of the hooks and value types. A plugin may restrict it: `host_api = ">=1,<2"`."""

HOST = f"kruntimes-core {__version__}"
"""What this host is called in errors about plugins."""


class InvalidPlugin(Exception):  # noqa: N818 - as `InvalidRun`: an answer, not an error of the host
    """Why a plugin cannot be used, in words that do not name it. Becomes a `LoadError`."""


class LoadError(InputError):
    """A plugin cannot be loaded.

    name: the plugin's. origin: its distribution and version. cause: what is wrong.
    off_by_default: the plugin said so before it failed, so it is needed only where a configuration names it.
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


class HangingPluginError(InputError):
    """A call of a plugin, its import or its constructor did not return in time."""


@contextmanager
def plugin_code(
    problem: str = "", advice: str = "", passes: type[BaseException] = InvalidPlugin
) -> Iterator[None]:
    """Turn whatever a plugin's code raises in the block, `SystemExit` included, into `InvalidPlugin`.

    The text is `problem: what was raised and where: advice`. passes: an exception that goes through, as
    `InvalidPlugin` does, and `KeyboardInterrupt`, which is the user's own.
    """
    try:
        yield
    except (InvalidPlugin, KeyboardInterrupt, passes):
        raise
    except BaseException as error:
        parts = (problem, _described(error), advice)
        raise InvalidPlugin(": ".join(part for part in parts if part)) from error


def _described(error: BaseException) -> str:
    """One line: the exception's type and text, and the place in the plugin's code that raised it."""
    described = describe(error)
    if isinstance(error, SyntaxError):
        return described
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if _is_foreign(frame.filename)]
    return f"{described} (at {frames[-1].filename}:{frames[-1].lineno})" if frames else described


def _is_foreign(filename: str) -> bool:
    """Whether a frame is neither the import system's nor this host's own."""
    dotted = filename.replace("\\", "/").replace("/", ".")
    return not filename.startswith("<") and "importlib" not in filename and __package__ not in dotted
