"""Designs of several parts between the two versions of the format, and from the search to the kernel."""

import json
from fractions import Fraction
from pathlib import Path

import pytest

from dalenius.convert.parts import CHANNELS, LAWS, OBJECTIVES, TOLD_LAWS, TOLD_OBJECTIVES, each_of
from dalenius.convert.telling import channel_told
from dalenius.core import Independent, LocalDP, MaximizeInformation, MaximizeInformationOfEach, Pmf, Problem, ProductPmf
from dalenius.core.forms import channel_of
from dalenius.kernel.check import check
from dalenius.kernel.document import read_document
from dalenius.kernel.numbers import canonical
from dalenius.mechanisms import solve
from dalenius.mechanisms.chains.sums import modular_sums
from dalenius.mechanisms.chains.windows import windows

CORPUS = Path(__file__).parent / "corpus" / "parts"
HONEST = {
    path.stem.removeprefix("honest_"): json.loads(path.read_text())
    for path in sorted(CORPUS.glob("honest_*.json"))
    if "card_" not in path.name
}


@pytest.mark.parametrize("name", HONEST)
def test_channels_are_told_in_the_words_of_version_1_and_written_again(name):
    document = HONEST[name]
    told = channel_told(document, "Y")
    mechanism = {"observe": document["mechanism"]["observe"], "strata": document["mechanism"]["strata"]}
    assert CHANNELS[told["form"]]({"mechanism": mechanism, "channel": told}) == document["channel"]
    card = {"kept": mechanism["strata"], "channel": told}
    assert CHANNELS[told["form"]](card) == document["channel"]
    channel = channel_of(told)
    if channel.shape[0] * channel.shape[1] <= 4096:
        found = read_document(canonical(document | {"work": "20000000"}))
        scale, rows = found.channel.rows(found.work)
        assert channel.rows == tuple(tuple(Fraction(v, scale) for v in row) for row in rows)


@pytest.mark.parametrize("name", [name for name in HONEST if HONEST[name]["law"]["law"] in LAWS])
def test_laws_are_told_in_the_words_of_version_1_and_written_again(name):
    document = HONEST[name]
    kind = document["law"]["law"]
    assert LAWS[kind](TOLD_LAWS[kind](document)) == (document["variables"], document["law"])


def test_the_sum_over_columns_is_told_and_written_again():
    aim = HONEST["columns_pram"]["objective"]
    told = TOLD_OBJECTIVES[aim["aim"]](aim)
    assert OBJECTIVES[aim["aim"]](told["maximize"]) == aim


def test_levels_of_columns_are_for_one_row():
    design = {"mechanism": {"observe": ["A", "B"]}, "guarantees": [{"promised": {"local_dp": "3"}}]}
    assert each_of(design) is None
    design["mechanism"]["each"] = {"B": "2", "A": "0.5"}
    assert each_of(design) == ["0.5", "2"]
    design["guarantees"][0]["promised"]["rows"] = 3
    assert each_of(design) == ["1/6", "2/3"]
    design["mechanism"]["each"] = True
    assert each_of(design) == ["1/2", "1/2"]


# --- from the search to the kernel ------------------------------------------------------------------------------------
LETTERS = {"X": ("n", "s", "w"), "sex": ("f", "m")}
COUNTS = {("n", "f"): 30, ("s", "f"): 5, ("w", "f"): 9, ("n", "m"): 4, ("s", "m"): 11, ("w", "m"): 13}


def bits(many):
    coin = Pmf.from_records({"X1": ("0", "1")}, [(("0",), 2), (("1",), 1)])
    law = ProductPmf((coin,)).alike(many)
    names = tuple(law.variables)
    promises = tuple(Independent((name,)) for name in names)
    return Problem(names, MaximizeInformation(names), promises, output="Y", joint=law)


def columns_in_strata():
    law = Pmf.from_records(LETTERS | {"Z": ("0", "1")}, [((*x, "01"[n % 2]), n) for x, n in COUNTS.items()])
    promise = LocalDP(1, given=("sex",))
    about = MaximizeInformationOfEach(("X", "Z"))
    return Problem(("X", "Z"), about, (promise,), strata=("sex",), output="Y", each=True, joint=law)


def columns():
    law = Pmf.from_records(LETTERS, COUNTS.items())
    names = tuple(LETTERS)
    return Problem(names, MaximizeInformationOfEach(names), (LocalDP(1),), output="Y", each=True, joint=law)


def strata():
    """One stratum has no record."""
    law = Pmf.from_records(LETTERS | {"sex": ("f", "m", "x")}, COUNTS.items())
    promise = LocalDP(1, given=("sex",))
    return Problem(("X",), MaximizeInformation(("X",)), (promise,), strata=("sex",), output="Y", joint=law)


@pytest.mark.parametrize(
    ("rule", "design"),
    [
        ("parts", lambda: solve(columns())),
        ("parts", lambda: solve(strata())),
        ("parts", lambda: solve(columns_in_strata())),
        ("groups", lambda: windows(bits(9), size=3)),
        ("groups", lambda: modular_sums(bits(9), modulus=3)),
        ("closed", lambda: modular_sums(bits(3), modulus=3)),
    ],
)
def test_what_is_solved_is_proved_by_the_kernel(rule, design):
    found = design()
    verdict = check(found.dumps())
    assert verdict.rule == rule
    assert 0 <= verdict.value - found.value < Fraction(1, 10**29)
    assert 0 <= found.bound - verdict.bound < Fraction(1, 10**29)
