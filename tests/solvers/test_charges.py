"""What points charge: nobody within a limit pays more than is allowed, and the slopes are those of the prices."""

import numpy as np
import pytest

from dalenius.solvers.flows.charges import BestAction, BitsOfEach, MeanBits, RatioOfEach

POINTS = 5
GAIN = np.array([[1.0, 0.0, 0.5], [0.0, 1.0, 0.5], [0.2, 0.2, 0.9]])
KINDS = ["mean", "each", "ratio", "equal", "action"]


def charge_of(kind, rng, of_class=None):
    """A charge of three values at five points, with some unknowns."""
    prior = np.array([0.5, 0.3, 0.2])
    of_class = np.eye(3) if of_class is None else of_class
    scale = rng.random(POINTS) + 0.5
    common = (of_class, prior, scale)
    made = {
        "mean": lambda: MeanBits(*common, 0.2, 2.0),
        "each": lambda: BitsOfEach(*common, 0.2),
        "ratio": lambda: RatioOfEach(*common, 1.5),
        "equal": lambda: RatioOfEach(*common, 1.0),
        "action": lambda: BestAction(*common, GAIN, 0.6, rng.integers(0, 3, POINTS), 2.0),
    }[kind]()
    return made, made.begin() + rng.normal(size=made.many)


def within(kind, rng):
    """Masses of three values at five points that keep the limit of a charge, by moving towards the prior."""
    prior = np.array([0.5, 0.3, 0.2])
    mass = rng.dirichlet(np.ones(POINTS))
    posterior = rng.dirichlet(np.ones(3), POINTS)
    for _ in range(400):
        t = posterior.T * mass
        ratio = posterior / prior
        bits = (posterior * np.log2(ratio)).sum(axis=1)
        kept = {
            "mean": mass @ bits <= 0.2,
            "each": bits.max() <= 0.2,
            "ratio": ratio.max() <= 1.5 and ratio.min() >= 1 / 1.5,
            "equal": np.abs(ratio - 1).max() < 1e-14,
            "action": (GAIN @ t).max(axis=0).sum() <= 0.6,
        }[kind]
        if kept:
            return t
        posterior = 0.9 * posterior + 0.1 * prior
    return prior[:, None] * mass


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(4))
def test_nobody_within_the_limit_pays_more_than_is_allowed(kind, seed):
    rng = np.random.default_rng(seed)
    charge, x = charge_of(kind, rng)
    t = within(kind, rng)
    assert float((t * charge.prices(x, 0.0)).sum()) <= charge.allowed(x) + 1e-9


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("smooth", [0.3, 1.0])
def test_slopes_are_those_of_the_prices(kind, smooth):
    rng = np.random.default_rng(7)
    charge, x = charge_of(kind, rng)
    arrived = rng.random((3, POINTS))

    def paid(x):
        return float((arrived * charge.prices(x, smooth)).sum()) - charge.allowed(x, smooth)

    step = 1e-6
    apart = [(paid(x + step * e) - paid(x - step * e)) / (2 * step) for e in np.eye(len(x))]
    assert charge.slopes(x, smooth, arrived) == pytest.approx(np.array(apart), rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("kind", ["each", "ratio"])
def test_rounded_edges_charge_at_most_a_little_less(kind):
    charge, x = charge_of(kind, np.random.default_rng(3))
    exact = charge.prices(x, 0.0)
    for smooth in (1e-1, 1e-3):
        less = charge.prices(x, smooth) - exact
        assert less.min() >= -1e-9
        assert less.max() <= 2 * smooth


def test_a_limit_may_speak_of_fewer_values_than_there_are_classes():
    merged = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    charge, x = charge_of("ratio", np.random.default_rng(1), merged)
    assert charge.prices(x, 0.0).shape == (2, POINTS)
    assert charge.prior == pytest.approx([0.7, 0.3])
