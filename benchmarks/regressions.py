"""Whether we became slower: how many times our CPU time each rival takes, against the stored ratios.

Ratios in the same run do not depend on the machine as seconds do. A ratio that fell by more than a third is an error.
Each question is asked at the size that compares the most rivals for the least time, among those at which neither side
is so fast that its time is noise.

    python benchmarks/regressions.py [question ...] [--rivals PYTHON]
"""

import argparse
import sys

from contest import OURS, contest, questions
from page import stored

FALLEN = 2 / 3
LEAST = 2e-3  # CPU seconds below which a ratio is noise
LIMIT = 10.0
RUNS = 3  # of which the best ratio counts, where the first one fell


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


def size_asked(results: list[dict[str, object]]) -> int | None:
    """The size with the most ratios, the cheapest of those; None where no ratio is worth a look."""
    found = [(rival, size) for rival, size in ratios(results) if not rival.startswith(OURS)]
    spent: dict[int, float] = {}
    for each in results:
        for answer in each["answers"]:  # type: ignore[attr-defined]
            spent[answer["size"]] = spent.get(answer["size"], 0.0) + min(LIMIT, answer.get("cpu_seconds", LIMIT))
    many = {size: sum(size == at for _, at in found) for _, size in found if spent[size] <= 2 * LIMIT}
    return max(many, key=lambda size: (many[size], -spent[size]), default=None)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("questions", nargs="*", default=questions())
    parser.add_argument("--rivals", default=sys.executable)
    asked = parser.parse_args()
    options = argparse.Namespace(quick=True, sizes=None, limit=LIMIT, memory=4, processes=1, rivals=asked.rivals)
    fallen = []
    for question in asked.questions:
        if (before := stored(question)) is None:
            continue
        if (size := size_asked(before["results"])) is None:
            continue
        options.sizes = [size]
        options.contenders = [before["results"][0]["contender"]] + [
            each["contender"]
            for each in before["results"][1:]
            for answer in each["answers"]
            if answer["size"] == size and answer.get("cpu_seconds", LIMIT) < LIMIT  # the others would only die
        ]
        kept = ratios(before["results"])
        best: dict[tuple[str, int], float] = {}
        for _ in range(RUNS):
            for key, now in ratios(contest(question, options)["contenders"]).items():
                best[key] = max(now, best.get(key, 0.0))
            slower = [key for key, now in best.items() if key in kept and now < FALLEN * kept[key]]
            slower = [key for key in slower if not key[0].startswith(OURS)]
            if not slower:
                break
        fallen += [
            f"{question}, {rival}, size {at}: {kept[rival, at]:.2g} times ours before, {best[rival, at]:.2g} now"
            for rival, at in slower
        ]
    print("\n".join(fallen) or "no ratio fell by more than a third")
    return 1 if fallen else 0


if __name__ == "__main__":
    sys.exit(main())
