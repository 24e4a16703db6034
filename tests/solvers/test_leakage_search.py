"""The search of `solvers.leakage`: closed forms, random mixtures, programs without an interior, infeasible ones."""

import time
from dataclasses import replace
from fractions import Fraction
from math import log

import numpy as np
import pytest

from dalenius.errors import Infeasible, SolverFailed
from dalenius.solvers.leakage import Program, Term, interior, linear, search, searching
from dalenius.solvers.leakage.arrays import Arrays
from dalenius.solvers.leakage.layout import Layout
from dalenius.solvers.leakage.linear import _rows, row_count
from dalenius.solvers.leakage.simple import linear_channels, stay_or_forget
from dalenius.solvers.lp import OutOfTime
from dalenius.stopping import limited
from tests.effort import effort
from tests.leakage_instances import (
    MIXTURES,
    Source,
    conic,
    exact,
    hamming,
    mixture,
    near,
    odds,
    random_mixture,
    rows,
    steps,
    term,
)
from tests.leakage_solved import GAP, coin, solved


def entropy(p):
    return -sum(x * log(x) for x in (p, 1 - p) if x > 0)


@pytest.mark.parametrize("D", [Fraction(1, 10), Fraction(1, 4), Fraction(2, 5)])
def test_rate_of_a_fair_bit_with_hamming_distortion_is_log_2_minus_its_entropy(D):
    solution, _ = solved(coin(D), 1e-9)
    assert solution.value == pytest.approx(log(2) - entropy(float(D)), abs=1e-9)


@pytest.mark.long
@pytest.mark.parametrize("name", ["combined", "ind", "marginal", "limits"][: effort(1, 4)])
def test_equations_and_several_limits_reach_a_gap_of_1e_9(name):
    solved(mixture(name, 30, secrets=10), 1e-9)


@pytest.mark.parametrize(("crossover", "D"), [(Fraction(1, 5), Fraction(1, 4)), (Fraction(1, 10), Fraction(1, 10))])
def test_leakage_behind_a_binary_symmetric_channel(crossover, D):
    # X is a fair bit and S = X + Bern(a): the least I(S; T) at Hamming distortion D is log 2 - h(a * D).
    a = int(crossover * 10)
    secret = term(np.array([[10 - a, a], [a, 10 - a]], object))
    program = replace(coin(D), mass=np.array([10, 10], object), objective=((Fraction(1), secret),))
    mixed = float(crossover * (1 - D) + D * (1 - crossover))
    assert solved(program, 1e-9)[0].value == pytest.approx(log(2) - entropy(mixed), abs=1e-9)


def test_least_distortion_under_a_leakage_limit_inverts_the_curve():
    limit = near(log(2) - entropy(0.25), 12)
    program = coin(
        Fraction(1), cost=hamming(2), objective=(), leakages=((term(np.diag([1, 1]).astype(object)), limit),)
    )
    assert solved(program, 1e-9)[0].value == pytest.approx(0.25, abs=1e-8)


def test_side_information_counts_group_by_group():
    # Z is the row itself: given Z nothing more can leak, whatever is released.
    mass = np.array([3, 5, 2], object)
    rows = np.zeros((6, 3), object)
    rows[[0, 1], 0], rows[[2, 3], 1], rows[[4, 5], 2] = [1, 2], [4, 1], [1, 1]
    inside = Term(rows, np.array([0, 0, 1, 1, 2, 2]))
    program = Program(
        mass,
        3,
        np.ones((3, 3), bool),
        np.zeros((3, 3), object),
        ((Fraction(1), inside),),
        ((hamming(3), Fraction(1, 9)),),
    )
    assert abs(solved(program)[0].value) < GAP


@pytest.mark.long
@pytest.mark.parametrize("name", [*MIXTURES, "metric", "rate"])
def test_every_mixture_is_certified_and_made_exact(name):
    solved(mixture(name, 12))


