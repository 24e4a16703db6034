"""How likely an answer can become: the same from lists of records as from a matrix, and by hand."""

from dataclasses import replace
from fractions import Fraction

import pytest

from dalenius.core import Guess, Leakage
from dalenius.evidence import beliefs
from dalenius.mechanisms import solve
from tests.mechanisms.records.test_records_limits import problem


@pytest.mark.parametrize("promise", [Guess(("S",), Fraction(4, 5)), Leakage(("S",), Fraction(1, 20))])
@pytest.mark.long
def test_the_worst_row_of_whole_records_is_that_of_the_same_matrix(promise):
    """A promise about an average hid a released record that gave its answer away: nothing was told of wide tables."""
    design = solve(problem(3, promise))
    assert design.channel.sparse is not None
    (known,) = beliefs(design)
    (written_out,) = beliefs(replace(design, channel=design.channel.dense()))
    assert known == replace(written_out, combination=known.combination, combination_share=known.combination_share)
    weights = {"0": Fraction(0), "1": Fraction(0)}
    place = design.channel.sparse.released.index(known.combination)
    for atom, n in zip(design.problem.pmf.support.tolist(), design.problem.pmf.weights.tolist(), strict=True):
        places, shares = design.channel.sparse.lines[tuple(atom)]
        if place in places:
            weights[str(atom[-1])] += Fraction(n * shares[places.index(place)], sum(shares))
    assert known.worst.high == weights[known.worst.values[0]] / sum(weights.values())
    assert known.combination_share == sum(weights.values()) / design.problem.pmf.total
