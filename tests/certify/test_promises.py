"""Every promise that the checker proves, at its closed form: accepted at the level, refused a hair beyond it."""

import json
from fractions import Fraction
from itertools import product

import flint
import pytest

from dalenius.certify import check, prove, prove_privacy
from dalenius.core.numbers import down, exact, up
from dalenius.designs import disclose
from dalenius.errors import NotCertified
from dalenius.testing import xor

BIT = ["0", "1"]
E_BELOW = Fraction(2718281828459045235360287471352662497757, 10**39)
E_ABOVE = E_BELOW + Fraction(1, 10**39)
HAIR = Fraction(1, 10**25)


def design(joint, rows, promises, *, observe=("X",), about=("X",), letters=None, keep=(), strata=()):
    """A design document made by hand: joint is {names: ..., p: ...} atoms as (letters by name, probability)."""
    names = list(joint[0][0])
    variables = {n: sorted({atom[n] for atom, _ in joint}) for n in names}
    return {
        "format": "dalenius-design/1",
        "unit": "bits",
        "mechanism": {"observe": list(observe), "output": "Y", "keep": list(keep), "strata": list(strata)},
        "objective": {"maximize": {"information": list(about)}},
        "guarantees": [{"promised": p, "proved": {}} for p in promises],
        "joint": {"variables": variables, "pmf": [{**atom, "p": str(Fraction(p))} for atom, p in joint]},
        "channel": {
            "inputs": {n: variables[n] for n in (*observe, *strata)},
            "output": {"Y": letters or [str(y) for y in range(len(rows[0]))]},
            "rows": [[str(Fraction(v)) for v in row] for row in rows],
        },
        "certificate": {"kind": "universal"},
    }


def claimed(document):
    """The document with exactly the figures that the checker proves, as a designer would write it."""
    verdict = prove(document)
    value, bound = down(verdict.value), up(verdict.bound)
    document |= {"value": value, "bound": bound, "gap": up(exact(bound) - exact(value)), "entropy_bits": "9"}
    for guarantee, figures in zip(document["guarantees"], verdict.figures, strict=True):
        guarantee["proved"] = figures
    return json.dumps(document)


def coin(p="1/2"):
    return [({"X": "0"}, Fraction(p)), ({"X": "1"}, 1 - Fraction(p))]


def flip(p):
    return [[1 - Fraction(p), Fraction(p)], [Fraction(p), 1 - Fraction(p)]]


def bits_of(ball):
    """A ball as the rational in its middle; it is far narrower than a hair."""
    assert float(ball.rad()) < 1e-60
    return exact(ball.mid().str(60, radius=False))


@pytest.fixture(autouse=True)
def _many_bits():
    before, flint.ctx.prec = flint.ctx.prec, 300
    yield
    flint.ctx.prec = before


def log2(q):
    return flint.arb(flint.fmpq(q.numerator, q.denominator)).log() / flint.arb(2).log()


def entropy(p):
    p = Fraction(p)
    return -sum((flint.arb(flint.fmpq(t.numerator, t.denominator)) * log2(t) for t in (p, 1 - p)), flint.arb(0))


# --- local differential privacy --------------------------------------------------------------------------------------
def randomised_response(k, letters=2):
    return [[(k if x == y else 1) / (k + letters - 1) for y in range(letters)] for x in range(letters)]


@pytest.mark.parametrize("letters", [2, 3])
def test_randomised_response_just_below_e_keeps_local_dp_1_and_just_above_does_not(letters):
    joint = [({"X": str(x)}, Fraction(1, letters)) for x in range(letters)]
    below = design(joint, randomised_response(E_BELOW, letters), [{"local_dp": "1"}])
    (figures,) = prove_privacy(below)
    assert 1 - Fraction(1, 10**29) <= exact(figures["epsilon_nats"]) <= 1
    assert check(claimed(below)).figures == (figures,)
    above = design(joint, randomised_response(E_ABOVE, letters), [{"local_dp": "1"}])
    with pytest.raises(NotCertified, match=r"the level of local_dp is 1\.0+1, more than promised"):
        prove_privacy(above)


def test_local_dp_counts_the_rows_of_impossible_inputs():
    joint = [({"X": "0"}, Fraction(1)), ({"X": "1"}, Fraction(0))]
    document = design(joint, flip("1/4"), [{"local_dp": "1"}])
    with pytest.raises(NotCertified, match=r"the level of local_dp is 1\.098612288669, more than promised"):
        prove_privacy(document)


def test_local_dp_ignores_letters_that_are_never_released():
    (figures,) = prove_privacy(design(coin(), [["1", "0"], ["1", "0"]], [{"local_dp": "0"}]))
    assert figures == {"epsilon_nats": "0"}


