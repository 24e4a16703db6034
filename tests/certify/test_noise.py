"""The proof of noise on a grid: against brute force over the rows, and refusal of every false claim."""

import copy
import json
from fractions import Fraction
from functools import cache
from math import exp, log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dalenius.convert import checked as check
from dalenius.certify.noise import AxisProof, NoiseProof
from dalenius.core import Noise, Pmf, channel_of
from dalenius.core.forms.noise import NoiseAxis
from dalenius.core.shifting import convolved
from dalenius.designs import solve
from dalenius.errors import NotCertified
from dalenius.testing import noisy_dice
from tests.effort import effort


@st.composite
def channels(draw):
    n = draw(st.integers(1, 6))
    weights = draw(st.lists(st.integers(0, 9), min_size=1, max_size=5).filter(any))
    keep = draw(st.sampled_from([Fraction(0), Fraction(1, 3), Fraction(7, 10), Fraction(1)]))
    centre = Fraction(draw(st.integers(0, 8)), 3)
    clip = draw(st.none() | st.tuples(st.integers(-3, 2), st.integers(2, 8)))
    return Noise.on_grid("x", [Fraction(i, 2) for i in range(n)], keep, centre, weights, clip)


@st.composite
def crossed(draw):
    """Two columns and two axes across them."""
    sizes = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    names = {
        n: tuple(str(Fraction(i * (j + 1), 2)) for i in range(m))
        for j, (n, m) in enumerate(zip("xy", sizes, strict=True))
    }
    number = st.integers(-4, 4).map(lambda k: Fraction(k, 4))
    law = st.lists(st.integers(1, 9), min_size=1, max_size=3)
    axes = [NoiseAxis.open([draw(number), draw(number)], draw(number), sizes, draw(law)) for _ in range(2)]
    told = {n: tuple(str(Fraction(i * (j + 1), 2)) for i in range(-6, 9)) for j, n in enumerate("xy")}
    give = tuple((draw(number), draw(number)) for _ in range(2))
    return Noise(names, told, tuple(axes), give, (6 + draw(number), 6 + draw(number)))


def axis_of(channel):
    return AxisProof(channel.axes[0].to_json(), [channel.shape[0]])


def proof_of(channel, numbers):
    """The proof for records with these counts, in the order of the rows."""
    outcomes = channel.outcomes()
    counts = numbers[: len(outcomes)]
    joint = Pmf.from_records(channel.inputs, zip(outcomes, counts if any(counts) else [1] * len(outcomes), strict=True))
    certificate = {"priors": [[[0, 1]]] * len(channel.axes), "variances": ["1000"] * len(channel.axes)}
    return joint, NoiseProof({"channel": channel.to_json(), "joint": joint.to_json()}, certificate)


def told(joint, rows, channel):
    p = [float(joint.probability(**dict(zip(channel.inputs, x, strict=True)))) for x in channel.outcomes()]
    out = [sum(a * float(row[y]) for a, row in zip(p, rows, strict=True)) for y in range(len(rows[0]))]
    return sum(
        a * float(v) * log2(float(v) / out[y])
        for a, row in zip(p, rows, strict=True)
        for y, v in enumerate(row)
        if v and a
    )


def squared(joint, channel):
    total = Fraction(0)
    for x, row in zip(channel.outcomes(), channel.rows, strict=True):
        p = joint.probability(**dict(zip(channel.inputs, x, strict=True)))
        for y, v in zip(channel.letters(), row, strict=True):
            total += p * v * sum((Fraction(a) - Fraction(b)) ** 2 for a, b in zip(x, y, strict=True))
    return total


def excess(rows, much):
    pairs = ((p, q) for p in rows for q in rows)
    return max(sum(max(0.0, float(a) - much * float(b)) for a, b in zip(p, q, strict=True)) for p, q in pairs)


def eta(rows):
    """The two-point formula on a grid of points."""
    best = 0.0
    for p in rows:
        for q in rows:
            both = [(float(u), float(v)) for u, v in zip(p, q, strict=True) if u and v]
            for b in (k / 8 for k in range(1, 8)):
                best = max(best, 1 - sum(u * v / (b * u + (1 - b) * v) for u, v in both))
    return best


