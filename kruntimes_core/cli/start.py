"""The first module of the command. It imports almost nothing, because importing `main` takes a tenth of a
second.

Without this module, Ctrl-C during that time, or after the end of `main`, would show a traceback. With it,
Ctrl-C ends the process quietly at any time.
"""

import os
import signal
import sys

_INPUT, _OUTPUT, _ERRORS = range(3)
_SIGNALLED = 128
_INIT = 1


def start() -> int:
    """Run the command with the arguments of the process. Returns the exit code."""
    _end_quietly()
    _keep_standard_output()
    # By default pydantic searches all installed distributions for pydantic plugins when it is imported. Then
    # a distribution with broken metadata, although it has nothing to do with kruntimes, would end every
    # command.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    try:
        from kruntimes_core.cli.main import main
        from kruntimes_core.cli.process_end import ProcessEnd

        end = ProcessEnd()
        _interrupt_by_exception()
        code = main(end=end)
        end.begin(code)
        # What plugins left running may still print.
        own, sys.stdout = sys.stdout, sys.stderr
        own.close()
        return code
    except KeyboardInterrupt:
        return _SIGNALLED + signal.SIGINT
    finally:
        _end_quietly()


def _keep_standard_output() -> None:
    """Give the command a descriptor of its own for its output, and lead descriptor 1 to standard error.

    So tables and documents stay whole whatever plugins, their libraries and the programs that these start
    write to it.
    """
    _open_what_the_caller_closed()
    usual = sys.stdout
    if usual is not None:
        usual.flush()
        sys.stdout = open(  # noqa: SIM115 - to the end
            os.dup(_OUTPUT),
            "w",
            encoding=usual.encoding,
            errors=usual.errors,
            buffering=1 if usual.isatty() else -1,
        )
    os.dup2(_ERRORS, _OUTPUT)


def _open_what_the_caller_closed() -> None:
    """Let standard descriptors lead somewhere: the next file that is opened would get the number of one."""
    for descriptor in (_INPUT, _OUTPUT, _ERRORS):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest free number, which is this one


def _end_quietly() -> None:
    """Let SIGINT end the process at once with 130, unless the caller ignores SIGINT (`nohup`, `&`).

    In a container the command may be the first process, for which the kernel ignores signals without a
    handler. So SIGTERM gets a handler too, which ends the process with 143. Otherwise a Pod would end only
    after its whole grace period.
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
