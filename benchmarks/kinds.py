"""Does checking take less than solving, for every kind of design, and where does the time of the command go?

Kinds: CPU seconds of `solve` and of the kernel's check of the file, in one process, the second run of each.
Commands: CPU seconds of `dalenius solve` as a process from the problem file to the design, and of `solve` alone (search
and proof, nothing else) in a process that has everything imported; what is outside is the difference.

    python benchmarks/kinds.py
"""

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from fractions import Fraction
from inspect import getclosurevars
from pathlib import Path
from typing import Any

from compositions import bits
from questions import funnel, leakage, local_dp, perfect, pram, rate, records
from reporting import as_installed, save

from dalenius import Guess, MaximalLeakage, MinimizeDistortion, Problem, Sibson, TotalVariation, solve
from dalenius.core import Distortion, Leakage, WorstCaseLeakage
from dalenius.kernel import check
from dalenius.mechanisms.chains.sums import modular_sums
from dalenius.mechanisms.chains.windows import windows
from dalenius.testing import contracted_bit, nearby_bit, noisy_dice, self_disclosure

HALF = "1/2"
COMMANDS = ((10, 100), (10, 300), (100, 100))  # values of the secret and of the released column
LIBRARIES = "import numpy, highspy, flint"


def asked(question: Any, size: int) -> Problem:
    """The problem that a question of the contest asks of us."""
    found = getclosurevars(question.ours(size)).nonlocals["problem"]
    assert isinstance(found, Problem)
    return found


def under(*promises: Any, size: int = 30) -> Problem:
    """The fewest changed letters under other promises about the secret of the question of leakage."""
    law = leakage.problem_of(size).joint
    fewest = MinimizeDistortion(Distortion("hamming", ("X",)))
    return Problem(joint=law, observe=("X",), release=("X",), objective=fewest, guarantees=promises)


def kinds() -> dict[str, Callable[[], Any]]:
    """A design of every kind."""
    tenth = Fraction(1, 10)
    problems = {
        "least leakage, 100 values": leakage.problem_of(100),
        "least leakage, 300 values": leakage.problem_of(300),
        "fewest changes under a leakage, 100 values": under(Leakage(("S",), tenth), size=100),
        "fewest changes under a worst case": under(WorstCaseLeakage(("S",), "1")),
        "fewest changes under maximal leakage": under(MaximalLeakage(HALF, ("S",))),
        "fewest changes under Sibson's information": under(Sibson(("S",), 2, HALF), size=10),
        "fewest changes under a total variation": under(TotalVariation(("S",), tenth)),
        "fewest changes under guesses": under(Guess(("S",), HALF)),
        "fewest changes under local DP, 64 values": asked(pram, 64),
        "information under local DP, 50 values": asked(local_dp, 50),
        "perfect privacy of 5 bits": asked(perfect, 5),
        "perfect privacy of 8 bits": asked(perfect, 8),
        "funnel, 64 values": asked(funnel, 64),
        "rate, 100 values": asked(rate, 100),
        "whole records of 7 columns": asked(records, 7),
        "samples that tell about themselves": self_disclosure((HALF, "1/4", "1/4"), 3),
        "noise for numbers": noisy_dice(),
        "a contraction": contracted_bit(HALF),
        "a law that is not known": nearby_bit("1/4", tenth, total_variation="1/100"),
    }
    found: dict[str, Callable[[], Any]] = {name: lambda p=p: solve(p) for name, p in problems.items()}
    chain = bits(Fraction(3, 10), 200)
    return found | {
        "windows over 200 samples": lambda: windows(chain, size=3),
        "sums over 200 samples": lambda: modular_sums(chain),
    }


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """CPU seconds of the second run, whose imports are done."""
    work()
    before = time.process_time()
    found = work()
    return time.process_time() - before, found


def kind(name: str, design: Callable[[], Any]) -> dict[str, Any]:
    solving, found = timed(design)
    text = found.dumps()
    checking, _ = timed(lambda: check(text, None, False))
    row = {"kind": name, "solve_seconds": solving, "check_seconds": checking, "bytes": len(text)}
    print(f"{name:<48} {solving:9.4f} s {checking:9.4f} s {len(text):>10,}", flush=True)
    return row


def spent(*command: str) -> float:
    """CPU seconds of a process of its own, the best of three runs; the first one leaves the bytecode."""
    best = float("inf")
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, *command], check=True, capture_output=True, env=as_installed())
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        best = min(best, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return best


def command(secrets: int, size: int) -> dict[str, Any]:
    """`dalenius solve` and `dalenius verify` as processes, beside what they are for."""
    problem = leakage.problem_of(size, secrets)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        assert problem.joint is not None
        (folder / "law.json").write_text(json.dumps(problem.joint.to_json()))
        (folder / "problem.toml").write_text(
            '[source]\npmf = "law.json"\n[mechanism]\nobserve = ["X"]\nrelease = ["X"]\n[objective]\n'
            'minimize = { leakage = ["S"] }\n[[limit]]\ndistortion = "hamming"\nof = ["X"]\nat_most = 0.2\n'
        )
        design = str(folder / "design.json")
        whole = spent("-m", "dalenius", "solve", str(folder / "problem.toml"), "-o", design, "--force")
        checked = spent("-m", "dalenius", "verify", design)
    working, _ = timed(lambda: solve(problem))
    row = {
        "secrets": secrets,
        "values": size,
        "command_seconds": whole,
        "search_and_proof_seconds": working,
        "libraries_seconds": spent("-c", LIBRARIES),
        "verify_seconds": checked,
    }
    print(row, flush=True)
    return row


def main() -> None:
    rows = [kind(name, design) for name, design in kinds().items()]
    save("kinds", "CPU seconds of solving and of checking", rows, commands=[command(*sizes) for sizes in COMMANDS])


if __name__ == "__main__":
    main()
