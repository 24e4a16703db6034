"""Exact noise: the right law passes, a law ten per cent off fails; chunks cannot be seen; large grids are drawn."""

from fractions import Fraction
from math import exp, log

import numpy as np
import pytest

from dalenius.core import Noise
from dalenius.core.forms.noise import NoiseAxis
from dalenius.errors import InputError
from dalenius.mechanisms.numbers.draw import NoiseSampler
from dalenius.sampling import Key, Sampler, Stream
from dalenius.solvers.noise import geometric_weights, max_entropy, power_weights

ROWS = 300_000
ERROR = 1e-6


def improbability(seen, law):
    """A bound of the probability that counts are so far from their law: e^-t (e t / d)^d, t = n D(seen || law)."""
    n, used = seen.sum(), seen > 0
    if (law[used] <= 0).any():
        return 0.0
    t, d = float((seen[used] * np.log(seen[used] / (n * law[used]))).sum()), int((law > 0).sum()) - 1
    return 1.0 if t <= d else exp(max(-700.0, d * (1 + log(t / d)) - t))


def drawn(weights, label):
    grid = [Fraction(k) for k in range(3)]
    channel = Noise.on_grid("x", grid, Fraction(1), Fraction(0), weights)
    letters = NoiseSampler(channel).draw(np.ones(ROWS, dtype=np.int64), Stream(Key.unsafe(7).derive(label)))
    return np.bincount(letters, minlength=channel.shape[1])[1:-1]  # the noise of the number 1


def law(weights):
    half = np.array([w / weights[0] for w in weights])
    whole = np.concatenate([half[:0:-1], half])
    return whole / whole.sum()


LAWS = {
    "discrete Gaussian": (power_weights(2, 2.0 * 2**0.5), power_weights(2, 2.2 * 2**0.5)),
    "discrete Laplace": (power_weights(1, 3.0), power_weights(1, 3.3)),
    "max-entropy p = 3/2": (
        power_weights(1.5, max_entropy(1.5, 2.0).scale),
        power_weights(1.5, max_entropy(1.5, 2.2).scale),
    ),
    "a shape that is not convex": ((6, 7, 5), (60, 77, 50)),
}


@pytest.mark.parametrize("name", LAWS)
def test_the_right_law_is_accepted_and_one_ten_per_cent_wrong_rejected(name):
    right, wrong = LAWS[name]
    size = max(len(right), len(wrong))
    seen = np.zeros(2 * size - 1, dtype=np.int64)
    counts = drawn(right, name)
    seen[size - len(right) : size + len(right) - 1] = counts
    other = np.zeros(2 * size - 1)
    other[size - len(wrong) : size + len(wrong) - 1] = law(wrong)
    assert improbability(counts, law(right)) > ERROR
    assert improbability(seen, other) < ERROR


def test_uniform_noise_is_told_from_noise_one_step_wider():
    seen = np.pad(drawn((1, 1, 1), "uniform"), 1)
    assert improbability(seen[1:-1], np.full(5, 0.2)) > ERROR
    assert improbability(seen, np.full(7, 1 / 7)) < ERROR


def test_clipped_and_shrunk_numbers_follow_the_rows_of_the_channel():
    grid = [Fraction(k) for k in range(8)]
    channel = Noise.on_grid("x", grid, Fraction(2, 3), Fraction(7, 2), geometric_weights(0.4, 7), (0, 7))
    codes = np.arange(8).repeat(40_000)
    letters = NoiseSampler(channel).draw(codes, Stream(Key.unsafe(1).derive("rows")))
    for i in range(8):
        counts = np.bincount(letters[codes == i], minlength=8)
        assert improbability(counts, np.array([float(v) for v in channel.rows[i]])) > ERROR / 8
        assert improbability(counts, np.array([float(v) for v in channel.rows[7 - i]])) < ERROR