@pytest.mark.parametrize("extra", [{"delta": "1/10"}, {"leakage": ["X"]}])
def test_local_dp_with_more_to_it_is_refused(extra):
    with pytest.raises(NotCertified, match="local_dp without delta, and given all kept"):
        prove_privacy(design(coin(), flip("1/2"), [{"local_dp": "1", **extra}]))


def test_local_dp_beside_a_kept_column_is_refused():
    with pytest.raises(NotCertified, match="local_dp without delta, and given all kept"):
        prove_privacy(design(coin(), flip("1/2"), [{"local_dp": "1"}], keep=["X"]))


# --- average, worst letter, odds -------------------------------------------------------------------------------------
@pytest.mark.parametrize("kind", ["leakage", "worst_case_leakage"])
@pytest.mark.parametrize("p", ["1/4", "1/10", "3/8"])
def test_a_symmetric_channel_leaks_one_minus_h(kind, p):
    level = bits_of(1 - entropy(p))

    def document(limit):
        return design(coin(), flip(p), [{kind: ["X"], "at_most_bits": str(limit)}])

    figures = check(claimed(document(level + HAIR))).figures[0]
    assert abs(exact(figures["leakage_bits"]) - level) <= Fraction(2, 10**30)
    assert abs(exact(figures["worst_letter_bits"]) - level) <= Fraction(2, 10**30)
    assert exact(figures["guess_after"]) == 1 - Fraction(p)
    with pytest.raises(NotCertified, match=f"{kind} is exceeded"):
        prove_privacy(document(level - HAIR))


def test_leakage_of_a_secret_behind_the_input_is_that_of_both_channels():
    joint = [
        ({"S": s, "X": x}, Fraction(1, 2) * (Fraction(3, 4) if s == x else Fraction(1, 4))) for s in BIT for x in BIT
    ]
    level = bits_of(1 - entropy("3/8"))  # a flip of 1/4 after a flip of 1/4

    def document(limit):
        return design(joint, flip("1/4"), [{"leakage": ["S"], "at_most_bits": str(limit)}])

    assert check(claimed(document(level + HAIR))).figures[0]["with_one_more_bits"].keys() == {"X"}
    with pytest.raises(NotCertified, match="leakage is exceeded"):
        prove_privacy(document(level - HAIR))


def test_the_worst_letter_of_a_z_channel_tells_one_whole_bit():
    z_channel = [["1", "0"], ["1/2", "1/2"]]
    (figures,) = prove_privacy(design(coin(), z_channel, [{"worst_case_leakage": ["X"], "at_most_bits": "1"}]))
    assert (figures["worst_letter_bits"], figures["worst_letter"], figures["odds_nats"]) == ("1", 1, None)
    assert (figures["guess_before"], figures["guess_after"]) == ("0.5", "0.75")
    for promise in (
        {"worst_case_leakage": ["X"], "at_most_bits": str(1 - HAIR)},
        {"information_privacy": ["X"], "epsilon": "999"},
    ):
        with pytest.raises(NotCertified, match="is exceeded"):
            prove_privacy(design(coin(), z_channel, [promise]))


def test_odds_of_a_symmetric_channel():
    """p(x | y) / p(x) is 3/2 or 1/2 for a flip of 1/4 of a fair bit, so epsilon = ln 2, not ln 3/2."""
    level = bits_of(flint.arb(2).log())

    def document(limit):
        return design(coin(), flip("1/4"), [{"information_privacy": ["X"], "epsilon": str(limit)}])

    figures = check(claimed(document(level + HAIR))).figures[0]
    assert abs(exact(figures["odds_nats"]) - level) <= Fraction(2, 10**30)
    with pytest.raises(NotCertified, match="information_privacy is exceeded"):
        prove_privacy(document(level - HAIR))


def test_a_kept_column_leaks_what_it_is():
    joint = [({"X": x, "K": x}, Fraction(1, 2)) for x in BIT]
    (figures,) = prove_privacy(design(joint, flip("1/2"), [{"leakage": ["X"], "at_most_bits": "1"}], keep=["K"]))
    assert (figures["leakage_bits"], figures["guess_after"]) == ("1", "1")
    with pytest.raises(NotCertified, match="leakage is exceeded"):
        prove_privacy(design(joint, flip("1/2"), [{"leakage": ["X"], "at_most_bits": str(1 - HAIR)}], keep=["K"]))
    assert prove_privacy(design(joint, flip("1/2"), [{"independent": ["X"]}]))  # alone, pure noise tells nothing
    with pytest.raises(NotCertified, match="differs from the product by 1/8"):
        prove_privacy(design(joint, flip("1/2"), [{"independent": ["X"]}], keep=["K"]))


