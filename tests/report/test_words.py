"""Sentences: what was promised, proved, seen, and what is not protected."""

import json
import re
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from dalenius.core import (
    Design,
    Distortion,
    Independent,
    LocalDP,
    MinimizeDistortion,
    MinimizeLeakage,
    MinimizeRate,
    MinimizeVariance,
    SideInformation,
    TableSource,
)
from dalenius.core.forms import Types
from dalenius.core.numbers import strict_json
from dalenius.errors import InputError
from dalenius.evidence import Attack, Audit, examine
from dalenius.evidence.examining import ERROR
from dalenius.mechanisms import solve
from dalenius.report.facts import Facts
from dalenius.report.words import guesses, not_protected, one_more, promised, proved, seen
from dalenius.testing import binary_tradeoff
from dalenius.wording import Shape


def both(design: Design) -> tuple[Facts, Facts]:
    """What the design says, and what its card says."""
    return Facts.of_design(design), Facts.of_card(design.card())


def test_independence_names_one_guess_before_and_after(designs: dict[str, Design]) -> None:
    # p(X1 = 0) = 37/100 + 14/100
    told = promised(Facts.of_design(designs["two_binary"]))
    assert told[:2] == [
        "A released row reveals nothing about X1: every answer stays exactly as likely as it was.",
        "Someone who knows the stated statistics guesses X1 right 510 times in 1,000, "
        "with the released row and without it.",
    ]
    assert len(told) == 4


def test_kept_columns_are_part_of_what_is_released(designs: dict[str, Design]) -> None:
    for facts in both(designs["kept"]):
        assert promised(facts)[0].startswith("A released row (Y and year) reveals nothing about")


def test_bounds_are_rounded_up_and_the_guess_before_down(designs: dict[str, Design]) -> None:
    told = promised(Facts.of_card(designs["made up"].card()))
    assert told[0].startswith("On average, a released row reveals at most 0.05 bits about secret.")
    assert told[1] == (
        "Proved: 0.0488 bits on average, and 0.114 bits for the most revealing row (Y = <script>alert(1)</script>)."
    )
    assert (
        "guesses secret right 513 times in 1,000 without the released row, and at most 19 times more with it."
        in told[2]
    )


@pytest.mark.parametrize(
    "part",
    [
        "No released row, not even the most revealing one, reveals more than 0.2 bits about secret.",
        "No released row makes an answer about kind and secret together more than 1.65 times as likely as it was",
        "no released entry is more than 2.72 times as likely for one person as for another",
        "This is local differential privacy at level 1, a factor of 2.72.",
        "Proved: level 0.971.",
        "One draw reveals at most 0.1 bits about any one of the records",
        "Whatever the secret is, at most 20 % of what a row says about it passes into the release.",
    ],
)
def test_every_kind_of_promise_has_a_sentence(designs: dict[str, Design], part: str) -> None:
    assert any(part in sentence for sentence in promised(Facts.of_design(designs["made up"])))


def test_promises_without_figures_still_have_sentences(design: Design) -> None:
    bare = replace(design, proved=())
    told = promised(Facts.of_card(bare.card()))
    assert len(told) >= len(design.problem.guarantees)
    assert all(s.endswith(".") and "None" not in s for s in told)
    assert proved(Facts.of_card(bare.card()))[0] == "This file holds no proved figure for what is promised."


def test_only_promises_with_figures_are_called_proved(designs: dict[str, Design]) -> None:
    assert proved(Facts.of_card(designs["xor"].card()))[0].startswith("Every promise is proved")
    assert proved(Facts.of_card(designs["made up"].card()))[0].startswith("4 of the 6 promises are proved")


def test_a_tight_gap_is_said_in_digits(designs: dict[str, Design]) -> None:
    told = proved(Facts.of_design(designs["example2"]))
    assert re.search(
        r"says 0\.0134 bits .*\. No other recipe keeps the promise and does better: proved to 15 digits\.", told[1]
    )
    assert "How it was proved: a look at every extreme recipe, one by one." in told
    assert not any(re.search(r"\de-\d", line) for line in told)
    exactly = proved(Facts.of_card(designs["xor"].card()))
    assert exactly[1].endswith("No other recipe keeps the promise and does better: proved exactly.")


def test_a_wide_gap_shows_the_bound(designs: dict[str, Design]) -> None:
    told = " ".join(proved(Facts.of_design(designs["made up"])))
    assert "says 0.3 bits" in told
    assert "Another recipe may do better; none can have more than 0.37 bits." in told


