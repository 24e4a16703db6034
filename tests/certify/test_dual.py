"""The dual bound: whatever the multipliers are, it is never above what a channel reaches; false claims are refused."""

import copy
import json
import random
from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest

from dalenius.certify import check, prove, prove_limits
from dalenius.core import (
    Distortion,
    Independent,
    InformationPrivacy,
    Leakage,
    LocalDP,
    MinimizeDistortion,
    MinimizeLeakage,
    Pmf,
    Problem,
    SideInformation,
    WorstCaseLeakage,
)
from dalenius.core.numbers import exact
from dalenius.designs import solve
from dalenius.errors import NotCertified

HAIR = Fraction(1, 10**9)


def joint():
    cells = list(product("012", "01", "01"))
    counts = [17, 5, 9, 12, 8, 14, 11, 6, 13, 10, 7, 16]
    return Pmf.from_records({"X": ("0", "1", "2"), "S": ("0", "1"), "V": ("0", "1")}, zip(cells, counts, strict=True))


def plain():
    return Problem(
        joint=joint(),
        observe=("X", "V"),
        release=("X",),
        objective=MinimizeLeakage(("S",)),
        limits=(Distortion("hamming", ("X",), Fraction(1, 20)), Distortion("absolute", ("X",), Fraction(1, 18))),
    )


def mixture():
    return replace(
        plain(),
        limits=(),
        preserve_marginals=False,
        objective=MinimizeDistortion(Distortion("hamming", ("X",))),
        guarantees=(
            Independent("V"),
            LocalDP("5/2"),
            InformationPrivacy("S", "2/5"),
            Leakage("S", "1/150"),
            WorstCaseLeakage("S", "1/25"),
        ),
    )


def preserved():
    return replace(plain(), preserve_marginals=True, limits=plain().limits[:1], forbid=(("0", "2"),))


def strategies():
    side = SideInformation("V", "statistically-informed")
    return replace(plain(), observe=("X",), side_information=side, limits=plain().limits[:1])


def beside():
    """The promises about single letters hold for the letter together with the kept V."""
    return replace(
        mixture(),
        observe=("X",),
        keep=("V",),
        guarantees=(InformationPrivacy("S", "2/5"), WorstCaseLeakage("S", "1/25"), Leakage("S", "1/50")),
    )


HONEST = {"plain": plain, "mixture": mixture, "preserved": preserved, "strategies": strategies, "beside": beside}


@pytest.fixture(scope="module")
def designs():
    return {name: json.loads(solve(build()).dumps()) for name, build in HONEST.items()}


def numbers(value, path=()):
    """The places of all whole numbers of a proof."""
    if isinstance(value, list):
        for k, v in enumerate(value):
            yield from numbers(v, (*path, k))
    elif isinstance(value, dict):
        for k, v in value.items():
            yield from numbers(v, (*path, k))
    elif isinstance(value, int):
        yield path


@pytest.mark.parametrize("name", HONEST)
def test_an_honest_design_is_accepted_and_tight(designs, name):
    verdict = check(json.dumps(designs[name]))
    assert 0 <= verdict.value - verdict.bound <= HAIR
    assert len(verdict.limits) == len(designs[name].get("limits", []))


@pytest.mark.parametrize("name", HONEST)
def test_no_multipliers_prove_more_than_a_channel_reaches(designs, name):
    """Every number of the proof is changed at random; a bound above the optimum would be a false proof."""
    draw, document = random.Random(name), designs[name]
    best = check(json.dumps(document)).value
    places = [p for p in numbers(document["certificate"]) if p != ("kind",)]
    loosened = 0
    for _ in range(60):
        spoilt = copy.deepcopy(document)
        for path in draw.sample(places, min(len(places), draw.choice((1, 3, 20)))):
            *way, last = path
            holder = spoilt["certificate"]
            for step in way:
                holder = holder[step]
            holder[last] = max(1, int(holder[last] * draw.choice((0, 0.5, 0.99, 1.01, 2, 50)))) + draw.randrange(3)
        bound = prove(spoilt).bound
        assert bound <= best
        loosened += bound < best - HAIR
    assert loosened > 10  # the changes do reach the bound


def claim(document, **changes):
    return json.dumps(document | changes)


@pytest.mark.parametrize("name", HONEST)
def test_false_figures_are_refused(designs, name):
    document = designs[name]
    value, bound = exact(document["value"]), exact(document["bound"])
    with pytest.raises(NotCertified, match=r"value .+ is not reached"):
        check(claim(document, value=str(bound - HAIR), gap="1"))
    with pytest.raises(NotCertified, match=r"bound .+ is not proved"):
        check(claim(document, bound=str(value + HAIR), gap="1"))
    with pytest.raises(NotCertified, match="gap is smaller"):
        check(claim(document, gap="-1"))


def _limit(d):
    d["limits"][0]["promised"]["at_most"] = "1/60"


def _figure(d):
    d["limits"][0]["proved"]["expected"] = "1/1000"


def _measure(d):
    d["limits"][0]["promised"]["distortion"] = "squared"
    d["limits"][0]["promised"]["at_most"] = "1/100"


def _letters(d):
    d["channel"]["output"]["X"] = ["0", "1", "3"]


def _posterior(d):
    d["certificate"]["posteriors"][0][0][0] = 0


def _sign(d):
    d["certificate"]["distortion"][0] = -5


def _short(d):
    d["certificate"]["posteriors"][0].pop()


def _none(d):
    d["certificate"]["posteriors"] = []


def _forbidden(d):
    d["mechanism"]["forbid"] = [["1", "0"]]


def _frozen(d):
    d["mechanism"]["freeze"] = ["0"]


def _margin(d):
    d["mechanism"]["preserve_marginals"] = True


def _unit(d):
    d["unit"] = "distortion"


def _kind(d):
    d["certificate"]["kind"] = "universal"


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (_limit, "the distortion of limit 1 is"),
        (_figure, "figure of a limit is not proved"),
        (_measure, "the distortion of limit 1 is"),
        (_letters, "letters are not those"),
        (_posterior, "not positive"),
        (_sign, "a multiplier has a sign"),
        (_short, "lacks a value"),
        (_none, "lacks a value"),
        (_forbidden, "forbidden letter"),
        (_frozen, "forbidden letter"),
        (_margin, "marginal is not preserved"),
        (_unit, "not a design in bits"),
        (_kind, "no such proof of a least value"),
    ],
)
def test_a_spoilt_design_is_refused(designs, spoil, message):
    document = copy.deepcopy(designs["plain"])
    spoil(document)
    with pytest.raises(NotCertified, match=message):
        check(json.dumps(document))


def test_a_decoder_that_says_something_else_is_refused(designs):
    document = copy.deepcopy(designs["strategies"])
    letter = next(iter(document["decoder"]))
    document["decoder"][letter] = dict.fromkeys(document["decoder"][letter], "2")
    with pytest.raises(NotCertified):
        check(json.dumps(document))


def test_limits_are_proved_again_for_another_table(designs):
    document = copy.deepcopy(designs["plain"])
    assert prove_limits(document)[0] == document["limits"][0]["proved"]
    for record in document["joint"]["pmf"]:
        record["p"] = "1/12"
    with pytest.raises(NotCertified, match="the distortion of limit 1 is"):
        prove_limits(document)
