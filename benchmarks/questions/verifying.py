"""Verifying: the proof of a design of least leakage, checked again from its file."""

import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from questions.leakage import ours as designer

TITLE = "Checking a proved design of least leakage from its file (and solving it, for comparison)"
SIZE = "letters of the released column"
SIZES = [10, 30, 100, 200, 300]
WARM = False
SENSE = "max"
TOLERANCE = 0.0

Work = Callable[[], dict[str, Any]]


def _text(size: int) -> str:
    from dalenius import solve
    from questions.leakage import problem_of

    return solve(problem_of(size), gap=1e-6).dumps()


def ours(size: int) -> Work:
    """The kernel, which imports the standard library alone."""
    from dalenius.kernel import check

    text = _text(size)

    def work() -> dict[str, Any]:
        check(text, None, False)
        return {}

    return work


def exported(size: int) -> Work:
    """The one file that a stranger gets, in a process of its own."""
    import resource

    folder = Path(tempfile.mkdtemp())
    (folder / "design.json").write_text(_text(size))
    subprocess.run([sys.executable, "-m", "dalenius", "verify", "--export", folder / "checker.py"], check=True)

    def work() -> dict[str, Any]:
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        subprocess.run(
            [sys.executable, "-I", "-S", folder / "checker.py", folder / "design.json"], check=True, capture_output=True
        )
        return {"child_seconds": resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before}

    return work


def in_the_page(size: int) -> Work:
    """The second checker, in JavaScript, as it stands in the statement; run by Node.js, with its start."""
    import json
    import resource

    runner = Path(__file__).resolve().parents[2] / "tests" / "second_checker" / "run.mjs"
    texts = json.dumps([_text(size)])

    def work() -> dict[str, Any]:
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        done = subprocess.run(["node", runner], input=texts, check=True, capture_output=True, text=True)
        said = json.loads(done.stdout)[0]
        if "proved" not in said:
            raise SystemExit("; ".join(map(str, said.values()))[:200])
        return {"child_seconds": resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before}

    return work


def floor_of_reading(size: int) -> Work:
    """What cannot be saved: the text is read once, and its hash is taken."""
    import hashlib
    import json

    text = _text(size)

    def work() -> dict[str, Any]:
        json.loads(text)
        hashlib.sha256(text.encode()).digest()
        return {}

    return work


CONTENDERS = {
    "dalenius": ours,
    "dalenius, exported file": exported,
    "dalenius, in the page": in_the_page,
    "dalenius solve": designer,
    "dalenius's floor: reading and hashing": floor_of_reading,
}
