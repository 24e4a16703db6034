"""Columns peeled off a support: exactly private, and telling much where the search finds nothing."""

from fractions import Fraction

import numpy as np
import pytest

from dalenius.core import Certificate, Independent, MaximizeInformation, Pmf, Problem
from dalenius.mechanisms.columns.disclosure import peeling
from dalenius.mechanisms.columns.disclosure.boxes import MOST_ATOMS
from dalenius.mechanisms.columns.disclosure.design import disclose
from dalenius.mechanisms.columns.disclosure.peeling import by_peeling, merged
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


@pytest.mark.long
def test_many_dependent_items_about_themselves_are_not_left_at_zero():
    """Columns generated one by one had no time to reach a mixture: they said 0 bits of 6."""
    problem = items(10, 600)
    atoms = len(problem.pmf.grouped(problem.inputs)[0])
    assert atoms > MOST_ATOMS
    design = disclose(problem, seconds=20)
    assert design.value > Fraction(6, 10) * design.bound
    assert "peeled off" in design.method


def test_letters_are_merged_until_a_recipe_can_be_proved(monkeypatch):
    problem = items(5, 200)
    monkeypatch.setattr(peeling, "ENTRIES", 10 * len(problem.pmf.grouped(problem.inputs)[0]))
    short, method = by_peeling(problem, seconds=60)
    assert short.shape[1] == 10
    assert "merged into 10 released values" in method
    assert proved(problem, short, [Certificate({"rule": "closed"})], method=method).value > 1


def test_merging_keeps_what_there_is():
    columns = [{0: 3, 1: 4}, {1: 1}, {2: 2}, {0: 1, 2: 1}]
    fewer = merged(columns, 2)
    assert len(fewer) == 2
    assert [sum(column.get(x, 0) for column in fewer) for x in range(3)] == [4, 5, 3]
