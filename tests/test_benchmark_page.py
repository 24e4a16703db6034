"""The page of figures: what it says of rivals that were faster, and that the README says no figure that it lacks."""

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
# A number with a unit of time, of memory or of speed.
UNITS = r"ns|µs|ms|s|seconds?|minutes?|hours?|[KMG]i?B|times (?:faster|as fast)|rows a second"
FIGURE = re.compile(rf"\d[\d.,]*\s*(?:{UNITS})\b")


@pytest.fixture
def page(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    import page

    yield page
    for name in ("page", "contest", "reporting"):
        sys.modules.pop(name, None)


def missing(readme: str, figures: str) -> list[str]:
    """Figures of speed and size in one text that the other does not have."""
    return [figure for figure in FIGURE.findall(readme) if figure not in figures]


def contest(mine: dict[str, float], theirs: float, verdict: str = "right") -> dict:
    answers = [{"size": 4, "peak_mib": 30.0, "verdict": "right", **mine}]
    rival = [{"size": 4, "peak_mib": 30.0, "verdict": verdict, "cpu_seconds": theirs}]
    return {
        "question": "Anything",
        "size": "values",
        "results": [{"contender": "dalenius", "answers": answers}, {"contender": "rival", "answers": rival}],
    }


def test_figures_are_found_in_a_text():
    assert missing("It takes 3.5 ms and 1.2 GiB.", "3.5 ms") == ["1.2 GiB"]
    assert missing("20,190 rows, 1 in 6, 0.01 bits", "") == []


def test_every_figure_of_the_readme_stands_on_the_page():
    figures = (ROOT / "docs" / "benchmarks.md").read_text("utf-8")
    assert missing((ROOT / "README.md").read_text("utf-8"), figures) == []


def test_a_faster_rival_is_compared_with_our_search_alone_too(page):
    held = contest({"cpu_seconds": 0.008, "proof_seconds": 0.006}, 0.004)
    assert page.faster(held, right=True) == ["| Anything | rival | 4 (0.50; 2.0) |"]
    assert page.faster(held, right=False) == []


def test_a_faster_rival_with_another_answer_stands_by_itself(page):
    held = contest({"cpu_seconds": 0.008, "proof_seconds": 0.006}, 0.004, verdict="worse by 3.2e-04")
    assert page.faster(held, right=False) == ["| Anything | rival | 4 (0.50; 2.0) | worse by 3.2e-04 |"]
    assert page.faster(held, right=True) == []


@pytest.mark.parametrize("right", [True, False])
def test_a_slower_rival_is_no_faster_one(page, right):
    assert page.faster(contest({"cpu_seconds": 0.008, "proof_seconds": 0.006}, 0.009), right=right) == []


def test_an_answer_that_lacks_what_was_asked_for_says_so(page):
    from contest import judged

    assert judged({"lacks": "a cryptographic stream"}, None, "max", 1.0) == "without a cryptographic stream"
    assert judged({"value": 1.5}, {"low": 0.9, "high": 1.0}, "min", 0.1) == "worse by 5.0e-01"


def test_the_table_of_all_sizes_says_what_the_proof_takes(page):
    (row,) = page.summary(contest({"cpu_seconds": 0.008, "proof_seconds": 0.006}, 0.004))
    assert row == "| Anything | 4 | 8.0 ms | 6.0 ms |  | rival 0.50, right |"
    (row,) = page.summary(contest({"cpu_seconds": 0.008}, 0.016))
    assert row == "| Anything | 4 | 8.0 ms |  |  | rival 2.0, right |"
