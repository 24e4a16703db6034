"""Releases whose channels are not written out: charged by their form, and never less than the dense ones."""

import json
from collections import Counter
from fractions import Fraction
from math import log2

import pytest

from dalenius import solve
from dalenius.core import Guess, Independent, InformationPrivacy, LocalDP, MaximizeInformation, Pmf, Problem, ProductPmf
from dalenius.documents import canonical, filed, unfiled
from dalenius.errors import NotCertified
from dalenius.ledger import Entry, Line, spent
from dalenius.ledger.documents import mechanism_of
from dalenius.ledger.entry import RELEASED
from dalenius.mechanisms.charging import Mechanism
from dalenius.mechanisms.unlisted.charge import UnlistedMechanism
from tests.mechanisms.records.test_records_limits import problem as wide


def perturbed(letters):
    """PRAM of form (8) at level 1 over so many letters."""
    names = tuple(map(str, range(letters)))
    joint = Pmf.from_records({"X": names}, [((x,), 1 + k % 5) for k, x in enumerate(names)])
    about, promise = MaximizeInformation(("X",)), LocalDP(Fraction(1))
    return solve(Problem(("X",), about, (promise,), release=("X",), form="pram", joint=joint))


@pytest.fixture(scope="module")
def sums():
    """Neighbouring sums of thirty bits, each bit promised to be independent of all of them."""
    names = tuple(f"X{k}" for k in range(30))
    joint = ProductPmf(tuple(Pmf.from_records({n: ("0", "1")}, [(("0",), 7), (("1",), 3)]) for n in names))
    promises = tuple(Independent((n,)) for n in names)
    return whole(solve(Problem(names, MaximizeInformation(names), promises, output="Y", form="sums", joint=joint)))


def whole(design):
    """A design with what travels beside it, which says that its statistics are not public ones."""
    return filed(design.dumps(), json.loads(design.about()))


def charged(line, *texts):
    entries = [Entry(k, str(k), RELEASED, "t.csv", text) for k, text in enumerate(texts)]
    return spent(Line.parse(line + "=99"), entries, "joint").figure


def test_the_figures_of_a_form_are_never_below_those_of_its_rows():
    text = perturbed(6).dumps()
    short, dense = UnlistedMechanism(text), Mechanism(text)
    assert short.level == pytest.approx(float(dense.level))
    assert short.contraction >= dense.contraction
    assert short.capacity_bits >= dense.capacity_bits
    assert short.rate_bits >= dense.rate_bits


@pytest.mark.parametrize(
    "change",
    [
        {"epsilon": "1/10", "delta": "1"},
        {"epsilon": "1/10", "metric": [["0" if x == y else "20" for x in range(6)] for y in range(6)]},
    ],
)
def test_a_level_with_a_delta_or_a_metric_is_no_level_of_all_rows(change):
    document = json.loads(perturbed(6).dumps())
    document["promises"][0].update(change)
    document["proof"] = {"rule": "none"}
    document["claims"]["promises"][0][1]["value"] = change.get("delta", "0")
    text = canonical(document)
    assert Mechanism(text).level == pytest.approx(1)
    assert (UnlistedMechanism(text).level, UnlistedMechanism(text).contraction) == (None, 1)


@pytest.mark.long
def test_thousands_of_letters_are_charged_with_their_level():
    design = perturbed(2500)
    text, card = design.dumps(), design.card_text()
    for document in (text, card):
        assert isinstance(mechanism_of(document), UnlistedMechanism)
        assert 0.999 < charged("local_dp", document, document) / 2 <= 1
        assert 1.44 < charged("leakage:X", document) < 1.4427  # one nat
        assert 0.46 < charged("contraction", document) < 0.4622  # (e - 1) / (e + 1)


def test_sums_cost_nothing_about_one_sample_once_and_all_that_they_tell_twice(sums):
    assert charged("leakage:X3", sums) == 0
    assert charged("information_privacy:X3", sums) == 0
    assert charged("leakage:X3", sums, sums) == 1  # all that a bit can hold, less than the 30 that are released
    assert charged("leakage:X3,X4", sums) == 2
    assert charged("local_dp", sums) is None


def test_a_changed_file_is_refused(sums):
    document = json.loads(unfiled(sums)[0])
    document["channel"]["modulus"] = 3
    with pytest.raises(NotCertified):
        charged("leakage:X3", json.dumps(document))


@pytest.mark.long
@pytest.mark.parametrize("promise", [Guess(("S",), Fraction(4, 5)), InformationPrivacy(("S",), Fraction(1, 3))])
def test_records_are_charged_what_they_tell_of_their_secret_whatever_was_promised(promise):
    """A limit on guesses was charged all that the released columns hold, many times what the secret can."""
    design = solve(wide(3, promise))
    joint = Counter()
    for atom, n in zip(design.problem.pmf.support.tolist(), design.problem.pmf.weights.tolist(), strict=True):
        places, weights = design.channel.sparse.lines[tuple(atom)]
        for place, weight in zip(places, weights, strict=True):
            joint[atom[-1], place] += n * weight / sum(weights) / design.problem.pmf.total
    secret, released = Counter(), Counter()
    for (s, y), p in joint.items():
        secret[s] += p
        released[y] += p
    told = sum(p * log2(p / secret[s] / released[y]) for (s, y), p in joint.items())
    short = UnlistedMechanism(design.dumps())
    assert float(short.alone(["S"])["leakage_bits"]) == pytest.approx(told, abs=1e-9)
    assert told < short.known_bits(["S"], ["S"]) == 1 < short.rate_bits
    assert short.known_bits(["S"], ["S", "A"]) is None


def test_several_rows_of_a_person_are_neither_put_together_nor_capped_as_one(sums):
    """The secret of two rows holds more than that of one, and a joint law of one row says nothing about two."""
    text = whole(perturbed(3))
    dense = Mechanism(text)
    line = Line.parse("leakage:X=99")
    once, twice = (spent(line, [Entry(1, "1", RELEASED, "t.csv", text, max_rows=rows)]).figure for rows in (1, 2))
    assert 0 <= once - dense.rate_bits < Fraction(1, 10**20)
    assert twice == 2 * dense.capacity_bits > 2 * once
    both = [Entry(k, str(k), RELEASED, "t.csv", sums, max_rows=2) for k in range(2)]
    assert spent(Line.parse("leakage:X3=99"), both).figure == 2 * 30  # all that two rows of a person hold
