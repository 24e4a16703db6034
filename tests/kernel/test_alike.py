"""Samples that are alike: the figures of real designs, the same figures from the matrix written out, forged files."""

import copy
import json
from fractions import Fraction
from itertools import permutations, product
from math import prod

import pytest

from dalenius.kernel import Refused, check
from dalenius.kernel.alike import count_types, types
from dalenius.kernel.check import reached
from dalenius.kernel.document import read_document
from dalenius.kernel.numbers import canonical
from dalenius.kernel.privacy import check_privacy
from tests.effort import effort
from tests.kernel.alike_documents import (
    ALIKE,
    COLUMNS,
    FOLDER,
    HONEST,
    MADE,
    ORBITS,
    TYPES,
    oracle,
    real_texts,
    written_out,
)
from tests.kernel.alike_forged import FORGED, forged_texts
from tests.kernel.documents import card, claims_of, contraction, dalenius, independent, leakage, local_dp
from tests.kernel.golden import file_name, texts_of

NEAR = Fraction(1, 2**58)
LOWER = ("guess_before",)


@pytest.mark.parametrize("name", sorted(oracle()))
def test_real_designs_have_the_figures_of_the_first_checker(name):
    text, first = real_texts()[name], oracle()[name]
    verdict = check(text)
    better = 1 if verdict.maximised else -1
    assert better * (verdict.bound - Fraction(first["bound"])) <= NEAR
    assert better * (Fraction(first["value"]) - verdict.value) <= NEAR
    for kept, figures in zip(verdict.kept.promises, first["promises"], strict=True):
        for figure, value in figures.items():
            if figure == "with_one_more_bits":
                for column, told in value.items():
                    assert abs(kept[f"leakage_bits|{column}"] - Fraction(told)) <= NEAR
            elif value is None:
                assert kept[figure] is None
            else:
                assert abs(kept[figure] - Fraction(value)) <= NEAR, figure
    for cost, expected in zip(verdict.kept.limits, first["limits"], strict=True):
        assert abs(cost - Fraction(expected)) <= NEAR


def test_the_corpus_has_every_forged_document():
    texts = {f"forged_{file_name(name)}": text for name, text in forged_texts().items()}
    assert len(texts) == len(FORGED) >= 100
    assert texts_of(FOLDER) == {
        **real_texts(),
        **{f"honest_{file_name(n)}": canonical(HONEST[n]) for n in MADE},
        **texts,
    }


@pytest.mark.parametrize("name", sorted(HONEST))
def test_honest_documents_are_proved(name):
    assert check(canonical(HONEST[name])).work > 0


@pytest.mark.parametrize("name", sorted(FORGED))
def test_a_forged_document_is_refused_with_its_sentence(name):
    with pytest.raises(Refused, match=FORGED[name][1]):
        check(forged_texts()[name])


def test_types_are_listed_in_one_order_and_counted():
    for samples, letters in product(range(1, 6), range(1, 5)):
        found = list(types(samples, letters))
        assert found == sorted(set(found))
        assert {tuple(sorted(x)) for x in product(range(letters), repeat=samples)} == {
            tuple(a for a, k in enumerate(t) for _ in range(k)) for t in found
        }
        assert count_types(samples, letters) == len(found)
    for samples, letters in ((10**6, 2), (40, 40), (1000, 3)):
        with pytest.raises(Refused, match="more than 200,000 types"):
            count_types(samples, letters)
    assert count_types(10**6, 1) == 1


# --- the same figures from everything written out ---------------------------------------------------------------------
@pytest.mark.parametrize("name", ["two samples", "four samples of three letters", "a sample alone"])
def test_samples_by_types_have_the_figures_of_all_outcomes(name):
    document = HONEST[name]
    wide = written_out(document)
    small, large = (read_document(canonical(d)) for d in (document, wide))
    kept, all_kept = check_privacy(small), check_privacy(large)
    (figures,) = kept.promises
    for told in all_kept.promises:
        for figure, value in told.items():
            if "|" not in figure:
                assert abs(figures[figure] - value) <= NEAR, figure
    for objective in (small.objective, large.objective):
        assert objective.maximise
    assert abs(reached(small, small.objective) - reached(large, large.objective)) <= NEAR
    if document["law"]["samples"] > 1:
        names = wide["mechanism"]["observe"]
        more = large.release.information((names[0],), (names[1],))[1]
        assert abs(small.release.information(("X",), ("another X",))[1] - more) <= NEAR


def test_all_that_is_read_is_all_samples_together():
    small, large = (read_document(canonical(d)) for d in (TYPES, written_out(TYPES)))
    names = large.setting.mechanism.observe
    read = small.setting.mechanism.observe
    assert read == ("all of X",)
    low, high = small.release.information(read)
    assert abs(low - large.release.information(names)[0]) <= NEAR
    assert low <= high
    one = small.release.information(("X",))[1]
    assert one < high  # a sample drawn at random is not the type


