"""The table of docs/roadmap.md: every cell that says yes is solved, every cell that says no is refused."""

import re
from pathlib import Path

import pytest

from dalenius import Pmf, Problem, solve
from dalenius.errors import Infeasible, Unsupported

PAGE = (Path(__file__).parents[1] / "docs" / "roadmap.md").read_text(encoding="utf-8")
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
}
HAMMING = {"distortion": "hamming", "of": ["X"]}
FRESH, SAME = {"output": "Y"}, {"release": ["X"]}
OBJECTIVES = {
    "W = S": ({"maximize": {"information": ["S"]}}, FRESH),
    "W = X": ({"maximize": {"information": ["X"]}}, FRESH),
    "own letters": ({"maximize": {"information": ["X"]}}, SAME),
    "distortion": ({"minimize": HAMMING}, SAME),
    "leakage": ({"minimize": {"leakage": ["S"]}}, SAME),
    "rate": ({"minimize": {"rate": True}}, SAME),
    "variance": ({"minimize": {"variance": ["X"]}}, FRESH),
}


def test_the_table_names_every_promise_and_objective():
    assert CELLS[0] == ["promise", *OBJECTIVES]
    assert [row[0] for row in CELLS[1:]] == list(PROMISES)


@pytest.mark.parametrize(
    ("promise", "objective", "said"),
    [(row[0], name, said) for row in CELLS[1:] for name, said in zip(CELLS[0][1:], row[1:], strict=True)],
)
def test_what_the_roadmap_says_is_so(promise, objective, said):
    aim, mechanism = OBJECTIVES[objective]
    document = {"mechanism": {"observe": ["X"], **mechanism}, "objective": aim, "guarantee": [PROMISES[promise]]}
    if objective in ("leakage", "rate"):
        document["limit"] = [{**HAMMING, "at_most": "9/20"}]
    problem = Problem.from_document(document).bound(JOINT)
    if said == "no":
        with pytest.raises(Unsupported):
            solve(problem, seconds=5)
        return
    assert said == "yes"
    try:
        assert solve(problem, gap=1e-3, seconds=5).gap >= 0
    except Infeasible as e:
        pytest.fail(f"the problem of this cell should be feasible: {e}")
