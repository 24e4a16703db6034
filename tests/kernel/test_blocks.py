"""Sums of blocks of dependent columns: what they hide, what is refused, and planted errors that are seen."""

import json
import re
from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest

from dalenius.kernel import composite
from dalenius.kernel.check import check
from dalenius.kernel.numbers import Refused, canonical
from dalenius.kernel.privacy import check_privacy
from tests.kernel.one_file import loaded, one_file, source
from tests.kernel.parts_documents import CLOSE, design, known, read, written_out

HONEST = Path(__file__).parent / "corpus" / "parts" / "honest_sums_blocks.json"
FORGERIES = {}


@pytest.fixture
def by_lemma(monkeypatch):
    """The lemma proves everything, also of tiny designs."""
    monkeypatch.setattr(composite, "GONE_THROUGH", 0)


PAIRS = ["4", "1", "1", "4"]  # how often two bits are 00, 01, 10, 11
UNIFORM = {  # states of such a pair, made uniform on 10 residues, on 5, and on 2
    10: ([[1] * 4 + [0] * 6, [0] * 4 + [4] + [0] * 5, [0] * 5 + [4] + [0] * 4, [0] * 6 + [1] * 4], 4),
    5: ([[2, 2, 0, 0, 0], [0, 0, 4, 0, 0], [0, 0, 4, 0, 0], [0, 0, 0, 2, 2]], 4),
    2: ([[1, 0], [1, 0], [0, 1], [0, 1]], 1),
}


