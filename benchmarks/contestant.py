"""One contender, one question, one size: made, solved and measured in this process; the answer is one line of JSON.

python benchmarks/contestant.py QUESTION CONTENDER SIZE CPU_SECONDS GIBIBYTES
"""

import json
import resource
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

SHORT = 0.5  # CPU seconds; what is faster is done again without what a first time brings, imports above all
LEAST = 0.05  # CPU seconds that are spent on it then, on a new instance each time; the mean is told
OURS = "dalenius"


def watched_proofs() -> Callable[[], float]:
    """From now on, the CPU seconds that ours spends on proofs: no rival has any, so its search is told by itself."""
    from dalenius.mechanisms import proving

    proved_text = proving.proved_text
    spent = 0.0

    def timed(*given: Any) -> Any:
        nonlocal spent
        begin = time.process_time()
        try:
            return proved_text(*given)
        finally:
            spent += time.process_time() - begin

    proving.proved_text = timed
    return lambda: spent


def main() -> None:
    question, contender, size, seconds, gibibytes = sys.argv[1:]
    sys.path.insert(0, str(Path(__file__).parent))
    module = import_module(f"questions.{question}")
    prepare = module.CONTENDERS[contender]
    limit = int(float(seconds)) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
    resource.setrlimit(resource.RLIMIT_AS, (int(float(gibibytes) * 2**30),) * 2)
    # Imports and the instance are no part of the contest, neither are those that the first work of a kind brings.
    if module.WARM:
        prepare(module.SIZES[0])()
    proving = watched_proofs() if contender == OURS else float
    peak = 0.0

    def measured() -> tuple[dict[str, Any], float, float]:
        nonlocal peak
        work = prepare(int(size))
        before, begin = proving(), time.process_time()
        answer = work()
        spent = time.process_time() - begin
        peak = peak or resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024  # of the first time
        return answer, spent, proving() - before

    answer, spent, proof = measured()
    repeats = 1
    if module.WARM and spent < SHORT and "child_seconds" not in answer:
        spent, proof, repeats = 0.0, 0.0, 0
        while spent < LEAST and repeats < 1000:
            _, more, of_proof = measured()
            spent, proof, repeats = spent + more, proof + of_proof, repeats + 1
    figures = {"cpu_seconds": spent / repeats, "peak_mib": peak}
    if proof:
        figures["proof_seconds"] = proof / repeats
    print(json.dumps(figures | answer))


if __name__ == "__main__":
    main()
