"""The command line: parse, call, print. No mathematics; nobody imports it.

Exit codes: 0 done and proved; 1 our fault; 2 bad input; 3 infeasible; 4 not certified, or evidence against the proof;
5 no certified answer; 6 refused by the ledger; 130 interrupted.
"""

import gc
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from dalenius.cli.failing import failed, our_fault
from dalenius.cli.grammar import parser
from dalenius.cli.interrupts import CODE, interruptible
from dalenius.cli.streams import fault_outside, prepared, silenced
from dalenius.errors import DaleniusError, InputError

__all__ = ["main"]


@contextmanager
def _keeping_to(memory: str | None) -> Iterator[None]:
    """Let the tables of a command take so much memory, and put the rest on the disk."""
    if memory is None:
        yield
        return
    from dalenius.tables.workspace import memory_of, memory_told

    before = memory_told.set(memory_of(memory))
    try:
        yield
    finally:
        memory_told.reset(before)


class _NoPandas:
    """Says that there is no pandas."""

    @classmethod
    def find_spec(cls, name: str, _path: object = None, _target: object = None) -> None:
        if name == "pandas":
            raise ModuleNotFoundError(name)


class _ArrowAlone:
    """Has pyarrow look for pandas in vain, once: it imports it for its first array, longer than a small release takes.

    The process is ours and has no data frames; whoever converts to one later has pyarrow look again. Asked for every
    module that is imported, and does its work when the functions of pyarrow are, which follow the library itself.
    """

    @classmethod
    def find_spec(cls, name: str, _path: object = None, _target: object = None) -> None:
        if name == "pyarrow.compute":
            sys.meta_path.remove(cls)
            sys.meta_path.insert(0, _NoPandas)
            try:
                sys.modules["pyarrow"].array([""]).to_numpy(zero_copy_only=False)
            finally:
                sys.meta_path.remove(_NoPandas)


def _leave_frames_out() -> None:
    """Import no data frames for libraries that would look for them; drivers of databases import polars, too."""
    sys.modules.setdefault("polars", None)  # type: ignore[arg-type]
    if "pandas" not in sys.modules and "pyarrow.compute" not in sys.modules:
        sys.meta_path.insert(0, _ArrowAlone)


def _opened(module: str, *, ours: bool) -> Any:
    """The module of a command; in a process of ours without a look for rubbish, of which imports leave none."""
    if not ours:
        return import_module(module)
    _leave_frames_out()
    gc.disable()
    try:
        return import_module(module)
    finally:
        gc.freeze()
        gc.enable()


def _named() -> list[Any]:
    """The outputs of this command that have their name; most commands that fail never open that room."""
    room = sys.modules.get("dalenius.outputs")
    return room.NAMED if room is not None else []


def _interrupted(charging: bool) -> DaleniusError:
    """What somebody is told who ended a command: also what had been written by then."""
    places = ", ".join(map(str, _named()))
    charged = "dalenius ledger status shows what is charged." if charging else "Nothing was charged."
    return DaleniusError("interrupted", code="interrupted", state=places and f"Written before: {places}. {charged}")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments; those of the process unless given.

    Returns
    -------
    int
        The exit code.
    """
    words = sys.argv[1:] if argv is None else list(argv)
    machines = "--json" in words
    charging = "--ledger" in words
    sys.excepthook = our_fault
    if argv is None:
        prepared()
    arguments = None
    began = time.monotonic()
    _named().clear()
    try:
        if any("\0" in word for word in words):  # no shell lets one through, but a program may
            raise InputError("an argument holds a NUL character.", do="Leave it out.")
        arguments = parser().parse_args(words)
        arguments.began = began
        with interruptible(keep=getattr(arguments, "on_interrupt", "stop") == "keep"):
            command = _opened(f"dalenius.cli.{arguments.module}", ours=argv is None)
            with _keeping_to(getattr(arguments, "memory", None)):
                code = int(command.run(arguments) or 0)
        sys.stdout.flush()
        return code
    except DaleniusError as e:
        answered = getattr(arguments, "answered", False)  # one object, even where the answer is bad news
        failed(e, machines=machines and not answered, charging=charging)
        return e.exit_code
    except KeyboardInterrupt:
        failed(_interrupted(charging), machines=machines, charging=charging)
        return CODE
    except BrokenPipeError:
        silenced()
        return 0
    except OSError:
        outside = fault_outside()
        if outside is None:
            raise
        failed(outside, machines=machines, charging=charging)
        return outside.exit_code