def test_promises_without_the_law_speak_of_all_rows():
    for promise in (local_dp("10"), dalenius("2"), contraction("1")):
        small, large = (copy.deepcopy(d) for d in (TYPES, written_out(TYPES)))
        found = []
        for document in (small, large):
            document["promises"] = [promise]
            document["evidence"] = [None]
            document["claims"]["promises"] = [[]]
            document["channel"] = SOFT[document["channel"]["form"]]
            found.append(check_privacy(read_document(canonical(document))).promises[0])
        for figure, value in found[1].items():
            near = abs(found[0][figure] - value) <= NEAR
            # Of types a member of a group is all samples together.
            assert near or (promise["promise"] == "dalenius" and found[0][figure] >= value)


SOFT = {  # no zeros; the same rows, for types and for outcomes of two samples
    "types": {
        "form": "types",
        "samples": 2,
        "letters": 2,
        "rows": [["7", [[0, str(2 + k)], [1, str(5 - k)]]] for k in range(3)],
    },
    "dense": {
        "form": "dense",
        "letters": 2,
        "scale": "7",
        "rows": [["4", "3"], ["3", "4"], ["3", "4"], ["2", "5"]],
    },
}


@pytest.mark.parametrize("name", ["orbits of two", "orbits of three"])
def test_orbits_have_the_figures_of_their_matrix(name):
    document = HONEST[name]
    wide = copy.deepcopy(document)
    wide["channel"] = dealt(document)
    small, large = (read_document(canonical(d)) for d in (document, wide))
    for told, other in zip(check_privacy(small).promises, check_privacy(large).promises, strict=True):
        for figure, value in other.items():
            assert abs(told[figure] - value) <= NEAR, figure
    names = small.setting.mechanism.observe
    for low, high in zip(small.release.information(names), large.release.information(names), strict=True):
        assert abs(low - high) <= NEAR
    for about, given in permutations(names, 2):
        upper = small.release.information((about,), (given,))[1]
        assert abs(upper - large.release.information((about,), (given,))[1]) <= NEAR


def dealt(document):
    """The matrix of form orbits by its definition: every order of the samples, letters by column and roles."""
    outcomes = {tuple(outcome[:-1]): int(outcome[-1]) for outcome in document["law"]["outcomes"]}
    total, samples = sum(outcomes.values()), len(document["mechanism"]["observe"])
    rows = {x: {} for x in outcomes}
    for k, (weight, words) in enumerate(document["channel"]["columns"]):
        places = list(zip(*(word for _, word in words), strict=True))
        role = {letters: r for r, letters in enumerate(dict.fromkeys(places))}
        for order in permutations(range(samples)):
            letter = (k, tuple(role[places[i]] for i in order))
            for mass, word in words:
                x = tuple(word[i] for i in order)
                share = Fraction(weight) * Fraction(mass) / prod(range(1, samples + 1))
                rows[x][letter] = rows[x].get(letter, 0) + share / Fraction(outcomes[x], total)
    letters = sorted({letter for row in rows.values() for letter in row})
    whole = [[row.get(letter, Fraction(0)) for letter in letters] for _, row in sorted(rows.items())]
    assert all(sum(row) == 1 for row in whole)
    scale = prod({v.denominator for row in whole for v in row})
    return {
        "form": "dense",
        "letters": len(letters),
        "scale": str(scale),
        "rows": [[str(int(v * scale)) for v in row] for row in whole],
    }


# --- bounds -----------------------------------------------------------------------------------------------------------
def test_a_bound_over_types_is_that_over_all_outcomes():
    """The same multipliers for every single column, in the rule of lines over all outcomes."""
    document = COLUMNS
    inner = document["proof"]["proof"]
    wide = copy.deepcopy(document)
    many = len(document["mechanism"]["observe"])
    leaves = []
    for leaf in inner["leaves"]:
        (row,) = leaf["promises"]
        shared = [str(Fraction(int(v), many).__round__()) for v in row]
        leaves.append({"objective": leaf["objective"], "promises": [shared] * many})
    wide["proof"] = inner | {"promises": ["0"] * many, "leaves": leaves}
    wide["claims"] |= {"bound": "9", "gap": "9"}
    assert abs(check(canonical(document)).bound - check(canonical(wide)).bound) <= NEAR


def test_the_bound_of_orbits_holds_for_every_mixture_of_columns():
    """No law of the samples with the right margins lies below what the boxes say."""
    verdict = check(canonical(ORBITS))
    assert verdict.rule == "orbits"
    assert verdict.value <= verdict.bound
    idle = copy.deepcopy(ORBITS)
    idle["proof"] = {"rule": "orbits", "prices": ["0"] * len(ORBITS["proof"]["prices"]), "tree": [["leaf", *["0"] * 3]]}
    idle["claims"] |= {"bound": "9", "gap": "9"}
    assert check(canonical(idle)).bound >= verdict.bound


@pytest.mark.long
def test_damaged_proofs_prove_nothing_that_is_passed():
    """Any multipliers prove a bound, and none of these lies below the value."""
    for name in ("honest_orbits_0.json", "honest_columns_types_3.json", "honest_types_binary_4.json"):
        document = json.loads(real_texts()[name])
        value = check(canonical(document)).value
        document["claims"] |= {"bound": "99", "gap": "99"}
        for k in range(effort(10, 200)):
            other = copy.deepcopy(document)
            shaken(other["proof"], k)
            assert check(canonical(other)).bound >= value


