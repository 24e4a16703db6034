"""The same lies told in every document of the corpus that is proved, whatever its form, law and rule."""

import copy
import json
import random
from functools import cache

import pytest

from dalenius.kernel import Refused, check
from dalenius.kernel.promises import LOWER
from tests.effort import effort
from tests.kernel.documents import text_of
from tests.kernel.golden import CORPUS, LONGEST, texts_of
from tests.kernel.mutations import inner, places

FOLDERS = sorted(folder.name for folder in CORPUS.iterdir() if folder.is_dir())
EACH = effort(6, 400)  # lies of one kind about one folder


def proved(folder, what="privacy"):
    """The designs and cards of a folder whose privacy is proved, or of which all is."""
    kept = json.loads((CORPUS / folder / "verdicts.json").read_text(encoding="utf-8"))
    texts = texts_of(CORPUS / folder)
    found = [json.loads(texts[name]) for name, verdict in kept.items() if isinstance(verdict.get(what), dict)]
    return [document for document in found if "mechanism" in document]


@cache
def with_proofs():
    """The short designs of all folders whose bound is proved."""
    found = [document for folder in FOLDERS for document in proved(folder, "all") if "proof" in document]
    return [document for document in found if len(text_of(document)) < LONGEST]


# Parts of a sum, weights of a noise, trees of several groups, and windows and sums that leave twice.
MAY_REPEAT = {"distortion", "weights", "evidence", "windows", "sums"}


def stray_key(document, path):
    value = inner(document, path)
    if isinstance(value, dict):
        value["stray"] = None
        return True
    return False


def missing_key(document, path):
    value = inner(document, path)
    if isinstance(value, dict) and not (path[0] == "evidence" and "law" in value):  # a ball needs no law of its own
        del value[next(iter(value))]
        return True
    return False


def text_for_a_list(document, path):
    value = inner(document, path)
    if isinstance(value, list):
        inner(document, path[:-1])[path[-1]] = "".join(map(str, value))
        return True
    return False


def object_for_a_list(document, path):
    value = inner(document, path)
    if isinstance(value, list):
        inner(document, path[:-1])[path[-1]] = {str(k): part for k, part in enumerate(value)}
        return True
    return False


def number_for_a_text(document, path):
    value = inner(document, path)
    if isinstance(value, str):
        inner(document, path[:-1])[path[-1]] = int(value) if value.isdecimal() else 1
        return True
    return False


def truth_for_a_number(document, path):
    value = inner(document, path)
    if type(value) is int:
        inner(document, path[:-1])[path[-1]] = value > 0
        return True
    return False


def twice_in_a_list(document, path):
    """A name, a letter, a promise or an outcome twice; lists of numbers get longer than they may be.

    A card does not say how many values a secret has, so that a gain of it may have any number of columns.
    """
    value = inner(document, path)
    if "gain" in path and "law" not in document:
        return False
    if isinstance(value, list) and value and not MAY_REPEAT & set(path):
        value.append(value[-1])
        return True
    return False


LIES = (
    stray_key,
    missing_key,
    text_for_a_list,
    object_for_a_list,
    number_for_a_text,
    truth_for_a_number,
    twice_in_a_list,
)


@pytest.mark.parametrize("lie", LIES, ids=lambda lie: lie.__name__)
@pytest.mark.parametrize("folder", FOLDERS)
def test_a_lie_about_any_place_of_any_document_is_refused(folder, lie):
    chance = random.Random(1)
    documents = proved(folder)
    told = 0
    while told < EACH:
        document = copy.deepcopy(chance.choice(documents))
        path = chance.choice([place for place in places(document) if place[0] != "proof"])
        if not lie(document, path):
            continue
        told += 1
        with pytest.raises(Refused):
            check(text_of(document), privacy_only=True)


@pytest.mark.parametrize("lie", LIES[:-1], ids=lambda lie: lie.__name__)
def test_a_lie_about_any_place_of_any_proof_is_refused(lie):
    chance = random.Random(2)
    told = 0
    while told < EACH:
        document = copy.deepcopy(chance.choice(with_proofs()))
        path = chance.choice([place for place in places(document) if place[0] == "proof"])
        if not lie(document, path):
            continue
        told += 1
        with pytest.raises(Refused):
            check(text_of(document))


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_letter_that_never_leaves_cannot_be_every_letter(folder):
    for document in proved(folder)[: effort(8, 1000)]:
        released = document["mechanism"]["release"]
        if not released:
            continue
        letters = next(v["letters"] for v in document["variables"] if v["name"] == released[0])
        document["mechanism"]["never"] = [[{"column": released[0], "letters": letters}]]
        with pytest.raises(Refused):
            check(text_of(document), privacy_only=True)


@pytest.mark.long
@pytest.mark.parametrize("folder", FOLDERS)
def test_a_larger_group_or_more_rows_cannot_cost_less(folder):
    for document in proved(folder):
        for k, promise in enumerate(document["promises"]):
            if promise["promise"] not in ("dalenius", "local_dp"):
                continue
            plain = check(text_of(document), privacy_only=True).kept.promises[k]
            more = copy.deepcopy(document)
            fuller = more["promises"][k]
            fuller["rows"] = fuller["rows"] + 1 if isinstance(fuller["rows"], int) else str(int(fuller["rows"]) + 1)
            more["claims"]["promises"] = [[] for _ in more["promises"]]
            try:
                found = check(text_of(more), privacy_only=True).kept.promises[k]
            except Refused:
                continue
            for name, figure in plain.items():
                assert figure is None or found[name] is None or found[name] >= figure


@pytest.mark.long
@pytest.mark.parametrize("folder", FOLDERS)
def test_figures_cannot_be_claimed_better_than_they_are(folder):
    for document in proved(folder)[: effort(4, 1000)]:
        for k, figures in enumerate(check(text_of(document), privacy_only=True).kept.promises):
            for name, figure in (figures or {}).items():
                if figure is None or "|" in name:
                    continue
                lower = name in LOWER
                better = figure + 1 if lower else figure - 1
                claim = {"figure": name, "given": None, "value": f"{better.numerator}/{better.denominator}"}
                lie = copy.deepcopy(document)
                lie["claims"]["promises"][k] = [claim]
                with pytest.raises(Refused):
                    check(text_of(lie), privacy_only=True)
