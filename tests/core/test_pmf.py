"""`Pmf`: every birth, every refusal, and the questions against brute force."""

import json
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dalenius.core import Pmf
from dalenius.errors import InputError, InvalidPmf, MismatchError, Unsupported
from tests.effort import effort

BITS = ("0", "1")
COIN = {"X": BITS}


def coin(zero, one):
    return Pmf.from_records(COIN, [(("0",), zero), (("1",), one)])


def as_dict(pmf):
    """{letters: probability} of the outcomes that occur."""
    letters = list(pmf.variables.values())
    return {
        tuple(a[c] for a, c in zip(letters, row, strict=True)): Fraction(int(w), pmf.total)
        for row, w in zip(pmf.support.tolist(), pmf.weights.tolist(), strict=True)
    }


@st.composite
def pmfs(draw, largest=10**6):
    sizes = draw(st.lists(st.integers(1, 3), min_size=1, max_size=3))
    variables = {f"V{k}": tuple(f"{k}{a}" for a in range(m)) for k, m in enumerate(sizes)}
    cells = list(product(*variables.values()))
    counts = draw(
        st.lists(st.integers(0, largest), min_size=len(cells), max_size=len(cells)).filter(lambda c: sum(c) > 0)
    )
    return Pmf.from_records(variables, zip(cells, counts, strict=True))


# --- births ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("zero", "one"), [("1/3", "2/3"), (1, 2), (5, 10), ("5", "10"), (Fraction(1, 3), Fraction(2, 3)), ("1/3", "4/6")]
)
def test_fractions_and_counts_are_the_same_pmf(zero, one):
    pmf = coin(zero, one)
    assert pmf == coin("1/3", "2/3")
    assert (pmf.total, pmf.weights.tolist(), pmf.note) == (3, [1, 2], "")


@pytest.mark.parametrize("numbers", [("0.25", "0.75"), (0.25, 0.75), (Decimal("0.25"), Decimal("0.75"))])
def test_decimals_that_add_up_need_no_note(numbers):
    assert coin(*numbers) == coin(1, 3)
    assert coin(*numbers).note == ""


def test_decimals_that_miss_one_in_the_twelfth_digit_are_divided_by_their_sum_and_noted():
    pmf = coin("0.333333333333", "0.666666666666")
    assert pmf == coin("1/3", "2/3")
    assert "sum to 1 -1.0e-12; each was divided by their exact sum" in pmf.note
    above = coin(0.5, 0.500000000001)
    assert sum(as_dict(above).values()) == 1
    assert "+1.0e-12" in above.note


def test_outcomes_of_probability_zero_are_not_stored():
    assert len(coin(0, 4)) == 1
    assert coin(0, 4).probability(X="0") == 0
    assert coin(0, 4).variables["X"] == BITS


def test_equal_outcomes_of_counts_are_added_up():
    pmf = Pmf.from_counts(COIN, np.array([[1], [0], [1]]), [1, 2, 3])
    assert as_dict(pmf) == {("0",): Fraction(1, 3), ("1",): Fraction(2, 3)}


def test_denominators_beyond_machine_words_stay_exact():
    big = 10**400
    records = [((a, b), Fraction(k, 10 * big)) for k, (a, b) in enumerate(product(BITS, BITS), 1)]
    records[-1] = (records[-1][0], 1 - sum(p for _, p in records[:-1]))
    pmf = Pmf.from_records({"A": BITS, "B": BITS}, records)
    assert as_dict(pmf) == dict(records)
    assert pmf.marginal(["B"]).probability(B="0") == records[0][1] + records[2][1]
    assert sum(map(int, pmf.counts(["A"], ["B"]).ravel())) == pmf.total
    assert Pmf.from_json(pmf.to_json()) == pmf


@pytest.mark.parametrize("total", [2**62 - 1, 2**62, 2**63, 2**64 + 1])
def test_counts_around_the_border_of_machine_words(total):
    pmf = Pmf.from_counts(COIN, np.array([[0], [1]]), [1, total - 1])
    assert (pmf.total, int(pmf.weights.sum())) == (total, total)
    assert pmf.probability(X="1") == Fraction(total - 1, total)


# --- refusals --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("records", "message"),
    [
        ([("0", "-1/3"), ("1", "4/3")], r"p\(X=0\) is -1/3, which is negative"),
        ([("0", "3/4"), ("1", "1/3")], "probabilities sum to 13/12, not 1"),
        ([("0", "0.75"), ("1", "0.24")], "probabilities sum to 99/100, not 1"),
        ([("0", "0.5"), ("1", "0.500000002")], "not 1"),
        ([("0", "1/2"), ("0", "1/2")], "the outcome X=0 is given twice"),
        ([("2", 1)], "'2' is not in the list of values of 'X'"),
        ([("0", 0), ("1", 0)], "probabilities sum to 0, not 1"),
        ([("0", -1), ("1", 2)], "which is negative"),
        ([], "lists no outcome"),
    ],
)
def test_what_is_not_a_pmf_is_refused_with_the_figure(records, message):
    with pytest.raises(InvalidPmf, match=message):
        Pmf.from_records(COIN, [((letter,), p) for letter, p in records])


@pytest.mark.parametrize("outcome", [(), ("0", "1")])
def test_an_outcome_of_the_wrong_length_is_refused(outcome):
    with pytest.raises(InvalidPmf, match="1 variable"):
        Pmf.from_records(COIN, [(outcome, 1)])


def test_a_word_for_a_number_is_refused_with_its_outcome():
    with pytest.raises(InputError, match=r"p\(X=0\) is 'half'"):
        coin("half", "1/2")


