"""Form "records" and the rules that bound it: exact, whatever numbers a file brings."""

import json
import random
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
import pytest
from scipy.optimize import linprog

from dalenius import solve
from dalenius.core import Distortion, Guess, Independent, Leakage, MinimizeDistortion, Pmf, Problem
from dalenius.kernel import Refused, check
from dalenius.kernel.nearest import DistanceAxis, Nearest, RecordMetric
from dalenius.kernel.numbers import Work, canonical
from dalenius.kernel.transports import taken_apart
from dalenius.mechanisms.records.certifying import certified
from dalenius.mechanisms.records.design import design
from dalenius.mechanisms.records.few_records import listed
from dalenius.mechanisms.records.leakage_by_prices import PricedRecords
from dalenius.mechanisms.records.wide import Wide
from tests.effort import effort

ALLOWED = 10**9


def table(seed, letters=(3, 2, 3), classes=2, rows=60):
    """A small random table: counts of (columns, secret)."""
    rng = np.random.default_rng(seed)
    codes = np.column_stack([*(rng.integers(0, k, rows) for k in letters), rng.integers(0, classes, rows)])
    codes[:classes, -1] = range(classes)
    names = [f"C{j}" for j in range(len(letters))]
    variables = {n: tuple(map(str, range(k))) for n, k in zip(names, letters, strict=True)}
    variables["S"] = tuple(map(str, range(classes)))
    return Pmf.from_counts(variables, codes, [1] * rows), names


def problem(seed, promise=None, preserve=False, ordered=False, **shape):
    joint, names = table(seed, **shape)
    kinds = ["absolute" if ordered and j == 0 else "hamming" for j in range(len(names))]
    parts = [
        Distortion(kind, (name,), weight=Fraction(j + 1, 2))
        for j, (name, kind) in enumerate(zip(names, kinds, strict=True))
    ]
    return Problem(
        observe=(*names, "S"),
        release=tuple(names),
        form="records",
        objective=MinimizeDistortion(Distortion.sum_of(parts)),
        guarantees=(promise or Independent(("S",)),),
        preserve_marginals=preserve,
        joint=joint,
    )


def by_records(asked):
    """The design that the search between records alone finds, with its own proof."""
    wide = Wide.of(asked)
    return certified(wide, listed(wide, 1e-9, 60.0, None))


def least_independent(asked):
    """The optimum over all letters of the product alphabet, by one linear program."""
    law = asked.pmf
    letters = list(product(*(range(len(law.variables[n])) for n in asked.release)))
    parts = asked.objective.measure.parts
    weight = [float(p.weight) for p in parts]

    def far(x, y):
        apart = [abs(a - b) if p.distortion == "absolute" else a != b for p, a, b in zip(parts, x, y, strict=True)]
        return sum(w * d for w, d in zip(weight, apart, strict=True))

    atoms = law.support.tolist()
    p = law.weights / law.total
    cost = np.array([[far(x[:-1], y) for y in letters] for x in atoms])
    classes = np.array([x[-1] for x in atoms])
    prior = np.bincount(classes, p)
    many = len(letters)
    rows, right = [], []
    for e in range(len(atoms)):
        row = np.zeros((len(atoms), many))
        row[e] = 1
        rows.append(row.ravel())
        right.append(p[e])
    for s in range(len(prior) - 1):
        for y in range(many):
            row = np.zeros((len(atoms), many))
            row[:, y] = (classes == s) - prior[s]
            rows.append(row.ravel())
            right.append(0.0)
    return linprog(cost.ravel(), A_eq=np.array(rows), b_eq=right, method="highs").fun


def spoilt(text, change):
    """The text of a design after `change` was made to it, with claims that say nothing about value and bound."""
    document = json.loads(text)
    document["claims"] |= {"value": str(10**9), "bound": "0", "gap": str(10**9)}
    document["work"] = str(ALLOWED)
    change(document)
    return canonical(document)


@pytest.mark.parametrize("seed", range(6))
def test_the_bound_meets_the_optimum_over_all_letters(seed):
    asked = problem(seed, ordered=seed % 2 == 1)
    found = design(asked)
    assert found.value == found.bound
    assert float(found.value) == pytest.approx(least_independent(asked), abs=1e-9)
    assert check(found.text).bound == found.bound


