"""Rule levels by brute force: no channel of a search tells more than any prices prove, and good prices are tight."""

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest

from dalenius.kernel import Refused, check
from dalenius.kernel.numbers import canonical
from tests.effort import effort
from tests.kernel.documents import claims_of, dense, design, local_dp
from tests.kernel.level_documents import UNIT, best, level_document, rays

LETTERS = {"W": ["u", "v", "w"], "X": ["a", "b", "c"], "Z": ["0", "1"]}
EVEN = [[1, 1]] * 3
PAIRS = list(permutations(range(3), 2))


def random_problem(rng):
    """A law of (W, X, Z) in which every x occurs, and epsilon and delta."""
    counts = rng.integers(0, 9, (3, 3, 2)) + np.eye(3, dtype=int)[:, :, None]
    outcomes = [[*at, str(counts[at])] for at in np.ndindex(3, 3, 2) if counts[at]]
    epsilon, delta = Fraction(int(rng.integers(0, 9)), 4), Fraction(int(rng.integers(0, 40)), 100)
    return outcomes, counts / counts.sum(), epsilon, delta


def searched(rng, weights, epsilon, delta, pairs):
    """The most that channels of random columns tell, among them columns near the rays."""
    many = len(weights)
    near = rays(many, np.exp(float(epsilon)))
    near = near * rng.uniform(0.8, 1.25, near.shape)
    drawn = rng.dirichlet(np.full(many, 0.5), effort(60, 600))
    columns = np.vstack([np.eye(many), np.ones(many), near, drawn])
    return best(weights, columns, float(epsilon), float(delta), pairs).objective


@pytest.mark.parametrize(("about", "keep"), [("X", False), ("W", False), ("W", True)])
def test_no_channel_of_a_search_tells_more_than_is_proved_and_good_prices_are_tight(about, keep):
    rng = np.random.default_rng(17)
    for _ in range(effort(5, 60)):
        outcomes, law, epsilon, delta = random_problem(rng)
        weights = law.transpose(1, 0, 2)  # p(x, w, z)
        if about == "X":
            weights = np.einsum("xwz,xv->xvz", weights, np.eye(3))
        weights = weights if keep else weights.sum(axis=2, keepdims=True)
        document = level_document(
            LETTERS, outcomes, {"keep": ["Z"] if keep else []}, (about,), weights, PAIRS, epsilon, delta,
            dense(*EVEN), given=("Z",) if keep else (),
        )  # fmt: skip
        proved = float(check(canonical(document)).bound)
        assert searched(rng, weights, epsilon, delta, PAIRS) <= proved + 1e-9
        reached = best(weights, rays(3, np.exp(float(epsilon))), float(epsilon), float(delta), PAIRS).objective
        assert proved <= reached + 1e-8


@pytest.mark.long
def test_strata_are_bounded_by_pairs_of_one_stratum_alone():
    rng = np.random.default_rng(3)
    pairs = [(x, y) for x, y in permutations(range(6), 2) if x % 2 == y % 2]
    for _ in range(effort(1, 12)):
        counts = rng.integers(1, 9, (3, 2))
        weights = np.zeros((6, 6, 2))
        for x in range(6):
            weights[x, x, x % 2] = counts[x // 2, x % 2] / counts.sum()
        variables = {name: LETTERS[name] for name in ("X", "Z")}
        outcomes = [[x, z, str(counts[x, z])] for x in range(3) for z in range(2)]
        document = level_document(
            variables, outcomes, {"strata": ["Z"]}, ("X", "Z"), weights, pairs, Fraction(1), Fraction(1, 10),
            dense(*EVEN * 2), given=("Z",),
        )  # fmt: skip
        proved = float(check(canonical(document)).bound)
        assert searched(rng, weights, 1, 0.1, pairs) <= proved + 1e-9


def test_any_prices_prove_no_less_than_a_search_finds():
    rng = np.random.default_rng(29)
    outcomes, law, epsilon, delta = random_problem(rng)
    weights = law.transpose(1, 0, 2).sum(axis=2, keepdims=True)
    found = searched(rng, weights, epsilon, delta, PAIRS)
    for _ in range(effort(20, 400)):
        proof = {
            "rule": "levels",
            "promise": 0,
            "prices": [str(int(v * UNIT)) for v in rng.normal(size=3)],
            "pairs": [[x, y, str(int(rng.exponential() * UNIT))] for x, y in PAIRS if rng.random() < 0.7],
        }
        document = design(
            LETTERS,
            outcomes,
            objective={"aim": "information", "about": ["W"], "theta": "1"},
            promises=[local_dp(str(epsilon), delta=str(delta))],
            channel=dense(*EVEN),
            claims=claims_of(bound="99", gap="99", promises=[[]]),
            proof=proof,
        )
        assert float(check(canonical(document)).bound) >= found - 1e-9


def test_long_prices_of_many_inputs_are_refused_in_little_work():
    """Products with prices of hundreds of digits count as what they cost."""
    long = "9" * 399
    document = design(
        {"X": list("abcdef")},
        [[x, "1"] for x in range(6)],
        promises=[local_dp("1", delta="1/10")],
        channel=dense(*[[1, 1]] * 6),
        proof={"rule": "levels", "promise": 0, "prices": [long] * 6, "pairs": [[0, 1, long]] * 2},
    )
    with pytest.raises(Refused, match="operations"):
        check(canonical(document))
