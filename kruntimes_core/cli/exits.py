"""What the command's exit codes mean: a script can tell a no from a broken question."""

from enum import IntEnum


class Exit(IntEnum):
    """The exit codes, the same in every subcommand."""

    DONE = 0
    ANSWER_IS_NO = 1
    """A Run does not fit, or a check fails."""
    BAD_INPUT = 2
    """An option, a file, a configuration or a plugin cannot be used."""
    INTERRUPTED = 130
    """Ctrl-C, as shells count it: 128 + SIGINT."""
    PIPE_CLOSED = 141
    """Whoever read the output went away, as shells count it: 128 + SIGPIPE."""
