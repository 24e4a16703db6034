"""Several releases: the paper's two examples of full recovery, Lemma 2 with its condition, percolation, two secrets."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from dalenius.core import Channel, Pmf
from dalenius.errors import InputError
from dalenius.measures.collusion import collusion

BIT = ("0", "1")


def flip(noise: Fraction, name: str = "X", output: str = "Y") -> Channel:
    return Channel({name: BIT}, {output: BIT}, ((1 - noise, noise), (noise, 1 - noise)))


def copy(name: str, letters: tuple[str, ...]) -> Channel:
    rows = tuple(tuple(Fraction(int(a == b)) for b in letters) for a in letters)
    return Channel({name: letters}, {"Y" + name: letters}, rows)


def test_two_letters_that_tell_nothing_apart_and_everything_together() -> None:
    """The first example of section V: S = Y1 xor Y2."""
    law = Pmf.from_records(
        {"S": BIT, "A": BIT, "B": BIT}, [((str(int(a) ^ int(b)), a, b), 1) for a, b in product(BIT, BIT)]
    )
    told = collusion(law, [copy("A", BIT), copy("B", BIT)], ["S"])
    assert told.apart == (0, 0)
    assert told.exact == pytest.approx(1)
    assert told.lemma2 is None
    assert told.percolation == pytest.approx(1)


def test_noise_added_and_subtracted_cancels() -> None:
    """The second example: Y1 = S + N and Y2 = S - N give S back."""
    sums, differences = tuple("01234"), ("-2", "-1", "0", "1", "2")
    records = [((str(s), str(s + n), str(s - n)), 1) for s in range(3) for n in range(3)]
    law = Pmf.from_records({"S": tuple("012"), "A": sums, "B": differences}, records)
    told = collusion(law, [copy("A", sums), copy("B", differences)], ["S"])
    assert max(told.apart) < 0.7
    assert told.exact == pytest.approx(np.log2(3))
    assert told.lemma2 is None


def test_theorem_4_without_its_condition_is_false_and_percolation_holds() -> None:
    same = Pmf.from_records({"S": BIT, "X": BIT}, [(("0", "0"), 1), (("1", "1"), 1)])
    told = collusion(same, [flip(Fraction(1, 4))] * 2, ["S"])
    assert told.exact == pytest.approx(0.33187775400669933)
    assert told.exact > 0.25  # max of S* times I(S; X)
    assert told.percolation == pytest.approx(0.4375)
    assert told.lemma2 == pytest.approx(sum(told.apart))  # X given S is certain, so the chain holds


@pytest.mark.long
def test_lemma_2_and_percolation_bound_random_releases() -> None:
    rng = np.random.default_rng(1)
    applied = 0
    for turn in range(60):
        if turn % 2:  # X1 and X2 independent given S, in exact rationals
            s, a, b = (rng.integers(1, 9, size=shape) for shape in (2, (2, 2), (2, 2)))
            scale = int(np.lcm.reduce([*a.sum(axis=1), *b.sum(axis=1)])) ** 2
            weights = [
                int(s[i]) * int(a[i, j]) * int(b[i, k]) * scale // int(a[i].sum() * b[i].sum())
                for i, j, k in product(range(2), repeat=3)
            ]
        else:
            weights = [int(v) for v in rng.integers(0, 9, 8) + 1]
        law = Pmf.from_counts(dict.fromkeys(("S", "A", "B"), BIT), np.indices((2, 2, 2)).reshape(3, -1).T, weights)
        noise = [Fraction(int(v), 20) for v in rng.integers(0, 10, 2)]
        told = collusion(law, [flip(noise[0], "A", "U"), flip(noise[1], "B", "V")], ["S"])
        assert told.exact is not None
        assert told.exact <= told.percolation + 1e-12
        if told.lemma2 is not None:
            applied += 1
            assert told.exact <= told.lemma2 + 1e-12
    assert applied >= 30


def test_two_secrets_are_one_secret_of_two_columns() -> None:
    """Note 1, with percolation in the place of its garbled display."""
    rng = np.random.default_rng(4)
    law = Pmf.from_counts(
        dict.fromkeys(("S1", "S2", "A", "B"), BIT),
        np.indices((2,) * 4).reshape(4, -1).T,
        rng.integers(1, 9, 16).tolist(),
    )
    channels = [flip(Fraction(1, 5), "A"), flip(Fraction(1, 10), "B")]
    both, one = collusion(law, channels, ["S1", "S2"]), collusion(law, channels, ["S1"])
    assert both.exact is not None
    assert one.exact is not None
    assert one.exact <= both.exact <= both.percolation
    assert both.bits == both.exact


def test_too_many_releases_are_refused() -> None:
    same = Pmf.from_records({"S": BIT, "X": BIT}, [(("0", "0"), 1), (("1", "1"), 1)])
    with pytest.raises(InputError, match="1 to 12 releases"):
        collusion(same, [flip(Fraction(1, 4))] * 13, ["S"])