@pytest.mark.long
@pytest.mark.parametrize("seed", range(6))
def test_random_numbers_only_weaken_the_bound(seed):
    asked = problem(seed)
    best = design(asked)
    rng = random.Random(seed)

    def change(document):
        for transport in document["proof"]["transports"]:
            transport[3] = [str(int(v) + rng.randint(-2, 2)) for v in transport[3]]

    for _ in range(20):
        assert check(spoilt(best.text, change), ALLOWED).bound <= best.bound


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4))
def test_random_multipliers_of_records_only_weaken_the_bound(seed):
    asked = problem(seed, Leakage(("S",), Fraction(1, 20)))
    best = by_records(asked)
    rng = random.Random(seed)
    assert best.rule == "records"
    assert best.gap < Fraction(1, 10**8)

    def change(document):
        document["proof"]["promises"] = [str(rng.randint(0, 1 << 62))]
        document["proof"]["records"][0] = [
            [str(rng.randint(1, 1 << 30)), str(rng.randint(1, 1 << 30))] for _ in document["proof"]["records"][0]
        ]

    for _ in range(20):
        assert check(spoilt(best.text, change), ALLOWED).bound <= best.value


@pytest.mark.parametrize("seed", range(4))
def test_a_preserved_law_is_proved_and_costs_what_the_plan_between_the_classes_says(seed):
    free, kept = (design(problem(seed, preserve=preserve)) for preserve in (False, True))
    wide = Wide.of(free.problem)
    sizes = np.bincount(wide.class_of_input, wide.counts.sum(axis=1)).astype(int)
    assert kept.value == kept.bound
    assert kept.value == 2 * Fraction(int(sizes.max()), int(sizes.sum())) * free.value


def corruption(name):
    def first_row(document):
        return document["channel"]["rows"][0]

    def moved(document):  # more weight for one record of a class that has two
        row = next(row for row in document["channel"]["rows"] if len(row[0]) > 1)
        row[1][0] = str(int(row[1][0]) + 1)

    changes = {
        "weight": (moved, "not independent"),
        "zero weight": (lambda d: first_row(d)[1].__setitem__(0, "0"), "from 1 on"),
        "negative weight": (lambda d: first_row(d)[1].__setitem__(0, "-1"), "from 1 on"),
        "no record": (lambda d: d["channel"]["rows"].__setitem__(0, [[], []]), "at least one"),
        "weight too much": (lambda d: first_row(d)[1].append("1"), "for each of its records"),
        "unknown record": (lambda d: first_row(d)[0].__setitem__(0, 10**6), "is expected"),
        "record that is true": (lambda d: first_row(d)[0].__setitem__(0, True), "is expected"),
        "record twice": (lambda d: (first_row(d)[0].append(first_row(d)[0][-1]), first_row(d)[1].append("1")), "rise"),
        "row left out": (lambda d: d["channel"]["rows"].pop(), "one row for each"),
        "preserved": (lambda d: d["mechanism"].__setitem__("preserve_marginals", True), "law of the released records"),
        "to the table": (lambda d: d["proof"]["transports"][0].__setitem__(1, None), "not preserved"),
        "to itself": (lambda d: d["proof"]["transports"][0].__setitem__(1, d["proof"]["transports"][0][0]), "another"),
        "heavier": (lambda d: d["proof"]["transports"][0].__setitem__(2, "1"), "weigh more"),
        "twice": (lambda d: d["proof"]["transports"].append(d["proof"]["transports"][0]), "weigh more"),
        "negative share": (lambda d: d["proof"]["transports"][0].__setitem__(2, "-1/9"), "from 0 on"),
        "number left out": (lambda d: d["proof"]["transports"][0][3].pop(), "a number for each"),
        "squared": (lambda d: d["objective"]["distortion"][0].__setitem__("distance", "squared"), "squared"),
        "local_dp": (
            lambda d: (
                d["promises"].append(
                    {"promise": "local_dp", "epsilon": "9", "metric": None, "delta": "0", "given": [], "rows": 1}
                ),
                d["evidence"].append(None),
                d["claims"]["promises"].append([]),
            ),
            "do not occur",
        ),
        "not observed": (lambda d: d["mechanism"]["observe"].remove("C0"), "observes what it releases|held fast"),
    }
    return changes[name]


CORRUPTIONS = (
    "weight", "zero weight", "negative weight", "no record", "weight too much", "unknown record", "record that is true",
    "record twice", "row left out", "preserved", "to the table", "to itself", "heavier", "twice", "negative share",
    "number left out", "squared", "local_dp", "not observed",
)  # fmt: skip


