"""The lattice in the report: what was asked for, what follows and what does not."""

import pytest

from dalenius import audit, solve
from dalenius.core import (
    Contraction,
    Dalenius,
    Independent,
    InformationPrivacy,
    Leakage,
    LocalDP,
    WorstCaseLeakage,
)
from dalenius.measures.lattice import METRICS
from dalenius.report.facts import Promise
from dalenius.report.implications import lattice
from dalenius.report.statement import public_statement, statement
from dalenius.testing import contracted_bit, xor

PROMISES = (
    LocalDP("1"),
    Leakage("S", "1/10"),
    WorstCaseLeakage("S", "1/10"),
    Dalenius("1/10"),
    Independent("S"),
    InformationPrivacy("S", "1"),
    Contraction("1/4"),
)


def promise(kind: str) -> Promise:
    return Promise(next(guarantee for guarantee in PROMISES if guarantee.key == kind))


OF_ITS_SECRET = {METRICS[m] for m in ("worst_entropy", "worst_divergence", "leakage")}


@pytest.mark.parametrize(
    ("kind", "implied", "missing"),
    [
        ("local_dp", set(METRICS.values()) - {METRICS["strong_dp"]}, set()),
        ("leakage", set(), set(METRICS.values()) - {METRICS["leakage"]}),
        ("worst_case_leakage", {METRICS["leakage"]}, {METRICS["strong_dp"], METRICS["information"]}),
        ("dalenius", {METRICS["leakage"], METRICS["capacity"]}, {METRICS["dp"]}),
        ("independent", OF_ITS_SECRET, {METRICS["dp"], METRICS["capacity"], METRICS["dalenius"]}),
        ("information_privacy", OF_ITS_SECRET, {METRICS["strong_dp"], METRICS["dalenius"]}),
    ],
)
def test_point_07b_what_follows_and_what_does_not(kind: str, implied: set[str], missing: set[str]) -> None:
    found = lattice([promise(kind)])
    assert found is not None
    assert set(found.implies) == implied
    assert missing <= {words.split(":")[0] for words in found.not_implied}
    assert not any("it is about one record" in words for words in found.not_implied)  # that is a level, not a refusal
    assert len(found.asked) == 1
    assert len(found.asked) + len(found.implies) + len(found.not_implied) == len(METRICS)


def test_a_promise_outside_the_lattice_draws_none() -> None:
    assert lattice([promise("contraction")]) is None
    assert "What the promise implies" not in statement(solve(contracted_bit("9/25")))


def test_both_statements_say_what_is_implied() -> None:
    design = solve(xor())
    for page in (statement(design), public_statement(design.card())):
        said = page.partition("What the promise implies, and what it does not")[2].partition("</details>")[0]
        assert all(name in said for name in METRICS.values())


@pytest.mark.long
def test_point_07b_a_promise_about_a_secret_says_nothing_of_other_inputs_and_other_laws() -> None:
    design = solve(xor())  # independent of each bit, and each bit is told by the other: C_1 is one bit
    assert audit(design).dp_epsilon is None
    assert audit(design).worst.low > 0.999
    for page in (statement(design), public_statement(design.card())):
        said = " ".join(page.partition("What the promise implies")[2].partition("It does not imply")[0].split())
        assert "differential privacy" not in said
        assert "any attacker" not in said
        assert "under the distribution of the design" in said


def test_a_level_given_released_columns_says_among_whom_it_holds() -> None:
    """Rows that differ in what goes out as it is have no level, no capacity and no bound of a guess."""
    found = lattice([Promise(LocalDP("2", given=("sex", "income")))])
    assert found is not None
    among = "All of this holds among rows with the same sex and income alone"
    assert found.scope == f"{among}, and not about sex and income."


def test_a_level_with_a_delta_implies_no_bound_of_a_ratio() -> None:
    assert lattice([Promise(LocalDP("2", delta="1e-6"))]) is None
