"""The one base of every error that a user of this project can cause, and can mend.

A file that cannot be read, a plugin that cannot be loaded, a name that nobody knows: each room
raises its own kind, and whoever talks to the user catches this one, prints one line and exits with
code 2. Anything else that is raised is a defect of ours and keeps its traceback.
"""

from __future__ import annotations


class InputError(Exception):
    """What a user gave cannot be used. `str()` is one line: what is wrong, where, and what to do."""

    def __init__(self, message: str) -> None:
        """message: starts lower-case (or with a file's name); line breaks are folded into spaces."""
        super().__init__(" ".join(message.split()))