@settings(max_examples=effort(15, 50), deadline=None)
@given(channels(), st.lists(st.integers(0, 20), min_size=6, max_size=6))
def test_every_figure_agrees_with_brute_force(channel, numbers):
    axis, rows, n = axis_of(channel), channel.rows, channel.shape[0]
    joint, proof = proof_of(channel, numbers)
    assert float(proof.told(["x"])) == pytest.approx(told(joint, rows, channel), abs=1e-12)
    assert proof.channel.plain
    assert proof.channel.squared(proof.records) == squared(joint, channel)
    ratios = [(max(c), min(c)) for c in zip(*rows, strict=True) if max(c)]
    if any(not low for _, low in ratios):
        assert proof.level is None
    else:
        assert exp(float(proof.level)) == pytest.approx(float(max(a / b for a, b in ratios)), rel=1e-12)
    for epsilon in (Fraction(0), Fraction(1, 2), Fraction(2)):
        assert float(proof.excess(epsilon)) == pytest.approx(excess(rows, exp(float(epsilon))), abs=1e-12)
    assert eta(rows) <= float(proof.contraction) + 1e-12
    shifts = dict.fromkeys(range(axis.first, axis.last + 1), 1)
    place = [axis.c((i,)) for i in range(n)]
    q = [sum(rows[place.index(c)][y] for c in shifts if c in place) / len(shifts) for y in range(len(rows[0]))]
    ball = max(sum(float(p) * log2(p / t) for p, t in zip(row, q, strict=True) if p and t) for row in rows)
    if (all(q) or axis.low == axis.high or axis.first == axis.last) and set(shifts) == set(place):
        assert float(axis.capacity(shifts)) == pytest.approx(ball, abs=1e-12)


@settings(max_examples=12, deadline=None)
@given(crossed(), st.lists(st.integers(0, 20), min_size=9, max_size=9))
def test_axes_across_columns_tell_no_more_than_the_sums_over_them(channel, numbers):
    joint, proof = proof_of(channel, numbers)
    rows = channel.rows
    assert told(joint, rows, channel) <= float(proof.told(["x", "y"])) + 1e-12
    assert float(squared(joint, channel)) <= float(proof.channel.squared(proof.records)) + 1e-12
    for epsilon in (Fraction(0), Fraction(1)):
        assert excess(rows, exp(float(epsilon))) <= float(proof.excess(epsilon)) + 1e-12
    if proof.level is not None:
        assert all(min(c) * exp(float(proof.level)) * (1 + 1e-12) >= max(c) for c in zip(*rows, strict=True))
    assert eta(rows) <= float(proof.contraction) + 1e-12


@settings(max_examples=40, deadline=None)
@given(channels(), st.lists(st.integers(1, 20), min_size=12, max_size=12))
def test_a_secret_beside_the_numbers_is_told_as_much_as_the_rows_say(channel, numbers):
    """I(S; Y) for a secret of two values, and the bound of every mechanism below it."""
    letters = {**channel.inputs, "s": ("a", "b")}
    outcomes = [(x, s) for x in channel.inputs["x"] for s in "ab"]
    joint = Pmf.from_records(letters, zip(outcomes, numbers[: len(outcomes)], strict=True))
    document = {"channel": channel.to_json(), "joint": joint.to_json()}
    proof = NoiseProof(document, {"priors": [[[0, 1]]], "variances": ["1000"]})
    p = {o: float(joint.probability(x=o[0], s=o[1])) for o in outcomes}
    place = {x: i for i, x in enumerate(channel.inputs["x"])}
    both = {
        (s, y): sum(p[x, s] * float(channel.rows[place[x]][y]) for x in place)
        for s in "ab"
        for y in range(channel.shape[1])
    }
    out = [both["a", y] + both["b", y] for y in range(channel.shape[1])]
    alone = {s: sum(p[x, s] for x in place) for s in "ab"}
    expected = sum(v * log2(v / (alone[s] * out[y])) for (s, y), v in both.items() if v)
    assert float(proof.told(["s"])) == pytest.approx(expected, abs=1e-12)
    assert float(proof.least_told(["s"], proof.channel.squared(proof.records))) <= expected + 1e-12


@settings(max_examples=40, deadline=None)
@given(channels(), st.lists(st.integers(1, 20), min_size=6, max_size=6))
def test_no_law_of_the_records_exceeds_the_bound_from_its_variance(channel, numbers):
    _, proof = proof_of(channel, numbers)
    bound = proof.axes[0].from_variance(proof.records.variance(proof.axes[0]))
    assert proof.told(["x"]) <= bound + Fraction(1, 10**40)  # both are rounded up


