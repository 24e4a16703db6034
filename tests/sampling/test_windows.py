"""Draws of a composition: the right law passes, a wrong one fails, and windows share no words; dense draws stay."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from dalenius.core import Channel, Pmf, ProductPmf, Windows
from dalenius.evidence import examine
from dalenius.mechanisms import solve
from dalenius.mechanisms.applying import draw
from dalenius.mechanisms.chains.windows import windows
from dalenius.sampling import Key, Sampler, Stream
from dalenius.tables import Coded
from dalenius.testing import disclosure, self_disclosure, xor

ROWS = 20_000


def table(names, q, rows=ROWS, seed=1):
    rng = np.random.default_rng(seed)
    return Coded(dict.fromkeys(names, ("0", "1")), {n: (rng.random(rows) < q).astype(np.uint8) for n in names})


def bits(n):
    coin = Pmf.from_records({"X1": ("0", "1")}, [(("0",), "3/5"), (("1",), "2/5")])
    law = ProductPmf((coin,)).alike(n)
    return disclosure(law, tuple(law.variables), tuple(law.variables), [[n] for n in law.variables])


@pytest.fixture(scope="module")
def design():
    return windows(bits(70), size=3)


@pytest.mark.long
def test_seventy_columns_are_drawn_and_follow_their_windows(design):
    coded = table(design.problem.observe, 0.4)
    released = draw(design, coded, key=Key.unsafe(7))
    assert list(released.columns) == list(design.channel.output)
    assert released.letters.shape == released.inputs.shape == (ROWS, len(design.channel.windows))
    assert not examine(design, released.inputs, released.letters).contradicts


@pytest.mark.long
def test_a_window_with_another_law_is_caught(design):
    coded = table(design.problem.observe, 0.4)
    first, *others = design.channel.windows
    blurred = tuple(tuple(Fraction(9, 10) * v + Fraction(1, 10 * len(row)) for v in row) for row in first.rows)
    wrong = Windows(design.channel.inputs, (Channel(first.inputs, first.output, blurred), *others))
    released = draw(replace(design, channel=wrong), coded, key=Key.unsafe(7))
    seen = examine(design, released.inputs, released.letters)
    assert seen.contradicts
    assert all(" of Y1 " in f.what for f in seen.findings if f.contradicts)


def test_windows_share_no_words():
    """Two windows with the same input and the same fair coin agree half of the time."""
    bit, half = ("0", "1"), ((Fraction(1, 2),) * 2,) * 2
    channel = Windows({"X": bit}, tuple(Channel({"X": bit}, {y: bit}, half) for y in "UV"))
    design = replace(windows(bits(3), size=2), channel=channel)
    released = draw(design, table(["X"], 0.5), key=Key.unsafe(3))
    agree = int((released.letters[:, 0] == released.letters[:, 1]).sum())
    assert abs(agree - ROWS / 2) < 5 * (ROWS / 4) ** 0.5


def test_small_windows_agree_with_their_rows_drawn_densely():
    """The joint law of all outputs given all inputs is the product of the windows: compared with the expanded rows."""
    design = windows(self_disclosure(["3/5", "2/5"], 3), size=2)
    coded = table(design.problem.observe, 0.4)
    released = draw(design, coded, key=Key.unsafe(11))
    sizes = [len(a) for a in design.channel.output.values()]
    letters = np.ravel_multi_index(released.letters.T.astype(np.int64), sizes)
    inputs = coded.combined(design.problem.observe)
    dense = replace(design, channel=Channel(design.channel.inputs, design.channel.output, design.channel.rows))
    assert not examine(dense, inputs, letters).contradicts
    shifted = np.roll(letters, 1)
    assert examine(dense, inputs, shifted).contradicts


def test_a_dense_draw_is_what_it_always_was():
    """Letter = sampler over the combined input with the words of ("draw", design, table, outputs)."""
    design, coded = solve(xor()), table(["X1", "X2", "W"], 0.5)
    design = replace(design, problem=replace(design.problem, order="keep"))
    released = draw(design, coded, key=Key.unsafe(5))
    stream = Stream(Key.unsafe(5).derive("draw", design.digest(), coded.digest(), "Y"))
    expected = Sampler(design.channel.rows).draw(coded.combined(["X1", "X2"]), stream)
    assert np.array_equal(released.columns["Y"][0], expected)
    assert released.letters.ndim == 1


def test_the_same_key_draws_the_same_table_again(design):
    coded = table(design.problem.observe, 0.4, rows=500)
    one, two = (draw(design, coded, key=Key.unsafe(7)) for _ in range(2))
    assert all(np.array_equal(one.columns[n][0], two.columns[n][0]) for n in one.columns)
    assert any(not np.array_equal(one.columns[n][0], draw(design, coded).columns[n][0]) for n in one.columns)
