"""The exact channel of `solvers.leakage`: equalities with forbidden entries, and limits seen to be broken."""

from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from dalenius.errors import SolverFailed
from dalenius.solvers.leakage import Multipliers, Program, Solution, rational, search
from dalenius.solvers.leakage.limits import Limits, whole
from tests.effort import effort
from tests.leakage_instances import MIXTURES, Source, hamming, mixture, near, odds, random_mixture, term

GAP = 1e-6


def exact(program):
    return np.array(rational(program, search(program, gap=GAP, seconds=60)), dtype=object)


@cache
def exact_mixture(name):
    """The channel of a mixture on ten rows, found once for all tests that look at it; nobody may write into it."""
    return exact(mixture(name, 10))


def ratio_only(part):
    return part in ("local_dp", "pairs")


def independence(program, W):
    """The largest |p(v, t) - p(v) p(t)|, in Fractions."""
    mass, total = program.mass, program.total
    letters = (mass[:, None] * W).sum(axis=0) / Fraction(total)
    worst = Fraction(0)
    for view in program.independent:
        joint = view @ W
        for v, seen in enumerate(view.sum(axis=1)):
            worst = max(
                worst,
                *(abs(j / total - Fraction(int(seen), total) * q) for j, q in zip(joint[v], letters, strict=True)),
            )
    return worst


@pytest.mark.parametrize("zeros", [False, True])
def test_two_views_and_a_marginal_hold_exactly(zeros):
    src = Source(20)
    allowed = np.ones((20, 20), bool)
    if zeros:
        allowed[np.arange(20), (np.arange(20) * 7 + 3) % 20] = False  # one in every row and every letter
    program = src.program(
        objective=((Fraction(1), term(src.secret)),),
        allowed=allowed,
        independent=(src.attribute, src.second),
        marginal=src.marginal,
    )
    W = exact(program)
    assert independence(program, W) == 0
    assert all(sum(row) == 1 and min(row) >= 0 for row in W)
    assert not W[~allowed].any()
    assert ((program.mass[:, None] * W).sum(axis=0) == program.mass).all()


@pytest.mark.long
@pytest.mark.parametrize("seed", range(effort(8, 20)))
def test_random_channels_sum_to_one_without_error(seed):
    program, _, _ = random_mixture(seed, most=9)
    W = exact(program)
    assert all(sum(row) == 1 and min(row) >= 0 for row in W)
    assert independence(program, W) == 0
    for C, D in program.distortions:
        assert (program.mass[:, None] * W * C).sum() <= D * program.total


@pytest.mark.long
@pytest.mark.parametrize("name", MIXTURES)
def test_denominators_stay_short(name):
    W = exact_mixture(name)
    assert max(v.denominator for v in W.ravel()) < 2**140


@pytest.mark.parametrize("name", MIXTURES)
def test_one_unit_taken_from_a_row_is_seen(name):
    program = mixture(name, 10)
    K, den = whole(exact_mixture(name))
    examiner = Limits(program)
    assert examiner.broken(K, den) is None
    wrong = K.copy()
    wrong[3, int(wrong[3].argmax())] -= 1
    assert examiner.broken(wrong, den) == "a row does not sum to one"


@pytest.mark.parametrize(
    ("name", "words"), [("ind", "independent"), ("marginal", "stated distribution"), ("together", "independent")]
)
def test_one_unit_moved_between_letters_breaks_an_equality(name, words):
    program = mixture(name, 10)
    K, den = whole(exact_mixture(name))
    wrong = K.copy()
    low, high = int(wrong[2].argmin()), int(wrong[2].argmax())
    wrong[2, low], wrong[2, high] = wrong[2, low] + 1, wrong[2, high] - 1
    free = replace(program, distortions=())
    assert words in Limits(free).broken(wrong, den)


