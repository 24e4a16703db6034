"""What is said of the best possible, and of whom a promise speaks."""

import re
from dataclasses import replace
from fractions import Fraction

import pytest

from dalenius import solve
from dalenius.core import (
    Distortion,
    InformationPrivacy,
    Leakage,
    LocalDP,
    MaximizeInformation,
    MaximizeInformationOfEach,
    MinimizeDistortion,
    Pmf,
    Problem,
)
from dalenius.evidence.beliefs import beliefs
from dalenius.report.aims import reached
from dalenius.report.facts import Facts, Promise
from dalenius.report.limits import _unit
from dalenius.report.plain import best_possible, promises
from dalenius.report.statement import public_statement, statement
from dalenius.report.words import proved
from dalenius.testing import binary_tradeoff


def facts(value, bound):
    """A design of one released column whose figures are these."""
    problem = binary_tradeoff("1/10", "1/20")
    trade = replace(problem.limits[0], at_most=None)
    asked = replace(
        problem, objective=MinimizeDistortion(trade), limits=(), guarantees=(Leakage(("S",), Fraction(1, 10)),)
    )
    return Facts.of_design(replace(solve(asked), value=Fraction(value), bound=Fraction(bound)))


@pytest.mark.parametrize(
    ("value", "bound", "short"),
    [
        ("0.25", "0.25", "Least possible change, proved exactly"),
        ("0.25001", "0.25", "Least possible change, proved to 4 digits"),
        ("0.2525", "0.25", "Near the best possible"),
        ("0.26", "0.25", "26 of 100 entries in 100 rows change, none with fewer than 25"),
        ("1.0616", "0.9", "107 of 100 entries in 100 rows change, none with fewer than 90"),
        ("0.253", "0", "25.3 of 100 entries in 100 rows change, fewer may be possible"),
    ],
)
def test_what_is_near_the_best_possible_is_called_so_and_nothing_else(value, bound, short):
    assert best_possible(facts(value, bound)).short == short


def test_point_07c_the_first_page_names_what_others_had_to_keep():
    """With the shares of all combinations kept less change is possible without: the sentence said that it was not."""
    read = facts("0.25", "0.25")
    best = best_possible(replace(read, shape=replace(read.shape, keeps_shares=True, forbids=True)))
    assert best.short == "Least possible change with all shares kept without forbidden changes, proved exactly"
    assert best.sentence.endswith(
        "No other recipe keeps the promise and all shares and what must not change with fewer."
    )
    best = best_possible(replace(read, shape=replace(read.shape, kept=("K",))))
    assert "No other recipe that looks at X alone keeps the promise with fewer." in best.sentence


def test_point_05_a_figure_for_equal_shares_says_so():
    read = facts("0.25", "0.25")
    told, _ = reached(replace(read, prior="uniform"))
    assert told.endswith(", if all values are equally frequent.")
    told, _ = reached(replace(read, prior="public"))
    assert told.endswith(", for the public statistics.")


@pytest.mark.parametrize(
    ("unit", "max_rows", "kind", "says"),
    [
        ("row", None, "leakage", "The promise is about one row."),
        ("person", None, "leakage", "The promise is about one person (column person)."),
        ("person", 5, "leakage", "Every figure is for one row. A person has at most 5 rows"),
        ("person", 5, "local_dp", "at most 5 rows"),
    ],
)
def test_point_04_the_first_limit_says_whom_the_promise_is_about(unit, max_rows, kind, says):
    read = facts("0.25", "0.25")
    promise = LocalDP(1) if kind == "local_dp" else Leakage("S", "1/10")
    limit = _unit(replace(read, unit=unit, max_rows=max_rows, promises=(Promise(promise),)))
    assert says in limit.text
    assert (limit.name == "Groups of people") == (unit == "person" and (max_rows is None or kind == "local_dp"))


def test_a_level_with_delta_is_not_worded_as_one_without():
    """P(A | x) <= e^epsilon P(A | x') + delta; no ratio of single entries is promised, and the best recipe uses it."""
    counts = [((letter,), n) for letter, n in zip("abc", (50, 30, 20), strict=True)]
    joint = Pmf.from_records({"X": tuple("abc")}, counts)
    promise = LocalDP(Fraction(1), delta=Fraction(1, 1000))
    design = solve(Problem(("X",), MaximizeInformation(("X",)), (promise,), output="Y", joint=joint))
    columns = list(zip(*design.channel.rows, strict=True))
    assert any(max(column) > 3 * min(column) for column in columns)
    (told,) = promises(Facts.of_design(design))
    assert told.headline == (
        "Whatever an attacker knows, no set of released entries is more than 2.72 times as likely for one person as "
        "for another, plus a chance of 1 in 1,000."
    )
    assert promise.words().endswith("plus a chance of 1/1000")
    assert any("level 1 with a delta of 0.001" in sentence for sentence in told.more)