@pytest.mark.parametrize("name", CORRUPTIONS)
def test_a_planted_error_is_refused(name):
    change, why = corruption(name)
    found = design(problem(2))
    with pytest.raises(Refused, match=why):
        check(spoilt(found.text, change), ALLOWED)


def test_what_is_forbidden_frozen_or_never_leaves_is_seen_in_the_rows():
    found = design(problem(2))
    moves = set()
    for old, (places, _) in zip(found.channel.read, found.channel.lines, strict=True):
        moves |= {(old[0], found.channel.records[y][0]) for y in places}
    a, b = next(move for move in moves if move[0] != move[1])
    for key, value in (
        ("forbid", [[str(a), str(b)]]),
        ("freeze", [str(a)]),
        ("never", [[{"column": "C0", "letters": [str(b)]}]]),
    ):
        with pytest.raises(Refused, match=r"forbidden letter|must not leave"):
            check(spoilt(found.text, lambda d, k=key, v=value: d["mechanism"].__setitem__(k, v)), ALLOWED)


@pytest.mark.parametrize("seed", range(20))
def test_the_nearest_record_is_the_one_that_looking_at_all_finds(seed):
    rng = random.Random(seed)
    axes = tuple(DistanceAxis(rng.randint(1, 3), rng.random() < 0.4) for _ in range(4))
    records = sorted({tuple(rng.randint(0, 3) for _ in axes) for _ in range(40)})
    metric = RecordMetric(axes, 1, {record: record for record in records})
    numbers = [rng.randint(-6, 6) for _ in records]
    scale = rng.randint(1, 3)
    some = [k for k in range(len(records)) if rng.random() < 0.7] or [0]
    for asked in (1, 100):  # by looking, and by masks
        near = Nearest(metric, [records[k] for k in some], [numbers[k] for k in some], scale, Work(10**9), asked)
        assert (near.digits is None) == (asked == 1)
        for x in records:
            assert near.least(x) == min(scale * metric.distance(x, records[k]) + numbers[k] for k in some)


def test_distances_of_very_many_sizes_are_looked_at_one_by_one():
    rng = random.Random(3)
    axes = tuple(DistanceAxis(10**k, True) for k in range(4))
    records = sorted({tuple(rng.randint(0, 9) for _ in axes) for _ in range(30)})
    metric = RecordMetric(axes, 1, {record: record for record in records})
    numbers = list(range(30, 30 - len(records), -1))
    near = Nearest(metric, records, numbers, 1, Work(10**9), 100)
    assert near.digits is None
    for x in records:
        assert near.least(x) == min(metric.distance(x, y) + n for y, n in zip(records, numbers, strict=True))


@pytest.mark.long
def test_three_classes_without_a_majority_are_bounded_for_all_letters():
    for seed in range(6):
        asked = problem(seed, classes=3, letters=(3, 2, 2), rows=30)
        found = design(asked)
        best = least_independent(asked)
        assert float(found.bound) <= best + 1e-9
        assert float(found.value) >= best - 1e-9
        assert float(found.value) <= (2 - 2 / 3) * best + 1e-9


