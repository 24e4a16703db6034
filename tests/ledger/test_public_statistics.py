"""Designs on public statistics: charged for what they can tell about people who follow others."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from dalenius.documents import unfiled
from dalenius.ledger import Entry, Ledger, Line, spent
from dalenius.ledger.entry import RELEASED
from tests.ledger.documents import card, coin, document, fair, flip

SKEWED = {None: ("X",), ("0",): Fraction(99, 100), ("1",): Fraction(1, 100)}
COLUMNS = ("S", "A", "B")
CELLS = list(product("01", repeat=3))


def entries(*texts, dataset="t.csv"):
    return [Entry(k, str(k), RELEASED, dataset, text) for k, text in enumerate(texts, start=1)]


def bound(line, many, rule="joint"):
    return spent(Line.parse(line + "=9"), many, rule)


def public(joint, channel, **more):
    """A design on statistics of a file of their own."""
    return document(joint, channel, prior="public.json", **more)


def test_statistics_that_are_public_bound_no_charge_about_people_who_follow_others():
    """A recipe that tells 0.0078 bits of a column that is nearly always 0 tells 0.189 of one that is fair."""
    one, two = (public(SKEWED, (("X",), flip("1/4")), output=name) for name in "YZ")
    fairly = bound("leakage:X", entries(coin())).figure
    assert bound("leakage:X", entries(one)).figure >= fairly - Fraction(1, 10**12)
    assert bound("leakage:X", entries(one, two)).figure >= bound("leakage:X", entries(coin(), coin())).figure
    assert "these people need not follow the public statistics" in bound("leakage:X", entries(one)).how
    many = entries(*(public(SKEWED, (("X",), flip("1/4")), output=f"Y{k}") for k in range(9)))
    assert float(bound("leakage:X", many).figure) == pytest.approx(1, abs=1e-12)  # all that X can hold
    assert "these people need not follow the public statistics" in bound("leakage:X", many).how
    assert bound("guess:X", entries(one)).figure == 1
    assert bound("total_variation:X", entries(one)).figure == Fraction(1, 2)
    sharp = public(SKEWED, (("X",), [["1", "0"], ["1/2", "1/2"]]))
    found = bound("worst_case_leakage:X", entries(sharp))
    assert found.figure is None
    assert "is on public statistics, which these people need not follow" in found.how


def test_public_independence_is_no_independence_of_the_people(tmp_path):
    parity = [[1, 0], [0, 1], [0, 1], [1, 0]]
    text = public(fair("A", "B"), (("A", "B"), parity))
    assert bound("leakage:A", entries(text)).figure == 1
    ledger = Ledger.create(tmp_path / "L", ["independent:A"])
    with pytest.raises(Exception, match="public"):
        ledger.add(text)


def test_a_recipe_on_public_statistics_is_computed_on_the_counts_of_the_table_beside_it():
    """It was charged on either statistics what the other tells at most, and the dearer of both counted."""
    counted = coin()
    beside = public(SKEWED, (("X",), flip("1/4")), output="Z")
    together = bound("leakage:X", entries(counted, beside))
    assert together == bound("leakage:X", entries(coin(), coin()))
    assert together.how == "2 releases computed together"
    lacking = public({None: ("X",), ("0",): Fraction(1)}, (("X",), [["1/2", "1/2"]]), output="Z")
    assert bound("leakage:X", entries(counted, lacking)).figure >= bound("leakage:X", entries(counted)).figure


def test_a_design_without_what_travels_beside_it_is_not_taken_for_the_statistics_of_the_people():
    alone = unfiled(public(SKEWED, (("X",), flip("1/4"))))[0]
    assert float(bound("leakage:X", entries(alone)).figure) == pytest.approx(0.188721875540867, abs=1e-9)


def random_law(rng):
    weights = rng.integers(0, 6, size=len(CELLS)) * (rng.random(len(CELLS)) < 0.7)
    weights[rng.integers(len(CELLS))] += 1
    weights = weights + (rng.random() < 0.5)
    return {c: Fraction(int(w), int(weights.sum())) for c, w in zip(CELLS, weights, strict=True)}


def part(law, names):
    out = {}
    for cell, weight in law.items():
        key = tuple(cell[COLUMNS.index(name)] for name in names)
        out[key] = out.get(key, 0) + weight
    return {None: names} | {x: w for x, w in out.items() if w}


def truth(law, rows):
    """I(S; all letters), the worst letter, the odds, the best guess and how far the law of S moves."""
    joint = {}
    for cell, weight in law.items():
        for letters in product(*(range(len(at[cell])) for at in rows)):
            share = weight
            for at, letter in zip(rows, letters, strict=True):
                share *= at[cell][letter]
            joint[cell[0], letters] = joint.get((cell[0], letters), 0) + share
    of_s, of_y = {}, {}
    for (s, y), w in joint.items():
        of_s[s], of_y[y] = of_s.get(s, 0) + w, of_y.get(y, 0) + w
    bits = {
        y: sum(float(joint[s, y] / w) * math.log2(joint[s, y] / w / of_s[s]) for s in of_s if joint[s, y])
        for y, w in of_y.items()
        if w
    }
    ratios = [joint[s, y] / (of_s[s] * w) for s in of_s if of_s[s] for y, w in of_y.items() if w]
    return {
        "leakage": sum(float(of_y[y]) * b for y, b in bits.items()),
        "worst_case_leakage": max(bits.values()),
        "information_privacy": math.inf if min(ratios) == 0 else max(abs(math.log(r)) for r in ratios),
        "guess": float(sum(max(joint[s, y] for s in of_s) for y in of_y)),
        "total_variation": float(sum(abs(joint[s, y] - of_s[s] * of_y[y]) for s in of_s for y in of_y)) / 2,
        "maximal_leakage": math.log2(sum(max(joint[s, y] / of_s[s] for s in of_s if of_s[s]) for y in of_y)),
    }


@pytest.mark.long
@pytest.mark.parametrize("seed", [*range(8), *(pytest.param(k, marks=pytest.mark.slow) for k in range(8, 150))])
def test_no_charge_is_below_the_truth_whatever_the_people_follow(seed):
    """Random recipes on public statistics, on the counts of the table and as cards, about people of the table."""
    rng = np.random.default_rng(seed)
    people, stated = random_law(rng), random_law(rng)
    while any(len({x[k] for x, w in law.items() if w}) < 2 for law in (people, stated) for k in range(3)):
        people, stated = random_law(rng), random_law(rng)
    many, rows = [], []
    kinds = ["public", *(("public", "counted", "card", "elsewhere")[rng.integers(4)] for _ in range(rng.integers(3)))]
    for k, kind in enumerate(kinds):
        observed = [("S",), ("A",), ("B",), ("A", "B"), ("S", "A")][rng.integers(5)]
        counts = rng.integers(0, 5, size=(2 ** len(observed), 2)) + np.array([1, 0])
        channel = [[Fraction(int(v), int(row.sum())) for v in row] for row in counts]
        names = COLUMNS if rng.random() < 0.7 else observed
        at = {c: channel[int("".join(c[COLUMNS.index(n)] for n in observed), 2)] for c in CELLS}
        rows.append(at)
        law = people if kind == "counted" else stated
        text = document(
            part(law, names),
            (observed, channel),
            output=f"Y{k}",
            **({"prior": "public.json"} if kind in ("public", "elsewhere") else {}),
        )
        text = card(text) if kind == "card" else text
        many += entries(text, dataset="other" if kind == "elsewhere" else "t.csv")
    for kind, true in truth(people, rows).items():
        for rule in ("joint", "prior-free"):
            charged = bound(f"{kind}:S", many, rule).figure
            assert charged is None or charged >= true - 1e-9, (kind, rule, kinds)


def test_bits_of_maximal_leakage_are_those_under_the_worse_of_two_tables_that_contradict_each_other():
    """Where X is S, both tell of it; where X and S are apart, neither does. The smaller of the two was charged."""
    tied = {None: ("S", "X"), ("0", "0"): Fraction(1, 2), ("1", "1"): Fraction(1, 2)}
    first, second = (document(law, (("X",), flip("1/4"))) for law in (fair("S", "X"), tied))
    found = bound("maximal_leakage:S", entries(first, second)).figure
    assert float(found) == pytest.approx(2 * math.log2(1.5), abs=1e-9)
