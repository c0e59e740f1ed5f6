"""The entry point of the command, which imports next to nothing: `main` takes a tenth of a second to import.

Ctrl-C during that time would show a traceback of whichever import it met. Here it ends the process quietly,
as `main` does later; so it does between the end of `main` and the end of the process.
"""

import os
import signal

_SIGNALLED = 128
_INIT = 1


def start() -> int:
    """Run the command with the arguments of the process. Returns the exit code."""
    _end_quietly()
    # Unless it is told otherwise, pydantic looks for plugins of its own among all installed distributions
    # while it is imported, and the metadata of one that is broken, and none of ours, would end every command.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    try:
        from kruntimes_core.cli.main import main
        from kruntimes_core.cli.process_end import ProcessEnd

        end = ProcessEnd()
        _interrupt_by_exception()
        code = main(end=end)
        end.begin(code)
        return code
    except KeyboardInterrupt:
        return _SIGNALLED + signal.SIGINT
    finally:
        _end_quietly()


def _end_quietly() -> None:
    """Let SIGINT end the process at once with 130, unless its caller has it ignored (`nohup`, `&`).

    In a container the command may be the first process. For that one the kernel drops each signal without a
    handler, so that SIGTERM gets one too, which ends it with 143: no Pod waits for its whole grace period.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)
    if os.getpid() == _INIT and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _end)


def _interrupt_by_exception() -> None:
    """From here on SIGINT raises `KeyboardInterrupt`, so that the command can clean up."""
    if signal.getsignal(signal.SIGINT) is _end:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _end(number: int, _: object) -> None:
    os._exit(_SIGNALLED + number)