def test_nothing_to_say_is_said(designs: dict[str, Design]) -> None:
    told = " ".join(proved(Facts.of_card(designs["one value"].card())))
    assert "The release says 0 bits about W (everything about it is " in told
    assert "No other recipe keeps the promise and does better: proved exactly." in told


@pytest.mark.parametrize(
    ("objective", "part"),
    [
        (
            MinimizeDistortion(
                Distortion(
                    "sum", (), parts=(Distortion("hamming", ("kind",), weight=Fraction(2)), Distortion("kl", ("kind",)))
                )
            ),
            "has a sum of 2 times the share of changed entries of kind and the average divergence of kind of 0.124.",
        ),
        (
            MinimizeLeakage(("secret",)),
            "reveals 0.124 bits about secret. Another recipe may do better;",
        ),
        (MinimizeRate(), "reveals 0.124 bits about all that the recipe looks at"),
        (
            MinimizeDistortion(Distortion("hamming", ("kind",))),
            "12.4 of 100 entries in 100 rows change. Another recipe may",
        ),
        (MinimizeVariance(("kind",)), "lets the shares of kind be estimated with a variance of 0.124."),
    ],
)
def test_minimised_values_are_rounded_up_and_their_bounds_down(
    designs: dict[str, Design], objective: object, part: str
) -> None:
    design = designs["made up"]
    problem = replace(design.problem, objective=objective)
    told = " ".join(
        proved(Facts.of_design(replace(design, problem=problem, value=Fraction("0.12341"), bound=Fraction("0.1199"))))
    )
    assert part in told
    assert ("less than 0.119" in told) or ("none with fewer than 11." in told)


def test_limits_and_side_information_are_said(designs: dict[str, Design]) -> None:
    design = designs["made up"]
    problem = replace(
        design.problem,
        limits=(Distortion("hamming", ("kind",), Fraction(3, 20)),),
        side_information=SideInformation("year"),
    )
    told = promised(Facts.of_design(replace(design, problem=problem)))
    assert "The share of changed entries of kind is at most 0.15." in told
    realised = replace(design, problem=problem, realised=({"expected": "1/8"},))
    assert "The share of changed entries of kind is at most 0.15. Proved: 0.125." in promised(Facts.of_design(realised))
    assert "together with year, which its reader has anyway, reveals at most" in told[0]


def test_one_more_attribute_most_first(designs: dict[str, Design]) -> None:
    assert one_more(Facts.of_card(designs["example2"].card())) == [
        "Someone who already knows X2 could learn up to 0.793 bits about X1 from Y.",
        "Someone who already knows X1 could learn up to 0.793 bits about X2 from Y.",
    ]
    told = one_more(Facts.of_card(designs["made up"].card()))
    assert told[0] == "Someone who already knows region could learn up to 0.111 bits about secret from Y."
    assert told[-1].startswith("Someone who already knows year still learns nothing about")
    assert len(told) == 6  # the two promises about one secret say the same


def test_seen_says_rows_tests_error_and_leakage(fine: Audit) -> None:
    told = " ".join(seen(fine))
    assert "12,345 released rows were compared with the original, row by row." in told
    assert "1 test made." in told
    assert "at most 1 in 1,000,000." in told
    assert "nothing contradicts the proof." in told
    assert "About X1 the released rows show 0.000123 bits; chance alone gives about 0.00007 bits." in told


def test_seen_says_a_contradiction(against: Audit) -> None:
    told = " ".join(seen(against))
    assert "The released table CONTRADICTS the proof: 1 of 2 tests failed." in told
    assert "Failed: how often each value was released" in told
    assert "their order was shuffled" in told
    assert "nothing contradicts" not in told


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -1e-17, 0.0])
def test_seen_survives_odd_estimates(fine: Audit, value: float) -> None:
    odd = replace(fine, leakage=({"view": ["X1"], "seen_bits": value, "expected_by_chance_bits": 0.1},))
    assert any("About X1" in sentence for sentence in seen(odd))


def test_not_protected_row_and_combination(designs: dict[str, Design]) -> None:
    told = " ".join(not_protected(Facts.of_design(designs["xor"])))
    for part in (
        "The promise is about one row.",
        "something about the combination of X1 and X2",
        "Only X1 and X2 are protected.",
        "Y can reveal more together with other columns, or with data from elsewhere",
        "but not the row",
        "do not add up over releases",
        "follow the statistics of the design",
        "If they were counted from a table, keep them as safe as it is.",
        "How long the work takes",
    ):
        assert part in told


