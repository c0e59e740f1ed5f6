"""Runs one server for as long as its parent lives: `python guard.py COMMAND...`.

A test process can end without cleaning up (a killed worker, a crash, Ctrl-C twice). The guard reads a
pipe whose other end that process holds, and kills the server when the pipe ends. A server that ends by
itself ends the guard with its exit code. What the servers have stored is thrown away, so they need no
time to stop.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading


def main(command: list[str]) -> None:
    """Run `command` until it ends or standard input does."""
    server = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    threading.Thread(target=lambda: os._exit(server.wait() & 0xFF), daemon=True).start()
    sys.stdin.buffer.read()
    server.kill()
    server.wait()


if __name__ == "__main__":
    main(sys.argv[1:])
