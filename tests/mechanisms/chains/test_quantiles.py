"""Theorem 5: cells of real samples. Exact privacy for independent samples, refusals of ties, dependent ones."""

from fractions import Fraction
from itertools import combinations, product
from math import log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dalenius.core import Independent, MaximizeInformation, Pmf, Problem
from dalenius.errors import InputError, MismatchError, Unsupported
from dalenius.measures import independent, mutual_information
from dalenius.mechanisms.chains.quantiles import (
    cdf_cells,
    discretised,
    modular_sum_facts,
    modular_sum_scheme,
    quantile_cells,
)
from dalenius.mechanisms.columns.disclose import disclose


@pytest.mark.parametrize("n", [2, 3])
@pytest.mark.parametrize("K", [2, 3, 4])
def test_the_sum_of_cells_is_private_and_tells_log_K_by_equation_64(K, n):
    facts = modular_sum_facts(K, n)
    names = [f"X{k + 1}" for k in range(n)]
    assert facts.leaking_views == ()
    assert set(facts.private_views) == {v for size in range(1, n) for v in combinations(names, size)}
    low, high = facts.information_bits
    assert low <= high < low + Fraction(1, 2**140)
    assert float(low) == pytest.approx(log2(K), abs=1e-15)
    if K in (2, 4):
        assert low == high == K.bit_length() - 1


@pytest.mark.parametrize("K", [2, 3, 4])
def test_the_sum_is_independent_of_the_real_sample_too(K):
    # a real sample finer than its cell: the position within the cell has any law, here a skew one
    within = {"a": Fraction(1, 5), "b": Fraction(4, 5)}
    cells = tuple(str(c) for c in range(K))
    records = [
        ((u, v, s, t), within[s] * within[t] / K**2)
        for u, v in product(cells, repeat=2)
        for s, t in product("ab", "ab")
    ]
    p = Pmf.from_records({"X1": cells, "X2": cells, "V1": ("a", "b"), "V2": ("a", "b")}, records)
    joint = modular_sum_scheme(K, 2).after(p)
    assert independent(joint, ["X1", "V1"], ["Y"])
    assert independent(joint, ["X2", "V2"], ["Y"])
    assert not independent(joint, ["X1", "X2"], ["Y"])


def test_two_uniform_cells_suffice_and_one_does_not():
    def joint(laws):
        records = []
        for u in product("012", repeat=3):
            mass = Fraction(1)
            for law, c in zip(laws, u, strict=True):
                mass *= Fraction(law[int(c)])
            records.append((u, mass))
        p = Pmf.from_records(dict.fromkeys(["X1", "X2", "X3"], ("0", "1", "2")), records)
        return modular_sum_scheme(3, 3).after(p)

    fair, skew = ["1/3"] * 3, ["1/2", "1/4", "1/4"]
    assert all(independent(joint([fair, fair, skew]), [x], ["Y"]) for x in ("X1", "X2", "X3"))
    assert not independent(joint([fair, skew, skew]), ["X1"], ["Y"])


def test_pairwise_independence_is_not_enough():
    records = [((str(a), str(b), str((a - b) % 3)), Fraction(1, 9)) for a, b in product(range(3), repeat=2)]
    p = Pmf.from_records(dict.fromkeys(["X1", "X2", "X3"], ("0", "1", "2")), records)
    assert all(independent(p, [a], [b]) for a, b in combinations(["X1", "X2", "X3"], 2))
    joint = modular_sum_scheme(3, 3).after(p)
    assert mutual_information(joint, ["X1"], ["Y"]) == pytest.approx(log2(3))


# --- cells of data ----------------------------------------------------------------------------------------------------
@given(st.integers(2, 6), st.integers(1, 12), st.randoms(use_true_random=False))
@settings(deadline=None, max_examples=60)
def test_cells_by_ranks_are_equal_and_in_order(K, each, rng):
    values = rng.sample(range(10**6), K * each)
    codes, edges = quantile_cells([v / 7 for v in values], K)
    assert np.bincount(codes, minlength=K).tolist() == [each] * K
    assert len(edges) == K - 1
    assert [sum(1 for e in edges if e < v / 7) for v in values] == codes.tolist()
    order = np.argsort(values)
    assert codes[order].tolist() == sorted(codes.tolist())


def test_equal_cells_of_a_product_table_are_private_exactly():
    # the table is the product of its columns, so its samples are independent under the law that is counted
    grid = list(product([0.1, 0.4, 2.0, 9.0], [-3, 5, 6, 70]))
    pmf, edges = discretised({"X1": [a for a, _ in grid], "X2": [b for _, b in grid]}, 2)
    assert edges == {"X1": (0.4,), "X2": (5,)}
    joint = modular_sum_scheme(2, 2).after(pmf)
    assert independent(joint, ["X1"], ["Y"])
    assert independent(joint, ["X2"], ["Y"])
    assert mutual_information(joint, ["X1", "X2"], ["Y"]) == 1.0