@settings(max_examples=40, deadline=None)
@given(st.lists(st.floats(0.05, 3), min_size=4, max_size=4), st.floats(0.2, 3))
def test_what_must_stay_unknown_bounds_real_mechanisms_of_any_alphabet(spread, step):
    """Letters between the grid points are covered too: X on a grid of that step, Y the mean of each half of it."""
    points = [Fraction(step).limit_denominator(10**6) * k for k in range(4)]
    channel = Noise.on_grid("x", points, Fraction(1), Fraction(0), (1,))
    joint, proof = proof_of(channel, [1 + round(10 * v) for v in spread])
    p = [float(joint.probability(x=v)) for v in channel.inputs["x"]]
    bits, error = 0.0, 0.0
    for half in ((0, 1), (2, 3)):
        mass = sum(p[i] for i in half)
        if mass:
            y = sum(p[i] * float(points[i]) for i in half) / mass
            error += sum(p[i] * (float(points[i]) - y) ** 2 for i in half)
            bits -= mass * log2(mass)
    assert float(proof.least_told(["x"], Fraction(error))) <= bits + 1e-9
    assert float(proof.least_error(["x"], Fraction(bits))) <= error + 1e-9


@settings(max_examples=effort(20, 60), deadline=None)
@given(
    st.lists(st.integers(1, 20), min_size=4, max_size=4),
    st.lists(st.integers(1, 1000), min_size=4, max_size=4),
    st.fractions(Fraction(1, 50), Fraction(4)),
    st.lists(st.lists(st.integers(0, 9), min_size=4, max_size=4).filter(any), min_size=4, max_size=4),
)
def test_no_slope_and_no_weights_raise_the_line_above_the_rate_of_any_channel(numbers, weights, slope, rows):
    channel = Noise.on_grid("x", [Fraction(k, 2) for k in range(4)], Fraction(1), Fraction(0), (1,))
    joint, proof = proof_of(channel, numbers)
    line = {"slope": str(slope), "weights": [[i, w] for i, w in enumerate(weights)]}
    b, s = proof.records.unknown(line, proof.channel)
    p = [float(joint.probability(x=v)) for v in channel.inputs["x"]]
    both = [[a * v / sum(row) for v in row] for a, row in zip(p, rows, strict=True)]
    out = [sum(column) for column in zip(*both, strict=True)]
    left = -sum(v * log2(v / out[y]) for row in both for y, v in enumerate(row) if v)  # H(X | Y)
    error = sum(v * ((i - y) / 2) ** 2 for i, row in enumerate(both) for y, v in enumerate(row))
    assert left <= float(b) + float(s) * error + 1e-12


@given(
    st.lists(st.integers(0, 10**40), min_size=1, max_size=9), st.lists(st.integers(0, 10**40), min_size=1, max_size=9)
)
def test_long_products_are_convolutions(a, b):
    direct = [sum(a[i] * b[k - i] for i in range(len(a)) if 0 <= k - i < len(b)) for k in range(len(a) + len(b) - 1)]
    assert convolved(a, b) == direct


@settings(max_examples=30, deadline=None)
@given(channels() | crossed())
def test_the_form_survives_its_file(channel):
    assert channel_of(json.loads(json.dumps(channel.to_json()))) == channel


# --- false claims ----------------------------------------------------------------------------------------------------
SQUARED = {"objective": {"minimize": {"distortion": "squared", "of": ["X"]}}, "limit": []}
NORM = [{"distortion": "norm", "p": "1", "of": ["X"], "at_most": "2"}]


PROBLEMS = {
    "shrinkage": noisy_dice("4"),
    "told": noisy_dice(kind="shrinkage", **SQUARED, guarantee=[{"leakage": ["X"], "at_most_bits": "1/2"}]),
    "laplace": noisy_dice(kind="laplace", **SQUARED, guarantee=[{"local_dp": "2"}]),
    "gaussian": noisy_dice(kind="gaussian", **SQUARED, guarantee=[{"local_dp": "2", "delta": "1/1000"}]),
    "passed": noisy_dice(kind="gaussian", **SQUARED, guarantee=[{"contraction": "1/2"}]),
    "dalenius": noisy_dice(kind="gaussian", **SQUARED, guarantee=[{"dalenius": True, "at_most_bits": "1"}]),
    "least": noisy_dice(kind="minimum-capacity", limit=NORM, objective={"minimize": {"capacity": True}}),
}