@pytest.mark.parametrize("seed", range(effort(10, 60)))
def test_random_mixtures_around_a_known_channel_are_certified(seed):
    program, arrays, point = random_mixture(seed, most=12)
    solution, _ = solved(program)
    if max(arrays.violation(point), arrays.unequal(point)) < 1e-12:
        assert solution.bound <= arrays.value(point) + 1e-12


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1000, 1300))
def test_more_random_mixtures(seed):
    solved(random_mixture(seed)[0])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # cvxpy warns about its own accuracy
@pytest.mark.parametrize("program", [*MIXTURES, "metric", "rate", *range(40)])
def test_a_conic_solver_finds_the_same_value(program):
    program = mixture(program, 10) if isinstance(program, str) else random_mixture(program, most=8)[0]
    solution = search(program, gap=GAP, seconds=60)
    problem = conic(program)
    problem.solve(solver="CLARABEL")
    if problem.status == "optimal":  # its limits are kept to about 1e-8
        assert solution.bound - 1e-6 <= problem.value <= solution.value + 1e-6
    else:
        assert problem.status == "optimal_inaccurate"


@pytest.mark.parametrize("seed", range(effort(8, 20)))
def test_perturbed_multipliers_never_give_a_bound_above_the_value(seed):
    program, _, _ = random_mixture(seed, most=8)
    solution = search(program, gap=GAP, seconds=60)
    rng = np.random.default_rng(seed)

    def moved(v, positive=False):
        v = np.asarray(v) * rng.choice([0.5, 1, 1.1, 3], size=np.shape(v)) + rng.normal(scale=0.1, size=np.shape(v))
        return np.abs(v) if positive else v

    for _ in range(10):
        y = solution.multipliers
        y = replace(
            y,
            posteriors=tuple(map(moved, y.posteriors)),
            leakage=moved(y.leakage),
            distortion=moved(y.distortion),
            worst=tuple(map(moved, y.worst)),
            worst_posteriors=tuple(map(moved, y.worst_posteriors)),
            equal=moved(y.equal),
            pairs=moved(y.pairs),
            floors=tuple((moved(a), moved(b)) for a, b in y.floors),
            odds=tuple(map(moved, y.odds)),
        )
        assert Arrays.of(program).bound(y) <= solution.value + 1e-9


@pytest.mark.parametrize("name", ["dist", "limits", "local", "marginal"])
def test_the_search_begins_inside_the_distortions(name):
    given = Arrays.of(mixture(name, 20))
    layout = Layout(given)
    x = layout.beginning().x
    assert (x > 0).all()
    assert x[:, : layout.n].sum(axis=0) == pytest.approx(given.p, rel=1e-12)
    for C, D in given.distortions:
        assert 0.3 * D < (C.T * x[:, : layout.n]).sum() < D
    # Without a distortion, or with one that silence keeps, nothing is better than silence.
    for distortions in ([], [(C, 2.0) for C, _ in given.distortions]):
        x = Layout(replace(given, distortions=distortions)).beginning().x[:, : layout.n]
        assert x / given.p == pytest.approx(np.tile(given.start[:, None], len(given.p)), rel=1e-9)


def test_progress_is_told_and_time_is_kept():
    heard = []
    search(mixture("dist", 12), gap=GAP, seconds=60, on_progress=lambda *figures: heard.append(figures))
    assert [step for step, _, _ in heard] == sorted(step for step, _, _ in heard)
    assert heard[-1][1] >= heard[-1][2]
    with pytest.raises(SolverFailed, match="time ran out"):
        search(mixture("together", 12), gap=1e-9, seconds=0.0)


@pytest.mark.long
def test_a_gap_beyond_doubles_is_refused_with_the_interval_that_was_found():
    with pytest.raises(SolverFailed, match=r"no gap of 1\.0e-18 .*: 0\.\d+ to 0\.\d+ is the narrowest interval"):
        search(mixture("dist", 6), gap=1e-18, seconds=60)