def test_a_stratum_is_read_and_leaves():
    """Y = X xor T with T both input and output: X is given away."""
    joint = [({"X": x, "T": t}, Fraction(1, 4)) for x, t in product(BIT, BIT)]
    rows = [["1", "0"], ["0", "1"], ["0", "1"], ["1", "0"]]
    with pytest.raises(NotCertified, match="differs from the product by"):
        prove_privacy(design(joint, rows, [{"independent": ["X"]}], strata=["T"]))
    assert prove_privacy(design(joint, rows, [{"independent": ["X"]}], observe=("X", "T")))


# --- independence ----------------------------------------------------------------------------------------------------
def test_figures_of_xor_with_one_more_column():
    (first, second) = prove_privacy(json.loads(disclose(xor()).dumps()))
    assert first["with_one_more_bits"] == {"X2": "1"}
    assert second["with_one_more_bits"] == {"X1": "1"}
    for figures in (first, second):
        assert [figures[k] for k in ("leakage_bits", "worst_letter_bits", "odds_nats")] == ["0", "0", "0"]
        assert [figures[k] for k in ("guess_before", "guess_after")] == ["0.5", "0.5"]


def test_with_one_more_column_of_a_noisy_xor():
    """I(X1; Y | X2) = 1 - h(1/4) when Y is X1 xor X2 flipped with probability 1/4."""
    joint = [({"A": a, "B": b}, Fraction(1, 4)) for a, b in product(BIT, BIT)]
    rows = [["3/4", "1/4"], ["1/4", "3/4"], ["1/4", "3/4"], ["3/4", "1/4"]]
    (figures,) = prove_privacy(design(joint, rows, [{"independent": ["A"]}], observe=("A", "B"), about=("A",)))
    level = bits_of(1 - entropy("1/4"))
    assert 0 <= exact(figures["with_one_more_bits"]["B"]) - level <= Fraction(2, 10**30)


def test_independence_misses_by_the_stated_amount():
    with pytest.raises(NotCertified, match=r"p\(X=0, letter 0\) differs from the product by 1/8"):
        prove_privacy(design(coin(), flip("1/4"), [{"independent": ["X"]}]))


# --- value, bound, cards ---------------------------------------------------------------------------------------------
def test_the_universal_bound_is_what_the_input_tells():
    document = design(coin(), flip("1/4"), [{"leakage": ["X"], "at_most_bits": "1/2"}])
    verdict = prove(document)
    assert verdict.bound == 1  # I(X; X): a promise of leakage is not used, so the bound is loose and true
    assert abs(verdict.value - bits_of(1 - entropy("1/4"))) < Fraction(1, 10**40)


def test_the_universal_bound_uses_the_views():
    """Proposition 2: I(W; Y) <= I(W; X | X_i); for W = X1 it is zero at the view X1."""
    joint = [({"A": a, "B": b}, Fraction(1, 4)) for a, b in product(BIT, BIT)]
    rows = [["1"]] * 4
    document = design(joint, rows, [{"independent": ["A"]}], observe=("A", "B"), about=("A",))
    assert (prove(document).value, prove(document).bound) == (0, 0)


def test_a_card_proves_local_dp_alone_and_compares_its_figure():
    document = design(coin(), flip("1/4"), [{"local_dp": "1.2"}, {"leakage": ["X"], "at_most_bits": "1/2"}])
    whole = json.loads(claimed(document))
    card = {"format": "dalenius-card/1", "kept": [], "channel": whole["channel"], "guarantees": whole["guarantees"]}
    verdict = check(json.dumps(card))
    assert (verdict.kind, verdict.figures[1]) == ("card", None)
    assert verdict.figures[0] == whole["guarantees"][0]["proved"]
    better = json.loads(json.dumps(card))
    better["guarantees"][0]["proved"]["epsilon_nats"] = "1"
    with pytest.raises(NotCertified, match="a claimed figure of guarantee 1 is not proved"):
        check(json.dumps(better))
    card["guarantees"][0]["promised"]["local_dp"] = "1"
    with pytest.raises(NotCertified, match="more than promised"):
        check(json.dumps(card))
    card["channel"]["rows"][0] = ["1", "1"]
    with pytest.raises(NotCertified, match="row 1 of the channel is not a pmf"):
        check(json.dumps(card))


def test_an_incomplete_card_or_design_is_refused():
    with pytest.raises(NotCertified, match="the file is damaged"):
        check('{"format": "dalenius-card/1"}')
    document = design(coin(), flip("1/4"), [{"leakage": ["X"]}])
    with pytest.raises(NotCertified, match="damaged: KeyError 'at_most_bits'"):
        prove_privacy(document)
    with pytest.raises(NotCertified, match="damaged"):
        prove({})
