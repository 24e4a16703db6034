"""`Channel`: row-stochastic or refused, exact from floats, and data processing by exact computation."""

import json
from fractions import Fraction
from itertools import product
from math import log2, nextafter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dalenius.core import Channel, Pmf, channel_of
from dalenius.errors import InputError, InvalidChannel, MismatchError, Unsupported
from tests.effort import effort

HALF = Fraction(1, 2)


def flip(p, source="X", output="Y"):
    p = Fraction(p)
    return Channel({source: ("0", "1")}, {output: ("0", "1")}, ((1 - p, p), (p, 1 - p)))


@st.composite
def pmf_rows(draw, letters):
    counts = draw(st.lists(st.integers(0, 20), min_size=letters, max_size=letters).filter(any))
    return tuple(Fraction(c, sum(counts)) for c in counts)


@st.composite
def channels(draw, inputs, output="Y", letters=None):
    m = letters or draw(st.integers(1, 4))
    n = len(list(product(*inputs.values())))
    return Channel(inputs, {output: tuple(map(str, range(m)))}, tuple(draw(pmf_rows(m)) for _ in range(n)))


def variation(pmf, a, b):
    """sum |p(a, b) - p(a) p(b)|, exact: a measure of dependence that obeys data processing."""
    joint = pmf.counts(a, b).astype(object)
    left, right = joint.sum(axis=1), joint.sum(axis=0)
    return sum(
        abs(Fraction(int(n), pmf.total) - Fraction(int(left[i]) * int(right[k]), pmf.total**2))
        for (i, k), n in np.ndenumerate(joint)
    )


def information(pmf, a, b):
    joint = pmf.counts(a, b).astype(float) / pmf.total
    out = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    return sum(p * log2(p / q) for p, q in zip(joint.ravel(), out.ravel(), strict=True) if p)


# --- refusals --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (((1, 0), (HALF, HALF), (0, 1), (HALF, Fraction(2, 5))), "the row of A=b, B=1 sums to 9/10, not 1"),
        (((1, 0), (Fraction(3, 2), -HALF), (0, 1), (0, 1)), "the row of A=a, B=1 has a negative entry -1/2"),
        (((1, 0), (1,), (0, 1), (0, 1)), "the row of A=a, B=1 has 1 entries for 2 values"),
        (((1, 0),) * 3, "3 rows for 4 input outcomes"),
        (((0, 0),) * 4, "the row of A=a, B=0 sums to 0, not 1"),
    ],
)
def test_rows_that_are_no_pmf_are_refused_by_name(rows, message):
    with pytest.raises(InvalidChannel, match=message):
        Channel({"A": ("a", "b"), "B": ("0", "1")}, {"Y": ("0", "1")}, rows)


def test_a_row_that_misses_one_by_a_hair_is_refused():
    hair = Fraction(1, 10**40)
    with pytest.raises(InvalidChannel, match="the row of X=1 sums to"):
        Channel({"X": ("0", "1")}, {"Y": ("0", "1")}, ((HALF, HALF), (HALF, HALF + hair)))


DOCUMENT = {"inputs": {"X": ["0", "1"]}, "output": {"Y": ["0", "1"]}, "rows": [["9/10", "1/10"], ["0.1", "0.9"]]}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rows": [["9/10", "1/10"]]}, "1 rows for 2 input outcomes"),
        ({"rows": [["9/10", "1/5"], ["0", "1"]]}, "the row of X=0 sums to 11/10, not 1"),
        ({"rows": "1"}, '"rows" is a list of lists'),
        ({"rows": [1, 2]}, '"rows" is a list of lists'),
        ({"inputs": {}}, '"inputs" of a recipe maps names'),
        ({"inputs": {"X": "01"}}, "the list of values of 'X' in \"inputs\" is not a list of strings"),
        ({"inputs": {"X": ["0", "0"]}}, "the list of values of 'X' lists a value twice"),
        ({"output": {"Y": []}}, "the list of values of 'Y' in \"output\" is not a list"),
        ({"colour": 1}, "exactly the keys inputs, output and rows"),
    ],
)
def test_broken_channel_files_are_refused(change, message):
    with pytest.raises(InvalidChannel, match=message):
        Channel.from_json({**DOCUMENT, **change})


def test_an_unknown_form_is_refused_by_name():
    with pytest.raises(Unsupported, match="there is no recipe of form 'round'"):
        channel_of({**DOCUMENT, "form": "round"})


def test_a_channel_file_is_an_object_with_numbers():
    with pytest.raises(InvalidChannel, match="is an object"):
        Channel.from_json([])
    with pytest.raises(InputError, match="a recipe entry is 'nan'"):
        Channel.from_json({**DOCUMENT, "rows": [["nan", "1"], ["0", "1"]]})


@pytest.mark.long
# --- from floats -----------------------------------------------------------------------------------------------------
@given(st.integers(2, 6), st.integers(1, 4), st.integers(0, 2**32 - 1))
@settings(deadline=None, max_examples=100)
def test_rationalised_rows_sum_to_one_exactly_and_stay_within_two_to_the_minus_40(letters, inputs, seed):
    matrix = np.random.default_rng(seed).dirichlet([0.3] * letters, inputs)
    names = {"X": tuple(map(str, range(inputs)))}
    channel = Channel.rationalise(names, {"Y": tuple(map(str, range(letters)))}, matrix.tolist())
    for row, floats in zip(channel.rows, matrix.tolist(), strict=True):
        assert sum(row) == 1
        assert all(abs(a - Fraction(b)) <= Fraction(1, 2**40) for a, b in zip(row, floats, strict=True))


