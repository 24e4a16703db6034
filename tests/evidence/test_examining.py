"""Evidence in pairs: the right law is not contradicted, a wrong one is; and the p-values are what they say."""

from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import comb
from types import SimpleNamespace

import numpy as np
import pytest

from dalenius.core import Channel, Independent, MinimizeLeakage, Pmf, Problem, Resample
from dalenius.evidence import Audit, Finding, examine, examine_shuffled
from dalenius.measures.counts import counts_finding, fit_finding
from dalenius.mechanisms.columns.disclosure.design import disclose
from dalenius.testing import disclosure, example2, self_disclosure, xor
from tests.effort import effort

DESIGNS = {"xor": xor, "example 2": example2, "self n=3": lambda: self_disclosure(["7/10", "3/10"], 3)}


@pytest.fixture(params=DESIGNS.values(), ids=DESIGNS.keys())
def design(request):
    return disclose(request.param())


def law_of(design):
    return np.array([[float(v) for v in row] for row in design.channel.rows])


def input_law(design):
    """p(x) over the rows of the channel."""
    p = np.zeros(design.channel.shape[0])
    outcomes, index = design.problem.pmf.grouped(design.problem.inputs)
    for k, codes in enumerate(outcomes):
        p[design.channel.row_of(codes)] = float(design.problem.pmf.weights[index == k].sum()) / design.problem.pmf.total
    return p


def drawn(law, inputs, rng):
    """One letter for each record, by inversion."""
    return (rng.random(len(inputs))[:, None] > law.cumsum(axis=1)[inputs]).sum(axis=1).clip(max=law.shape[1] - 1)


def table(design, rows, rng):
    return rng.choice(design.channel.shape[0], size=rows, p=input_law(design))


def tilted(law, by=0.1):
    """Every law with a tenth of its mass moved to the next letter."""
    return (1 - by) * law + by * np.roll(law, 1, axis=1)


def counted_pmf(design, inputs):
    """The pmf of the channel's inputs in a table."""
    sizes = [len(a) for a in design.channel.inputs.values()]
    codes = np.array(np.unravel_index(inputs, sizes)).T
    return Pmf.from_counts(design.channel.inputs, codes, [1] * len(inputs))


@pytest.mark.long
# --- paired tests ----------------------------------------------------------------------------------------------------
def test_the_right_law_is_not_contradicted_in_many_repetitions(design):
    rng, law = np.random.default_rng(1), law_of(design)
    for repetition in range(effort(60, 200)):
        inputs = table(design, (1, 30, 1000, 4000)[repetition % 4], rng)
        audit = examine(design, inputs, drawn(law, inputs, rng))
        assert not audit.contradicts, audit.findings


def test_a_law_ten_per_cent_wrong_is_contradicted_with_20_000_rows(design):
    rng, wrong = np.random.default_rng(2), tilted(law_of(design))
    inputs = table(design, 20_000, rng)
    audit = examine(design, inputs, drawn(wrong, inputs, rng))
    assert audit.contradicts
    assert audit.findings[0].contradicts
    assert audit.findings[0].what == "released values follow the recipe"


def test_a_law_ten_per_cent_wrong_without_new_letters_is_contradicted():
    """The tilt stays inside the support, so that no impossible letter gives it away."""
    design = disclose(example2())
    law = law_of(design)
    wrong = law.copy()
    for row in wrong:
        first, *_, last = np.flatnonzero(row).repeat(2)
        row[first], row[last] = row[first] - 0.1 * (first != last), row[last] + 0.1 * (first != last)
    assert ((wrong > 0) == (law > 0)).all()
    assert abs(wrong - law).max() == pytest.approx(0.1)
    rng = np.random.default_rng(3)
    inputs = table(design, 20_000, rng)
    assert examine(design, inputs, drawn(wrong, inputs, rng)).contradicts


def test_one_impossible_letter_among_a_thousand_contradicts():
    design, rng = disclose(xor()), np.random.default_rng(4)
    inputs = table(design, 1000, rng)
    letters = drawn(law_of(design), inputs, rng)
    assert not examine(design, inputs, letters).contradicts
    letters[17] = 1 - letters[17]
    audit = examine(design, inputs, letters)
    assert audit.contradicts
    assert audit.findings[0].p_value == 0
    assert "cannot draw" in audit.findings[0].detail


def test_a_letter_that_the_design_never_releases_contradicts():
    channel = Channel({"X": ("0", "1")}, {"Y": ("0", "1")}, ((1, 0), (1, 0)))
    joint = Pmf.from_records({"X": ("0", "1")}, [(("0",), 1), (("1",), 1)])
    design = replace(disclose(xor()), channel=channel, problem=disclosure(joint, ["X"], ["X"], [["X"]]))
    inputs = np.arange(100) % 2
    letters = np.zeros(100, dtype=int)
    assert not examine(design, inputs, letters).contradicts
    letters[3] = 1
    assert all(f.p_value == 0 for f in examine(design, inputs, letters).findings if "chance" not in f.what)
    shuffled = examine_shuffled(design, joint, 100, letters)
    assert shuffled.findings[1].p_value == 0


