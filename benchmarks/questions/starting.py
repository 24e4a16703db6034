"""Starting: CPU seconds until a command, or the import of a library, has ended."""

import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

TITLE = "From the prompt to the end: a small command of ours, the import of the others"
SIZE = "runs"
SIZES = [1]
WARM = False
SENSE = "max"
TOLERANCE = 0.0

Work = Callable[[], dict[str, Any]]


def _run(*command: str) -> Work:
    def work() -> dict[str, Any]:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return {"child_seconds": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime}

    return work


def help_page(_: int) -> Work:
    return _run(sys.executable, "-m", "dalenius", "--help")


def verified(_: int) -> Work:
    from dalenius import solve
    from dalenius.testing import xor

    file = Path(tempfile.mkdtemp()) / "design.json"
    file.write_text(solve(xor()).dumps())
    return _run(sys.executable, "-m", "dalenius", "verify", str(file))


def _import(name: str) -> Callable[[int], Work]:
    return lambda _: _run(sys.executable, "-c", f"import {name}")


CONTENDERS = {
    "dalenius --help": help_page,
    "dalenius verify": verified,
    **{f"import {name}": _import(name) for name in ("qif", "dit", "cvxpy", "opendp.prelude", "diffprivlib")},
}