def test_tiny_negatives_become_zero_and_the_remainder_goes_to_the_largest_entry():
    channel = Channel.rationalise({"X": ("0",)}, {"Y": ("a", "b", "c")}, [[-1e-12, 0.25, nextafter(0.75, 0)]])
    assert channel.rows == ((0, Fraction(1, 4), Fraction(3, 4)),)


@pytest.mark.parametrize("row", [[0.5, 0.4], [1.1, -0.1], [float("nan"), 1.0], [float("inf"), 0.0]])
def test_floats_that_are_no_pmf_are_refused(row):
    with pytest.raises(InvalidChannel, match="the entries of row 2 are not probabilities that add up to 1"):
        Channel.rationalise({"X": ("0", "1")}, {"Y": ("a", "b")}, [[0.5, 0.5], row])


# --- questions -------------------------------------------------------------------------------------------------------
@given(channels({"A": ("a", "b"), "B": ("0", "1", "2")}))
@settings(deadline=None, max_examples=effort(8, 50))
def test_json_round_trip(channel):
    again = Channel.from_json(json.loads(json.dumps(channel.to_json())))
    assert again == channel
    assert again.to_json() == channel.to_json()


def test_rows_are_ordered_with_the_last_input_fastest():
    channel = Channel.constant({"A": ("a", "b"), "B": ("0", "1", "2")}, "Y")
    assert channel.outcomes()[:4] == [("a", "0"), ("a", "1"), ("a", "2"), ("b", "0")]
    assert [channel.row_of(c) for c in product(range(2), range(3))] == list(range(6))
    assert (channel.shape, channel.letters()) == ((6, 1), [("0",)])


def test_two_released_columns_are_letters_of_their_product():
    rows = ((HALF, HALF, 0, 0), (0, 0, 0, 1))
    channel = Channel({"X": ("0", "1")}, {"Y": ("a", "b"), "Z": ("c", "d")}, rows)
    assert channel.letters() == [("a", "c"), ("a", "d"), ("b", "c"), ("b", "d")]
    joint = channel.after(Pmf.from_records({"X": ("0", "1")}, [(("0",), 1), (("1",), 1)]))
    assert list(joint.variables) == ["X", "Y", "Z"]
    assert joint.probability(Y="a", Z="d") == Fraction(1, 4)
    assert joint.probability(X="1", Y="b", Z="d") == HALF
    assert Channel.from_json(channel.to_json()) == channel


@given(channels({"X1": ("0", "1"), "X2": ("0", "1")}), st.lists(st.integers(0, 9), min_size=8, max_size=8).filter(any))
@settings(deadline=None, max_examples=effort(8, 50))
def test_after_a_prior_equals_brute_force(channel, counts):
    variables = {"S": ("0", "1"), "X2": ("0", "1"), "X1": ("0", "1")}  # another order than the channel's
    cells = list(product("01", repeat=3))
    prior = Pmf.from_records(variables, zip(cells, counts, strict=True))
    joint = channel.after(prior)
    for (s, x2, x1), n in zip(cells, counts, strict=True):
        row = channel.rows[channel.row_of([int(x1), int(x2)])]
        for y, v in enumerate(row):
            assert joint.probability(S=s, X1=x1, X2=x2, Y=str(y)) == Fraction(n, sum(counts)) * v
    assert joint.marginal(list(variables)) == prior


@given(st.data(), st.lists(st.integers(1, 9), min_size=6, max_size=6))
@settings(deadline=None, max_examples=effort(8, 50))
def test_post_processing_never_adds_dependence(data, counts):
    inputs = {"X": ("0", "1", "2")}
    first = data.draw(channels(inputs))
    second = data.draw(channels(first.output, "Z"))
    cells = list(product("01", "012"))
    prior = Pmf.from_records({"S": ("0", "1"), **inputs}, zip(cells, counts, strict=True))
    both = second.after(first.after(prior))
    assert first.then(second).after(prior) == both.marginal(["S", "X", "Z"])
    for whose in (["S"], ["X"]):
        assert variation(both, whose, ["Z"]) <= variation(both, whose, ["Y"])
        assert information(both, whose, ["Z"]) <= information(both, whose, ["Y"]) + 1e-12
    assert variation(both, ["S"], ["Y"]) <= variation(both, ["S"], ["X"])


def test_two_flips_are_one_flip():
    assert flip("1/4").then(flip("1/4", "Y", "Z")) == flip("3/8", "X", "Z")


def test_what_does_not_fit_together_is_refused():
    prior = Pmf.from_records({"X": ("0", "1")}, [(("0",), 1), (("1",), 1)])
    with pytest.raises(MismatchError, match="does not read the output of the first"):
        flip(HALF).then(flip(HALF))
    with pytest.raises(MismatchError, match="no variable 'U'"):
        flip(HALF, "U").after(prior)
    with pytest.raises(MismatchError, match="has a variable 'X' already"):
        flip(HALF, "X", "X").after(prior)
    with pytest.raises(MismatchError, match="'X' has another list of values"):
        flip(HALF).after(Pmf.from_records({"X": ("1", "0")}, [(("0",), 1)]))
