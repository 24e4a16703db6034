"""Noise on grids and filled columns: figures against the matrix written out, bounds that hold, planted noise laws."""

import copy
from fractions import Fraction
from itertools import product
from math import exp, log2

import pytest

from dalenius.kernel import Refused, check
from dalenius.kernel.axes import Axis, convolved
from dalenius.kernel.document import read_document
from dalenius.kernel.logs import two_to
from dalenius.kernel.numbers import Node, Work, canonical
from dalenius.kernel.privacy import check_privacy
from dalenius.kernel.release import Release
from tests.kernel.alike_documents import (
    BUMPY,
    CAPACITY,
    CONSTANT,
    COUNTS,
    ENDS,
    FREE,
    GRID,
    HOLES,
    IDLE,
    LAPLACE,
    NARROW,
    PERIOD,
    RATE,
    SHRUNK,
    TAIL,
    axis,
    noise_matrix,
    noisy,
    oracle,
    real,
    real_texts,
)
from tests.kernel.alike_forged import moved, put
from tests.kernel.brute import Told
from tests.kernel.documents import (
    card,
    claims_of,
    contraction,
    dalenius,
    design,
    distance,
    figures,
    independent,
    information_privacy,
    leakage,
    limit,
    local_dp,
    worst_case,
)

NEAR = Fraction(1, 2**58)


PLANTED = {
    "free": FREE,
    "collected": ENDS,
    "a tail": TAIL,
    "bumpy": BUMPY,
    "holes": HOLES,
    "a period": PERIOD,
    "shrunk": SHRUNK,
    "no noise": NARROW,
    "constant": CONSTANT,
}


def dense(document, sizes=(4,)):
    rows = noise_matrix(document["channel"], sizes)
    found = copy.deepcopy(document)
    found["mechanism"] |= {"release": [], "form": "any"}
    found["channel"] = {
        "form": "dense",
        "letters": len(rows[0]),
        "scale": str(sum(rows[0])),
        "rows": [[str(v) for v in row] for row in rows],
    }
    return found


# --- figures ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", sorted(name for name in oracle() if oracle()[name]["stated"]))
def test_stated_figures_are_those_of_the_first_checker(name):
    stated, kept = oracle()[name]["stated"], check(real_texts()[name]).kept.stated
    expected = {key: value for key, value in stated.items() if key != "delta"}
    expected |= {f"delta_at_{level}": value for level, value in stated["delta"].items()}
    assert set(kept) == set(expected)
    for figure, value in expected.items():
        if value is None:
            assert kept[figure] is None
        elif figure in ("variance_bits",):
            assert abs(kept[figure] - Fraction(value)) <= Fraction(1, 10**5)
        else:
            assert abs(kept[figure] - Fraction(value)) <= NEAR, figure


@pytest.mark.parametrize("name", sorted(PLANTED))
def test_figures_of_one_axis_are_those_of_its_noise_matrix(name):
    document = noisy(PLANTED[name], [leakage("9", "S"), leakage("9", "X"), contraction("1")])
    small, large = (read_document(canonical(d)) for d in (document, dense(document)))
    release, other = small.release, large.release
    for secret in (("S",), ("X",)):
        own = release.told(secret)["leakage_bits"]
        assert 0 <= own - other.told(secret)["leakage_bits"] + NEAR <= 2 * NEAR
    for epsilon in ("0", "1/2", "2"):
        level = Fraction(epsilon)
        assert abs(release.delta((), level) - other.delta((), level)) <= NEAR
    assert release.contraction() >= other.contraction() - NEAR
    try:
        level = other.level((), None)
    except Refused:
        with pytest.raises(Refused, match="no pure level"):
            release.level((), None)
        assert release.stated()["epsilon_nats"] is None
    else:
        assert abs(release.level((), None) - level) <= NEAR
        assert abs(release.stated()["epsilon_nats"] - level) <= NEAR
    true = capacity(noise_matrix(document["channel"], (4,)))
    assert float(release.capacity(1, Node(None))) >= true - 1e-9
    assert release.capacity(3, Node(None)) == 3 * release.capacity(1, Node(None))


def capacity(rows, rounds=2000):
    """By Blahut and Arimoto, from below."""
    total = sum(rows[0])
    rows = [[v / total for v in row] for row in rows]
    law = [1 / len(rows)] * len(rows)
    for _ in range(rounds):
        out = [sum(p * row[y] for p, row in zip(law, rows, strict=True)) for y in range(len(rows[0]))]
        told = [sum(v * log2(v / out[y]) for y, v in enumerate(row) if v) for row in rows]
        law = [p * 2**t for p, t in zip(law, told, strict=True)]
        law = [p / sum(law) for p in law]
    return sum(p * t for p, t in zip(law, told, strict=True))


