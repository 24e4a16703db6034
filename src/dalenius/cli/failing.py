"""How a command says that it failed: one sentence, its anatomy on a terminal, an object for machines."""

import json
import re
import sys
from contextlib import suppress
from pathlib import Path
from textwrap import wrap
from traceback import extract_tb
from types import TracebackType
from typing import TextIO

from dalenius.cli.streams import silenced
from dalenius.errors import DaleniusError, InputError, LedgerRefused

__all__ = ["failed", "our_fault"]

WIDTH = 100
UNBROKEN = "\ue000"
FOR_A_FILE = re.compile(r"\b(?:cuts|groups|labels) = (?:\{.*?\}|\[.*?\])")
"""What is pasted into a problem file: in one line, however wide the terminal is."""
REPORT = "dalenius-failure.json"
UNSURE = "Nothing was written. dalenius ledger status shows what is charged."


def failed(error: DaleniusError, *, machines: bool = False, charging: bool = False) -> None:
    """Say on standard error what went wrong; for machines also on standard output.

    Parameters
    ----------
    error : DaleniusError
        What went wrong.
    machines : bool
        Whether the command was asked for JSON: then an object with the keys code, what, where, why, do and state.
    charging : bool
        Whether the command names a ledger, which may have been charged before the error.
    """
    from dalenius.wording import unsteered  # with fractions and data classes: help does without

    if charging and not error.state and not isinstance(error, InputError | LedgerRefused):
        error.state = UNSURE
    parts = error.anatomy()
    if machines:
        _written(json.dumps(parts, indent=1, ensure_ascii=False), sys.stdout)
    said = str(error)
    more = [parts["do"]] * (parts["do"] == error.usual_way != "")
    more += [parts["state"]] * (error.code == "interrupted" or bool(error.state))
    sentence = f"dalenius: {' '.join([said + '.' * (bool(more) and not said.endswith(('.', '!', '?'))), *more])}"
    _written(unsteered(_laid_out(parts) if sys.stderr.isatty() and not machines else sentence), sys.stderr)


def _written(text: str, stream: TextIO) -> None:
    """Where nothing can be written, the exit code still says it."""
    try:
        print(text, file=stream, flush=True)
    except OSError:
        silenced(stream)


def _laid_out(parts: dict[str, str]) -> str:
    """The anatomy of an error, a line for each part.

    >>> print(_laid_out(InputError("out/ exists already.", do="Say --force.", code="exists").anatomy()))
    dalenius: out/ exists already.
      do     Say --force.
      state  Nothing was written, nothing was charged.
      more   dalenius help exists
    """
    lines = [f"dalenius: {parts['what']}"]
    for name, text in (parts | {"more": f"dalenius help {parts['code']}"}).items():
        if name not in ("code", "what") and text:
            whole = FOR_A_FILE.sub(lambda line: line[0].replace(" ", UNBROKEN), text)
            first, *others = wrap(whole, WIDTH - 9, break_long_words=False, break_on_hyphens=False)
            lines += [f"  {name:<6} {first}", *(" " * 9 + line for line in others)]
    return "\n".join(lines).replace(UNBROKEN, " ")


def our_fault(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """What is not one of our errors is a fault of ours: say so, and leave a file for the report of it."""
    places = [f"{Path(step.filename).name}:{step.lineno} {step.name}" for step in extract_tb(trace)]
    import platform  # with the next one a tenth of a start; nobody needs them where nothing fails
    from importlib.metadata import PackageNotFoundError, version

    report = {"error": kind.__name__, "places": places, "python": platform.python_version()}
    with suppress(PackageNotFoundError):
        report["dalenius"] = version("dalenius")
    kept = ""
    with suppress(OSError):  # where it cannot be written, the sentence still says where
        Path(REPORT).write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
        kept = f" {REPORT} says where, without data: please send it with the command that you ran."
    where = places[-1] if places else "unknown place"
    fault = DaleniusError(
        f"Dalenius failed, not your file ({kind.__name__}: {error}; {where}).",
        do=f"Try fewer groups or more time (--seconds).{kept}",
    )
    failed(fault, machines="--json" in sys.argv, charging="--ledger" in sys.argv)