def test_a_release_that_depends_on_a_view_is_contradicted_and_says_so():
    """Y = X1 with probability 3/5 instead of the parity's even odds: the letter frequencies stay even."""
    design, rng = disclose(xor()), np.random.default_rng(5)
    inputs = table(design, 20_000, rng)
    x1 = inputs // 2
    letters = np.where(rng.random(len(inputs)) < 0.6, x1, 1 - x1)
    audit = examine(design, inputs, letters)
    about = {f.what: f for f in audit.findings}
    assert about["released values do not depend on X1"].contradicts
    assert not about["released values do not depend on X2"].contradicts
    assert not about["how often each value was released"].contradicts
    assert "with X1 = " in about["released values do not depend on X1"].detail
    seen = {tuple(entry["view"]): entry for entry in audit.leakage}
    assert seen["X1",]["seen_bits"] == pytest.approx(0.029, abs=0.005)  # 1 - h(3/5)
    assert seen["X2",]["seen_bits"] < 10 * seen["X2",]["expected_by_chance_bits"]


def test_leakage_seen_under_the_right_law_is_what_chance_gives():
    design, rng = disclose(example2()), np.random.default_rng(6)
    inputs = table(design, 50_000, rng)
    audit = examine(design, inputs, drawn(law_of(design), inputs, rng))
    for entry in audit.leakage:
        assert entry["seen_bits"] < 6 * entry["expected_by_chance_bits"] < 0.001


@pytest.mark.long
# --- shuffled --------------------------------------------------------------------------------------------------------
def test_shuffled_rows_of_the_right_law_pass(design):
    rng, law = np.random.default_rng(7), law_of(design)
    for _ in range(50):
        inputs = table(design, 2000, rng)
        letters = rng.permutation(drawn(law, inputs, rng))
        audit = examine_shuffled(design, counted_pmf(design, inputs), len(inputs), letters)
        assert not audit.contradicts, audit.findings
        assert not audit.paired


def test_shuffled_rows_with_a_wrong_marginal_are_contradicted(design):
    rng, law = np.random.default_rng(8), law_of(design)
    inputs = table(design, 20_000, rng)
    letters = drawn(law, inputs, rng)
    letters[rng.random(len(letters)) < 0.1] = 0  # a tenth of the letters replaced
    audit = examine_shuffled(design, counted_pmf(design, inputs), len(inputs), rng.permutation(letters))
    assert audit.findings[1].contradicts
    assert audit.findings[1].what == "how often each value was released"


def test_shuffled_rows_that_are_too_few_are_contradicted(design):
    rng = np.random.default_rng(9)
    inputs = table(design, 500, rng)
    letters = drawn(law_of(design), inputs, rng)
    audit = examine_shuffled(design, counted_pmf(design, inputs), 500, letters[:-1])
    assert audit.contradicts
    assert audit.findings[0].detail == "499 of 500"


# --- p-values are valid ----------------------------------------------------------------------------------------------
def test_a_count_is_below_its_p_value_at_most_as_often_as_it_says():
    """5,000 binomials of 12 trials: Pr[p <= a] <= a. The same by exact summation, so that no luck is involved."""
    trials, q = 12, 0.3
    finding = [
        counts_finding("", np.array([k]), np.array([trials * q]), np.array([float(trials)]), 0.05, ["y"]).p_value
        for k in range(trials + 1)
    ]
    law = [comb(trials, k) * q**k * (1 - q) ** (trials - k) for k in range(trials + 1)]
    for level in (0.5, 0.2, 0.05, 0.01, 1e-4):
        assert sum(p for p, f in zip(law, finding, strict=True) if f <= level) <= level
    seen = np.random.default_rng(10).binomial(trials, q, 5000)
    assert np.mean([finding[k] <= 0.05 for k in seen]) <= 0.05
    assert min(finding) < 0.05  # the test can reject
    assert finding[4] == 1  # and does not where nothing is odd