def test_the_noise_of_a_row_is_the_letter_of_the_exact_sampler():
    """Nothing happens between the exact draw of the noise and the released number but a shift."""
    weights, codes = (3, 2, 1), np.array([0, 5, 9] * 100)
    channel = Noise.on_grid("x", [Fraction(k) for k in range(10)], Fraction(1), Fraction(0), weights)
    stream = Stream(Key.unsafe(3).derive("shift"))
    plain = Sampler([[Fraction(w, 9) for w in (1, 2, 3, 2, 1)]]).draw(np.zeros(300, dtype=np.int64), stream)
    assert (NoiseSampler(channel).draw(codes, stream) == codes + plain).all()


def test_pieces_equal_the_whole():
    channel = Noise.on_grid("x", [Fraction(k) for k in range(10)], Fraction(1, 3), Fraction(4), power_weights(2, 3.0))
    sampler, stream, codes = NoiseSampler(channel), Stream(Key.unsafe(2).derive("p")), np.arange(1000) % 10
    whole = sampler.draw(codes, stream)
    pieces = [sampler.draw(codes[a : a + 137], stream, a) for a in range(0, 1000, 137)]
    assert (np.concatenate(pieces) == whole).all()


@pytest.mark.slow
def test_a_hundred_thousand_points_are_drawn_without_rows():
    n = 100_000
    channel = Noise.on_grid("x", [Fraction(k) for k in range(n)], Fraction(1), Fraction(0), power_weights(1, 50.0))
    codes = np.arange(0, n, 7)
    letters = NoiseSampler(channel).draw(codes, Stream(Key.unsafe(5).derive("wide")))
    noise = letters + channel.axes[0].low - codes
    assert not channel.few
    assert abs(noise.mean()) < 6 * 71 / codes.size**0.5
    assert noise.std() == pytest.approx(50 * 2**0.5, rel=0.05)


def test_codes_outside_the_grid_are_refused():
    channel = Noise.on_grid("x", [Fraction(0), Fraction(1)], Fraction(1), Fraction(0), (1, 1))
    with pytest.raises(InputError, match=r"not in 0\.\.1"):
        NoiseSampler(channel).draw(np.array([2]), Stream(bytes(32)))


# --- noise along axes across columns ---------------------------------------------------------------------------------
def rotated(wrong=1.0):
    """Two columns whose noise is drawn along two axes across them; the law of the second may be off."""
    grid = {"x": tuple(map(str, range(3))), "y": tuple(map(str, range(3)))}
    told = {"x": tuple(map(str, range(-20, 24))), "y": tuple(map(str, range(-20, 24)))}
    half = Fraction(1, 2)
    axes = (
        NoiseAxis.open([half, half], half, [3, 3], power_weights(2, 1.5)),
        NoiseAxis.open([half, -half], half, [3, 3], power_weights(2, 2.5 * wrong)),
    )
    return Noise(grid, told, axes, ((Fraction(1), Fraction(1)), (Fraction(1), Fraction(-1))), (Fraction(20),) * 2)


@pytest.mark.long
def test_axes_across_columns_follow_the_rows_of_the_channel_and_no_other():
    channel, other = rotated(), rotated(1.1)
    codes = np.full(ROWS, 5)
    letters = NoiseSampler(channel).draw(codes, Stream(Key.unsafe(9).derive("axes")))
    counts = np.bincount(letters, minlength=channel.shape[1])
    rows = [np.array([float(v) for v in c.rows[5]]) for c in (channel, other)]
    used = (rows[0] + rows[1]) > 0
    assert counts[~used].sum() == 0
    assert improbability(counts[used], rows[0][used]) > ERROR
    assert improbability(counts[used], rows[1][used]) < ERROR


def test_the_axes_of_one_record_share_no_word():
    channel = rotated()
    letters = NoiseSampler(channel).draw(np.full(50_000, 4), Stream(Key.unsafe(2).derive("both")))
    x, y = np.unravel_index(letters, (44, 44))
    first, second = (x + y) / 2, (x - y) / 2
    assert abs(np.corrcoef(first, second)[0, 1]) < 0.03
