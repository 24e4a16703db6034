"""The proof of noise on a grid: against brute force over the rows, and refusal of every false claim."""

import copy
import json
from fractions import Fraction
from math import exp, log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dalenius.certify import check
from dalenius.certify.noise import NoiseProof
from dalenius.core import Grid, Noise, channel_of
from dalenius.core.shifting import convolved
from dalenius.designs.noise import NoiseWanted, add_noise
from dalenius.errors import NotCertified

CODES = np.array([0] * 20 + [1] * 30 + [2] * 25 + [5] * 15 + [9] * 10)
GRID = Grid(Fraction(0), Fraction(18), Fraction(2))


@st.composite
def channels(draw):
    n = draw(st.integers(1, 6))
    weights = draw(st.lists(st.integers(0, 9), min_size=1, max_size=5).filter(any))
    keep = draw(st.sampled_from([Fraction(0), Fraction(1, 3), Fraction(7, 10), Fraction(1)]))
    centre = Fraction(draw(st.integers(0, 8)), 3)
    clip = draw(st.none() | st.tuples(st.integers(-3, 2), st.integers(2, 8)))
    return Noise.on_grid("x", [Fraction(i, 2) for i in range(n)], keep, centre, weights, clip)


def rows_of(channel):
    return [[float(v) for v in row] for row in channel.rows]


@settings(max_examples=80, deadline=None)
@given(channels(), st.lists(st.integers(0, 20), min_size=6, max_size=6))
def test_every_figure_agrees_with_brute_force(channel, numbers):
    proof, rows, n = NoiseProof(channel.to_json()), channel.rows, channel.shape[0]
    counts = {i: v for i, v in enumerate(numbers[:n]) if v} or {0: 1}
    total = sum(counts.values())
    out = [sum(Fraction(v, total) * rows[i][y] for i, v in counts.items()) for y in range(len(rows[0]))]
    told = sum(
        v / total * float(rows[i][y]) * log2(rows[i][y] / out[y])
        for i, v in counts.items()
        for y in range(len(out))
        if rows[i][y]
    )
    assert float(proof.leakage(counts)) == pytest.approx(told, abs=1e-12)

    letters = [Fraction(v) for v in channel.output["x"]]
    inputs = [Fraction(v) for v in channel.inputs["x"]]
    for i in range(n):
        error = sum(p * (y - inputs[i]) ** 2 for y, p in zip(letters, rows[i], strict=True))
        assert proof.error(i) * proof.step**2 == error

    ratios = [(max(c), min(c)) for c in zip(*rows, strict=True) if max(c)]
    level = proof.level()
    if any(not low for _, low in ratios):
        assert level is None
    else:
        assert exp(float(level)) == pytest.approx(float(max(a / b for a, b in ratios)), rel=1e-12)
    for epsilon in (Fraction(0), Fraction(1, 2), Fraction(2)):
        much = exp(float(epsilon))
        excess = max(
            sum(max(0.0, a - much * b) for a, b in zip(p, q, strict=True))
            for p in rows_of(channel)
            for q in rows_of(channel)
        )
        assert float(proof.excess(epsilon)) == pytest.approx(excess, abs=1e-12)

    shifts = dict.fromkeys(range(proof.first, proof.last + 1), 1)
    q = [sum(rows[proof.c.index(c)][y] for c in shifts) / len(shifts) for y in range(len(out))]
    ball = max(sum(float(p) * log2(p / t) for p, t in zip(row, q, strict=True) if p) for row in rows)
    reachable = all(q) or proof.low == proof.high or proof.first == proof.last
    if reachable:
        assert float(proof.capacity(shifts)) == pytest.approx(ball, abs=1e-12)


@settings(max_examples=40, deadline=None)
@given(channels(), st.lists(st.integers(1, 20), min_size=6, max_size=6))
def test_no_law_of_the_records_exceeds_the_bound_from_its_variance(channel, numbers):
    proof, n = NoiseProof(channel.to_json()), channel.shape[0]
    counts = dict(enumerate(numbers[:n]))
    total = sum(counts.values())
    mean, power = (Fraction(sum(i**k * v for i, v in counts.items()), total) for k in (1, 2))
    bound = proof.from_variance((power - mean**2) * proof.step**2)
    assert proof.leakage(counts) <= bound + Fraction(1, 10**40)  # both are rounded up


@given(
    st.lists(st.integers(0, 10**40), min_size=1, max_size=9), st.lists(st.integers(0, 10**40), min_size=1, max_size=9)
)
def test_long_products_are_convolutions(a, b):
    direct = [sum(a[i] * b[k - i] for i in range(len(a)) if 0 <= k - i < len(b)) for k in range(len(a) + len(b) - 1)]
    assert convolved(a, b) == direct


@given(channels())
def test_the_form_survives_its_file(channel):
    assert channel_of(json.loads(json.dumps(channel.to_json()))) == channel


# --- false claims ----------------------------------------------------------------------------------------------------
def documents():
    wanted = {
        "shrinkage": NoiseWanted(share=Fraction(1, 2)),
        "laplace": NoiseWanted("laplace", epsilon=Fraction(2)),
        "gaussian": NoiseWanted("gaussian", epsilon=Fraction(2), delta=Fraction(1, 1000)),
        "least": NoiseWanted("minimum-capacity", distortion=Fraction(2), p=1),
    }
    return {k: dict(add_noise({"x": (GRID, CODES)}, w).document) for k, w in wanted.items()}


