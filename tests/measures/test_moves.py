"""A total variation in parts: each bound passes what any law of the ball tells, and two parts lose little."""

import numpy as np
import pytest

from dalenius.measures.corners import Cells, Variation
from dalenius.measures.moves import parts_within


def cells_of(rng, secrets, inputs):
    law = rng.dirichlet(np.ones(secrets * inputs))
    rows = rng.dirichlet(np.full(inputs, 0.7), inputs)
    places = np.arange(secrets * inputs)
    return Cells(law, places // inputs, places % inputs, rows)


def told(cells, law):
    joint = np.zeros((int(cells.secret.max()) + 1, cells.rows.shape[1]))
    np.add.at(joint, cells.secret, law[:, None] * cells.rows[cells.where])
    product = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    return float((joint * np.log(np.divide(joint, product, out=np.ones_like(joint), where=joint > 0))).sum())


def most_by_moves(cells, radius):
    """The most that is told where one or two cells give, at most all that they have, and one cell receives it."""
    law, most = cells.law, 0.0
    for first in range(len(law)):
        one = min(radius, law[first])
        for second in range(len(law)):
            for target in range(len(law)):
                other = law.copy()
                other[first] -= one
                two = min(radius - one, other[second])
                other[second] -= two
                other[target] += one + two
                most = max(most, told(cells, other))
    return most


@pytest.mark.parametrize(("secrets", "inputs"), [(2, 2), (2, 3), pytest.param(3, 3, marks=pytest.mark.long)])
def test_no_law_tells_more_and_the_bound_is_near(secrets, inputs):
    rng = np.random.default_rng(secrets + inputs)
    for radius in (0.02, 0.05, 0.1):
        cells = cells_of(rng, secrets, inputs)
        parts = parts_within(Variation(cells.law, radius), cells, enough=0.0)
        assert parts is not None
        reached = most_by_moves(cells, radius)
        bound = max(part.nats for part in parts)
        assert reached <= bound + 1e-12
        # What is lost is the divergence of the secret from the law of a part, of the order of the square of a move.
        assert bound <= reached + radius**2 / np.bincount(cells.secret, weights=cells.law).min()


def test_a_bound_that_is_enough_holds_no_cell():
    cells = cells_of(np.random.default_rng(3), 2, 3)
    (whole,) = parts_within(Variation(cells.law, 0.01), cells, enough=9.0)
    assert whole.rising is None
    assert not whole.held


def test_one_value_of_the_secret_has_no_parts():
    cells = cells_of(np.random.default_rng(3), 1, 3)
    assert parts_within(Variation(cells.law, 0.01), cells, enough=0.0) is None


def test_too_many_corners_are_not_listed():
    cells = cells_of(np.random.default_rng(3), 2, 60)
    assert parts_within(Variation(cells.law, 0.3), cells, enough=0.0) is None
