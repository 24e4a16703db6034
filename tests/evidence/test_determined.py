"""Estimates from the release of the demo: what is determined covers, and what is not is said to be undetermined."""

import sys
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from dalenius.core import Problem
from dalenius.measures import estimate_law
from dalenius.measures.inversion import Factor, Seen, factors_of
from dalenius.mechanisms import solve
from dalenius.tables import bind

EXAMPLES = Path(__file__).parents[2] / "examples"


@cache
def demo(margins=True):
    """The design of the demo, and how many rows have each combination; also without its preserved margins."""
    pytest.importorskip("statsmodels")
    sys.path.insert(0, str(EXAMPLES))
    from rand import rand_health

    problem = Problem.from_file(EXAMPLES / "rand_health" / "problem.toml")
    design = solve(replace(bind(problem, table=rand_health())[0], preserve_marginals=margins))
    return design, np.array(design.problem.pmf.marginal(list(design.channel.inputs)).every().tolist())


def releases(many, margins, seed=1):
    """Counts of what is released for the table of the demo, drawn again and again."""
    design, counts = demo(margins)
    rng = np.random.default_rng(seed)
    rows = np.array([[float(v) for v in row] for row in design.channel.rows])
    for _ in range(many):
        yield sum(rng.multinomial(n, row / row.sum()) for n, row in zip(counts, rows, strict=True))


@pytest.mark.long
@pytest.mark.parametrize("margins", [True, False])
def test_point_09_no_entry_of_the_demo_is_dust(margins):
    design, _ = demo(margins)
    assert min(v for row in design.channel.rows for v in row if v) >= 1e-6
    assert float(design.gap) <= 1e-6


@pytest.mark.long
@pytest.mark.parametrize("margins", [True, False])
def test_point_09_estimates_of_the_demo_are_no_worse_than_raw_counts_and_lie_in_their_intervals(margins):
    design, counts = demo(margins)
    truth, ours, raw = counts / counts.sum(), [], []
    for seen in releases(15, margins):
        found = estimate_law(
            factors_of(design.channel), Seen.of(seen), preserved="shown" if design.problem.preserve_marginals else ""
        )
        assert (found.low <= found.estimate + 1e-12).all()
        assert (found.estimate <= found.high + 1e-12).all()
        ours.append(((found.estimate - truth) ** 2).mean())
        raw.append(((seen / seen.sum() - truth) ** 2).mean())
    assert np.mean(ours) <= np.mean(raw)


@pytest.mark.slow
@pytest.mark.parametrize("margins", [True, False])
def test_point_09_intervals_of_the_demo_cover_in_500_releases(margins):
    design, counts = demo(margins)
    truth, inside = counts / counts.sum(), np.zeros(len(counts))
    for seen in releases(500, margins, seed=2):
        found = estimate_law(
            factors_of(design.channel), Seen.of(seen), preserved="shown" if design.problem.preserve_marginals else ""
        )
        inside += (found.low - 1e-9 <= truth) & (truth <= found.high + 1e-9)
    assert (inside >= 0.93 * 500).all()
    # A share with a width is no more certain than it says; what no change touches is known.
    some = found.identified & (found.high - found.low > 1e-6)
    assert (inside[some] <= 0.98 * 500).all()


def nearly_singular(by):
    """Two letters that are told apart by next to nothing."""
    matrix = np.array([[0.9, 0.1, 0.0], [0.1, 0.45 + by, 0.45 - by], [0.1, 0.45 - by, 0.45 + by]])
    letters = {"X": ("a", "b", "c")}
    return Factor(letters, letters, dense=matrix)


@pytest.mark.parametrize("by", [0.0, 1e-12, 1e-9, 1e-5])
def test_point_09_a_matrix_that_is_nearly_singular_determines_no_more_than_a_singular_one(by):
    factor = nearly_singular(by)
    counts = np.round(10_000 * np.array([0.5, 0.3, 0.2]) @ factor.dense)
    found = estimate_law([factor], Seen.of(counts))
    assert found.identified.tolist() == [True, False, False]
    assert found.method == "mle"
    assert found.low[1] <= 0.2 <= 0.3 <= found.high[1] <= 0.55
    assert 0 <= found.estimate.min() <= found.estimate.max() <= 1