def test_the_work_that_a_file_declares_is_enough_and_not_without_end():
    found = design(problem(1))
    needed = check(found.text).work
    assert needed < int(json.loads(found.text)["work"])
    with pytest.raises(Refused, match="operations"):
        check(spoilt(found.text, lambda d: d.__setitem__("work", str(needed // 2))), ALLOWED)


@pytest.mark.long
@pytest.mark.parametrize(("seen", "classes"), [(True, 2), (False, 3), (True, 3), (False, 2)][: effort(1, 4)])
def test_a_preserving_release_that_leaks_is_near_the_best_of_all_matrices(seen, classes):
    """Against the dense family, which proves the optimum: the bound is below it, and the value hardly above."""
    asked = problem(3, Leakage(("S",), Fraction(1, 20)), preserve=True, classes=classes, rows=80)
    if not seen:
        asked = replace(asked, observe=asked.release)
    found = leaking_and_preserving(asked)
    best = solve(replace(asked, form=None))
    assert found.bound <= best.value
    assert best.bound <= found.value <= best.value * Fraction(102, 100)
    assert found.value - found.bound <= found.value / 8
    verdict = check(found.dumps(), ALLOWED)
    assert verdict.rule == "records"


@pytest.mark.long
@pytest.mark.parametrize("classes", [2, 3])
def test_mixtures_that_are_taken_apart_prove_less_and_nearly_as_much_in_many_steps(classes):
    """Against the rule without steps: below it for every number of steps, and at the bound of mechanisms that see S."""
    asked = problem(5, Leakage(("S",), Fraction(1, 20)), classes=classes, rows=90)
    wide = Wide.of(replace(asked, observe=asked.release))
    found = PricedRecords(wide).found(Fraction(1, 20), 60.0)
    whole = certified(wide, found).bound
    assert whole > 0
    proved = {}
    for steps in (1, 2, 3, 7, 64, 4096):
        coarse = {"rule": "coarse", "steps": str(steps)} | {k: v for k, v in found.proof.items() if k != "rule"}
        document = certified(wide, replace(found, proof=coarse))
        proved[steps] = document.bound
        assert check(document.text, ALLOWED).rule == "coarse"
    assert max(proved.values()) <= whole
    assert proved[1] < proved[7]
    assert whole - proved[4096] <= whole / 1000


def test_a_mixture_is_the_sum_of_its_parts():
    rng = random.Random(1)
    for _ in range(300):
        mixture = Counter({k: rng.randint(1, 9) for k in range(rng.randint(1, 5))})
        steps = rng.randint(1, 12)
        together = Counter()
        for part, times in taken_apart(mixture, steps):
            assert sum(part.values()) == steps
            assert min(*part.values(), times) > 0
            together.update({k: times * n for k, n in part.items()})
        assert together == Counter({k: steps * n for k, n in mixture.items()})


def leaking_and_preserving(asked):
    """The design that convex flows between the margins of the table find, as for many records."""
    wide = Wide.of(asked)
    return certified(wide, PricedRecords(wide).found(asked.guarantees[0].at_most_bits, 60.0))


@cache
def preserving():
    """A release that leaks a little and preserves the law of its table."""
    return leaking_and_preserving(problem(3, Leakage(("S",), Fraction(1, 20)), preserve=True, rows=80))


@pytest.mark.long
def test_wrong_numbers_of_a_preserving_proof_only_loosen_it():
    found = preserving()
    document = json.loads(found.dumps())
    for change in (1 << 58, -(1 << 58)):
        damaged = json.loads(found.dumps())
        damaged["proof"]["law"][2] = str(int(damaged["proof"]["law"][2]) + change)
        with pytest.raises(Refused, match="the claimed bound is not proved"):
            check(canonical(damaged), ALLOWED)
    document["proof"]["law"].pop()
    with pytest.raises(Refused, match="not a number for each record"):
        check(canonical(document), ALLOWED)


def test_numbers_for_a_law_that_is_not_preserved_prove_nothing():
    found = preserving()
    document = json.loads(found.dumps())
    document["mechanism"]["preserve_marginals"] = False
    with pytest.raises(Refused, match="the law of the table is not preserved"):
        check(canonical(document), ALLOWED)


def limited(**more):
    """A release whose first column changes in at most a tenth of the rows."""
    limits = (Distortion("hamming", ("C0",), Fraction(1, 10)),)
    return replace(problem(2, Leakage(("S",), Fraction(1, 50))), limits=limits, **more)


@pytest.mark.long
def test_a_limit_for_one_column_has_a_price_in_the_proof():
    asked = limited()
    found = by_records(asked)
    best = solve(replace(asked, form=None))
    free = by_records(replace(asked, limits=()))
    assert found.value > free.value * Fraction(101, 100)
    assert abs(found.value - best.value) < Fraction(1, 10**7)
    assert found.gap < Fraction(1, 10**7)


@pytest.mark.long
def test_random_prices_of_limits_only_weaken_the_bound():
    found = by_records(limited())
    rng = random.Random(3)
    for _ in range(20):
        price = str(Fraction(rng.randint(0, 64), 16))
        text = spoilt(found.text, lambda d, price=price: d["proof"].__setitem__("limits", [price]))
        assert check(text, ALLOWED).bound <= found.value


@pytest.mark.long
@pytest.mark.parametrize(
    ("limit", "claimed", "why"),
    [
        ({"information": ["C0"], "at_least_bits": "0"}, "0", "only a limit of a distortion has a price"),
        ({"multiplicity": "1"}, "1", "only a limit of a distortion has a price"),
        (
            {
                "distortion": [{"distance": "lost", "of": ["C0"], "weight": "1", "classes": [["0"]], "matrix": []}],
                "at_most": "1",
            },
            "1",
            "not compared by lost",
        ),
    ],
)
def test_what_is_no_distance_has_no_price(limit, claimed, why):
    def change(document):
        document["limits"].append(limit)
        document["claims"]["limits"].append(claimed)
        document["proof"]["limits"].append("1")

    with pytest.raises(Refused, match=why):
        check(spoilt(by_records(limited()).text, change), ALLOWED)


def test_a_guess_has_weights_for_each_record_and_no_more_than_its_own():
    asked = problem(2, Guess(("S",), Fraction(3, 5)))
    found = by_records(asked)
    best = solve(replace(asked, form=None))
    assert found.value > 0
    assert found.value == pytest.approx(best.value, abs=1e-12)
    assert found.gap < Fraction(1, 10**12)
    document = json.loads(found.text)
    weight = int(document["proof"]["promises"][0])

    def change(document):
        document["proof"]["records"][0][0] = [[str(weight), "1"]]

    with pytest.raises(Refused, match="exceed that of the promise"):
        check(spoilt(found.text, change), ALLOWED)


def test_records_that_few_rows_have_are_not_released_where_that_is_limited():
    found = design(problem(2))
    rows = Wide.of(found.problem).by_record.sum(axis=1)
    least = int(min(rows[y] for places, _ in found.channel.lines for y in places))

    def change(document, limit=least, claim=least):
        document["limits"].append({"multiplicity": str(limit)})
        document["claims"]["limits"].append(str(claim))
        document["proof"]["limits"].append("0")

    assert check(spoilt(found.text, change), ALLOWED).kept.limits == (least,)
    with pytest.raises(Refused, match=f"a record is released that {least} rows have"):
        check(spoilt(found.text, lambda d: change(d, least + 1, 0)), ALLOWED)
    with pytest.raises(Refused, match="the claimed number of rows is not proved"):
        check(spoilt(found.text, lambda d: change(d, least, least + 1)), ALLOWED)
    with pytest.raises(Refused, match="from 1 on"):
        check(spoilt(found.text, lambda d: change(d, 0, 0)), ALLOWED)


def test_a_channel_over_letters_says_nothing_about_rows_of_records():
    found = solve(replace(problem(2), form=None))

    def change(document):
        document["limits"].append({"multiplicity": "1"})
        document["claims"]["limits"].append("0")
        document["proof"]["limits"].append("0")

    with pytest.raises(Refused, match="does not release records of the table"):
        check(spoilt(found.text, change), ALLOWED)


@pytest.mark.long
@pytest.mark.parametrize("by_letters", [True, False])
def test_kept_rows_are_counted_in_both_forms(by_letters):
    asked = replace(problem(2, Leakage(("S",), Fraction(1, 50))), keep_rows=Fraction(19, 20))
    found = solve(replace(asked, form=None)) if by_letters else design(asked)
    verdict = check(found.text)
    law = asked.pmf
    for limit, reached in zip(found.problem.limits, verdict.kept.limits, strict=True):
        ((name,), (value, share)) = limit.of, limit.keeps
        assert reached <= 1 - share * law.marginal([name]).probability(**{name: value})

    def other(document):
        document["limits"][0]["distortion"][0]["classes"] = [["1"]]

    def two(document):
        document["limits"][0]["distortion"][0]["classes"] = [["0"], ["1"]]

    with pytest.raises(Refused, match="what is lost is one class"):
        check(spoilt(found.text, two), ALLOWED)
    moved = json.loads(spoilt(found.text, other))
    moved["limits"][0]["at_most"] = "0"
    moved["claims"]["limits"] = [str(10**9)] * len(moved["limits"])
    with pytest.raises(Refused, match="more than the allowed"):
        check(canonical(moved), ALLOWED)


@pytest.mark.long
def test_rows_of_records_have_no_weight_in_a_proof_over_letters():
    found = design(problem(2, Leakage(("S",), Fraction(1, 50))))
    assert json.loads(found.text)["proof"]["rule"] == "lines"

    def change(document, weight):
        document["limits"].append({"multiplicity": "1"})
        document["claims"]["limits"].append("1")
        document["proof"]["limits"].append(weight)

    assert check(spoilt(found.text, lambda d: change(d, "0")), ALLOWED).bound >= found.bound
    with pytest.raises(Refused, match="this limit has no weight for letters"):
        check(spoilt(found.text, lambda d: change(d, "1")), ALLOWED)
