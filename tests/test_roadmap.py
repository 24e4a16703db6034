"""The table of docs/roadmap.md: read from what the mechanisms declare, and every cell is solved or refused.

`python -m tests.test_roadmap` writes the table anew after a mechanism has learnt something.
"""

import re
from pathlib import Path

import pytest

from dalenius import Pmf, Problem, solve
from dalenius.errors import Infeasible, Unsupported
from dalenius.mechanisms import takers
from tests.effort import effort

FILE = Path(__file__).parents[1] / "docs" / "roadmap.md"
PAGE = FILE.read_text(encoding="utf-8")
CELLS = [line.strip("| \n").split(" | ") for line in PAGE.splitlines() if re.match(r"\| (promise|`)", line)]

SHARES = {"0a": 3, "0b": 1, "0c": 1, "1a": 1, "1b": 1, "1c": 3}
JOINT = Pmf.from_records({"S": "01", "X": "abc"}, [(tuple(at), f"{n}/10") for at, n in SHARES.items()])
LINE = [["0", "1", "2"], ["1", "0", "1"], ["2", "1", "0"]]
PROMISES = {
    "`independent`": {"independent": ["S"]},
    "`local_dp`": {"local_dp": "1"},
    "`local_dp` with `metric`": {"local_dp": "1", "metric": LINE},
    "`local_dp` with `delta`": {"local_dp": "1", "delta": "1/100"},
    "`information_privacy`": {"information_privacy": ["S"], "epsilon": "1/2"},
    "`leakage`": {"leakage": ["S"], "at_most_bits": "1/20"},
    "`worst_case_leakage`": {"worst_case_leakage": ["S"], "at_most_bits": "1/10"},
    "`dalenius`": {"dalenius": True, "at_most_bits": "1/10"},
    "`contraction`": {"contraction": "1/5"},
    "`guess`": {"guess": ["S"], "at_most": "11/20"},
    "`maximal_leakage`": {"maximal_leakage": True, "at_most_bits": "4/5"},
    "`total_variation`": {"total_variation": ["S"], "at_most": "1/20"},
    "`sibson`": {"sibson": ["S"], "order": "2", "at_most_bits": "1/20"},
}
HAMMING = {"distortion": "hamming", "of": ["X"]}
FRESH, SAME = {"output": "Y"}, {"release": ["X"]}
OBJECTIVES = {
    "W = S": ({"maximize": {"information": ["S"]}}, FRESH),
    "W = X": ({"maximize": {"information": ["X"]}}, FRESH),
    "own values": ({"maximize": {"information": ["X"]}}, {**SAME, "allow_inverted": True}),
    "distortion": ({"minimize": HAMMING}, SAME),
    "leakage": ({"minimize": {"leakage": ["S"]}}, SAME),
    "rate": ({"minimize": {"rate": True}}, SAME),
    "variance": ({"minimize": {"variance": ["X"]}}, FRESH),
}


def problem_of(promise, objective):
    aim, mechanism = OBJECTIVES[objective]
    document = {"mechanism": {"observe": ["X"], **mechanism}, "objective": aim, "guarantee": [PROMISES[promise]]}
    if objective in ("leakage", "rate"):
        document["limit"] = [{**HAMMING, "at_most": "9/20"}]
    return Problem.from_document(document).bound(JOINT)


FREQUENCIES = (
    "What is independent of S gives every value the same probability under each s on average: one equation that "
    "all released values of a recipe meet, so that its rows are never as many independent directions as there are "
    "frequencies to estimate, and no variance is finite. Under the other promises the variance of estimated "
    "frequencies is bounded for up to six values that occur (64 under `local_dp` alone); under `contraction` and "
    "`dalenius` the bound of the example stays 2 and 7 % below its value (3.20 and 8.2), because every step of "
    "the search is one for the most information, which is slow there."
)
WHY_NOT = {"variance": FREQUENCIES}
"""For each objective that is not everywhere: what is said in the cells without it."""


def table():
    """The table as the declarations of the mechanisms say it; a cell that says no has the number of its reason."""
    lines = [["promise", *OBJECTIVES], ["---"] * (len(OBJECTIVES) + 1)]
    reasons = list(WHY_NOT)
    for promise in PROMISES:
        cells = []
        for objective in OBJECTIVES:
            taken = takers(problem_of(promise, objective))
            cells.append("yes" if taken else f"no ({1 + reasons.index(objective)})")
        lines.append([promise, *cells])
    told = [f"| {' | '.join(line)} |" if line[0] != "---" else f"|{'|'.join(line)}|" for line in lines]
    return [*told, "", *(f"{k}. {sentence}" for k, sentence in enumerate(WHY_NOT.values(), 1))]


def written(page):
    """The page with the table as it should be."""
    lines = page.splitlines()
    first = next(k for k, line in enumerate(lines) if line.startswith("| promise |"))
    last = next(k for k in range(first, len(lines)) if lines[k] and not re.match(r"\||\d\. ", lines[k])) - 1
    return "\n".join([*lines[:first], *table(), *lines[last:]]) + "\n"


def test_the_table_is_what_the_mechanisms_declare():
    assert written(PAGE) == PAGE, "run `python -m tests.test_roadmap`"


def test_a_cell_that_is_not_declared_is_seen():
    row = next(line for line in PAGE.splitlines() if line.startswith("| `independent` |"))
    assert written(PAGE.replace(row, row.replace("yes", "no", 1))) == PAGE
    assert written(PAGE.replace(row, row.replace("no (1)", "yes", 1))) == PAGE
    reason = next(line for line in PAGE.splitlines() if line.startswith("1. "))
    assert written(PAGE.replace(reason, "1. It is not done.")) == PAGE


LONG = {
    ("`contraction`", "W = X"),
    ("`contraction`", "leakage"),
    ("`dalenius`", "W = X"),
    ("`dalenius`", "distortion"),
    ("`sibson`", "W = X"),
    ("`sibson`", "distortion"),
    ("`worst_case_leakage`", "W = X"),
    ("`contraction`", "variance"),
    ("`dalenius`", "variance"),
    ("`information_privacy`", "variance"),
    ("`leakage`", "variance"),
    ("`local_dp` with `delta`", "variance"),
    ("`maximal_leakage`", "variance"),
    ("`sibson`", "variance"),
    ("`worst_case_leakage`", "variance"),
}
"""Cells that take a third of a second and more."""


@pytest.mark.long
@pytest.mark.parametrize(
    ("promise", "objective", "said"),
    [
        pytest.param(row[0], name, said, marks=[pytest.mark.slow] if (row[0], name) in LONG else [])
        for row in CELLS[1:]
        for name, said in zip(CELLS[0][1:], row[1:], strict=True)
    ],
)
def test_what_the_roadmap_says_is_so(promise, objective, said):
    problem = problem_of(promise, objective)
    if said.startswith("no ("):
        with pytest.raises(Unsupported):
            solve(problem, seconds=5)
        return
    assert said == "yes"
    try:
        assert solve(problem, gap=effort(5e-2, 1e-3), seconds=5).gap >= 0
    except Infeasible as e:
        pytest.fail(f"the problem of this cell should be feasible: {e}")


if __name__ == "__main__":
    FILE.write_text(written(PAGE), encoding="utf-8")