def test_a_joint_promise_covers_the_combination(designs: dict[str, Design]) -> None:
    design = designs["xor"]
    problem = replace(design.problem, guarantees=(Independent(("X1", "X2")), Independent(("X1",))))
    assert "combination" not in " ".join(not_protected(Facts.of_design(replace(design, problem=problem))))


def test_prior_free_promises_are_not_about_a_distribution(designs: dict[str, Design]) -> None:
    design = designs["xor"]
    problem = replace(design.problem, guarantees=(LocalDP(Fraction(1)),))
    told = " ".join(not_protected(Facts.of_design(replace(design, problem=problem, proved=()))))
    assert "levels of the promises add up" in told
    assert "distribution" not in told


@pytest.mark.parametrize(
    ("source", "part", "without"),
    [
        (TableSource("t.csv"), "a row at random from this table", "public statistics"),
        (TableSource("t.csv", prior="public.json"), "follow the public statistics", "contain counts"),
        (TableSource("t.csv", unit="person_id"), "about one person (column person_id)", "one row"),
        (TableSource("t.csv", unit="person_id", max_rows=5), "has at most 5 rows", "is about one person"),
    ],
)
def test_not_protected_follows_the_source(
    designs: dict[str, Design], source: TableSource, part: str, without: str
) -> None:
    design = designs["xor"]
    told = " ".join(not_protected(Facts.of_design(replace(design, problem=replace(design.problem, source=source)))))
    assert part in told
    assert without not in told


def test_alphabets_from_the_table_and_kept_order_are_said(designs: dict[str, Design]) -> None:
    design = designs["made up"]
    for facts in both(design):
        assert any("Some lists of values were taken from the table itself" in s for s in not_protected(facts))
    kept_order = replace(design, problem=replace(design.problem, order="keep"))
    for facts in both(kept_order):
        assert any("order of the original table" in s for s in not_protected(facts))
    assert not any("lists of values" in s for s in not_protected(Facts.of_design(designs["xor"])))


def test_words_are_the_same_from_a_file(design: Design) -> None:
    again = Design.from_json(strict_json(json.dumps(design.to_json())))
    card = strict_json(json.dumps(design.card()))
    for say in (promised, proved, one_more, not_protected):
        assert say(Facts.of_design(again)) == say(Facts.of_design(design))
        assert say(Facts.of_card(card)) == say(Facts.of_card(design.card()))


def test_names_cannot_steer_a_terminal(designs: dict[str, Design]) -> None:
    card = designs["xor"].card()
    card["guarantees"] = [{"promised": {"independent": ["\x1b[31mX\u202e\ud800"]}, "proved": {}}]
    told = promised(Facts.of_card(card))[0]
    assert told.isprintable()
    assert "\\x1b[31mX\\u202e\\ud800" in told


@pytest.mark.parametrize("document", [{}, {"guarantees": 3}, {"guarantees": [], "channel": {}}])
def test_what_is_no_card_is_refused(document: dict[str, object]) -> None:
    with pytest.raises(InputError, match="this is no card"):
        Facts.of_card(document)


def test_a_card_alone_does_not_say_what_was_reached(designs: dict[str, Design]) -> None:
    card = designs["xor"].card()
    del card["objective"]
    with pytest.raises(InputError, match="that stands in the file beside it"):
        proved(Facts.of_card(card))


def test_a_bound_within_one_form_is_no_bound_on_every_mechanism(designs: dict[str, Design]) -> None:
    card = designs["example2"].card()
    within = " ".join(proved(Facts.of_card({**card, "proof": {**card["proof"], "kind": "pram"}})))
    assert "No other recipe of the form pram keeps the promise and does better" in within
    assert "of the form" not in " ".join(proved(Facts.of_card(card)))


def test_least_leakage_of_nothing_and_beside_side_information(designs: dict[str, Design]) -> None:
    card = {**designs["example2"].card(), "objective": {"minimize": {"leakage": ["W"]}}}
    nothing = " ".join(proved(Facts.of_card({**card, "value": "0", "bound": "0", "gap": "0"})))
    assert "The release reveals 0 bits about W. No other recipe keeps the promise and does better" in nothing
    beside = " ".join(proved(Facts.of_card({**card, "side_information": {"variable": "Z"}})))
    assert "about W (together with Z, which its reader has anyway)." in beside


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, True),
        ({"objective": MinimizeDistortion(Distortion("hamming", ("X",))), "limits": ()}, True),
        ({"objective": MinimizeRate()}, False),
        ({"guarantees": (LocalDP("9"),)}, False),  # a promise about single letters is none about codes
    ],
)
def test_a_bound_on_leakage_and_distortion_is_one_for_codes_too(changes: dict[str, object], said: bool) -> None:
    told = proved(Facts.of_design(solve(replace(binary_tradeoff("1/10", "3/20"), **changes))))  # type: ignore[arg-type]
    assert ("Changing many rows together would not help." in told) == said


