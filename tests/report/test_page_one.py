"""The first page of a statement is for those who sign it (rules of `page_one`)."""

from datetime import UTC, datetime
from fractions import Fraction

import pytest

from dalenius import solve
from dalenius.core import Design, LocalDP, MaximizeInformation, Pmf, Problem
from dalenius.evidence import Audit, beliefs
from dalenius.evidence.before_after import BeforeAfter, ValueCount
from dalenius.mechanisms.columns.leakage.trade import Trade
from dalenius.report.statement import public_statement, statement
from dalenius.testing import binary_tradeoff
from tests.report.page_one import faults, first_page

FINE = {"long": [], "bare": [], "bits": [], "hard": []}
MADE = datetime(2026, 11, 16, 9, 12, tzinfo=UTC)


@pytest.fixture(scope="module")
def design() -> Design:
    return solve(Trade.of(binary_tradeoff("1/10", "1/20")).at_leakage(Fraction(1, 10)))


def test_a_statement_is_read_by_everybody(design: Design, fine: Audit) -> None:
    counts = BeforeAfter((ValueCount(("X",), ("0",), 100, 60), ValueCount(("X",), ("1",), 100, 140)), ())
    page = statement(design, fine, counts=counts, beliefs=beliefs(design), made=MADE)
    assert faults(page) == FINE
    assert len(first_page(page)) > 40


def test_so_is_the_public_one(design: Design) -> None:
    assert faults(public_statement(design.card(), text=design.card_text())) == FINE


def test_bits_are_explained_where_the_promise_has_none(fine: Audit) -> None:
    pram = Problem(
        joint=Pmf.from_records({"health": ("good", "fair", "poor")}, [(("good",), 5), (("fair",), 3), (("poor",), 2)]),
        observe=("health",),
        release=("health",),
        form="pram",
        objective=MaximizeInformation(("health",)),
        guarantees=(LocalDP(1),),
    )
    page = statement(solve(pram), fine, made=MADE)
    assert " bits about health" in page
    assert faults(page) == FINE


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("long", "This " + "very " * 25 + "long sentence ends here."),
        ("bare", "Nobody knows what it means that 0.7314 stands in the middle of this sentence, " * 2),
        ("hard", "Heterogeneity notwithstanding, institutional accountability necessitates indeterminacy." * 40),
    ],
)
def test_the_rules_can_fail(design: Design, kind: str, words: str) -> None:
    page = statement(design, made=MADE).replace("</header>", f"</header><p>{words}</p>", 1)
    assert faults(page)[kind]


def test_bits_are_explained_where_they_first_occur(design: Design) -> None:
    page = statement(design, made=MADE)
    assert faults(page.replace("One bit is the answer", "A bit is the answer"))["bits"]
