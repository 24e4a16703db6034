"""Documents that mean something else are refused, or what is proved about them is so."""

import json
import random

import pytest

from dalenius.cli import main as dalenius
from dalenius.kernel import Refused, check
from dalenius.kernel.command import main, said
from tests.effort import effort
from tests.kernel.brute import Told
from tests.kernel.documents import leakage, text_of
from tests.kernel.golden import CORPUS
from tests.kernel.honest_documents import honest
from tests.kernel.meanings import falsehood, forge, kinds, put, silent, some_of
from tests.kernel.written_out import Unknown


def read(name):
    return json.loads((CORPUS / f"{name}.json").read_text(encoding="utf-8"))


@pytest.mark.long
def test_other_meanings_are_refused_or_true():
    found = forge(seed=5, few=effort(25, 2_000))
    assert sum(found.refused.values()) > sum(found.true.values()) > 0
    assert found.false == []
    assert found.differ == []


@pytest.mark.long
def test_verify_of_the_package_says_the_same(tmp_path, capsys):
    file, seen = tmp_path / "design.json", set()
    for _, lie in some_of(effort(15, 500), random.Random(9)):
        file.write_bytes(text_of(lie).encode())
        status = main([str(file)])
        assert dalenius(["verify", str(file)]) == status, capsys.readouterr()
        seen.add(status)
    assert seen == {0, 4}


@pytest.mark.long
def test_most_kinds_of_honest_documents_are_true_by_brute_force():
    chance = random.Random(6)
    known = 0
    for name, document in kinds()[:: effort(9, 1)]:
        try:
            wrong = falsehood(document, check(text_of(document)), chance)
        except Unknown:
            continue
        known += 1
        assert wrong is None, name
    assert known > len(kinds()) // effort(12, 2)


def test_brute_force_sees_a_promise_that_is_not_kept_and_a_figure_that_is_not_so():
    document = honest()["leakage"]
    chance, verdict = random.Random(7), check(text_of(document), privacy_only=True)
    assert falsehood(document, verdict, chance) is None
    assert falsehood(put(document, "promises", 0, "at_most_bits", "1/100"), verdict, chance) == "leakage is not kept"
    verdict.kept.promises[0]["guess_after"] /= 2
    assert falsehood(document, verdict, chance).startswith("guess_after is not")


def test_brute_force_sees_a_bound_that_a_mechanism_passes():
    document = silent(honest()["independent"])
    verdict = check(text_of(document))
    object.__setattr__(verdict, "bound", verdict.bound / 2)
    assert falsehood(document, verdict, random.Random(8)).startswith("a mechanism reaches")


def test_noise_beside_a_kept_column_proves_nothing_about_a_secret():
    """What leaves beside the noise was not counted: a kept secret had a leakage of 0.2 bits."""
    document = read("alike/honest_geometric_noise")
    told = put(put(document, "mechanism", "keep", ["S"]), "promises", [leakage("9", "S")])
    with pytest.raises(Refused, match="the columns that it reads and no others"):
        check(text_of(silent(put(told, "evidence", [None]))), privacy_only=True)


def test_a_secret_is_not_promised_where_what_the_user_has_is_ignored():
    """The user has Z, which tells all of S; the letter alone tells nothing."""
    document = put(read("rules/dual_dense_information_privacy_2"), "mechanism", "side", "encoder", "uninformed")
    with pytest.raises(Refused, match="counts what the user has"):
        check(text_of(silent(document)), privacy_only=True)


def test_records_have_no_matrix_for_each_column():
    document = put(silent(read("later/records_secret_not_observed")), "mechanism", "each", ["9", "9", "9"])
    assert Told(document).rows
    with pytest.raises(Refused, match="records are released whole"):
        check(text_of(document), privacy_only=True)


@pytest.mark.parametrize(
    ("name", "words"),
    [("records_multiplicity", "at least 3 rows"), ("records_multiplicity_stated", "at least 3 of 60 in")],
)
def test_rows_of_records_are_told_as_rows_and_never_as_bits(name, words):
    assert any(line.startswith("  limit 1: kept, " + words) for line in said(check(text_of(read(f"later/{name}")))))