def blocks_of(terms, many, modulus, blocks=None):
    """Blocks of two dependent bits, and the last column a fair bit by itself."""
    names = [f"X{k}" for k in range(2 * many + 1)]
    pairs = [[a, b, n] for (a, b), n in zip(product((0, 1), repeat=2), PAIRS, strict=True)]
    groups = [known(names[2 * k : 2 * k + 2], pairs) for k in range(many)] + [known(names[-1:], [[0, "1"], [1, "1"]])]
    rows, scale = UNIFORM[modulus]
    state = {"scale": str(scale), "rows": [[str(v) for v in row] for row in rows]}
    ends = {"scale": str(modulus), "rows": [["2"] * (modulus // 2) + ["1"] * (modulus % 2) + ["0"] * (modulus // 2)]}
    ends["rows"].append(ends["rows"][0][::-1])
    runs = blocks or [[2 * k, 2 * k + 1] for k in range(many)] + [[2 * many]]
    states = [state] * many + [ends]
    channel = {"form": "blocks", "modulus": modulus, "blocks": runs, "states": states, "sums": terms}
    return design(dict.fromkeys(names, 2), {"law": "independent", "groups": groups}, {"observe": names}, channel)


@pytest.mark.parametrize(("modulus", "terms"), [(10, [[0, 1]]), (5, [[0, 1], [1, 2]]), (2, [[0, 1], [0, 1, 2]])])
def test_what_sums_of_blocks_are_proved_to_hide_is_hidden_when_all_is_gone_through(modulus, terms, by_lemma):
    document = blocks_of(terms, 2, modulus)
    lemma, plain = read(document).release, read(written_out(document)).release
    names = document["mechanism"]["observe"]
    hidden = set()
    for view in [(a,) for a in names] + [(a, b) for a in names for b in names if a < b]:
        try:
            lemma.independent(view)
        except Refused:
            continue
        hidden.add(view)
        plain.independent(view)
        for more in names:
            assert lemma.information(view, (more,))[1] >= plain.information(view, (more,))[1] - CLOSE
    assert {("X0",), ("X2",), ("X0", "X1"), ("X2", "X3")} <= hidden
    assert ("X0", "X2") not in hidden
    assert lemma.information(("X0",), ("X4",))[1] <= 1 + CLOSE  # of a block only what the column itself can hold
    assert 0 < lemma.information(names)[0] <= plain.information(names)[0] + CLOSE


def test_sums_of_blocks_refuse_what_is_no_block(by_lemma):
    good = blocks_of([[0, 1], [1, 2]], 2, 5)
    check_privacy(read(good))
    for blocks in ([[0, 1], [2], [3, 4]], [[0, 1], [3, 2], [4]], [[0, 1], [2, 3]], [[0, 1], [1, 2, 3], [4]]):
        with pytest.raises(Refused):
            read(good | {"channel": good["channel"] | {"blocks": blocks}}).release.independent(("X0",))
    alone = known(["X0"], [[0, "1"], [1, "1"]])
    three = known(["X1", "X2", "X3"], [[a, b, c, "1"] for a, b, c in product((0, 1), repeat=3)])
    law = {"law": "independent", "groups": [alone, three, good["law"]["groups"][2]]}
    with pytest.raises(Refused, match="X0, X1 is not independent of every other variable"):
        read(good | {"law": law}).release.independent(("X4",))


def test_what_sums_of_large_blocks_tell_each_is_left_out(monkeypatch, by_lemma):
    import dalenius.kernel.sums as module

    document = blocks_of([[0, 1], [1, 2]], 2, 5)
    names = document["mechanism"]["observe"]
    both = read(document).release.information(names)[0]
    monkeypatch.setattr(module, "ENTRIES", 4)
    assert 0 <= read(document).release.information(names)[0] <= both


# --- forgeries of a real design ---------------------------------------------------------------------------------------
def forged(message):
    """A change of a real design that must be refused with this word."""

    def register(change):
        FORGERIES[change.__name__] = (message, change)
        return change

    return register


def text_of(name):
    document = json.loads(HONEST.read_text())
    document["work"] = "20000000"
    FORGERIES[name][1](document)
    return canonical(document)


@forged("the blocks are not all observed columns")
def blocks_without_a_column(d):
    d["channel"]["blocks"][4] = [8]


@forged("the blocks are not all observed columns")
def blocks_that_share_a_column(d):
    d["channel"]["blocks"][1] = [1, 2, 3]


@forged("not different columns, rising")
def block_turned_round(d):
    d["channel"]["blocks"][0] = [1, 0]


@forged("a list of 4 is expected")
def blocks_without_their_states(d):
    d["channel"]["blocks"][:2] = [[0, 1, 2, 3]]


@forged("A1 is not independent of every other variable")
def half_a_block(d):
    half = {"scale": "5", "rows": [["1"] * 5 + ["0"] * 5, ["0"] * 5 + ["1"] * 5]}  # uniform column by column
    d["channel"]["blocks"][:1] = [[0], [1]]
    d["channel"]["states"][:1] = [half, half]
    d["channel"]["sums"] = [[0, 1], [1, 2], [2, 3], [3, 4], [4, 5]]


@forged("the state of A1, B1 is not uniform")
def block_whose_columns_are_more_alike(d):
    d["law"]["groups"][0]["outcomes"] = [[0, 0, "5"], [0, 1, "1"], [1, 0, "1"], [1, 1, "5"]]


@forged("there is not one row for each input")
def block_of_fewer_rows(d):
    d["channel"]["states"][0]["rows"].pop()


@forged("not proved to hide A1")
def sum_of_one_block(d):
    d["channel"]["sums"][0] = [0]


@forged("not proved to hide A1, B2")
def columns_of_two_blocks(d):
    d["promises"][0]["secret"] = ["A1", "B2"]


@forged("the claimed value is not reached")
def value_of_blocks_too_high(d):
    d["claims"]["value"] = str(Fraction(d["claims"]["value"]) + Fraction(1, 1000))


@forged("the keys must be form, modulus, blocks, states, sums")
def blocks_after_their_states(d):
    d["channel"]["blocks"] = d["channel"].pop("blocks")


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_design_of_blocks_is_refused_with_a_sentence(name):
    check(HONEST.read_text())
    with pytest.raises(Refused, match=FORGERIES[name][0]):
        check(text_of(name))


def judged_well(name, checker):
    """Whether a checker refuses a forgery for its reason."""
    try:
        checker.check(text_of(name))
    except checker.Refused as refusal:
        return re.search(FORGERIES[name][0], str(refusal)) is not None
    return False


def test_the_exported_checker_refuses_them_too():
    assert [name for name in FORGERIES if not judged_well(name, one_file())] == []


PLANTED = {  # what is right, what is planted, and a design that is then misjudged
    "halves of a block": ("require(len(small.variables) == len(block)", "require(True", "half_a_block"),
    "blocks that leave a column out": (
        "listed.require(told ==",
        "listed.require(True or told ==",
        "blocks_without_a_column",
    ),
    "a block hides by its first column alone": (
        "observe[i] for i in block) for block",
        "observe[i] for i in block[:1]) for block",
        "columns_of_two_blocks",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", PLANTED)
def test_an_error_planted_in_blocks_is_seen(name):
    right, wrong, seen_by = PLANTED[name]
    assert right in source(), "the line has changed: plant the error anew"
    assert not judged_well(seen_by, loaded(source().replace(right, wrong)))
