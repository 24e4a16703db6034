"""Whether we became slower: how many times the rival's CPU time ours is, against the stored ratios, at small sizes.

Ratios in the same run do not depend on the machine as seconds do. A ratio that fell by more than a third is an error.

    python benchmarks/regressions.py [question ...] [--rivals PYTHON]
"""

import argparse
import sys

from contest import OURS, contest, questions
from page import stored

FALLEN = 2 / 3
LEAST = 2e-3  # CPU seconds below which a ratio is noise
LIMIT = 10.0


def ratios(results: list[dict[str, object]]) -> dict[tuple[str, int], float]:
    """{(rival, size): its CPU seconds divided by ours} where both answered and neither is noise."""
    ours = {a["size"]: a["cpu_seconds"] for a in results[0]["answers"] if "cpu_seconds" in a}  # type: ignore[attr-defined]
    found = {}
    for each in results[1:]:
        for answer in each["answers"]:  # type: ignore[attr-defined]
            mine = ours.get(answer["size"])
            if mine and "cpu_seconds" in answer and min(mine, answer["cpu_seconds"]) > LEAST:
                found[str(each["contender"]), answer["size"]] = answer["cpu_seconds"] / mine
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("questions", nargs="*", default=questions())
    parser.add_argument("--rivals", default=sys.executable)
    asked = parser.parse_args()
    options = argparse.Namespace(quick=True, limit=LIMIT, memory=4, processes=1, rivals=asked.rivals)
    fallen = []
    for question in asked.questions:
        if (before := stored(question)) is None:
            continue
        kept = ratios(before["results"])
        for (rival, size), now in ratios(contest(question, options)["contenders"]).items():
            then = kept.get((rival, size))
            if then is not None and not rival.startswith(OURS) and now < FALLEN * then:
                fallen.append(f"{question}, {rival}, size {size}: {then:.2g} times ours before, {now:.2g} now")
    print("\n".join(fallen) or "no ratio fell by more than a third")
    return 1 if fallen else 0


if __name__ == "__main__":
    sys.exit(main())
