"""Noise as a family: the contract, the bars on a real column, every kind and promise, several columns, refusals."""

import json
from dataclasses import replace
from fractions import Fraction
from math import log2

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dalenius import apply, audit, verify
from dalenius.core import Column, Grid, Noise, Pmf, Problem
from dalenius.core.numbers import exact
from dalenius.documents import checked as check
from dalenius.errors import Infeasible, InputError, NotCertified, Unsupported
from dalenius.mechanisms import solve
from dalenius.mechanisms.numbers import compared, plans, preflight
from dalenius.mechanisms.numbers.design import noise
from dalenius.sampling import Key
from dalenius.solvers.noise import gaussian_sigma
from dalenius.stopping import limited
from dalenius.testing import noisy_dice
from tests.contract import DesignContract, assert_kept
from tests.effort import EVERYTHING, effort

RNG = np.random.default_rng(5)
CODES = np.clip(RNG.gamma(2.0, 12.0, 4000), 0, 100).astype(int)
OTHER = np.clip(CODES // 3 + RNG.integers(0, 9, CODES.size), 0, 50)


@pytest.fixture(autouse=True, scope="module")
def _few_matrices():
    """By default noise on these grids is compared with no matrix, a second each; `tests/cli` does so on small ones."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compared, "FEW", effort(32, compared.FEW))
        yield


def counted(columns, tops):
    """The joint pmf of columns of whole numbers from 0 to their tops; the last may be letters."""
    letters = {n: tuple(map(str, range(t + 1))) if isinstance(t, int) else t for n, t in tops.items()}
    rows, counts = np.unique(np.stack([np.asarray(c) for c in columns], axis=1), axis=0, return_counts=True)
    return Pmf.from_counts(letters, rows, counts.tolist())


ONE = counted([CODES], {"x": 100})
TWO = counted([CODES, OTHER], {"x": 100, "y": 50})
SICK = counted([CODES, (CODES + RNG.integers(0, 60, CODES.size) > 60).astype(int)], {"x": 100, "sick": ("no", "yes")})


def least_told(joint, at_most, kind="shrinkage", about=None, columns=("x",), **mechanism):
    names = list(columns)
    return Problem.from_document(
        {
            "mechanism": {"observe": names, "release": names, "form": "noise", "noise": kind, **mechanism},
            "objective": {"minimize": {"leakage": list(about or names)}},
            "limit": [{"distortion": "squared", "of": names, "at_most": str(at_most)}],
        },
        joint=joint,
    )


def least_error(joint, promise, kind="shrinkage", columns=("x",), **mechanism):
    names = list(columns)
    return Problem.from_document(
        {
            "mechanism": {"observe": names, "release": names, "form": "noise", "noise": kind, **mechanism},
            "objective": {"minimize": {"distortion": "squared", "of": names}},
            "guarantee": [promise] if isinstance(promise, dict) else promise,
        },
        joint=joint,
    )


def within_norm(joint, p, size, kind="max-entropy", goal=None, columns=("x",)):
    names = list(columns)
    return Problem.from_document(
        {
            "mechanism": {"observe": names, "release": names, "form": "noise", "noise": kind},
            "objective": {"minimize": goal or {"leakage": names}},
            "limit": [{"distortion": "norm", "p": p, "of": names, "at_most": str(size)}],
        },
        joint=joint,
    )


def variance(codes):
    n = len(codes)
    return Fraction(int((codes * codes).sum()), n) - Fraction(int(codes.sum()), n) ** 2


def stated(design, key):
    return float(exact(design.stated[key]))


SQUARED = {"objective": {"minimize": {"distortion": "squared", "of": ["X"]}}, "limit": []}


class TestContract(DesignContract):
    """What every family does; numbers have no other names, so that relabelling moves the grid instead."""

    def problems(self):
        return {
            "shrinkage": noisy_dice("4"),
            "gaussian": noisy_dice("2", "gaussian"),
            "leakage": noisy_dice(**SQUARED, guarantee=[{"leakage": ["X"], "at_most_bits": "1/2"}]),
            "epsilon": noisy_dice(kind="laplace", **SQUARED, guarantee=[{"local_dp": "2"}]),
            "contraction": noisy_dice(kind="gaussian", **SQUARED, guarantee=[{"contraction": "1/2"}]),
        }

    def infeasible(self):
        promise = [{"leakage": ["X"], "at_most_bits": "1/10"}]
        return {
            "no error": noisy_dice("0"),
            "too little noise": noisy_dice("1", guarantee=promise),
            "no level": noisy_dice(kind="laplace", **SQUARED, guarantee=[{"local_dp": "0"}]),
        }

    def assert_false_claims_are_refused(self, design):
        better = {"value": design.bound - Fraction(1, 10**9), "bound": design.value + design.gap + Fraction(1, 10**9)}
        for key, claim in better.items():
            document = json.loads(design.dumps()) | {key: str(claim), "gap": "10000"}
            with pytest.raises(NotCertified):
                check(json.dumps(document))
        document = json.loads(design.dumps())
        weights = document["channel"]["axes"][0]["weights"]
        weights[0] = str(2 * int(weights[0]) + 1)
        with pytest.raises(NotCertified):
            check(json.dumps(document))

    def test_rows_of_impossible_inputs_repeat_the_output_pmf(self, problem):
        """Not of noise: a number that never occurred is released like every other one, and the promise covers it."""
        joint = Pmf.from_records(problem.pmf.variables, [((x,), 1) for x in "01235689"])
        design = self.solve(replace(problem, joint=joint))
        assert len(set(design.channel.rows)) > 1
        for guarantee in problem.guarantees:
            assert_kept(replace(problem, joint=joint), design.channel.rows, guarantee)

    @given(st.integers(1, 10**6))
    @settings(deadline=None, max_examples=effort(1, 2), suppress_health_check=[HealthCheck.differing_executors])
    def test_relabelling_letters_does_not_change_the_figures(self, problem, order):
        moved = tuple(str(int(x) + order) for x in "0123456789")
        joint = Pmf.from_records({"X": moved}, [((x,), 1) for x in moved])
        here, there = self.solved(problem), self.solve(replace(problem, joint=joint))
        assert (here.value, here.bound) == (there.value, there.bound)


# --- the bars --------------------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def chronic():
    """The index of chronic diseases of the RAND Health Insurance Experiment, in tenths."""
    from statsmodels.datasets import randhie

    codes = np.round(randhie.load_pandas().data["disea"].to_numpy() * 10).astype(int)
    letters = {"x": tuple(str(Fraction(k, 10)) for k in range(601))}
    places, counts = np.unique(codes, return_counts=True)
    return Pmf.from_counts(letters, places[:, None], counts.tolist()), variance(codes) / 100


@pytest.mark.slow
def test_shrinkage_tells_a_fifth_of_added_noise_on_a_real_column(chronic):
    joint, spread = chronic
    allowed = Fraction(9, 10) * spread
    shrunk, added = (solve(least_told(joint, allowed, kind)) for kind in ("shrinkage", "gaussian"))
    assert float(shrunk.value) <= float(added.value) / 5
    assert float(shrunk.value) <= 0.5 * log2(10 / 9) + 1e-3  # 1/2 log2 (v / D)
    assert float(added.value) <= 0.5 * log2(1 + 10 / 9)
    for design in (shrunk, added):
        assert float(allowed) * 0.999 <= stated(design, "distortion") <= float(allowed)
        check(design.dumps())
    (told,) = (r for r in shrunk.remarks if "added Gaussian noise" in r)
    assert "times as much" in told


# --- every kind ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("kind", ["shrinkage", "gaussian", "laplace"])
@pytest.mark.parametrize("share", [Fraction(1, 20), pytest.param(Fraction(19, 20), marks=pytest.mark.slow)])
def test_a_distortion_is_met_and_spent(kind, share):
    design = solve(least_told(ONE, share * variance(CODES), kind))
    allowed = float(share * variance(CODES))
    assert allowed * 0.99 <= stated(design, "distortion") <= allowed
    assert 0 <= design.bound <= design.value


@pytest.mark.parametrize(
    ("kind", "promise", "figure", "least"),
    [
        ("shrinkage", {"leakage": ["x"], "at_most_bits": "1/5"}, "leakage_bits", 0.199),
        pytest.param(
            "gaussian", {"leakage": ["x"], "at_most_bits": "1/5"}, "leakage_bits", 0.199, marks=pytest.mark.slow
        ),
        pytest.param(
            "gaussian", {"dalenius": True, "at_most_bits": "1/2"}, "capacity_bits", 0.48, marks=pytest.mark.slow
        ),
        ("gaussian", {"contraction": "3/10"}, "eta_kl", 0.299),
    ],
)
def test_a_promise_is_kept_and_spent(kind, promise, figure, least):
    design = solve(least_error(ONE, promise, kind))
    limit = float(exact(promise.get("at_most_bits", promise.get("contraction"))))
    assert least <= float(exact(design.proved[0][figure])) <= limit
    assert design.unit == "distortion"


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", ["1/10", "5"])
def test_laplace_noise_has_the_epsilon_asked_for(epsilon):
    design = solve(least_error(ONE, {"local_dp": epsilon}, "laplace"))
    assert float(Fraction(epsilon)) * (1 - 1e-9) <= stated(design, "epsilon_nats") <= float(Fraction(epsilon))
    assert design.channel.shape == (101, 101)


@pytest.mark.slow
def test_gaussian_noise_has_the_least_scale_for_epsilon_and_delta():
    design = solve(least_error(ONE, {"local_dp": "1", "delta": "1e-5"}, "gaussian"))
    assert 0.999e-5 <= float(exact(design.proved[0]["delta"])) <= 1e-5
    sigma = float(design.value) ** 0.5
    assert sigma == pytest.approx(gaussian_sigma(1, 1e-5, sensitivity=100), rel=1e-3)  # fine against the range


@pytest.mark.long
@pytest.mark.parametrize("p", ["1", "3/2", "2", "4", "inf"] if EVERYTHING else ["3/2", "inf"])
def test_max_entropy_noise_has_its_norm(p):
    design = solve(within_norm(ONE, p, "7/2"))
    reached = float(exact(design.realised[0]["expected"]))
    assert (3 if p == "inf" else 3.5 * (1 - 1e-9)) <= reached <= 3.5
    if p == "inf":
        assert design.channel.axes[0].weights == (1, 1, 1, 1)  # floor(7/2) steps (E12)
    assert (design.bound > 1) == (p == "2")  # a norm of order 2 is a squared error


@pytest.mark.long
def test_minimum_capacity_noise_beats_max_entropy_noise_and_says_how_near_it_is():
    joint = Pmf.from_records({"x": ("-1", "0", "1")}, [(("-1",), 1), (("0",), 2), (("1",), 1)])
    goal = {"capacity": True}
    least = solve(within_norm(joint, "inf", 1, "minimum-capacity", goal))
    star = solve(within_norm(joint, "inf", 1, "max-entropy", goal))
    assert float(star.value) == pytest.approx(2 / 3, abs=1e-3)
    assert least.value < Fraction(6577, 10000) < star.value
    assert least.gap < Fraction(1, 1000)
    assert (star.bound, least.bound > 0) == (0, True)


def test_a_distortion_beyond_the_variance_releases_the_mean():
    design = solve(least_told(ONE, 10_000))
    assert design.channel.output["x"] == (str(round(float(CODES.mean()))),)
    assert design.value == stated(design, "capacity_bits") == stated(design, "epsilon_nats") == 0
    assert "the mean is released for every record" in " ".join(design.remarks)


def test_a_column_without_variance_is_released_as_it_is_known():
    design = solve(least_told(counted([np.full(50, 7)], {"x": 100}), 1))
    assert design.channel.output["x"] == ("7",)


@pytest.mark.long
def test_coarse_grids_near_the_variance_are_served():
    codes = np.array([0] * 55 + [1] * 20 + [2] * 10 + [5] * 10 + [20] * 5)
    for share in (Fraction(9, 10), Fraction(49, 50)):
        design = solve(least_told(counted([codes], {"x": 20}), share * variance(codes)))
        assert stated(design, "distortion") <= float(share * variance(codes)) + 1e-9


@pytest.mark.long
def test_a_clipped_release_stays_in_its_range():
    half = variance(CODES) / 2
    design = solve(least_told(ONE, half, "gaussian", clip={"x": ["0", "100"]}))
    free = solve(least_told(ONE, half, "gaussian"))
    assert design.channel.output["x"] == tuple(str(k) for k in range(101))
    assert design.value <= free.value  # post-processing
    assert stated(design, "distortion") <= stated(free, "distortion")
    with pytest.raises(InputError, match="begin and end on the grid"):
        solve(least_told(ONE, half, "gaussian", clip={"x": ["1/2", "100"]}))
    with pytest.raises(InputError, match="not released"):
        solve(least_told(ONE, half, "gaussian", clip={"z": ["0", "100"]}))


@pytest.mark.long
# --- a secret beside the numbers -------------------------------------------------------------------------------------
def test_the_leakage_about_another_column_is_exact_and_less():
    design = solve(least_told(SICK, 100, about=["sick"]))
    whole = solve(least_told(SICK, 100))
    assert 0 < design.value < whole.value
    rows, p = design.channel.rows, design.problem.pmf
    both = np.zeros((2, design.channel.shape[1]))
    for (x, s), n in zip(p.support.tolist(), p.weights.tolist(), strict=True):
        both[s] += float(Fraction(int(n), p.total)) * np.array([float(v) for v in rows[x]])
    used = both > 0
    apart = both.sum(axis=1, keepdims=True) * both.sum(axis=0, keepdims=True)
    assert float(design.value) == pytest.approx((both[used] * np.log2(both[used] / apart[used])).sum(), abs=1e-9)


@pytest.mark.long
def test_noise_is_calibrated_to_what_it_tells_about_another_column():
    design = solve(least_error(SICK, {"leakage": ["sick"], "at_most_bits": "1/20"}))
    assert 0.0499 <= float(exact(design.proved[0]["leakage_bits"])) <= 0.05
    assert stated(design, "leakage_bits") > 0.05


@pytest.mark.long
# --- several columns -------------------------------------------------------------------------------------------------
def test_principal_axes_tell_less_than_columns_one_by_one_where_columns_go_together():
    design = solve(least_told(TWO, 100, columns=("x", "y")))
    assert design.method.endswith("noise along the principal axes")
    assert stated(design, "distortion") <= 100
    (other,) = (r for r in design.remarks if r.startswith("chosen"))
    assert "noise for each column would reveal" in other
    assert float(design.value) < 0.95 * float(other.split("would reveal ")[1].split(" bits")[0])
    values = np.linalg.eigvalsh(np.cov(np.stack([CODES, OTHER]), bias=True))
    level = 100 - values[0] if values[0] < 50 else 50
    ideal = sum(0.5 * log2(v / min(v, level)) for v in values)
    assert float(design.value) <= ideal + 0.05  # of Gaussian records, without rounding
    check(design.dumps())


@pytest.mark.long
def test_independent_columns_share_their_distortion_by_reverse_water_filling():
    loose = counted([CODES, RNG.permutation(OTHER)], {"x": 100, "y": 50})
    allowed = (variance(CODES) + variance(OTHER)) / 2
    design = solve(least_told(loose, allowed, clip={"x": ["-200", "300"]}, columns=("x", "y")))  # one axis a column
    assert all(axis.take[1 - j] == 0 for j, axis in enumerate(design.channel.axes))
    assert design.channel.output["y"] == (str(round(float(OTHER.mean()))),)  # below the water: nothing is told


@pytest.mark.long
def test_levels_of_several_columns_add():
    design = solve(least_error(TWO, {"local_dp": "2"}, "laplace", columns=("x", "y")))
    assert 2 * (1 - 1e-9) <= stated(design, "epsilon_nats") <= 2
    assert design.channel.shape == (101 * 51, 101 * 51)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["shrinkage", pytest.param("gaussian", marks=pytest.mark.slow)])
def test_a_release_along_axes_is_drawn_audited_and_a_wrong_one_is_seen(kind):
    import pyarrow as pa

    problem = replace(
        least_told(TWO, 60, kind, columns=("x", "y")),
        columns={n: Column(grid=Grid(Fraction(0), Fraction(t), Fraction(1))) for n, t in (("x", 100), ("y", 50))},
        order="keep",
    )
    design = solve(problem)
    table = pa.table({"x": CODES, "y": OTHER})
    released, seen = apply(design, table, key=Key.unsafe(3))
    assert not seen.contradicts
    assert len(seen.findings) == len(design.channel.axes)
    letters = {n: [a[c] for c in codes] for n, (codes, a) in released.columns.items()}
    assert not audit(design, released=pa.table(letters), original=table).contradicts
    channel = design.channel
    half = tuple(replace(axis, weights=axis.weights[: len(axis.weights) // 6]) for axis in channel.axes)
    narrow = replace(design, channel=Noise(channel.inputs, channel.output, half, channel.give, channel.shift))
    from dalenius.mechanisms.applying import draw
    from dalenius.tables import encode, open_table

    wrong = draw(narrow, encode(open_table(table), problem.columns, ["x", "y"]), key=Key.unsafe(3))
    from dalenius.evidence import examine

    assert examine(design, wrong.inputs, wrong.letters).contradicts


@pytest.mark.long
def test_another_table_is_proved_anew_or_refused():
    import pyarrow as pa

    columns = {"x": Column(grid=Grid(Fraction(0), Fraction(100), Fraction(1)))}
    design = solve(replace(least_error(ONE, {"leakage": ["x"], "at_most_bits": "1/5"}), columns=columns))
    near, wide = np.clip(CODES + RNG.integers(-1, 2, CODES.size), 0, 60), RNG.integers(0, 2, 500) * 100
    apply(design, pa.table({"x": near}), key=Key.unsafe(1))
    with pytest.raises(NotCertified, match="does not hold for this table"):
        apply(design, pa.table({"x": wide}), key=Key.unsafe(1))
    assert verify(design).rule == "noise"


@pytest.mark.long
@settings(max_examples=8, deadline=None)
@given(
    st.lists(st.integers(0, 12), min_size=1, max_size=30),
    st.sampled_from(["shrinkage", "gaussian", "laplace"]),
    st.fractions(Fraction(1, 10), Fraction(2)),
)
def test_whatever_the_records_are_the_design_is_proved(values, kind, d):
    design = solve(least_told(counted([np.array(values)], {"x": 12}), d, kind))
    check(design.dumps())
    assert stated(design, "distortion") <= float(d) + 1e-9


@pytest.mark.parametrize("d", ["8/5", "573/350", "833/500"])
def test_between_the_variance_and_the_error_of_a_constant_on_the_grid(d):
    design = solve(least_told(counted([np.array([0, 1, 3])], {"x": 12}), Fraction(d), "shrinkage"))
    assert 0 < design.value < Fraction(2, 10)  # a constant is 5/3 off: it is not allowed yet
    assert stated(design, "distortion") <= float(Fraction(d)) + 1e-9


# --- refusals --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("problem", "error", "message"),
    [
        (least_error(ONE, {"local_dp": "1"}), Unsupported, "cannot be made to keep this level"),
        (least_error(ONE, {"local_dp": "1"}, "gaussian"), Unsupported, "cannot be made to keep this level"),
        (
            least_error(ONE, {"local_dp": "1", "delta": "1/9"}, "laplace"),
            Unsupported,
            "cannot be made to keep this level",
        ),
        (least_error(ONE, {"independent": ["x"]}), Unsupported, "not independent"),
        (least_error(ONE, {"local_dp": "1", "metric": [[0, 1], [1, 0]]}, "laplace"), Unsupported, "without metric"),
        (least_told(ONE, 9, "max-entropy"), Unsupported, 'one limit with distortion = "norm"'),
        (within_norm(ONE, "2", 9, "gaussian"), Unsupported, 'measured by distortion = "squared"'),
        (within_norm(ONE, "3", 9, "minimum-capacity"), Unsupported, "p = 1, 2 or inf"),
        (within_norm(ONE, "2", 0), Infeasible, "norm of 0"),
        (replace(least_told(ONE, 9), limits=()), Unsupported, "one limit"),
        (replace(least_told(SICK, 9), keep=("sick",)), Unsupported, "does not take keep"),
        (replace(least_told(TWO, 9), release=("y",)), Unsupported, "releases exactly the columns"),
        (least_told(SICK, 9, columns=("sick",)), Unsupported, "'sick' has a value that is none"),
        (least_told(counted([[0, 1]], {"x": ("0", "1", "7")}), 9), Unsupported, "are not one; declare its grid"),
    ],
)
def test_what_cannot_be_asked_is_refused(problem, error, message):
    with pytest.raises(error, match=message):
        solve(problem)


@pytest.mark.long
def test_less_error_than_rounding_leaves_columns_one_by_one():
    design = solve(least_told(TWO, "1/10", columns=("x", "y")))
    assert design.method.endswith("noise for each column")
    assert float(design.value) == pytest.approx(stated(design, "leakage_bits"), abs=1e-9)


@pytest.mark.parametrize("problem", [noisy_dice(), least_error(ONE, {"contraction": "3/10"}, "gaussian")])
def test_point_14_noise_that_cannot_be_proved_in_time_is_refused_before_its_weights_are_made(monkeypatch, problem):
    monkeypatch.setattr(preflight, "WEIGHT", 10.0)
    monkeypatch.setattr(plans, "power_weights", lambda *_: pytest.fail("exact weights take long"))
    with limited(7), pytest.raises(Unsupported, match=r"the noise reaches over [\d,]+ steps .* larger step"):
        noise(problem)


def test_point_14_the_least_error_is_searched_for_half_of_the_time(monkeypatch):
    """Without time the noise is that of the first error that is enough, and proved."""
    problem = least_error(ONE, {"contraction": "3/10"}, "gaussian")
    with limited(0):
        early = noise(problem)
    assert early.value > noise(problem).value
    assert float(exact(early.proved[0]["eta_kl"])) <= 0.3


def test_a_grid_that_cannot_be_proved_in_time_is_refused_with_what_would_help(monkeypatch):
    monkeypatch.setattr(preflight, "POINT", 10.0)
    with pytest.raises(
        Unsupported, match=r"the grid of \w+ has [\d,]+ points; the proof alone takes about .* larger step"
    ):
        noise(noisy_dice(), seconds=7)