@cache
def design(name):
    return solve(PROBLEMS[name])


def changed(name, change):
    document = copy.deepcopy(json.loads(design(name).dumps()))
    change(document)
    return json.dumps(document)


def better(*path, by=Fraction(9999, 10000)):
    """Claims a figure that is too good by one part in ten thousand."""

    def change(document):
        here = document
        for key in path[:-1]:
            here = here[key]
        here[path[-1]] = str(Fraction(here[path[-1]]) * by)
        document["gap"] = "1000"

    return change


def weights(document):
    return document["channel"]["axes"][0]["weights"]


@pytest.mark.parametrize("name", PROBLEMS)
def test_what_was_designed_is_proved(name):
    verdict = check(design(name).dumps())
    assert verdict.kind == "noise"
    assert verdict.bound <= verdict.value
    assert check(json.dumps(design(name).card())).kind == "card"


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        *(
            ("shrinkage", better("certificate", "stated", k), "stated figure")
            for k in ("leakage_bits", "capacity_bits", "variance_bits", "eta_kl", "distortion", "worst_distortion")
        ),
        ("laplace", better("certificate", "stated", "epsilon_nats"), "stated figure"),
        ("gaussian", better("certificate", "stated", "delta", "2"), "stated figure"),
        ("gaussian", lambda d: d["certificate"]["stated"].update(epsilon_nats="1"), "stated figure"),
        ("shrinkage", lambda d: d["certificate"]["stated"].pop("capacity_bits"), "stated figure"),
        *((name, better("value"), "value .* is not reached") for name in PROBLEMS),
        *((name, better("bound", by=Fraction(10001, 10000)), "bound .* is not proved") for name in ("told", "least")),
        ("laplace", lambda d: d.update(bound=d["value"]), "bound .* is not proved"),
        ("shrinkage", lambda d: d["limits"][0]["promised"].update(at_most="7/2"), "larger than its limit"),
        ("shrinkage", better("limits", 0, "proved", "expected"), "figure of a limit"),
        ("told", lambda d: d["guarantees"][0]["promised"].update(at_most_bits="2/5"), "exceeded: leakage_bits"),
        ("told", better("guarantees", 0, "proved", "leakage_bits"), "figure of guarantee 1"),
        ("laplace", lambda d: d["guarantees"][0]["promised"].update(local_dp="1"), "exceeded: epsilon_nats"),
        ("gaussian", lambda d: d["guarantees"][0]["promised"].update(delta="1/2000"), "exceeded: delta"),
        ("gaussian", lambda d: d["guarantees"][0]["promised"].pop("delta"), "epsilon_nats is infinite"),
        ("passed", lambda d: d["guarantees"][0]["promised"].update(contraction="2/5"), "exceeded: eta_kl"),
        ("dalenius", lambda d: d["guarantees"][0]["promised"].update(at_most_bits="3/4"), "exceeded: capacity_bits"),
        ("told", lambda d: d["guarantees"][0].update(promised={"independent": ["X"]}), "cannot prove the promise"),
        ("shrinkage", better("bound", by=Fraction(10001, 10000)), "bound .* is not proved"),
        ("shrinkage", lambda d: d["certificate"]["line"].update(slope="0"), "bad slope"),
        ("shrinkage", lambda d: d["certificate"]["line"]["weights"].pop(), "bad slope or weight"),
        ("shrinkage", lambda d: d["certificate"]["line"]["weights"][0].__setitem__(1, 1), "bound .* is not proved"),
        ("least", lambda d: d["limits"][0]["promised"].update(at_most="1"), "larger than its limit"),
        ("least", lambda d: d["certificate"]["least"][0].update(slope="-1"), "limit on the noise"),
        ("shrinkage", lambda d: d["certificate"]["variances"].__setitem__(0, "1/100"), "larger variance"),
        ("shrinkage", lambda d: d["certificate"].update(priors=[[[0, 1]]]), "prior"),
        ("shrinkage", lambda d: d["certificate"].update(priors=[]), "one prior for each axis"),
        ("shrinkage", lambda d: d["channel"]["axes"][0].update(take=["1"]), "variance|prior|limit|leaves out"),
        ("shrinkage", lambda d: weights(d).__setitem__(0, "-1"), "not a law"),
        ("shrinkage", lambda d: weights(d).__setitem__(0, "1"), "stated|limit|value|prior"),
        ("shrinkage", lambda d: d["channel"]["inputs"]["X"].__setitem__(1, "3"), "points of a grid|damaged"),
        ("shrinkage", lambda d: d["channel"]["output"]["X"].__setitem__(0, "1"), "not on that grid"),
        ("shrinkage", lambda d: d["channel"].update(more=1), "not of form noise"),
        ("shrinkage", lambda d: d["channel"]["axes"][0].update(more=1), "other keys"),
        ("shrinkage", lambda d: d["channel"]["axes"][0].update(low="0"), "whole numbers"),
        ("shrinkage", lambda d: d["channel"].update(shift=["1/2"]), "axes across columns|other|value|stated|limit"),
        ("shrinkage", lambda d: d["joint"]["pmf"][0].update(p="1/5"), "sum to one"),
        ("shrinkage", lambda d: d["joint"]["pmf"][0].update(X="1/2"), "damaged"),
        ("shrinkage", lambda d: d["mechanism"].update(keep=["Z"]), "without kept columns"),
        ("shrinkage", lambda d: d["mechanism"].update(release=["Z"]), "other columns"),
        ("shrinkage", lambda d: d["limits"][0]["promised"].update(distortion="absolute"), "distortion or a norm"),
    ],
)
def test_a_false_claim_is_refused(name, change, message):
    with pytest.raises(NotCertified, match=message):
        check(changed(name, change))


