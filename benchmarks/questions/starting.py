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
    subprocess.run(command, check=True, capture_output=True)  # leaves the bytecode, as an installation does

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


def solved(_: int) -> Work:
    """A secret bit and a released one, from a problem file to a proved design."""
    import json

    folder = Path(tempfile.mkdtemp())
    rows = [{"S": s, "X": x, "p": "3/8" if s == x else "1/8"} for s in "01" for x in "01"]
    (folder / "law.json").write_text(json.dumps({"variables": {"S": ["0", "1"], "X": ["0", "1"]}, "pmf": rows}))
    (folder / "problem.toml").write_text(
        '[source]\npmf = "law.json"\n[mechanism]\nobserve = ["X"]\nrelease = ["X"]\n[objective]\n'
        'minimize = { leakage = ["S"] }\n[[limit]]\ndistortion = "hamming"\nof = ["X"]\nat_most = 0.2\n'
    )
    command = (sys.executable, "-m", "dalenius", "solve", str(folder / "problem.toml"))
    return _run(*command, "-o", str(folder / "design.json"), "--force")


def _import(name: str) -> Callable[[int], Work]:
    return lambda _: _run(sys.executable, "-c", f"import {name}")


def nothing(_: int) -> Work:
    return _run(sys.executable, "-c", "pass")


CONTENDERS = {
    "dalenius --help": help_page,
    "dalenius verify": verified,
    "dalenius solve": solved,
    "dalenius's floor: Python alone": nothing,
    **{f"import {name}": _import(name) for name in ("qif", "dit", "cvxpy", "opendp.prelude", "diffprivlib")},
}