def shaken(proof, k):
    """Move the k-th multiplier of a proof by a quarter."""
    spots = []

    def walk(node):
        for key, value in node.items() if isinstance(node, dict) else enumerate(node):
            if isinstance(value, list | dict):
                walk(value)
            elif isinstance(value, str) and value.lstrip("-").isdigit() and len(value) > 12:
                spots.append((node, key))

    walk(proof)
    node, key = spots[k % len(spots)]
    node[key] = str(int(node[key]) + (-1) ** k * 2**58)


def boxed(*tree):
    """The design of three samples with another tree of boxes; zeros for the multipliers of leaves."""
    found = copy.deepcopy(ORBITS)
    leaf = {one: ["leaf", *["0"] * (1 + 2 * one)] for one in (1, 2, 3)}
    found["proof"]["tree"] = [leaf[node] if isinstance(node, int) else ["split", *node] for node in tree]
    found["claims"] |= {"bound": "9", "gap": "9"}
    return check(canonical(found)).bound


def test_boxes_without_a_column_do_not_count():
    """Three samples of seven tenths: the atom 000 can have at most that much, and less where its orbit has less."""
    whole = boxed(1)
    assert boxed([0, "1"], 1, 1) == whole  # nothing lies above 1: the mass of its values is 7/10
    assert boxed([0, "1/10"], [0, "1/5"], 1, 1, 1) == boxed([0, "1/10"], 1, 1)
    assert boxed([1, "1/10"], [1, "1/5"], 1, 2, 2) == boxed([1, "1/10"], 1, 2)
    assert boxed([0, "1/10"], 1, 1) <= whole


def constant(document):
    """The same with one letter that is always released."""
    found = copy.deepcopy(document)
    many = len(found["channel"]["rows"])
    found["channel"] |= {"letters": 1, "rows": [["1", [[0, "1"]]]] * many}
    found["claims"] = claims_of(promises=[[] for _ in found["promises"]])
    return found


def test_columns_that_are_not_alike_have_no_bound_over_types():
    document = constant(COLUMNS)
    assert check(canonical(document)).bound > 0
    for change, sentence in (
        (lambda d: d["law"]["outcomes"][2].__setitem__(-1, "7"), "not exchangeable"),
        (lambda d: d["law"]["outcomes"].pop(3), "not exchangeable"),
        (lambda d: d["objective"].__setitem__("about", ["left"]), "columns are not alike"),
    ):
        other = copy.deepcopy(document)
        change(other)
        with pytest.raises(Refused, match=sentence):
            check(canonical(other))


def test_samples_that_one_value_rules_out():
    """A kernel with zeros: types that never occur, and a hidden value that one letter excludes."""
    document = constant(TYPES)
    document["law"]["kernel"] = [["2", "0"], ["1", "1"]]
    document["proof"] = {"rule": "closed"}
    verdict = check(canonical(document))
    wide = written_out(document)
    assert abs(verdict.bound - check(canonical(wide)).bound) <= NEAR


# --- cards ------------------------------------------------------------------------------------------------------------
def test_cards_of_types_prove_what_their_rows_say():
    letters = {"A": ["0", "1"], "B": ["0", "1"]}
    channel = SOFT["types"]
    columns = card(letters, {"observe": ["A", "B"]}, [local_dp("1")], channel)
    assert check(canonical(columns)).kept.promises[0]["epsilon_nats"] < 1
    one = card({"X": ["0", "1"]}, {}, [independent("X")], channel)
    assert check(canonical(one)).kept.promises == (None,)
    one["promises"] = [local_dp("1")]
    with pytest.raises(Refused, match="without the law of its samples"):
        check(canonical(one))


def test_cards_of_orbits_prove_nothing_without_the_law():
    names = ORBITS["mechanism"]["observe"]
    letters = {variable["name"]: variable["letters"] for variable in ORBITS["variables"]}
    found = card(letters, {"observe": names}, [independent(names[0])], ORBITS["channel"])
    assert check(canonical(found)).kept.promises == (None,)
    found["promises"] = [local_dp("1")]
    with pytest.raises(Refused, match="form orbits does not prove this"):
        check(canonical(found))


def test_other_measures_of_orbits_are_refused():
    for promise, sentence in (
        (leakage("9", "X1", "X2"), "promises of one sample"),
        (local_dp("9"), "form orbits does not prove this"),
        (contraction("1"), "form orbits does not prove this"),
        (dalenius("9"), "form orbits does not prove this"),
    ):
        document = copy.deepcopy(ORBITS)
        document["promises"].append(promise)
        document["evidence"].append(None)
        document["claims"]["promises"].append([])
        with pytest.raises(Refused, match=sentence):
            check(canonical(document))


def test_a_law_alike_has_no_other_observers():
    document = copy.deepcopy(ALIKE)
    document["mechanism"]["keep"] = ["W"]
    with pytest.raises(Refused, match="observed as X alone"):
        check(canonical(document))
