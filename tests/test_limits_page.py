"""docs/limits.md and its neighbours say what the program does."""

from pathlib import Path

from dalenius.evidence.examining import ERROR
from dalenius.mechanisms.columns.regions import SLACK

DOCS = Path(__file__).parents[1] / "docs"
LIMITS = " ".join((DOCS / "limits.md").read_text(encoding="utf-8").split())


def test_point_07g_the_limits_know_the_confidence_statement_and_the_queries_of_a_ledger():
    assert "no confidence statement is made" not in LIMITS
    assert "does not take one yet" not in LIMITS
    assert "`ledger add` takes a query file" in LIMITS
    assert "prints a bound with its confidence" in LIMITS


def test_the_limits_say_that_what_leaves_is_conditioned_on_the_audit():
    assert ERROR == 1e-6
    assert "follows the proved distribution given that the audit does not object" in LIMITS
    assert "total variation between the two is the probability that it does, at most 10^-6" in LIMITS


def test_also_b_each_example_of_the_limits_has_a_folder_of_its_own():
    assert "demo.py demo`" not in LIMITS  # that is the folder of `make demo`
    assert "counts_from_card.py demo/release/card.json" in LIMITS
    assert "counts_from_card.py perfect/release/card.json" in LIMITS
    assert "In the example the release reveals 0.1016 bits" in LIMITS


def test_point_07g_the_room_above_the_least_leakage_is_documented_as_it_is_printed():
    page = (DOCS / "mechanisms" / "leakage.md").read_text(encoding="utf-8")
    (line,) = [line for line in page.splitlines() if line.startswith("| `tradeoff P.toml --at D`")]
    for slack in SLACK:
        assert f"{float(slack):.0e}".replace("e-0", "e-") in line


def test_also_d_where_sdcmicro_counts_otherwise_its_users_are_told():
    for page in ("tutorials/pram.md", "mechanisms/risk.md"):
        text = (DOCS / page).read_text(encoding="utf-8")
        assert "NA matches every" in text
        assert "lambda" in text
