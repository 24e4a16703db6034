"""Released numbers: the audit of their noise, estimates from the card, and what a mechanism is known to let out."""

import json
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from dalenius.core import Noise, Pmf
from dalenius.documents import about_of, filed
from dalenius.errors import InputError, MismatchError, Unsupported
from dalenius.evidence import estimate_numbers, examine_mechanism
from dalenius.ledger import Ledger
from dalenius.mechanisms.numbers.draw import NoiseSampler
from dalenius.mechanisms.numbers.evidence import examine_noise, expected_letters, noise_seen
from dalenius.sampling import Key, Stream
from dalenius.solvers.noise import geometric_weights, power_weights
from dalenius.testing import noisy_dice

GRID = [Fraction(k) for k in range(21)]
WEIGHTS = power_weights(2, 4.0)
CODES = np.random.default_rng(4).binomial(20, 0.3, 6000)


def added(keep=Fraction(1), clip=None, weights=WEIGHTS):
    return Noise.on_grid("x", GRID, keep, Fraction(0), weights, clip)


def drawn(channel, codes=CODES, label="t"):
    return NoiseSampler(channel).draw(codes, Stream(Key.unsafe(7).derive(label)))


CHANNELS = {
    "added": added(),
    "shrunk": added(Fraction(1, 3)),
    "clipped": added(clip=(0, 20)),
    "laplace": added(clip=(0, 20), weights=geometric_weights(0.3, 20)),
}


@pytest.mark.parametrize("name", CHANNELS)
def test_the_right_noise_passes_and_noise_ten_per_cent_off_does_not(name):
    channel = CHANNELS[name]
    (finding,) = noise_seen(channel, CODES, drawn(channel))
    assert finding.p_value > 1e-6
    axis = channel.axes[0]
    wider = power_weights(2, 4.6) if name != "laplace" else geometric_weights(0.24, 20)
    wrong = drawn(Noise.on_grid("x", GRID, axis.take[0], Fraction(0), wider, (axis.low, axis.high)))
    many = np.tile(wrong, 3)
    assert noise_seen(channel, np.tile(CODES, 3), many)[0].p_value < 1e-6


def test_a_number_out_of_reach_settles_it():
    channel = added(weights=(2, 1))
    letters = drawn(channel)
    letters[17] = channel.shape[1] - 1
    assert noise_seen(channel, CODES, letters)[0].p_value == 0.0


@pytest.mark.parametrize("name", ["added", "clipped", "laplace"])
def test_numbers_that_are_matched_to_wrong_records_are_seen(name):
    """Six hundred numbers in the order of other records had noise as likely as any, threshold by threshold."""
    channel, codes = CHANNELS[name], np.random.default_rng(6).binomial(20, 0.3, 600)
    letters = drawn(channel, codes)
    assert noise_seen(channel, codes, letters)[0].p_value > 1e-6
    (wrong,) = noise_seen(channel, codes, np.random.default_rng(5).permutation(letters))
    assert wrong.contradicts
    assert "other rows would explain them" in wrong.detail


@pytest.mark.parametrize("name", CHANNELS)
def test_expected_counts_are_those_of_the_rows(name):
    channel, counts = CHANNELS[name], np.bincount(CODES, minlength=21).astype(float)
    (mean,) = expected_letters(channel, np.arange(21), counts)
    assert mean == pytest.approx(counts @ np.array([[float(v) for v in row] for row in channel.rows]), abs=1e-8)


# --- estimates -------------------------------------------------------------------------------------------------------
def table(channel, letters):
    return pa.table({"x": [channel.output["x"][k] for k in letters]})


@pytest.mark.long
@pytest.mark.parametrize("name", ["added", "shrunk"])
def test_intervals_hold_the_truth_about_as_often_as_they_say(name):
    channel, codes = CHANNELS[name], CODES[:400]
    hits = {"mean": 0, "variance": 0}
    for k in range(60):
        (found,) = estimate_numbers(channel, table(channel, drawn(channel, codes, str(k))))
        hits["mean"] += found.mean_interval[0] <= codes.mean() <= found.mean_interval[1]
        hits["variance"] += found.variance_interval[0] <= codes.var() <= found.variance_interval[1]
    assert hits["mean"] >= 51  # of 60 at 95 %: fewer has probability below 1e-3
    assert hits["variance"] >= 51
    assert (found.rounding == 0) == (name == "added")


def test_estimates_that_would_be_biased_are_refused():
    with pytest.raises(Unsupported, match="hides what was there"):
        estimate_numbers(CHANNELS["clipped"], table(CHANNELS["clipped"], drawn(CHANNELS["clipped"])))
    with pytest.raises(Unsupported, match=r"no released number depends on x\. Ask the owner for less noise\."):
        estimate_numbers(added(Fraction(0)), pa.table({"x": ["0"] * 9}))
    with pytest.raises(MismatchError, match="no column 'x'"):
        estimate_numbers(added(), pa.table({"y": ["0"] * 9}))
    with pytest.raises(InputError, match="too few"):
        estimate_numbers(added(), pa.table({"x": ["0"]}))
    with pytest.raises(InputError, match="no target"):
        estimate_numbers(added(), pa.table({"x": ["0"] * 9}), target="moon")


@pytest.mark.long
# --- mechanisms whose rows are not written out -----------------------------------------------------------------------
def test_an_audit_along_the_axes_agrees_with_one_by_rows():
    channel = added(Fraction(1, 2))
    counts = np.bincount(CODES, minlength=21)
    prior = Pmf.from_records(channel.inputs, [((str(k),), int(n)) for k, n in enumerate(counts) if n])
    by_axes, by_rows = examine_noise(channel, prior), examine_mechanism(channel, prior)
    assert by_axes.capacity[1] == pytest.approx(by_rows.capacity[1], abs=1e-4)
    assert by_axes.capacity[0] <= by_rows.capacity[1]
    assert by_axes.eta_tv == pytest.approx(by_rows.eta_tv, abs=1e-9)
    assert by_rows.eta_kl - 1e-9 <= by_axes.eta_kl <= by_rows.eta_kl + 0.05
    assert (by_axes.dp_epsilon, by_rows.dp_epsilon) == (None, None)
    json.dumps(by_axes.to_json())


@pytest.mark.slow
def test_a_ledger_charges_noise_that_is_too_large_for_rows(tmp_path):
    """The same figures from a design whose rows are never written out as from a small one."""
    from dataclasses import replace

    from dalenius.mechanisms import solve

    letters = tuple(str(k) for k in range(500))
    joint = Pmf.from_records({"X": letters}, [((x,), 1) for x in letters[::10]])
    design = solve(replace(noisy_dice("10000"), joint=joint))
    assert not design.channel.few
    ledger = Ledger.create(tmp_path / "l", ["leakage:X=1", "contraction=1", "dalenius=100"])
    ledger.add(design.dumps(), dataset="d", rows=1)
    spent = ledger.status()["spent"]
    stated = design.stated
    # The statistics are stated: people of a table need not follow them, so all that the noise lets through is charged.
    assert float(spent["leakage:X"]) == pytest.approx(float(stated["capacity_bits"]), abs=1e-9)
    assert float(spent["contraction"]) == pytest.approx(float(stated["eta_kl"]), abs=1e-9)
    assert float(spent["dalenius"]) == pytest.approx(float(stated["capacity_bits"]), abs=1e-9)
    beside = about_of(design.card(), design.card_text())  # which design it is of stands beside a card
    ledger.add(filed(design.card_text(), beside), dataset="d", rows=1)
    assert len(ledger.entries()) == 1  # the card of a release that is there already
