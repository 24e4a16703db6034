"""Every question of `questions/`, asked of ours and of each rival at growing sizes until it takes too long.

Each answer is found in a process of its own with one thread, a limit of CPU seconds and one of memory. Ours runs in the
environment of development, rivals in theirs (`make bench-all` builds both), which does not know Dalenius. A contender
that ran out of time or memory, or failed, is asked no larger size. What is measured: CPU seconds of the work itself
(imports and the making of the instance excluded), the largest memory of the process, the answer, and whether it lies
within the interval that ours proved.

    python benchmarks/contest.py [question ...] [--limit 60] [--memory 4] [--quick] [--rivals PYTHON]
"""

import argparse
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from math import log
from pathlib import Path
from typing import Any

from reporting import as_installed, save

HERE = Path(__file__).parent
GRACE = 20  # seconds for imports and for making the instance, beside the limit of the work
QUICK = 2  # sizes of each contender for a first look
OURS = "dalenius"


def questions() -> list[str]:
    return sorted(file.stem for file in (HERE / "questions").glob("*.py") if file.stem != "__init__")


def asked(python: str, question: str, contender: str, size: int, limit: float, memory: float) -> dict[str, Any]:
    """One answer of one contender, or why there is none."""
    child = [python, str(HERE / "contestant.py"), question, contender, str(size), str(limit + GRACE), str(memory)]
    try:
        # The wall may be slower than the CPU on a busy machine; the child's own limit of CPU seconds is what counts.
        done = subprocess.run(
            child, capture_output=True, text=True, env=as_installed(), timeout=6 * (limit + GRACE), check=False
        )
    except subprocess.TimeoutExpired:
        return {"size": size, "died": "time"}
    if done.returncode:
        words = (done.stderr.strip().splitlines() or ["no word"])[-1]
        died = "time" if done.returncode in (-24, -9) else "memory" if "MemoryError" in words else words[:200]
        return {"size": size, "died": died}
    answer: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    if "child_seconds" in answer:  # the work was a process of its own
        answer["cpu_seconds"] = answer.pop("child_seconds")
    return {"size": size, **answer, **({"died": "time"} if answer["cpu_seconds"] > limit else {})}


def judged(answer: dict[str, Any], proved: dict[str, Any] | None, sense: str, tolerance: float) -> str:
    """What an answer is worth beside the interval that ours proved at the same size, or what it lacks."""
    if "lacks" in answer:
        return f"without {answer['lacks']}"
    if "value" not in answer or proved is None or "low" not in proved:
        return ""
    value, low, high = answer["value"], proved["low"], proved["high"]
    if value > high + tolerance:
        return f"above what is possible by {value - high:.1e}" if sense == "max" else f"worse by {value - high:.1e}"
    if value < low - tolerance:
        return f"worse by {low - value:.1e}" if sense == "max" else f"below what is possible by {low - value:.1e}"
    return "right"


def exponent(answers: list[dict[str, Any]]) -> float | None:
    """How CPU seconds grow: the slope of their logarithm against that of the size, over the larger sizes."""
    points = [
        (log(a["size"]), log(a["cpu_seconds"])) for a in answers if "cpu_seconds" in a and a["cpu_seconds"] > 1e-3
    ]
    points = points[len(points) // 2 :] if len(points) > 3 else points
    if len(points) < 2:
        return None
    mean_x = sum(x for x, _ in points) / len(points)
    mean_y = sum(y for _, y in points) / len(points)
    spread = sum((x - mean_x) ** 2 for x, _ in points)
    return sum((x - mean_x) * (y - mean_y) for x, y in points) / spread if spread else None


def series(question: str, contender: str, python: str, options: argparse.Namespace) -> dict[str, Any]:
    """All answers of one contender to one question, smallest first, until it dies."""
    module = import_module(f"questions.{question}")
    sizes = options.sizes or (module.SIZES[:QUICK] if options.quick else module.SIZES)
    answers: list[dict[str, Any]] = []
    for size in sizes:
        answers.append(asked(python, question, contender, size, options.limit, options.memory))
        last = answers[-1]
        print(f"{question:>12} {contender:<28} {size:>8} {_shown(last)}", flush=True)
        if "died" in last:
            break
    return {"contender": contender, "answers": answers, "exponent": exponent(answers)}


def _shown(answer: dict[str, Any]) -> str:
    if "cpu_seconds" not in answer:
        return f"died: {answer['died']}"
    return f"{answer['cpu_seconds']:.4g} s {answer['peak_mib']:.0f} MiB {answer.get('value', '')}"


def contest(question: str, options: argparse.Namespace) -> dict[str, Any]:
    """One question asked of everybody."""
    module = import_module(f"questions.{question}")
    jobs = [(name, sys.executable if name.startswith(OURS) else options.rivals) for name in module.CONTENDERS]
    jobs = [job for job in jobs if not options.contenders or job[0] in options.contenders]
    with ThreadPoolExecutor(options.processes) as pool:
        found = list(pool.map(lambda job: series(question, *job, options), jobs))
    ours = {a["size"]: a for a in found[0]["answers"]}
    for each in found:
        for answer in each["answers"]:
            answer["verdict"] = judged(answer, ours.get(answer["size"]), module.SENSE, module.TOLERANCE)
    return {"question": question, "title": module.TITLE, "size": module.SIZE, "contenders": found}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("questions", nargs="*", default=questions())
    parser.add_argument("--limit", type=float, default=60, help="CPU seconds after which a contender is dead")
    parser.add_argument("--memory", type=float, default=4, help="GiB of address space for each process")
    parser.add_argument("--processes", type=int, default=2, help="processes at once")
    parser.add_argument("--quick", action="store_true", help="the two smallest sizes only, nothing is written")
    parser.add_argument("--sizes", type=int, nargs="+", help="these sizes only")
    parser.add_argument("--rivals", default=sys.executable, help="the Python of the rivals' environment")
    options = parser.parse_args()
    options.contenders = None
    for question in options.questions:
        found = contest(question, options)
        if not options.quick and not options.sizes:
            save(
                f"contest_{question}",
                found["title"],
                found["contenders"],
                size=found["size"],
                limit_seconds=options.limit,
            )


if __name__ == "__main__":
    sys.path.insert(0, str(HERE))
    main()