@pytest.mark.parametrize("name", sorted(PLANTED))
def test_the_squared_error_is_that_of_its_noise_matrix(name):
    channel = PLANTED[name]
    document = noisy(channel, limits=[limit("99", distance("squared", "X", weight="3"))])
    rows, first = noise_matrix(channel, (4,)), int(channel["first"][0])
    total = sum(int(n) for *_, n in COUNTS)
    exact = Fraction(0)
    for _, x, n in COUNTS:
        exact += int(n) * sum(
            Fraction(v, sum(rows[x])) * Fraction(first + y - x, 2) ** 2 for y, v in enumerate(rows[x])
        )
    kept = check(canonical(document)).kept
    assert kept.limits == (3 * exact / total,)
    assert kept.stated["distortion"] == exact / total
    worst = max(
        sum(Fraction(v, sum(row)) * Fraction(first + y - x, 2) ** 2 for y, v in enumerate(row))
        for x, row in enumerate(rows)
    )
    assert kept.stated["worst_distortion"] == worst


@pytest.mark.long
def test_axes_across_columns_have_figures_that_cover_their_noise_matrix():
    variables = {"A": ["0", "1", "2"], "B": ["0", "1", "2"]}
    law = [[a, b, str(1 + (a == b))] for a, b in product(range(3), repeat=2)]
    along = axis((4, 2, 1), -2, 6, ("1", "1"), "1/2", range(5))
    against = axis((4, 2, 1), -4, 4, ("1", "-1"), "1/2", range(-2, 3))
    channel = {
        "form": "noise",
        "first": ["-4", "-4"],
        "letters": [11, 11],
        "axes": [along, against],
        "give": [["1/2", "1/2"], ["1/2", "-1/2"]],
        "shift": ["9/2", "9/2"],
    }
    document = design(
        variables,
        law,
        {"observe": ["A", "B"], "release": ["A", "B"], "form": "noise"},
        objective={"aim": "leakage", "about": ["A", "B"], "theta": "1"},
        promises=[leakage("9", "A"), leakage("9", "A", "B")],
        limits=[limit("99", distance("squared", "A", "B"))],
        channel=channel,
        claims=claims_of("99", "0", "99", [[], []], ["99"]),
        proof=IDLE,
    )
    small = read_document(canonical(document))
    rows = noise_matrix(channel, (3, 3))
    total = sum(int(n) for *_, n in law)
    release = small.release
    assert release.noise.plain is False
    out = [sum(int(n) * rows[3 * a + b][y] for a, b, n in law) / total for y in range(len(rows[0]))]
    told = sum(
        int(n) / total * sum(v / sum(rows[0]) * log2(v / out[y]) for y, v in enumerate(rows[3 * a + b]) if v)
        for a, b, n in law
    )
    assert float(release.told(("A", "B"))["leakage_bits"]) >= told
    assert release.told(("A",))["leakage_bits"] <= release.told(("A", "B"))["leakage_bits"]
    squared = sum(
        int(n)
        / total
        * sum(
            v / sum(rows[0]) * ((y // 11 - 4 - a) ** 2 + (y % 11 - 4 - b) ** 2) for y, v in enumerate(rows[3 * a + b])
        )
        for a, b, n in law
    )
    assert float(check_privacy(small).limits[0]) >= squared
    assert release.stated()["worst_distortion"] is None
    assert float(release.capacity(1, Node(None))) >= capacity(rows, 200) - 1e-9
    for epsilon in (0.5, 2.0):
        worst = max(sum(max(0, u - exp(epsilon) * v) for u, v in zip(p, q, strict=True)) for p in rows for q in rows)
        assert float(release.delta((), Fraction(epsilon))) >= worst / sum(rows[0]) - 1e-9


def test_noise_that_cannot_be_compared_is_as_bad_as_it_can_be():
    size = 2000
    node = Node(axis((2, 3, 1), 0, size, prior=range(size), variance="999999999"))
    own = Axis(node, [size], Work(10**9))
    assert own.pairs is None
    assert own.ratio() is None
    assert own.excess(Fraction(2)) == 1
    assert own.affinity() == 0
    assert own.passed() == 1


def test_a_law_of_one_axis_is_its_row():
    for channel in PLANTED.values():
        own = Axis(Node(channel["axes"][0]), [4], Work(10**9))
        rows = noise_matrix(channel, (4,))
        for x, row in enumerate(rows):
            assert own.law(own.shift((x,))) == row
    far = Axis(Node(axis((1, 1), 20, 30, prior=(0, 1))), [2], Work(10**9))
    assert far.law(0) == [3, *[0] * 10]
    near = Axis(Node(axis((1, 1), -30, -20, prior=(0, 1))), [2], Work(10**9))
    assert near.law(0) == [*[0] * 10, 3]


def test_products_of_lists_are_exact():
    for a, b in (([0], [0]), ([1, 0, 2], [3]), ([10**40, 1], [1, 10**40, 7])):
        found = [0] * (len(a) + len(b) - 1)
        for (i, u), (j, v) in product(enumerate(a), enumerate(b)):
            found[i + j] += u * v
        assert convolved(a, b, Work(10**6)) == found
    assert two_to(Fraction(5)) == (32, 32)
    low, high = two_to(Fraction(-7, 3))
    assert low < Fraction(2 ** (-7 / 3)).limit_denominator(10**12) + Fraction(1, 10**11)
    assert 0 < high - low < Fraction(1, 2**100)
    with pytest.raises(Refused, match="out of range"):
        two_to(Fraction(10**6))


# --- promises ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("promise", "sentence"),
    [
        (independent("S"), "form noise does not prove this"),
        (information_privacy("9", "S"), "the level of information privacy is not bounded"),
        (worst_case("9", "S"), "the worst-case leakage is not bounded"),
        (local_dp("9", metric=[["0" if i == j else "1" for j in range(4)] for i in range(4)]), "with a metric"),
        (local_dp("9"), "no pure level"),
        (local_dp("1", delta="1/100"), "the delta of local_dp is"),
        (leakage("9", "S", ball="total_variation", radius="1/100"), "form noise does not prove this"),
        (dalenius("1/2"), "what an adversary may learn"),
        (contraction("1/2"), "the contraction coefficient is"),
        (leakage("1/100", "S"), "the leakage is"),
    ],
)
def test_a_promise_that_noise_does_not_keep_or_prove_is_refused(promise, sentence):
    document = noisy(FREE, [promise])
    if promise["promise"] == "leakage" and promise["within"]:
        document["evidence"] = [{"nu": "0", "m": "0", "t": "1"}]
    with pytest.raises(Refused, match=sentence):
        check(canonical(document))


def test_figures_given_a_column_are_refused():
    document = noisy(FREE, [leakage("9", "S")])
    document["claims"]["promises"] = [[{"figure": "leakage_bits", "given": "S", "value": None}]]
    with pytest.raises(Refused, match="given a column"):
        check(canonical(document))


def test_a_shape_that_noise_does_not_keep_is_refused():
    for key, value in (("freeze", ["0"]), ("forbid", [["0", "1"]]), ("preserve_marginals", True), ("each", ["1"])):
        document = noisy(FREE)
        document["mechanism"][key] = value
        with pytest.raises(Refused, match=r"keeps no letter|releases the columns|parts"):
            check(canonical(document))


@pytest.mark.long
def test_three_records_tell_three_times_as_much():
    """A group is never dropped: three records with noise of their own."""
    document = real("noise_dalenius")
    (one,) = check(canonical(document)).kept.promises
    three = put(put(document, "promises", 0, "group", 3), "promises", 0, "at_most_bits", "3/2")
    three["claims"]["promises"] = [figures(capacity_bits="3/2")]
    three["claims"] |= {"bound": "0", "gap": three["claims"]["value"]}
    verdict = check(canonical(three))
    assert verdict.kept.promises[0]["capacity_bits"] == 3 * one["capacity_bits"]
    assert verdict.bound <= check(canonical(document)).bound + NEAR
    many = put(three, "promises", 0, "rows", "1000000")
    many["promises"][0]["at_most_bits"] = "20"
    many["claims"]["promises"] = [[]]
    assert check(canonical(many)).kept.promises[0]["capacity_bits"] <= Fraction(3 * log2(101)) + Fraction(1, 10**9)


def test_cards_of_noise_prove_all_that_needs_no_records():
    letters = {"X": GRID["X"]}
    found = card(
        letters,
        {"release": ["X"], "form": "noise"},
        [local_dp("3"), contraction("1"), dalenius("2"), leakage("9", "X")],
        TAIL,
    )
    kept = check(canonical(found)).kept
    assert kept.promises[3] is None
    assert kept.promises[0]["epsilon_nats"] <= 3
    assert {"leakage_bits", "distortion"} & set(kept.stated) == set()
    assert kept.stated["variance_bits"] > 0
    wide = put(found, "channel", "axes", 0, "variance", "0")
    assert check(canonical(wide)).kept.stated["variance_bits"] <= kept.stated["variance_bits"]


def test_the_variance_bounds_what_is_told():
    for channel in (FREE, ENDS, TAIL, SHRUNK):
        stated = check(canonical(noisy(channel))).kept.stated
        assert stated["leakage_bits"] <= stated["variance_bits"] + NEAR
        assert stated["leakage_bits"] <= stated["capacity_bits"] + NEAR


# --- bounds -----------------------------------------------------------------------------------------------------------
def test_bounds_without_a_line_hold_and_are_looser():
    for name in ("noise_dice_gaussian", "noise_dice_leakage", "noise_dice_epsilon", "noise_dice_contraction"):
        document = real(name)
        tight = check(canonical(document)).bound
        document["proof"]["line"] = None
        document["claims"] |= {"bound": "0", "gap": "99"}
        assert 0 <= check(canonical(document)).bound <= tight


@pytest.mark.long
def test_damaged_lines_prove_nothing_that_is_passed():
    for name in ("noise_dice_gaussian", "noise_dice_leakage", "noise_capacity_2"):
        document = real(name)
        value = check(canonical(document)).value
        document["claims"] |= {"bound": "0", "gap": "99"}
        for k in range(8):
            other = copy.deepcopy(document)
            parts = [other["proof"]["line"]] if other["proof"]["line"] else other["proof"]["least"]
            for part in parts:
                part["slope"] = str(Fraction(part["slope"]) * (k + 1) / 3)
                key = "weights" if other["proof"]["line"] else "prior"
                part[key][k % len(part[key])][1] = str(int(part[key][k % len(part[key])][1]) * (k + 2))
            assert check(canonical(other)).bound <= value


def test_the_least_error_by_other_promises():
    document = real("noise_dice_leakage")
    base = check(canonical(document)).bound
    for promise in (dalenius("20"), contraction("1"), local_dp("99", delta="1")):
        other = copy.deepcopy(document)
        other["promises"].append(promise)
        other["evidence"].append(None)
        other["claims"]["promises"].append([])
        assert check(canonical(other)).bound >= base
    alone = copy.deepcopy(LAPLACE)
    alone["promises"] = [local_dp("4", rows=2)]
    alone["claims"]["promises"] = [[]]
    with pytest.raises(Refused, match="the level of local_dp"):
        check(canonical(put(alone, "promises", 0, "epsilon", "3")))
    assert abs(check(canonical(alone)).bound - check(canonical(LAPLACE)).bound) <= NEAR


def test_noise_of_an_objective_that_the_rule_does_not_know():
    for objective, sentence in (
        ({"aim": "leakage", "about": [], "theta": "0"}, "the least leakage"),
        ({"aim": "distortion", "distortion": [distance("squared", "X", weight="2")]}, "of all columns"),
        ({"aim": "information", "about": ["X"], "theta": "1"}, "the least leakage"),
    ):
        with pytest.raises(Refused, match=sentence):
            check(canonical(noisy(FREE, objective=objective, claims=claims_of("0", "99", "99"))))


def test_no_capacity_is_negative():
    document = copy.deepcopy(CAPACITY)
    document["proof"]["least"] = []
    document["claims"] |= {"bound": "0", "gap": "99"}
    assert check(canonical(document)).bound == 0
    document["proof"]["least"] = CAPACITY["proof"]["least"]
    document["limits"] = []
    document["claims"]["limits"] = []
    with pytest.raises(Refused, match="within a norm"):
        check(canonical(document))


def test_noise_that_is_not_added_has_no_norm():
    norm = {"distance": "norm", "of": ["X"], "p": "2"}
    for channel in (ENDS, SHRUNK):
        with pytest.raises(Refused, match="noise which is added"):
            check(canonical(noisy(channel, limits=[limit("9", norm)])))
    with pytest.raises(Refused, match="added to every record alike"):
        check(canonical(noisy(ENDS, objective={"aim": "capacity", "reach": [2]})))
    still = noisy(NARROW, limits=[limit("9", norm)])
    assert check(canonical(still)).kept.limits == (0,)
    with pytest.raises(Refused, match="not noise that is added"):
        Release.added_capacity(read_document(canonical(RATE)).release, (1,))


def test_norms_are_those_of_the_noise():
    for p, size in (("1", Fraction(10, 16)), ("inf", Fraction(2)), ("3/2", None), ("2", None)):
        norm = {"distance": "norm", "of": ["X"], "p": p}
        (found,) = check(canonical(noisy(FREE, limits=[limit("9", norm)]))).kept.limits
        if size is None:
            power = float(Fraction(p))
            size = Fraction(((2 * 3 * 1 + 2 * 1 * 2**power) / 14) ** (1 / power))
            assert abs(found - size / 2) < Fraction(1, 10**12)
        elif p == "inf":
            assert found == size / 2
        else:
            assert abs(found - Fraction(2 * 3 + 2 * 2, 14) / 2) < Fraction(1, 10**12)


@pytest.mark.parametrize("p", ["1", "3/2", "2", "inf"])
def test_a_norm_is_that_of_the_matrix_and_not_of_moved_noise(p):
    part = {"distance": "norm", "of": ["X"], "p": p}
    document = noisy(FREE, limits=[limit("1", part)])
    (found,) = check(canonical(document)).kept.limits
    assert Told(document).within(document["limits"][0], found)
    further = moved(document, 3)
    assert not Told(further).within(document["limits"][0])
    with pytest.raises(Refused, match="noise which is added"):
        check(canonical(further))