DOCUMENTS = documents()


def changed(name, change):
    document = copy.deepcopy(DOCUMENTS[name])
    change(document)
    return json.dumps(document)


def smaller(path):
    """Claims a figure that is too good by one part in ten thousand."""

    def change(document):
        here = document
        for key in path[:-1]:
            here = here[key]
        here[path[-1]] = str(Fraction(here[path[-1]]) * 9999 / 10000)

    return change


@pytest.mark.parametrize("name", DOCUMENTS)
def test_what_was_designed_is_proved(name):
    verdict = check(json.dumps(DOCUMENTS[name]))
    assert verdict.kind == "noise"
    assert len(verdict.figures) == 2


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        *(
            ("shrinkage", smaller(["columns", 0, "claimed", k]), "claimed figure")
            for k in ("leakage_bits", "capacity_bits", "variance_bits", "distortion", "worst_distortion")
        ),
        *(
            ("shrinkage", smaller(["proved", k]), "claimed sum")
            for k in ("leakage_bits", "capacity_bits", "distortion")
        ),
        ("shrinkage", smaller(["promised", "distortion"]), "promised distortion is exceeded"),
        ("shrinkage", smaller(["columns", 0, "variance"]), "larger variance"),
        ("laplace", smaller(["columns", 0, "claimed", "epsilon_nats"]), "claimed figure"),
        ("laplace", smaller(["promised", "epsilon_nats"]), "epsilon_nats is exceeded"),
        ("gaussian", smaller(["promised", "delta"]), "delta is exceeded"),
        ("gaussian", lambda d: d["columns"][0].update(epsilon="3"), "add up to more"),
        ("gaussian", lambda d: d["columns"][0].pop("epsilon"), "level for each column"),
        ("gaussian", lambda d: d["columns"][0]["claimed"].update(epsilon_nats="1"), "claimed figure"),
        ("least", lambda d: d["columns"][0]["claimed"].update(least_capacity_bits="3"), "not ruled out"),
        ("least", lambda d: d["columns"][0]["least"].update(limit="1/2"), "exceeds its limit"),
        ("shrinkage", lambda d: d["columns"][0]["channel"].update(keep="1"), "claimed figure|damaged|prior"),
        ("shrinkage", lambda d: d["columns"][0]["channel"].update(keep="2"), "out of range"),
        ("shrinkage", lambda d: d["columns"][0]["channel"]["weights"].__setitem__(0, "-1"), "not a law"),
        ("shrinkage", lambda d: d["columns"][0]["channel"]["inputs"]["x"].__setitem__(1, "3"), "points of a grid"),
        ("shrinkage", lambda d: d["columns"][0]["channel"]["output"]["x"].__setitem__(0, "1"), "not on that grid"),
        ("shrinkage", lambda d: d["columns"][0]["channel"].update(more=1), "not of form noise"),
        ("shrinkage", lambda d: d["columns"][0]["counts"].update({"18": 200}), "larger variance"),
        ("shrinkage", lambda d: d["columns"][0]["counts"].update({"1": 3}), "damaged"),
        ("shrinkage", lambda d: d["columns"][0]["counts"].update({"0": 0}), "not positive"),
        ("shrinkage", lambda d: d["columns"][0].update(prior=[[0, 1]]), "prior"),
        ("shrinkage", lambda d: d["columns"].append(d["columns"][0]), "twice"),
        ("shrinkage", lambda d: d["promised"].update(peace="1"), "no figure peace"),
        ("shrinkage", lambda d: d["columns"][0]["claimed"].pop("capacity_bits"), "claimed figure"),
    ],
)
def test_a_false_claim_is_refused(name, change, message):
    with pytest.raises(NotCertified, match=message):
        check(changed(name, change))


def test_a_card_proves_what_needs_no_counts_and_nothing_else():
    card = add_noise({"x": (GRID, CODES)}, NoiseWanted("laplace", epsilon=Fraction(2))).card()
    *_, total = check(json.dumps(card)).figures
    assert "leakage_bits" not in total
    assert {"capacity_bits", "epsilon_nats", "worst_distortion", "variance_bits"} <= set(total)
    assert "counts" not in json.dumps(card)


def test_a_tail_that_is_too_heavy_is_not_taken_for_log_concave():
    """The last weight may stand for a tail, but only for one that can be drawn out log-concave."""
    grid = [Fraction(i) for i in range(5)]
    light = NoiseProof(Noise.on_grid("x", grid, Fraction(1), Fraction(0), (16, 8, 4, 2, 2), (0, 4)).to_json())
    heavy = NoiseProof(Noise.on_grid("x", grid, Fraction(1), Fraction(0), (16, 8, 4, 2, 3), (0, 4)).to_json())
    open_ended = NoiseProof(Noise.on_grid("x", grid, Fraction(1), Fraction(0), (16, 8, 4, 2, 2)).to_json())
    assert (light.log_concave, heavy.log_concave, open_ended.log_concave) == (True, False, False)
