"""Designs and cards of version 1, of every kind and form, are proved again by the kernel and written as version 2.

`corpus1` holds files that version 1 wrote, and `verdicts.json.txt` what its own checker said of them.
"""

import json
from fractions import Fraction
from pathlib import Path

import pytest

from dalenius.convert import converted
from dalenius.core import Design, Problem
from dalenius.documents import ENOUGH, checked, told_card, told_design
from dalenius.errors import InputError, NotCertified
from tests.effort import EVERYTHING

CORPUS = Path(__file__).parent / "corpus1"
VERDICTS = json.loads((CORPUS / "verdicts.json.txt").read_text(encoding="utf-8"))
WORSE = Fraction(1, 2**58)


def old(name):
    return json.loads((CORPUS / name).read_text(encoding="utf-8"))


def test_the_corpus_is_whole():
    assert {f.name for f in CORPUS.glob("*.json")} == set(VERDICTS)
    assert len(VERDICTS) >= 150
    assert len({name.split("-")[0] for name in VERDICTS} - {"card"}) >= 20  # kinds of proof


def designs():
    """All designs in the long run; by default the smallest of each kind, form and set of promises."""
    names = sorted((n for n in VERDICTS if not n.startswith("card")), key=lambda n: ((CORPUS / n).stat().st_size, n))
    return sorted(names if EVERYTHING else {n.rsplit("-", 1)[0]: n for n in reversed(names)}.values())


@pytest.mark.long
@pytest.mark.parametrize("name", designs())
def test_a_design_is_proved_again_with_a_bound_no_worse(name):
    document = old(name)
    text, about = converted(document)
    verdict = checked(text, work=ENOUGH)
    sign = 1 if "maximize" in document["objective"] else -1
    assert sign * (verdict.bound - Fraction(document["bound"])) <= WORSE
    assert sign * (Fraction(document["value"]) - verdict.value) <= WORSE
    design = Design.from_text(text, json.loads(about))
    assert design.dumps() == text
    assert design.channel.to_json()["inputs"] == document["channel"]["inputs"]
    assert [g.to_json() for g in design.problem.guarantees] == told_promises(document)
    again = told_design(json.loads(text), json.loads(about))
    assert again["method"] == document["method"]


def told_promises(document):
    sections = {"mechanism": document["mechanism"], "objective": document["objective"]}
    sections["guarantee"] = [g["promised"] for g in document["guarantees"]]
    return [g.to_json() for g in Problem.from_document(sections).guarantees]


@pytest.mark.parametrize("name", sorted(n for n in VERDICTS if n.startswith("card")))
def test_a_card_is_proved_again_and_says_no_more(name):
    document = old(name)
    text, about = converted(document)
    verdict = checked(text, work=ENOUGH)
    assert verdict.rule == "privacy"
    card = told_card(json.loads(text), json.loads(about))
    assert card["kept"] == document["kept"] or set(card["kept"]) == set(document["kept"])
    for promise, figures in zip(json.loads(text)["promises"], verdict.kept.promises, strict=True):
        assert ("secret" in promise) == (figures is None)


def test_a_false_promise_of_version_1_is_not_converted():
    document = old(next(n for n in sorted(VERDICTS) if n.startswith("staircase-staircase-local_dp")))
    document["guarantees"][0]["promised"]["local_dp"] = "1/1000"
    with pytest.raises(NotCertified, match="local_dp"):
        converted(document)


def test_a_damaged_file_of_version_1_is_refused():
    document = old(next(n for n in sorted(VERDICTS) if n.startswith("rays")))
    del document["joint"]
    with pytest.raises(NotCertified, match="damaged"):
        converted(document)


@pytest.mark.parametrize(
    ("document", "message"),
    [({"format": "dalenius-design/2"}, "version 2 already"), ({}, "version 1"), ([], "version 1")],
)
def test_only_version_1_is_converted(document, message):
    with pytest.raises(InputError, match=message):
        converted(document)


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("stray", 1, "version 1 wrote no 'stray'"),
        ("kept", "health", "'kept' is not a list of texts"),
        ("released", ["income"], "releases other columns than it says"),
    ],
)
def test_what_version_1_never_wrote_is_refused(key, value, said):
    name = next(name for name in sorted(VERDICTS) if name.startswith("card"))
    converted(old(name))
    with pytest.raises(InputError, match=said):
        converted(old(name) | {key: value})


def test_a_promise_that_stands_twice_is_a_refusal():
    name = next(name for name in sorted(VERDICTS) if name.startswith("cells-dense-information_privacy"))
    document = old(name)
    document["guarantees"] += document["guarantees"][-1:]
    with pytest.raises(NotCertified):
        converted(document)


def test_figures_that_contradict_each_other_are_not_told():
    name = next(name for name in sorted(VERDICTS) if name.startswith("card-dual-dense-independent"))
    text, about = converted(old(name))
    beside = json.loads(about)
    told_card(json.loads(text), beside)
    beside["stated_by_the_design"] |= {"value": "0.2", "bound": "0.3"}
    with pytest.raises(InputError, match="the value passes the bound"):
        told_card(json.loads(text), beside)