def test_a_level_of_several_columns_is_that_of_the_row():
    """Two columns at level 1 each: an entry is at most e, a row at most e^2 times as likely."""
    bits, counts = ("0", "1"), [(("0", "0"), 3), (("1", "0"), 1), (("1", "1"), 2)]
    joint = Pmf.from_records({"a": bits, "b": bits}, counts)
    goal, names = MaximizeInformationOfEach(("a", "b")), ("a", "b")
    asked = Problem(names, goal, (LocalDP(Fraction(2)),), release=names, form="pram", each=True, joint=joint)
    (told,) = promises(Facts.of_design(solve(asked)))
    assert "no released row is more than 7.39 times as likely" in told.headline


def test_point_07e_the_worst_row_is_not_beyond_the_promise_of_its_factor():
    """2.72 was promised, and 2.8 stood beside it: the same figure with other digits."""
    joint = Pmf.from_records(
        {"S": ("n", "r"), "X": ("p", "q")}, [(("n", "p"), 99), (("n", "q"), 387), (("r", "p"), 13), (("r", "q"), 1)]
    )
    design = solve(
        Problem(
            observe=("X",),
            release=("X",),
            objective=MinimizeDistortion(Distortion("hamming", ("X",))),
            guarantees=(InformationPrivacy(("S",), Fraction(1)),),
            joint=joint,
        )
    )
    (known,) = beliefs(design)
    assert known.times == "2.72"
    assert "2.72 times" in promises(Facts.of_design(design))[0].headline


COUNTS = {("u", "p"): 40, ("u", "q"): 10, ("v", "p"): 60, ("v", "q"): 90}


@pytest.fixture(scope="module")
def leaking():
    joint = Pmf.from_records({"S": ("u", "v"), "X": ("p", "q")}, list(COUNTS.items()))
    least = MinimizeDistortion(Distortion("hamming", ("X",)))
    promise = Leakage(("S",), Fraction(1, 20))
    return solve(Problem(observe=("X",), release=("X",), objective=least, guarantees=(promise,), joint=joint))


def chances(design):
    """The chance of each answer before and after each released value."""
    rows = dict(zip("pq", design.channel.rows, strict=True))
    for y in range(2):
        both = {s: sum(COUNTS[s, x] * rows[x][y] for x in "pq") for s in "uv"}
        for s in "uv":
            yield Fraction(sum(COUNTS[s, x] for x in "pq"), 200), both[s] / sum(both.values())


def test_point_07e_the_worst_row_has_the_same_digits_under_every_promise(leaking):
    """1.8 stood in one statement and 1.73 in another."""
    (known,) = beliefs(leaking)
    ratio = max(after / before for before, after in chances(leaking))
    assert 0 <= Fraction(known.times) - ratio < Fraction(1, 100)
    assert f"{known.times} times as likely" in " ".join(statement(leaking, beliefs=[known]).split())


def test_point_05_a_factor_is_said_of_the_chance_and_not_of_the_odds(leaking):
    """e^1.056 bounds p(s|y)/p(s), and was called a change of the odds, which change by more."""
    ratio = max(max(after / before, before / after) for before, after in chances(leaking))
    odds = max(after * (1 - before) / (before * (1 - after)) for before, after in chances(leaking))
    page = " ".join(public_statement(leaking.card()).partition("<script")[0].split())
    said = re.search(r"likelier, or less likely, than it was by more than a factor of ([\d.]+)\.", page)
    assert ratio <= Fraction(said[1]) < ratio + Fraction(1, 100)
    assert odds > Fraction(said[1]) + Fraction(1, 10)
    assert not re.search(r"\bodds\b", page)


def test_where_no_bound_is_proved_none_is_told(leaking):
    """Gaussian noise with a delta has none, and "the limit for everybody: 0" was printed."""
    told = " ".join(proved(Facts.of_design(replace(leaking, bound=Fraction(0)))))
    assert "no limit is proved that holds for everybody (changed entries per row)." in told
    assert "Compared with every recipe" not in told
    assert "the limit for everybody: " in " ".join(proved(Facts.of_design(leaking)))
