"""Columns peeled off a support: exactly private, and telling much where the search finds nothing."""

from fractions import Fraction

import numpy as np
import pytest

from dalenius.core import Certificate, Independent, MaximizeInformation, Pmf, Problem
from dalenius.mechanisms.columns.peeled import by_peeling
from dalenius.mechanisms.proving import proved


def items(count, people, seed=0):
    """Binary answers of people that hang together, each of them to be hidden."""
    rng = np.random.default_rng(seed)
    codes = (rng.normal(size=(people, 1)) + rng.normal(size=(people, count)) > 0.3).astype(int)
    names = tuple(f"X{k + 1}" for k in range(count))
    found, often = np.unique(codes, axis=0, return_counts=True)
    joint = Pmf.from_counts(dict.fromkeys(names, ("0", "1")), found, [int(n) for n in often])
    return Problem(
        joint=joint,
        observe=names,
        output="Y",
        objective=MaximizeInformation(names),
        guarantees=tuple(Independent((name,)) for name in names),
    )


@pytest.mark.long
def test_peeled_columns_are_private_and_tell_much():
    problem = items(6, 300)
    channel, method = by_peeling(problem, seconds=60)
    design = proved(problem, channel, [Certificate({"rule": "closed"})], method=method)
    assert "peeled off" in method
    assert design.value > Fraction(1, 2) * design.bound  # and every promise was proved by the kernel
    again, _ = by_peeling(problem, seconds=60)
    assert again.rows == channel.rows


def test_without_time_everything_is_the_rest():
    channel, _ = by_peeling(items(3, 50), seconds=-1)
    assert channel.shape[1] == 1