@pytest.mark.parametrize(
    ("values", "K", "words"),
    [
        ([1, 2, 2, 3], 2, r"the value 2 stands on both sides of edge 1 of 2 cells \(ranks 2 to 3 of 4\)"),
        ([5] * 6, 3, "both sides of edge 1"),
        ([1, 2, 3], 2, "3 is not a multiple of 2"),
        ([1], 2, "1 values do not fill 2 cells"),
        ([1.0, float("nan")], 2, "value 2 is nan, not a finite number"),
        ([1.0, float("inf")], 2, "not a finite number"),
        ([1.0, None], 2, "value 2 is None"),
        ([1.0, "2"], 2, "value 2 is '2'"),
        ([True, 2], 2, "value 1 is True"),
        ([1, 2], 1, "2 or more cells, not 1"),
        ([1, 2], 2.0, "2 or more cells, not 2.0"),
    ],
)
def test_cells_that_cannot_be_equal_are_refused(values, K, words):
    with pytest.raises(InputError, match=words):
        quantile_cells(values, K)


def test_ties_keep_together_when_unequal_cells_are_asked_for():
    codes, edges = quantile_cells([1, 2, 2, 3], 2, equal=False)
    assert (codes.tolist(), edges) == ([0, 0, 0, 1], (2,))
    codes, edges = quantile_cells([7, 7, 7], 3, equal=False)
    assert (codes.tolist(), edges) == ([0, 0, 0], ())
    codes, edges = quantile_cells([0, 0, 0, 0, 1, 2], 3, equal=False)
    assert (codes.tolist(), edges) == ([0, 0, 0, 0, 1, 1], (0,))
    huge = Fraction(10) ** 400
    assert quantile_cells([huge, 2 * huge], 2)[0].tolist() == [0, 1]


def test_cells_of_a_known_law():
    assert cdf_cells([Fraction(1, 3), Fraction(2, 3)], lambda x: x, 3).tolist() == [1, 2]
    codes = cdf_cells(np.linspace(0.005, 0.995, 100), lambda x: x * x, 4)
    assert codes.min() == 0
    assert codes.max() == 3
    with pytest.raises(InputError, match="the cdf at value 1 is 2, not between 0 and 1"):
        cdf_cells([1], lambda x: 2 * x, 2)
    with pytest.raises(InputError, match="the cdf at value 1 is nan"):
        cdf_cells([1], lambda x: float("nan"), 2)


def test_dependent_columns_are_disclosed_by_their_cells_with_a_remark():
    rng = np.random.default_rng(5)
    x = rng.normal(size=120)
    y = x + rng.normal(size=120)
    signs = ["up" if total > 0 else "down" for total in x + y]
    pmf, _ = discretised({"X1": x, "X2": y}, 3, labels={"W": signs})
    assert not independent(pmf, ["X1"], ["X2"])
    problem = Problem(
        joint=pmf,
        observe=("X1", "X2"),
        output="Y",
        objective=MaximizeInformation(("W",)),
        guarantees=(Independent(("X1",)), Independent(("X2",))),
    )
    design = disclose(problem)
    assert design.value > 0
    assert any("about the cells" in remark for remark in design.remarks)
    joint = design.channel.after(pmf)
    assert independent(joint, ["X1"], ["Y"])
    assert independent(joint, ["X2"], ["Y"])


def test_the_promise_for_cells_says_nothing_within_them():
    # X2's cell follows the position of X1 within its cell: Y is independent of the cell of X1 but not of X1
    records = [((u, v, v), Fraction(1, 4)) for u, v in product("01", repeat=2)]
    p = Pmf.from_records({"X1": ("0", "1"), "V1": ("0", "1"), "X2": ("0", "1")}, records)
    joint = modular_sum_scheme(2, 2).after(p)
    assert independent(joint, ["X1"], ["Y"])
    assert not independent(joint, ["X1", "V1"], ["Y"])


def test_refusals_of_schemes_and_tables():
    with pytest.raises(InputError, match="two samples, not 1"):
        modular_sum_scheme(3, 1)
    with pytest.raises(Unsupported, match="entries"):
        modular_sum_scheme(10, 8)
    with pytest.raises(MismatchError, match="different names"):
        modular_sum_scheme(2, 2, names=["A", "A"])
    with pytest.raises(MismatchError, match="none of them 'Y'"):
        modular_sum_scheme(2, 2, names=["A", "Y"])
    with pytest.raises(MismatchError, match="different lengths"):
        discretised({"A": [1, 2], "B": [1, 2, 3]}, 2)
    with pytest.raises(MismatchError, match="a column of real values"):
        discretised({}, 2)
    with pytest.raises(InputError, match="column 'A': value 2 is nan"):
        discretised({"A": [1, float("nan")]}, 2)
