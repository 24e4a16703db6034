"""`[[limit]] keep_rows`: no value of a released column loses more than its share of rows; proved, or refused."""

import json
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from contract import reread

from dalenius.core import Distortion, Leakage, LocalDP, MaximizeInformation, MinimizeDistortion, Pmf, Problem
from dalenius.documents import canonical
from dalenius.documents import checked as check
from dalenius.errors import NotCertified, ProblemFileError, Unsupported
from dalenius.mechanisms import solve
from dalenius.report import words
from dalenius.report.facts import Facts
from tests.effort import effort

FILE = """
[source]
pmf = "joint.json"
[mechanism]
observe = ["A", "B"]
release = ["A", "B"]
[objective]
minimize = { sum = [{ distortion = "hamming", of = ["A"] }, { distortion = "hamming", of = ["B"] }] }
[[guarantee]]
leakage = ["S"]
at_most_bits = "1/200"
[[limit]]
keep_rows = "3/4"
"""
A, B = ("a", "b"), ("x", "y", "z")


def law():
    """Few rows have z, and z speaks of S: without a limit it is emptied."""
    counts = {"u": [300, 260, 40, 240, 200, 20], "v": [240, 180, 90, 220, 190, 120]}
    records = [((s, *ab), n) for s in "uv" for ab, n in zip(product(A, B), counts[s], strict=True)]
    return Pmf.from_records({"S": ("u", "v"), "A": A, "B": B}, records)


def asked(**rest):
    both = Distortion.sum_of(Distortion("hamming", (name,)) for name in "AB")
    keys = {"observe": ("A", "B"), "release": ("A", "B"), "objective": MinimizeDistortion(both)}
    keys["guarantees"] = (Leakage(("S",), Fraction(1, 200)),)
    return Problem(**(keys | {"joint": law()} | rest))


def shares(design):
    """How many rows have each value after the release, for each row that had it."""
    joint = design.problem.pmf.marginal(["A", "B"])
    p = [Fraction(int(n), joint.total) for n in joint.every()]
    letters = list(product(A, B))
    after = [sum(m * row[t] for m, row in zip(p, design.channel.rows, strict=True)) for t in range(6)]
    found = {}
    for place, values in enumerate((A, B)):
        for value in values:
            here = [letter[place] == value for letter in letters]
            before, later = (sum(v for v, own in zip(vector, here, strict=True) if own) for vector in (p, after))
            found[value] = later / before
    return found


@pytest.mark.long
def test_point_10_every_value_keeps_its_share_of_rows_exactly():
    free, kept = solve(asked()), solve(asked(keep_rows=Fraction(3, 4)))
    assert min(shares(free).values()) < Fraction(1, 2), "without the limit a value is emptied"
    assert min(shares(kept).values()) >= Fraction(3, 4)
    assert free.value < kept.value <= 2 * free.value
    assert float(kept.gap) <= 1e-6
    check(kept.dumps())


@pytest.mark.long
@pytest.mark.parametrize("share", ["1/2", "99/100", "9/10"][: effort(2, 3)])
def test_the_price_rises_with_the_share(share):
    design = solve(asked(keep_rows=Fraction(share)))
    assert min(shares(design).values()) >= Fraction(share)
    assert design.value <= solve(asked(preserve_marginals=True)).value + Fraction(1, 10**6)


@pytest.mark.long
def test_a_design_that_empties_a_value_is_refused_by_the_checker():
    kept = json.loads(solve(asked(keep_rows=Fraction(3, 4))).dumps())
    emptied = json.loads(solve(asked()).dumps())
    nothing = kept["claims"] | {"promises": [[] for _ in kept["promises"]], "limits": ["9"] * len(kept["limits"])}
    with pytest.raises(NotCertified, match=r"the distortion is .* more than the allowed"):
        check(canonical(kept | {"channel": emptied["channel"]} | {"claims": nothing}))


@pytest.mark.long
def test_the_key_of_the_file_is_read_and_designs_are_read_back(tmp_path):
    (tmp_path / "p.toml").write_text(FILE)
    problem = Problem.from_file(tmp_path / "p.toml")
    assert problem.keep_rows == Fraction(3, 4)
    assert problem.to_json()["limit"] == [{"keep_rows": "3/4"}]
    design = solve(replace(problem, joint=law(), source=None))
    assert reread(design).problem.limits == design.problem.limits
    said = words.promised(Facts.of_design(design))
    assert "On average, every value of A and B keeps at least 3/4 of its rows in number." in said


@pytest.mark.parametrize("share", ["0", "1", "5/4"])
def test_a_share_that_is_none_is_refused(tmp_path, share):
    (tmp_path / "p.toml").write_text(FILE.replace("3/4", share))
    with pytest.raises(ProblemFileError, match="it is a share above 0 and below 1"):
        Problem.from_file(tmp_path / "p.toml")


def test_families_that_take_no_limits_refuse_it():
    promise = (LocalDP(Fraction(1)),)
    with pytest.raises(Unsupported, match="limits"):
        solve(
            asked(objective=MaximizeInformation(("A", "B")), guarantees=promise, keep_rows=Fraction(1, 2), form="pram")
        )


def test_a_fresh_output_has_no_values_to_keep():
    matrix = Distortion(tuple(tuple(Fraction(int(v)) for v in row) for row in np.eye(6, dtype=int)), ("A", "B"))
    goal = MinimizeDistortion(matrix)
    with pytest.raises(ProblemFileError, match="keep_rows needs release"):
        solve(asked(release=(), output="Y", objective=goal, keep_rows=Fraction(1, 2)))
