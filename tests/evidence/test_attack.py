"""The attack on a release: guesses by brute force, Fano's bound by its own inequality."""

from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import log2
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dalenius import audit
from dalenius.core import Channel, Distortion, Leakage, MinimizeLeakage, Pmf, Problem, SideInformation
from dalenius.core.numbers import exact
from dalenius.evidence import Audit, attacks, fano_error
from dalenius.measures import guess_before
from dalenius.mechanisms import solve
from dalenius.report.mechanism import audited
from dalenius.report.words import seen
from dalenius.testing import binary_tradeoff, tradeoff, xor

TINY = Fraction(1, 10**20)
AUDIT = Audit(10, True, 1e-6, ())


def test_the_best_guess_of_a_binary_secret_is_the_likelier_flip():
    design = solve(binary_tradeoff("1/10", "3/20"))
    (attack,) = attacks(design)
    flip = design.channel.rows[0][1]
    assert attack.before == Fraction(1, 2)
    assert attack.after == Fraction(1, 10) * flip + Fraction(9, 10) * (1 - flip)
    assert attack.error == 1 - attack.after
    # A symmetric binary channel meets Fano with equality.
    assert attack.fano_error == pytest.approx(float(attack.error), abs=1e-7)


def test_independence_leaves_the_guess_as_it_was():
    for attack in attacks(solve(xor())):
        assert attack.before == attack.after == Fraction(1, 2)
        assert attack.fano_error == pytest.approx(0.5, abs=1e-4)


def test_a_guess_by_brute_force_over_all_rules_is_not_better():
    counts = [[[3], [5], [1]], [[2], [2], [6]], [[4], [1], [2]]]
    design = solve(tradeoff(counts, "hamming", "1/5"))
    (attack,) = attacks(design)
    rows, total = design.channel.rows, Fraction(26)
    best = max(
        sum(counts[r][rule[y]][0] * rows[r][y] for r in range(3) for y in range(3)) / total
        for rule in product(range(3), repeat=3)
    )
    assert attack.after == best
    assert float(attack.error) >= attack.fano_error - 1e-12


@pytest.mark.parametrize("encoder", ["uninformed", "statistically-informed", "informed"])
def test_side_information_counts_before_and_after_the_release(encoder):
    counts = [[[3, 1], [2, 9]], [[7, 2], [2, 6]], [[4, 1], [1, 3]]]  # X, S, Z
    problem = replace(tradeoff(counts, "hamming", "1/5"), side_information=SideInformation("Z", encoder))
    design = solve(problem)
    (attack,) = attacks(design)
    secret = problem.objective.about
    joint, total = problem.pmf, Fraction(problem.pmf.total)
    from_z = sum(map(max, joint.counts(["Z"], secret).tolist()))
    assert attack.before == from_z / total > guess_before(joint, secret)
    assert attack.after >= attack.before
    assert attack.knowing == ("Z",)
    assert "by one who has Z anyway" in " ".join(seen(SimpleNamespace(**vars(AUDIT) | {"attacks": (attack,)})))


@pytest.mark.long
def test_what_is_proved_counts_side_information_before_the_release():
    counts = [[[3, 1], [2, 9]], [[7, 2], [2, 6]], [[4, 1], [1, 3]]]
    problem = replace(tradeoff(counts, "hamming", "1/5"), side_information=SideInformation("Z", "informed"))
    promised = replace(problem, guarantees=(Leakage(problem.objective.about, Fraction(1, 2)),))
    design = solve(promised)
    (attack,) = attacks(design)
    assert exact(design.proved[0]["guess_before"]) <= attack.before < exact(design.proved[0]["guess_before"]) + TINY
    assert attack.after <= exact(design.proved[0]["guess_after"]) < attack.after + TINY


def test_a_channel_that_resamples_is_attacked_like_its_rows():
    joint = Pmf.from_records({"X": tuple("abcde")}, zip("abcde", (5, 5, 3, 2, 1), strict=True))
    limit = Distortion("hamming", ("X",), Fraction(1, 4))
    design = solve(Problem(("X",), MinimizeLeakage(("X",)), release=("X",), limits=(limit,), joint=joint))
    (attack,) = attacks(design)
    dense = replace(design, channel=Channel(design.channel.inputs, design.channel.output, design.channel.rows))
    assert (attack,) == attacks(dense)
    assert attack.before == Fraction(5, 16)


@given(st.integers(2, 9), st.floats(0, 1))
def test_fano_is_inverted_exactly(values, share):
    unknown = share * log2(values)
    e = fano_error(unknown, values)
    inside = sum(-p * log2(p) for p in (e, 1 - e) if p > 0) + e * log2(max(values - 1, 1))
    assert inside == pytest.approx(unknown, abs=1e-9)
    assert e >= (unknown - 1) / log2(values) - 1e-12  # the papers' form is never better


@pytest.mark.long
def test_the_audit_of_a_design_alone_tells_the_attack_on_its_secrets(tmp_path):
    design = solve(binary_tradeoff("1/10", "3/20"))
    (tmp_path / "d.json").write_text(design.dumps(), encoding="utf-8")
    for mechanism in (design, tmp_path / "d.json"):
        found = audit(mechanism)
        assert found.attacks == attacks(design)
        assert any("Of 1,000 guesses of S, 500 are right anyway" in line for line in audited(found))
    assert audit(design.channel).attacks == ()  # a channel names no secret
    assert audit(design, prior=design.problem.pmf).attacks == ()  # what is asked under another law is another question