def test_the_fit_of_a_row_is_below_its_p_value_at_most_as_often_as_it_says():
    """All 5,000 tables of two rows of 9 records: Pr[p <= a] <= a by Monte Carlo and by exact summation."""
    law, n = np.array([[0.3, 0.7], [0.5, 0.5]]), 9
    p_values, weights = {}, {}
    for a, b in product(range(n + 1), repeat=2):
        seen = np.array([[a, n - a], [b, n - b]])
        p_values[a, b] = fit_finding(seen, law, 0.05).p_value
        weights[a, b] = comb(n, a) * 0.3**a * 0.7 ** (n - a) * comb(n, b) * 0.5**n
    assert sum(weights.values()) == pytest.approx(1)
    for level in (0.5, 0.2, 0.05, 0.01, 1e-4):
        assert sum(w for k, w in weights.items() if p_values[k] <= level) <= level
    rng = np.random.default_rng(11)
    draws = zip(rng.binomial(n, 0.3, 5000), rng.binomial(n, 0.5, 5000), strict=True)
    assert np.mean([p_values[int(a), int(b)] <= 0.05 for a, b in draws]) <= 0.05
    assert min(p_values.values()) < 0.01


def test_rows_that_are_matched_to_wrong_records_are_seen_among_many_letters():
    """Subsets of two of six values: 84 free counts hid that no set holds the value of its record more than chance."""
    sets = [(a, b) for a in range(6) for b in range(a)]
    law = np.array([[np.e if x in pair else 1.0 for pair in sets] for x in range(6)])
    law /= law.sum(axis=1, keepdims=True)
    rng = np.random.default_rng(13)
    records = rng.integers(0, 6, 600)
    drawn = np.array([rng.choice(len(sets), p=law[x]) for x in records])

    def finding(letters):
        seen = np.zeros(law.shape, dtype=np.int64)
        np.add.at(seen, (records, letters), 1)
        return fit_finding(seen, law, 1e-6)

    assert finding(drawn).p_value == 1
    wrong = finding(rng.permutation(drawn))
    assert wrong.contradicts
    assert "other rows would explain them" in wrong.detail


@pytest.mark.long
def test_a_whole_audit_errs_at_most_as_often_as_it_says():
    """Many small releases at a stated error of one half."""
    design, rng = disclose(example2()), np.random.default_rng(12)
    law = law_of(design)
    wrong, tries = 0, effort(300, 2000)
    for _ in range(tries):
        inputs = table(design, 12, rng)
        wrong += examine(design, inputs, drawn(law, inputs, rng), error=0.5).contradicts
    assert wrong <= tries // 2


# --- what it says ----------------------------------------------------------------------------------------------------
def test_the_findings_share_the_error():
    design, rng = disclose(xor()), np.random.default_rng(13)
    inputs = table(design, 100, rng)
    audit = examine(design, inputs, drawn(law_of(design), inputs, rng), error=1e-3)
    assert sum(f.threshold for f in audit.findings) == pytest.approx(1e-3)
    assert (audit.rows, audit.paired, audit.error) == (100, True, 1e-3)
    assert [f.what for f in audit.findings] == [
        "released values follow the recipe",
        "how often each value was released",
        "released values do not depend on X1",
        "released values do not depend on X2",
    ]


def test_a_view_that_the_channel_does_not_read_is_not_tested():
    problem = disclosure(example2().pmf, ["X1", "X2"], ["X2"], [["X1"], ["W"]])
    design = disclose(problem)
    inputs = table(design, 100, np.random.default_rng(14))
    audit = examine(design, inputs, drawn(law_of(design), inputs, np.random.default_rng(15)))
    assert [f.what for f in audit.findings][2:] == ["released values do not depend on X1"]
    assert [entry["view"] for entry in audit.leakage] == [["X1"]]


def test_an_audit_of_no_rows_finds_nothing():
    design = disclose(xor())
    nothing = np.array([], dtype=np.int64)
    audit = examine(design, nothing, nothing)
    assert (audit.rows, audit.contradicts) == (0, False)


def test_an_audit_is_written_in_plain_values():
    finding = Finding("what", 1e-9, 1e-6, "detail")
    audit = Audit(7, True, 1e-6, (finding,), ({"view": ["X1"], "seen_bits": 0.1},))
    assert finding.contradicts
    assert not replace(finding, p_value=1e-6).contradicts
    assert audit.to_json() == {
        "rows": 7,
        "rows_matched_to_the_original": True,
        "error_probability": 1e-6,
        "contradicts_the_proof": True,
        "findings": [{"what": "what", "p_value_at_most": 1e-9, "contradicts": True, "detail": "detail"}],
        "leakage_seen": [{"view": ["X1"], "seen_bits": 0.1}],
        "attacks": [],
        "transitions": [],
        "distortions": [],
    }


def test_views_of_several_columns_are_tested_jointly():
    problem = self_disclosure(["3/5", "2/5"], 3)
    problem = replace(problem, guarantees=(Independent(("X1", "X2")),))
    design, rng = disclose(problem), np.random.default_rng(16)
    inputs = table(design, 20_000, rng)
    right = examine(design, inputs, drawn(law_of(design), inputs, rng))
    assert not right.contradicts
    assert right.findings[2].what == "released values do not depend on X1, X2"
    parity = (inputs >> 2) ^ (inputs >> 1) & 1
    letters = np.where(parity == 1, 0, drawn(law_of(design), inputs, rng))
    assert examine(design, inputs, letters).findings[2].contradicts