# --- no interior, nothing to choose, nothing to do ------------------------------------------------


def test_distortion_at_its_least_restricts_the_support():
    src = Source(8)
    cost = exact(np.abs(np.subtract.outer(np.arange(8) // 2, np.arange(8) // 2)))  # two letters suit a row
    program = src.program(objective=((Fraction(1), term(src.secret)),), distortions=((cost, Fraction(0)),))
    solution, W = solved(program)
    assert all(W[e][t] == 0 for e in range(8) for t in range(8) if e // 2 != t // 2)
    assert solution.multipliers.distortion[0] > 0


def test_distortion_zero_leaves_one_channel():
    src = Source(6)
    program = src.program(objective=((Fraction(1), term(src.secret)),), distortions=((hamming(6), Fraction(0)),))
    solution, W = solved(program)
    assert tuple(tuple(Fraction(int(e == t)) for t in range(6)) for e in range(6)) == W
    assert solution.value == pytest.approx(Arrays.of(program).value(np.diag(src.p)), abs=1e-12)


@pytest.mark.parametrize("how", ["leakages", "worst"])
def test_a_limit_of_zero_is_independence(how):
    src = Source(9)
    C = hamming(9)
    silent = src.program(cost=C, **{how: ((term(src.secret), Fraction(0) if how == "leakages" else rows(9, 0)),)})
    apart = src.program(cost=C, independent=(src.secret,))
    one, other = solved(silent, 1e-8)[0], solved(apart, 1e-8)[0]
    assert one.value == pytest.approx(other.value, abs=1e-8)
    mixed = replace(silent, leakages=(*silent.leakages, (term(src.second), near(0.01))))
    solved(mixed)


def test_a_limit_of_zero_given_side_information():
    cells = np.random.default_rng(4).integers(1, 40, size=(6, 2, 2))
    given = Term(cells.reshape(6, 4).T.astype(object), np.array([0, 1, 0, 1]))
    mass = cells.sum(axis=(1, 2)).astype(object)
    program = Program(
        mass,
        6,
        np.ones((6, 6), bool),
        hamming(6),
        leakages=((given, Fraction(0)), (term(np.diag(mass)), Fraction(1, 4))),
    )
    solved(program)


@pytest.mark.parametrize("kind", ["local_dp", "pairs", "odds"])
def test_ratios_of_one_are_equalities(kind):
    src = Source(7)
    one = Fraction(1)
    parts = {
        "local_dp": ((np.array([1, 3, 4]), one),),
        "pairs": ((1, 3, one), (3, 1, one), (4, 3, one), (3, 4, one)),
        "odds": (odds(src.second, src.mass, one),),
    }
    program = src.program(
        objective=((one, term(src.secret)),), distortions=((hamming(7), near(0.6)),), **{kind: parts[kind]}
    )
    _, W = solved(program)
    if kind != "odds":
        assert W[1] == W[3] == W[4]


def test_forbidden_entries_spread_along_ratios():
    src = Source(6)
    allowed = np.ones((6, 6), bool)
    allowed[2, 5] = allowed[0, 1] = False
    program = src.program(
        objective=((Fraction(1), term(src.secret)),),
        allowed=allowed,
        distortions=((hamming(6), near(0.7)),),
        local_dp=((np.array([1, 2, 3]), Fraction(8)),),
        pairs=((4, 3, Fraction(3)),),
    )
    _, W = solved(program)
    assert all(W[e][5] == 0 for e in (1, 2, 3, 4))
    assert all(W[e][1] == 0 for e in (0,))


def test_a_letter_of_mass_zero_is_not_used():
    src = Source(5)
    law = tuple(Fraction(v) for v in (1, 1, 1, 1, 0))
    program = src.program(
        objective=((Fraction(1), term(src.secret)),),
        distortions=((hamming(5), near(0.7)),),
        marginal=tuple(v / 4 for v in law),
    )
    _, W = solved(program)
    assert all(row[4] == 0 for row in W)


@pytest.mark.parametrize(("n", "m"), [(1, 1), (1, 4), (4, 1)])
def test_one_row_or_one_letter(n, m):
    mass = np.arange(1, n + 1).astype(object)
    secret = term(np.array([mass, np.zeros(n, int)]).astype(object)) if n == 1 else term(np.diag(mass))
    program = Program(
        mass,
        m,
        np.ones((n, m), bool),
        np.zeros((n, m), object),
        ((Fraction(1), secret),),
        leakages=((secret, near(0.1)),),
    )
    assert abs(solved(program)[0].value) < GAP


def test_secrets_of_one_value_empty_values_and_weights_of_zero():
    src = Source(6)
    nothing = term(src.mass[None, :])
    padded = term(np.vstack([src.secret, np.zeros((2, 6), int)]).astype(object))
    program = src.program(
        objective=((Fraction(1), padded), (Fraction(3), nothing), (Fraction(0), term(src.second))),
        distortions=((hamming(6), near(0.2)),),
        leakages=((nothing, Fraction(0)),),
    )
    plain = src.program(objective=((Fraction(1), term(src.secret)),), distortions=((hamming(6), near(0.2)),))
    assert solved(program)[0].value == pytest.approx(solved(plain)[0].value, abs=2 * GAP)


def test_duplicate_rows_and_repeated_equalities():
    src = Source(6)
    twice = np.array([0, 0, 1, 2, 3, 4, 5, 5])
    counts = src.secret[:, twice]
    mass = src.mass[twice]
    program = Program(
        mass,
        8,
        np.ones((8, 8), bool),
        np.zeros((8, 8), object),
        ((Fraction(1), term(counts)),),
        ((hamming(8), near(0.9)),),
        independent=(src.attribute[:, twice], src.attribute[:, twice], src.second[:, twice]),
        marginal=tuple(Fraction(int(v), int(mass.sum())) for v in mass),
    )
    solved(program)


def test_slack_limits_have_multipliers_near_zero():
    program = replace(mixture("dist", 8), leakages=((term(Source(8).second), Fraction(50)),))
    solution, _ = solved(program)
    assert solution.multipliers.leakage[0] < 1e-6


def test_large_and_shifted_costs_are_scaled():
    program = mixture("dist", 10)
    C, D = program.distortions[0]
    shifted = np.array([[1000 * v - 7 * e for v in row] for e, row in enumerate(C)], object)
    limit = 1000 * D - Fraction(int(sum(7 * e * int(v) for e, v in enumerate(program.mass))), program.total)
    one, other = solved(program)[0], solved(replace(program, distortions=((shifted, limit),)))[0]
    assert one.value == pytest.approx(other.value, abs=2 * GAP)
    assert one.multipliers.distortion[0] == pytest.approx(1000 * other.multipliers.distortion[0], rel=1e-3)


# --- beyond memory --------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize("name", ["two", "rate", "dist", "zeros"][: effort(2, 4)])
def test_mirror_descent_meets_the_interior_point(name, monkeypatch):
    program = mixture("rate" if name == "rate" else "dist", 10)
    if name == "two":
        program = replace(program, distortions=(*program.distortions, (steps(10), near(0.05))))
    if name == "zeros":
        allowed = np.ones((10, 10), bool)
        allowed[0, 1] = allowed[3, 4:6] = False
        program = replace(program, allowed=allowed)
    gap = 1e-5
    inside = search(program, gap=GAP, seconds=60)
    monkeypatch.setattr(searching, "_DENSE", 1)
    solution, _ = solved(program, gap)
    assert solution.bound <= inside.value
    assert inside.bound <= solution.value


def test_what_neither_method_can_hold_is_refused(monkeypatch):
    monkeypatch.setattr(searching, "_DENSE", 1)
    with pytest.raises(SolverFailed, match="more memory"):
        search(mixture("local", 10), gap=GAP, seconds=60)


def test_point_14_no_linear_program_is_written_out_that_time_does_not_allow():
    program = coin(Fraction(1, 4))
    assert list(linear_channels(program))
    rows = row_count(program)
    assert rows >= len(list(_rows(program)))
    with limited(0):
        assert list(linear_channels(program)), "a small one is written at once"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(linear, "_A_ROW", 1.0)
        with limited(2 * rows):
            assert not list(linear_channels(program))
        assert list(linear_channels(program)), "without an end there is time"


def test_point_14_entries_count_where_limits_have_many(monkeypatch):
    """Limits of distortion are few rows, and may have an entry for every pair of an input and a letter."""
    program = coin(Fraction(1, 4))
    assert linear.quickly_written(program, 1.0)
    monkeypatch.setattr(linear, "_AN_ENTRY", 1.0)
    many = sum(len(row.entries) for row in _rows(program))
    assert not linear.quickly_written(program, many)
    assert linear.quickly_written(program, 100 * many)


def test_point_14_no_linear_program_is_written_for_longer_than_it_has(monkeypatch):
    program = coin(Fraction(1, 4))
    assert linear.linear_optimum(program, Arrays.of(program), loss=0.0, seconds=0.0) is not None
    monkeypatch.setattr(linear, "_A_ROW", 1.0)
    with pytest.raises(OutOfTime, match="longer to write"):
        linear.linear_optimum(program, Arrays.of(program), loss=0.0, seconds=2.0)


def test_point_14_a_search_writes_no_linear_program_that_takes_most_of_the_time(monkeypatch):
    """An interior point goes on without one, and has a channel and a bound to show when its time is up."""
    program = replace(coin(Fraction(1, 4)), leakages=(), objective=())
    assert search(program, gap=GAP, seconds=60).channel is not None, "a vertex"
    monkeypatch.setattr(linear, "_A_ROW", 60.0)
    inside = search(program, gap=GAP, seconds=60)
    assert inside.channel is None
    assert inside.value - inside.bound <= GAP


def test_point_14_the_proof_that_there_is_no_channel_has_an_end(monkeypatch):
    ends = []

    def descend(*words, deadline, **options):
        ends.append(deadline)
        return interior.descend(*words, deadline=deadline, **options)

    monkeypatch.setattr(searching, "descend", descend)
    monkeypatch.setattr(searching, "linear_optimum", _refused)
    with pytest.raises(Infeasible):
        search(replace(coin(Fraction(1, 4)), leakages=(), objective=()), gap=GAP, seconds=60)
    assert ends
    assert max(ends) < time.monotonic() + 60


def _refused(*_, **__):
    raise Infeasible("HiGHS says so, without multipliers")


def test_the_largest_share_that_stays_is_found_between_its_two_ends(monkeypatch):
    limit = near(log(2) - entropy(0.25), 12)
    program = coin(
        Fraction(1), cost=hamming(2), objective=(), leakages=((term(np.diag([1, 1]).astype(object)), limit),)
    )
    given = Arrays.of(program)
    forget = np.array([[1.0, 0.0], [1.0, 0.0]])
    mixtures = [given.p[:, None] * (share * np.eye(2) + (1024 - share) * forget) / 1024 for share in range(1025)]
    best = min(given.value(pi) for pi in mixtures if given.violation(pi) <= 1e-12)
    asked = []
    violation = Arrays.violation

    def counted(self, pi):
        asked.append(pi)
        return violation(self, pi)

    monkeypatch.setattr(Arrays, "violation", counted)
    assert stay_or_forget(program).value == pytest.approx(best, abs=1e-12)
    assert len(asked) <= 13, "limits are convex: halving asks ten times, where every 32nd share was asked before"
