"""Where the command begins, with next to nothing imported: what follows takes a tenth of a second.

Ctrl-C in that time would be shown as a traceback of whichever import it met. It ends the process quietly, as
later, when `main` sees to it; and so it does in the moment between the end of `main` and that of the process.
"""

import os
import signal

_SIGNALLED = 128
_INIT = 1


def start() -> int:
    """Run the command with the arguments of the process, which ends with the code that this returns."""
    end_quietly()
    try:
        from kruntimes_core.cli.main import main

        _hand_over()
        return main()
    except KeyboardInterrupt:
        return _SIGNALLED + signal.SIGINT
    finally:
        end_quietly()


def end_quietly() -> None:
    """Let SIGINT end the process at once with 130, unless whoever started it has it ignored (`nohup`, `&`).

    In a container the command may be the first process, for which the kernel drops each signal that nobody
    handles: there, SIGTERM ends it with 143, so that no Pod waits for its whole grace period.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)
    if os.getpid() == _INIT and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _end)


def _hand_over() -> None:
    """From here on SIGINT is an exception, which unwinds what was begun."""
    if signal.getsignal(signal.SIGINT) is _end:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _end(number: int, _: object) -> None:
    os._exit(_SIGNALLED + number)
