"""A ball around the estimated law: no law in it tells more than the bound; and what [robust] accepts and refuses."""

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from dalenius.core import Channel, Mismatch, Pmf, Problem
from dalenius.errors import InputError, ProblemFileError
from dalenius.measures.corners import Variation
from dalenius.measures.mismatch import mismatch_leakage, worst_law
from dalenius.mechanisms import solve
from dalenius.testing import contracted_bit
from tests.effort import effort

LETTERS = {"S": ("0", "1"), "X": ("0", "1", "2")}


def setting(seed: int) -> tuple[np.ndarray, Pmf, Channel]:
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, 30, 6)
    rows = []
    for _ in range(3):
        w = rng.integers(1, 20, 3)
        rows.append(tuple(Fraction(int(v), int(w.sum())) for v in w))
    joint = Pmf.from_counts(LETTERS, np.indices((2, 3)).reshape(2, -1).T, counts.tolist())
    return counts / counts.sum(), joint, Channel({"X": LETTERS["X"]}, {"Y": LETTERS["X"]}, tuple(rows))


def told(law: np.ndarray, channel: Channel) -> float:
    joint = law.reshape(2, 3) @ np.array(channel.rows, dtype=float)
    product = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    return float((joint * np.log2(np.where(joint > 0, joint / np.maximum(product, 1e-300), 1.0))).sum())


@pytest.mark.long
@pytest.mark.parametrize("seed", range(effort(2, 4)))
def test_no_law_in_the_ball_tells_more(seed: int) -> None:
    law, joint, channel = setting(seed)
    rng, tight = np.random.default_rng(seed), 0.0
    kl, variation = (mismatch_leakage(joint, channel, ["S"], **{k: 0.05}) for k in ("kl_bits", "total_variation"))
    for _ in range(2000):
        other = rng.dirichlet(np.full(6, rng.choice([0.1, 0.5, 1.0])))
        share = min(1.0, 0.05 / (0.5 * float(np.abs(other - law).sum())))
        near = (1 - share) * law + share * other
        assert told(near, channel) <= variation + 1e-9
        tight = max(tight, told(near, channel))
        for step in (1.0, 0.5, 0.2, 0.1):
            near = (1 - step) * law + step * other
            if float((near * np.log2(np.maximum(near, 1e-300) / law)).sum()) <= 0.05:
                assert told(near, channel) <= kl + 1e-9
    assert told(law, channel) <= min(kl, variation)
    assert variation < 6 * tight + 0.1


def test_a_ball_without_radius_gives_the_leakage_itself() -> None:
    law, joint, channel = setting(7)
    for kind in ("kl_bits", "total_variation"):
        assert mismatch_leakage(joint, channel, ["S"], **{kind: 0.0}) == pytest.approx(told(law, channel), abs=1e-9)


def test_one_radius_is_said() -> None:
    _, joint, channel = setting(1)
    with pytest.raises(InputError, match="either kl_bits or total_variation"):
        mismatch_leakage(joint, channel, ["S"])
    with pytest.raises(InputError, match="at most 1 in total variation"):
        mismatch_leakage(joint, channel, ["S"], total_variation=2)


def test_a_promise_under_every_law_is_accepted_and_round_trips() -> None:
    problem = replace(contracted_bit("9/25"), robust=Mismatch("total_variation", Fraction(1, 20)))
    design = solve(problem)
    assert any("ball of [robust]" in remark for remark in design.remarks)
    assert Problem.from_document(problem.to_json(), joint=problem.joint).robust == problem.robust
    assert type(design).from_text(design.dumps(), json.loads(design.about())).problem.robust == problem.robust


@pytest.mark.parametrize(
    ("section", "words"),
    [
        ({}, "exactly one of"),
        ({"kl_bits": 1, "total_variation": "0.1"}, "exactly one of"),
        ({"total_variation": "1.5"}, "at most 1"),
        ({"kl_bits": -1}, "kl_bits"),
        ({"confidence": 1}, "strictly between 0 and 1"),
        ({"confidence": "0.9", "rows": 0}, "at least 1"),
        ({"kl_bits": 1, "centre": "q"}, "centre"),
    ],
)
def test_a_section_that_makes_no_sense_is_refused(section: dict[str, object], words: str) -> None:
    problem = contracted_bit("9/25")
    with pytest.raises(ProblemFileError, match=words):
        Problem.from_document(problem.to_json() | {"robust": section}, joint=problem.joint)


@pytest.mark.parametrize("seed", [1, 21])
def test_no_corner_of_a_total_variation_tells_more_than_the_law_that_is_found(seed: int) -> None:
    """Climbs from single moves missed the worst corner of the second law."""
    rng = np.random.default_rng(seed)
    radius, cells = 0.05, np.arange(16)
    counts = rng.multinomial(3000, rng.dirichlet(np.ones(16)))
    letters = {"S": tuple("ab"), "X": tuple("01234567")}
    joint = Pmf.from_counts(letters, np.indices((2, 8)).reshape(2, -1).T, counts.tolist())
    weights = rng.integers(1, 9, (8, 8)) + 20 * np.eye(8, dtype=int)
    rows = tuple(tuple(Fraction(int(v), int(own.sum())) for v in own) for own in weights)
    channel = Channel({"X": letters["X"]}, {"Y": letters["X"]}, rows)
    law = counts / counts.sum()
    found, bits = worst_law(joint, channel, ("S",), "total_variation", radius)
    assert np.abs(found - law).sum() / 2 <= radius
    less = np.array(list(Variation(law, radius).taken(cells)))
    for to in cells:
        corners = less + (1 - less.sum(axis=1))[:, None] * (cells == to)
        both = corners.reshape(-1, 2, 8) @ np.array(rows, dtype=float)
        product = both.sum(axis=2, keepdims=True) * both.sum(axis=1, keepdims=True)
        told = (both * np.log2(np.divide(both, product, out=np.ones_like(both), where=both > 0))).sum(axis=(1, 2))
        assert bits >= told.max() * (1 - 1e-5)