# --- the leakage of the drawn rows -----------------------------------------------------------------------------------
def leaks(audit):
    return [f for f in audit.findings if "than chance allows" in f.what]


@pytest.mark.long
def test_the_leakage_of_an_honest_release_is_within_what_chance_allows():
    design = disclose(example2())
    rng = np.random.default_rng(11)
    law = np.array([[float(v) for v in row] for row in design.channel.rows])
    inputs = np.repeat(np.arange(6), 2_000 * np.array([1, 3, 2, 2, 3, 1]))  # the very distribution of the design
    letters = np.array([rng.choice(law.shape[1], p=law[x]) for x in inputs])
    found = leaks(examine(design, inputs, letters))
    assert len(found) == 2
    assert not any(f.contradicts for f in found)
    assert all("by chance" in f.detail for f in found)


def test_letters_that_copy_a_view_contradict_by_their_leakage():
    design = disclose(example2())
    inputs = np.repeat(np.arange(6), 2_000 * np.array([1, 3, 2, 2, 3, 1]))
    audit = examine(design, inputs, inputs // 3)  # the letter is X1 itself
    assert any(f.contradicts and "X1" in f.what for f in leaks(audit))


def many_letters(size=3000):
    """A channel that resamples, too large to be written out, with a design that only an audit looks at."""
    letters = tuple(map(str, range(size)))
    keep = tuple(Fraction(1) if k % 3 == 0 else Fraction(4, 5) for k in range(size))
    even = Fraction(2, size)
    channel = Resample({"X": letters}, {"X": letters}, keep, tuple(even if k % 2 else Fraction(0) for k in range(size)))
    assert not channel.few
    problem = Problem(observe=("X",), release=("X",), objective=MinimizeLeakage(("X",)))
    return SimpleNamespace(channel=channel, problem=problem, decoder={})


def resampled(rng, size, rows, keep):
    read = rng.integers(0, size, rows)
    fresh = 2 * rng.integers(0, size // 2, rows) + 1
    return read, np.where((read % 3 == 0) | (rng.random(rows) < keep), read, fresh)


@pytest.mark.long
def test_a_channel_with_many_letters_is_audited_without_its_rows():
    design, rng = many_letters(), np.random.default_rng(3)
    read, drawn = resampled(rng, 3000, 200_000, 0.8)
    assert not examine(design, read, drawn).contradicts
    wrong = examine(design, *resampled(rng, 3000, 200_000, 0.82))
    kept = ["how many records keep their value", "how many values are kept in all"]
    assert [f.what for f in wrong.findings if f.contradicts] == kept
    favoured = np.where((drawn != read) & (rng.random(len(read)) < 0.2), 7, drawn)
    found = examine(design, read, favoured)
    assert "how often each value was released" in [f.what for f in found.findings if f.contradicts]
    for place, letter in ((read % 3 == 0, 1), (read % 3 == 1, 2)):  # never changed; never drawn
        at = int(np.flatnonzero(place & (read != letter))[0])
        forged = drawn.copy()
        forged[at] = letter
        assert "cannot draw" in examine(design, read, forged).findings[0].detail


@pytest.mark.long
def test_a_shuffled_release_of_many_letters_is_counted():
    design, rng = many_letters(), np.random.default_rng(4)
    read, drawn = resampled(rng, 3000, 200_000, 0.8)
    counts = np.bincount(read, minlength=3000)
    original = Pmf.from_counts(dict(design.channel.inputs), np.arange(3000)[:, None], counts)
    assert not examine_shuffled(design, original, len(read), rng.permutation(drawn)).contradicts
    wrong = np.where(rng.random(len(read)) < 0.01, 7, drawn)
    assert examine_shuffled(design, original, len(read), rng.permutation(wrong)).contradicts


def test_a_count_is_not_accused_for_the_rounding_of_its_mean():
    rows, short = np.array(10.0), np.array([10.0 * (1 - 2e-15), 10.0])
    sums = np.array([10.0, np.nextafter(10, 11)])  # a sum of doubles may end beyond what it sums up to
    assert counts_finding("counts", np.array([10, 10]), sums, rows, 1e-6, "ab").p_value == 1
    assert counts_finding("counts", np.array([10, 9]), short, rows, 1e-6, "ab").p_value > 0
    assert counts_finding("counts", np.array([1, 10]), np.array([0.0, 10.0]), rows, 1e-6, "ab").p_value == 0