@pytest.mark.parametrize(
    ("counts", "codes", "message"),
    [
        ([1, -1], [[0], [1]], "a count is negative: -1"),
        ([0, 0], [[0], [1]], "all counts are zero"),
        ([1, 1], [[0], [2]], "outside the list of values"),
        ([1, 1], [[0], [-1]], "outside the list of values"),
    ],
)
def test_bad_counts_are_refused(counts, codes, message):
    with pytest.raises(InvalidPmf, match=message):
        Pmf.from_counts(COIN, np.array(codes), counts)


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ([], "the keys `variables` and `pmf`"),
        ({"variables": {"X": ["0"]}}, "the keys `variables` and `pmf`"),
        ({"variables": {"X": ["0"]}, "pmf": [{"X": "0", "p": 1}], "comment": ""}, "unknown key 'comment'"),
        ({"variables": {}, "pmf": []}, "maps names to lists of values"),
        ({"variables": {"X": ["0"]}, "pmf": {}}, "`pmf` is a list"),
        ({"variables": {"X": "01"}, "pmf": []}, "list of values of 'X' is not a list of strings"),
        ({"variables": {"X": [0, 1]}, "pmf": []}, "list of values of 'X' is not a list of strings"),
        ({"variables": {"X": ["0", "0"]}, "pmf": [{"X": "0", "p": 1}]}, "lists a value twice"),
        ({"variables": {"X": ["0"]}, "pmf": [{"X": "0", "p": 1}, {"Y": "0", "p": 1}]}, "outcome 2 of `pmf`"),
        ({"variables": {"X": ["0"]}, "pmf": [{"X": "0", "p": 1, "q": 1}]}, "exactly the keys"),
        ({"variables": {"X": ["0"]}, "pmf": ["0"]}, "outcome 1 of `pmf`"),
        ({"variables": {"X": ["0"]}, "pmf": [{"X": "9", "p": 1}]}, "'9' is not in the list of values"),
        ({"variables": {"p": ["0"]}, "pmf": [{"p": "0"}]}, "no variable can be called 'p'"),
    ],
)
def test_broken_pmf_files_are_refused(document, message):
    with pytest.raises(InvalidPmf, match=message):
        Pmf.from_json(document)


def test_arrays_cannot_be_written_to():
    pmf = coin(1, 1)
    with pytest.raises(ValueError, match="read-only"):
        pmf.weights[0] = 9
    with pytest.raises(TypeError, match="unhashable"):
        hash(pmf)


# --- questions -------------------------------------------------------------------------------------------------------
@given(pmfs())
@settings(deadline=None, max_examples=effort(13, 80))
def test_json_round_trip(pmf):
    again = Pmf.from_json(json.loads(json.dumps(pmf.to_json())))
    assert again == pmf
    assert again.to_json() == pmf.to_json()


@given(pmfs(), st.data())
@settings(deadline=None, max_examples=effort(13, 80))
def test_equality_does_not_depend_on_the_order_of_outcomes(pmf, data):
    document = pmf.to_json()
    document["pmf"] = data.draw(st.permutations(document["pmf"]))
    assert Pmf.from_json(document) == pmf


def test_another_order_of_letters_or_variables_is_another_pmf():
    assert Pmf.from_records({"X": ("1", "0")}, [(("0",), 1), (("1",), 2)]) != coin(1, 2)
    assert coin(1, 2) != coin(2, 1)
    assert coin(1, 2) != "coin"


@given(pmfs())
@settings(deadline=None, max_examples=effort(10, 60))
def test_marginals_groups_and_counts_equal_brute_force(pmf):
    table, names = as_dict(pmf), list(pmf.variables)
    for r in range(1, len(names) + 1):
        for chosen in permutations(names, r):
            at = [names.index(n) for n in chosen]
            summed = Counter()
            for letters, p in table.items():
                summed[tuple(letters[i] for i in at)] += p
            assert as_dict(pmf.marginal(chosen)) == summed
            outcomes, index = pmf.grouped(chosen)
            assert outcomes == sorted(set(outcomes))
            spelled = [tuple(pmf.variables[n][c] for n, c in zip(chosen, o, strict=True)) for o in outcomes]
            assert [spelled[k] for k in index] == [tuple(letters[i] for i in at) for letters in table]
            counts = pmf.counts(chosen, names)
            assert {spelled[k]: Fraction(int(n), pmf.total) for k, n in enumerate(counts.sum(axis=1))} == summed
            for letters, p in summed.items():
                assert pmf.probability(**dict(zip(chosen, letters, strict=True))) == p
    assert pmf.grouped(())[0] == [()]
    assert pmf.counts((), names).shape == (1, len(pmf))


def test_unknown_names_and_letters_are_refused():
    with pytest.raises(MismatchError, match="no variable 'age'; there are 'X'"):
        coin(1, 1).marginal(["age"])
    with pytest.raises(MismatchError, match="'2' is not in the list of values of 'X'"):
        coin(1, 1).probability(X="2")


def test_an_array_of_counts_too_large_for_memory_is_refused():
    letters = tuple(map(str, range(20_000)))
    many = Pmf.from_counts({"X": letters}, np.arange(20_000)[:, None], [1] * 20_000)
    with pytest.raises(Unsupported, match="20,000 x 20,000 outcomes"):
        many.counts(["X"], ["X"])


def test_every_outcome_has_its_weight_in_the_order_of_rows_also_those_that_never_occur():
    pmf = Pmf.from_records({"A": ("a", "b"), "B": ("0", "1", "2")}, [(("b", "0"), 5), (("a", "2"), 3)])
    assert pmf.every().tolist() == [0, 0, 3, 5, 0, 0]