def test_point_05_the_public_words_do_not_call_the_distribution_confidential(designs: dict[str, Design]) -> None:
    # docs/limits.md shows that the counts can often be computed from the card
    told = " ".join(proved(Facts.of_card(designs["two_binary"].card())))
    assert "stays confidential" not in told
    assert "is not in the card" not in told
    assert "in design.json, which the owner of the table holds" in told


def test_point_05_what_there_is_to_know_is_not_rounded_beyond_itself(designs: dict[str, Design]) -> None:
    design = replace(designs["two_binary"], entropy=1 + Fraction(1, 10**30))
    assert "(everything about it is 1 bit)" in " ".join(proved(Facts.of_design(design)))


def test_point_07e_the_band_of_a_distortion_follows_the_error_of_the_audit() -> None:
    design = solve(binary_tradeoff("1/10", "3/20"))
    inputs, letters = np.array([0, 1] * 50), np.array([0, 1] * 42 + [1, 0] * 8)
    for error, chance in ((1e-6, "1 in 1,000,000"), (0.05, "1 in 20")):
        told = " ".join(seen(examine(design, inputs, letters, error=error)))
        assert f"but for a chance of at most {chance}." in told
        assert "all but surely" not in told


def test_point_07e_a_guess_is_rounded_once_wherever_it_is_told(designs: dict[str, Design]) -> None:
    facts = Facts.of_design(designs["made up"])
    first = next(promise for promise in facts.promises if promise.kind == "leakage")
    figures = {**first.figures, "guess_before": "0.6004", "guess_after": "0.6004"}
    told = " ".join(promised(replace(facts, promises=(replace(first, figures=figures),))))
    assert "guesses secret right 600 times in 1,000, with the released row and without it" in told
    attack = Attack(("secret",), Fraction(6004, 10000), Fraction(6004, 10000), 0.1)
    assert guesses([attack])[0] == "Of 1,000 guesses of secret, 600 are right anyway, and no more with the row."


def test_point_07c_a_bound_names_everything_that_it_holds_fixed(designs: dict[str, Design]) -> None:
    design = designs["kept"]
    for facts in both(design):
        told = " ".join(proved(facts))
        assert "decides by that alone, beside year, which goes out as it is" in told
        assert "changes each row by itself, all rows by the same rule" in told
    facts = Facts.of_design(design)
    shape = Shape(keeps_shares=True, freeze=["widowed"], forbids=True, strata=["sex"], release=["marital"])
    facts = replace(facts, shape=shape)
    for part in (
        "keeps the number of rows of every combination",
        "never changes widowed",
        "makes no change that the problem forbids",
        "has rules of its own for each sex, which goes out as it is",
        "releases marital in the values that the table has",
    ):
        assert part in " ".join(proved(facts))
    assert "releases marital on the grid of the noise" in " ".join(proved(replace(facts, form="noise")))


def test_a_card_carries_the_shape_that_its_bound_holds_fixed() -> None:
    problem = replace(binary_tradeoff("1/10", "3/20"), preserve_marginals=True)
    card = solve(problem).card()
    assert card["shape"]["preserve_marginals"] is True
    assert "keeps the number of rows of every combination" in " ".join(proved(Facts.of_card(card)))


def test_point_07_what_leaves_is_conditioned_on_the_audit_and_that_is_said(designs: dict[str, Design]) -> None:
    for facts in both(designs["two_binary"]):
        told = " ".join(not_protected(facts))
        assert "only if it passes its own tests" in told
        assert f"at most 1 in {round(1 / ERROR):,};" in told


def test_samples_with_names_of_their_own_are_named(designs: dict[str, Design]) -> None:
    """Columns that one recipe treats alike were called X, which is no column of the table."""
    sure = (Fraction(1), Fraction(0))
    alike = Types("X", ("a", "b"), 2, {"Y": ("0", "1")}, (sure, sure, sure))
    named = replace(alike, columns=("left", "right"))
    for channel, names, samples in ((alike, ["X"], 2), (named, ["left", "right"], 0)):
        design = replace(designs["xor"], channel=channel)
        for facts in (Facts.of_design(design), Facts.of_card(designs["xor"].card() | {"channel": channel.to_json()})):
            assert list(facts.inputs) == names
            assert {promise.samples for promise in facts.promises} == {samples}
