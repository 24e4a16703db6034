"""What stands around a command: its streams and its folder. They may be closed, full, gone, or know no umlauts."""

import os
import sys
from io import BufferedWriter, RawIOBase, TextIOWrapper
from typing import TextIO

from dalenius.errors import InputError

__all__ = ["fault_outside", "prepared", "silenced"]


def prepared() -> None:
    """Make the streams of this process ones that take every text, even where the shell closed them.

    A number below three that is free would be given to the next file, into which libraries then write their warnings.
    Where Python keeps nothing back (`PYTHONUNBUFFERED`), it takes a write that a signal ended for a whole one, and the
    rest of a long answer is lost: such a stream gets a buffer, which writes on, and ends with every line.
    """
    while (number := os.open(os.devnull, os.O_RDWR)) < 3:
        pass
    os.close(number)
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115 - as long as the process
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115
    sys.stdout, sys.stderr = (_whole(stream) for stream in (sys.stdout, sys.stderr))


def _whole(stream: TextIO) -> TextIO:
    """The stream with a buffer, for every text; what a program put in its place stays."""
    if not isinstance(stream, TextIOWrapper):
        return stream
    if not isinstance(stream.buffer, RawIOBase):
        stream.reconfigure(errors="backslashreplace")
        return stream
    encoding = stream.encoding
    return TextIOWrapper(BufferedWriter(stream.detach()), encoding, "backslashreplace", line_buffering=True)


def silenced(stream: TextIO | None = None) -> None:
    """Let what is left for a stream, standard output unless said, go nowhere: nobody can read it.

    Else Python tries to write it once more when the process ends, and turns the exit code into 120.
    """
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, (stream or sys.stdout).fileno())
    os.close(nowhere)


def fault_outside() -> InputError | None:
    """What is wrong with the folder or with standard output, if an error of the system comes from there."""
    try:
        os.getcwd()
    except OSError:
        return InputError("the current folder is gone; change to another one")
    try:
        os.write(sys.stdout.fileno(), b"\n")  # flushing tells nothing: what could not be written was dropped
    except OSError as e:
        silenced()
        return InputError(
            f"the answer cannot be written to standard output: {e.strerror}",
            state="Files that the command wrote before are whole and stay.",
            do="Write the answer to a file: add > FILE to the command, on a disk with room.",
        )
    return None
