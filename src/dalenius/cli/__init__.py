"""The command line: parse, call, print. No mathematics; nobody imports it.

Exit codes: 0 done and proved; 1 our fault; 2 bad input; 3 infeasible; 4 not certified, or evidence against the proof;
5 no certified answer; 6 refused by the ledger; 130 interrupted.
"""

import sys
from collections.abc import Sequence
from importlib import import_module
from types import TracebackType

from dalenius.cli.grammar import parser
from dalenius.cli.interrupts import CODE, interruptible
from dalenius.errors import DaleniusError

__all__ = ["main"]


def _our_fault(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """What is not one of our errors is a fault of ours: say so, and show where for the report of it."""
    where = ""
    while trace is not None:
        where, trace = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}", trace.tb_next
    print(
        f"dalenius: internal error: {kind.__name__}: {error} ({where}); this is a fault of dalenius, not of your data: "
        "please report it with the command that you ran",
        file=sys.stderr,
    )


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
    sys.excepthook = _our_fault
    arguments = parser().parse_args(argv)
    try:
        with interruptible(keep=getattr(arguments, "on_interrupt", "stop") == "keep"):
            return int(import_module(f"dalenius.cli.{arguments.module}").run(arguments) or 0)
    except DaleniusError as e:
        print(f"dalenius: {e}", file=sys.stderr)
        return e.exit_code
    except KeyboardInterrupt:
        print("dalenius: interrupted; nothing was written", file=sys.stderr)
        return CODE
    except BrokenPipeError:
        sys.stderr.close()
        return 0