@pytest.mark.parametrize(
    ("name", "part", "words"),
    [
        ("dist", "distortions", "distortion"),
        ("mindist", "leakages", "leakage limit"),
        ("limits", "leakages", "leakage limit"),
        ("worst", "worst", "value leaks"),
        ("local", "local_dp", "local privacy"),
        ("metric", "pairs", "ratio of rows"),
    ],
)
def test_tighter_limits_are_seen_as_broken(name, part, words):
    program = mixture(name, 10)
    # A channel that uses its limit to the full; then the limit is halved (ratios: brought halfway to one).
    K, den = whole(
        exact_mixture(name) if name != "metric" else np.array(np.eye(10, dtype=int) + 1, object) * Fraction(1, 11)
    )
    limits = getattr(program, part)
    program = replace(program, distortions=()) if ratio_only(part) else program
    ratio = ratio_only(part)
    tighter = tuple((*rest, 1 + (last - 1) / 100 if ratio else last / 2) for *rest, last in limits)
    assert words in Limits(replace(program, **{part: tighter})).broken(K, den)


def test_forbidden_transitions_negative_entries_and_odds_are_seen():
    src = Source(4)
    allowed = np.ones((4, 4), bool)
    allowed[0, 0] = False
    identity = np.eye(4, dtype=int).astype(object)
    assert Limits(src.program(allowed=allowed)).broken(identity, 1) == "a forbidden transition is taken"
    wrong = identity.copy()
    wrong[1, 0], wrong[1, 1] = -1, 2
    assert "an entry is -1" in Limits(src.program()).broken(wrong, 1)
    assert "odds" in Limits(src.program(odds=(odds(src.second, src.mass, Fraction(101, 100)),))).broken(identity, 1)
    silent = src.program(leakages=((term(src.secret), Fraction(0)),))
    assert "leakage" in Limits(silent).broken(identity, 1)
    assert Limits(silent).broken(np.array([[1, 0, 0, 0]] * 4, object), 1) is None


def test_a_point_far_outside_is_not_repaired():
    src = Source(6)
    program = src.program(
        cost=hamming(6), leakages=((term(src.secret), near(1e-3)),), distortions=((hamming(6), near(0.3)),)
    )
    outside = Solution(np.diag(src.p), Multipliers(), 0.0, 0.0, 0)
    with pytest.raises(SolverFailed, match="no exact recipe"):
        rational(program, outside)


@pytest.mark.parametrize("seed", range(effort(4, 60)))
def test_letters_that_lack_more_than_small_entries_hold_are_mended(seed):
    """Near the least distortion most entries are tiny beside what a double of the search leaves of an equality."""
    rng = np.random.default_rng(seed)
    n = 8
    mass = np.array([2 * int(v) for v in rng.integers(500, 2000, n)], object)
    mass[1] = mass[0]
    p = (mass / mass.sum()).astype(float)
    pi = 1e-9 * 10.0 ** rng.uniform(-3, 0, (n, n)) * 10.0 ** rng.uniform(-2, 0, n)
    np.fill_diagonal(pi, 0.0)
    np.fill_diagonal(pi, p - pi.sum(axis=1))
    pi[:2] = pi[:2].mean(axis=0)
    view = mass // 2
    view[:2] += (1, -1)  # of which only the first two rows tell something: they must be equal
    C = hamming(n)
    program = Program(
        mass=mass,
        letters=n,
        allowed=np.ones((n, n), bool),
        cost=np.zeros((n, n), object),
        distortions=((C, near((C.astype(float) * pi).sum(), digits=15)),),
        marginal=tuple(Fraction(int(v), int(mass.sum())) for v in mass),
        independent=(np.array([view, mass - view]),),
    )
    assert np.abs(pi.sum(axis=0) - p).max() > 1e-11
    W = np.array(rational(program, Solution(pi, Multipliers(), 0.0, 0.0, 0)), dtype=object)
    assert Limits(program).broken(*whole(W)) is None
    assert np.abs(W.astype(float) * p[:, None] - pi).max() < 1e-8
