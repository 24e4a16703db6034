"""Entropy and information: closed forms, identities as properties, digits of tiny values, enclosures."""

from fractions import Fraction
from math import log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dalenius.core import Channel, Pmf
from dalenius.errors import MismatchError
from dalenius.measures import (
    binary_entropy,
    conditional_entropy,
    conditional_mutual_information,
    conditional_mutual_information_bounds,
    entropy,
    entropy_bounds,
    entropy_of,
    independent,
    information_of,
    mutual_information,
    mutual_information_bounds,
)
from dalenius.testing import joints, xor

BITS = ("0", "1")
pmfs = joints((2, 3), 2).map(lambda problem: problem.pmf)
quick = settings(deadline=None, max_examples=60)


@st.composite
def channels(draw, inputs, name="Y", letters=3):
    size = int(np.prod([len(a) for a in inputs.values()]))
    counts = st.lists(st.integers(0, 5), min_size=letters, max_size=letters).filter(any)
    rows = [draw(counts) for _ in range(size)]
    return Channel(
        inputs,
        {name: tuple(str(y) for y in range(letters))},
        tuple(tuple(Fraction(n, sum(row)) for n in row) for row in rows),
    )


def test_entropies_of_dyadic_laws_are_exact():
    p = Pmf.from_records({"X": ("a", "b", "c")}, [(("a",), "1/2"), (("b",), "1/4"), (("c",), "1/4")])
    assert entropy(p, ["X"]) == 1.5
    assert entropy(p, []) == 0.0
    assert entropy_bounds(p, ["X"]) == (Fraction(3, 2), Fraction(3, 2))
    assert binary_entropy(0.25) == pytest.approx(2 - 0.75 * log2(3), abs=1e-15)


@pytest.mark.long
@given(pmfs)
@quick
def test_chain_rules_and_symmetry(p):
    a, b, c = ["X1"], ["X2"], ["W"]
    assert entropy(p, a + b) == pytest.approx(entropy(p, a) + conditional_entropy(p, b, a), abs=1e-12)
    info = mutual_information(p, a, b)
    assert info == pytest.approx(entropy(p, a) - conditional_entropy(p, a, b), abs=1e-12)
    assert info == pytest.approx(mutual_information(p, b, a), abs=1e-14)
    whole = mutual_information(p, a, b + c)
    assert whole == pytest.approx(info + conditional_mutual_information(p, a, c, b), abs=1e-12)
    assert mutual_information(p, a, a) == pytest.approx(entropy(p, a), abs=1e-12)
    assert 0.0 <= info <= min(entropy(p, a), entropy(p, b)) + 1e-12
    assert 0.0 <= entropy(p, a + b) <= log2(6) + 1e-12


@pytest.mark.long
@given(pmfs)
@quick
def test_enclosures_hold_the_floats_and_zero_means_independent(p):
    for a, b, given_ in ((["X1"], ["X2"], []), (["X1"], ["W"], ["X2"]), (["X1", "X2"], ["W"], [])):
        low, high = conditional_mutual_information_bounds(p, a, b, given_)
        value = conditional_mutual_information(p, a, b, given_)
        assert high - low < Fraction(1, 2**140)
        assert value == pytest.approx(float(high), rel=1e-12, abs=1e-300)
        assert independent(p, a, b, given_) == (value == 0.0) == ((low, high) == (0, 0))
    low, high = entropy_bounds(p, ["X1", "W"])
    assert entropy(p, ["X1", "W"]) == pytest.approx(float(low), rel=1e-13, abs=1e-300)


@pytest.mark.long
@given(st.data())
@quick
def test_processing_never_adds_information(data):
    p = data.draw(pmfs)
    channel = data.draw(channels(p.alphabets(["X1", "X2"])))
    after = channel.after(p)
    assert mutual_information(after, ["W"], ["Y"]) <= mutual_information(p, ["W"], ["X1", "X2"]) + 1e-12
    assert conditional_mutual_information(after, ["W"], ["Y"], ["X1", "X2"]) == 0.0
    again = data.draw(channels({"Y": ("0", "1", "2")}, "Z", 2)).after(after)
    assert mutual_information(again, ["W"], ["Z"]) <= mutual_information(after, ["W"], ["Y"]) + 1e-12


@pytest.mark.parametrize("size", [10**3, 10**6, 10**9, 10**12, 10**30])
def test_tiny_information_keeps_its_digits(size):
    codes = [[0, 0], [0, 1], [1, 0], [1, 1]]
    p = Pmf.from_counts({"A": BITS, "B": BITS}, codes, [size + 1, size - 1, size - 1, size + 1])
    low, high = mutual_information_bounds(p, ["A"], ["B"])
    assert mutual_information(p, ["A"], ["B"]) == pytest.approx(1 / (2 * size**2 * np.log(2)), rel=2 / size + 1e-14)
    if size <= 10**12:
        assert mutual_information(p, ["A"], ["B"]) == pytest.approx(float((low + high) / 2), rel=1e-13)


def test_arrays_and_pmfs_agree():
    rng = np.random.default_rng(7)
    counts = rng.integers(0, 50, (6, 9))
    counts[0, 0] = 1
    codes = [(i, k) for i in range(6) for k in range(9)]
    alphabets = {"A": tuple(map(str, range(6))), "B": tuple(map(str, range(9)))}
    p = Pmf.from_counts(alphabets, codes, counts.ravel().tolist())
    joint = counts / counts.sum()
    assert mutual_information(p, ["A"], ["B"]) == pytest.approx(information_of(joint), abs=1e-14)
    assert entropy(p, ["A", "B"]) == pytest.approx(float(entropy_of(joint.ravel())), abs=1e-13)


@pytest.mark.slow
def test_a_large_pmf_is_no_trouble():
    rng = np.random.default_rng(7)
    codes = rng.integers(0, 40, (200_000, 4))
    letters = tuple(str(a) for a in range(40))
    p = Pmf.from_counts(dict.fromkeys("ABCD", letters), codes, np.ones(len(codes), dtype=int).tolist())
    assert 0 < mutual_information(p, ["A"], ["B"]) < 0.02
    assert 10.6 < entropy(p, ["A", "B"]) < log2(1600)
    assert conditional_mutual_information(p, ["A"], ["B"], ["C", "D"]) > 1


def test_unknown_names_are_refused():
    with pytest.raises(MismatchError, match="no variable 'V'"):
        entropy(xor().pmf, ["V"])