def test_a_card_proves_what_needs_no_records_and_nothing_else():
    for name in ("told", "laplace"):
        card = design(name).card()
        assert check(json.dumps(card)).figures[0] is None or name == "laplace"
        assert "pmf" not in json.dumps(card)
        for key in ("capacity_bits", "variance_bits", "eta_kl"):
            lie = copy.deepcopy(card)
            lie["proof"]["stated"][key] = str(Fraction(lie["proof"]["stated"][key]) * Fraction(99, 100))
            with pytest.raises(NotCertified, match="stated figure"):
                check(json.dumps(lie))
        with pytest.raises(NotCertified, match="kept"):
            check(json.dumps(card | {"kept": ["Z"]}))


def test_a_tail_that_is_too_heavy_is_not_taken_for_log_concave():
    """The last weight may stand for a tail, but only for one that can be drawn out log-concave."""
    grid = [Fraction(i) for i in range(5)]
    light = axis_of(Noise.on_grid("x", grid, Fraction(1), Fraction(0), (16, 8, 4, 2, 2), (0, 4)))
    heavy = axis_of(Noise.on_grid("x", grid, Fraction(1), Fraction(0), (16, 8, 4, 2, 3), (0, 4)))
    open_ended = axis_of(Noise.on_grid("x", grid, Fraction(1), Fraction(0), (16, 8, 4, 2, 2)))
    assert (light.log_concave, heavy.log_concave, open_ended.log_concave) == (True, False, False)


def test_too_many_pairs_to_compare_are_given_the_worst_figures():
    n = 400
    axis = axis_of(Noise.on_grid("x", [Fraction(i) for i in range(n)], Fraction(1), Fraction(0), (1,) + (2,) * 300))
    assert not axis.log_concave
    assert (axis.few, axis.ratio(), axis.affinity(), axis.excess(Fraction(2))) == (False, None, 0, 1)


@pytest.mark.parametrize("p", ["1", "3/2", "2", "3", "inf"])
def test_norms_are_those_of_the_weights(p):
    channel = Noise.on_grid("x", [Fraction(i, 2) for i in range(4)], Fraction(1), Fraction(0), (5, 3, 1))
    _, proof = proof_of(channel, [1] * 4)
    law = np.array([1, 3, 5, 3, 1]) / 13
    k = np.abs(np.arange(-2, 3))
    size = 2.0 if p == "inf" else float((law * k ** float(Fraction(p))).sum()) ** (1 / float(Fraction(p)))
    assert float(proof.channel.norm(p)) == pytest.approx(size / 2, abs=1e-12)
    assert proof.channel.norm(p) >= Fraction(size / 2) - Fraction(1, 10**15)
