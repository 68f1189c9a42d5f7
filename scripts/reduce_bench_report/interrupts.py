"""Ctrl-C ends the program with one line and its exit code, whatever it is doing.

Python would raise KeyboardInterrupt wherever it happens to be. Packages that are being imported
take that for a fault of their own, and what is called back from C prints it and goes on.
"""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

EXIT_INTERRUPTED = 130


def end_the_program() -> None:
    """From here on they do; unless they are ignored, as in a shell's background."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)


@contextmanager
def put_off() -> Iterator[None]:
    """Within it, Ctrl-C waits, also in the processes that are started."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def ignore() -> None:
    """In a process that draws: Ctrl-C reaches it too, and the one that waits for it ends it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _end(_signal: int, _frame: FrameType | None) -> None:
    with suppress(OSError):
        os.write(2, b"reduce_bench_report: interrupted.\n")
    if "multiprocessing" in sys.modules:  # processes that draw would wait for more work for ever
        for process in sys.modules["multiprocessing"].active_children():
            process.kill()
    os._exit(EXIT_INTERRUPTED)
