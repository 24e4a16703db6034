"""The dual bound: whatever the multipliers are, it is never above what a channel reaches; false claims are refused."""

import copy
import json
import random
from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest

from dalenius.certify import check, prove, prove_limits
from dalenius.certify.local_dp import dp_level
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


def near():
    """A metric, a plain level, and an input that never occurs between two that do."""
    cells = [c for c in zip(product("0123", "01"), [17, 5, 9, 12, 0, 0, 8, 21], strict=True) if c[1]]
    return replace(
        plain(),
        joint=Pmf.from_records({"X": ("0", "1", "2", "3"), "S": ("0", "1")}, cells),
        observe=("X",),
        limits=(Distortion("absolute", ("X",), Fraction(9, 10)),),
        guarantees=(LocalDP("1", [[abs(i - j) for j in range(4)] for i in range(4)]), LocalDP("2")),
    )


def within():
    """Levels between records with the same V, which leaves as it is and is read."""
    apart = [[abs(i // 2 - j // 2) + 5 * abs(i % 2 - j % 2) for j in range(6)] for i in range(6)]
    return replace(
        plain(),
        observe=("X",),
        strata=("V",),
        limits=(Distortion("hamming", ("X",), Fraction(1, 2)),),
        guarantees=(LocalDP("1", apart, given=("V",)), LocalDP("3/2", given=("V",))),
    )


HONEST = {
    f.__name__: f for f in (plain, mixture, preserved, strategies, beside, near, within)
}  # each with a proof of its own kinds of multipliers


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
    places = [p for p in numbers(document["certificate"]) if p[0] != "near" or p[-1] == 2]  # not the rows of a pair
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


@pytest.mark.parametrize(
    ("name", "spoil", "message"),
    [
        ("near", lambda d: d["certificate"]["near"][0][0].append([0, 1, -1]), "a multiplier has a sign"),
        ("near", lambda d: d["certificate"]["near"][1].pop(), "lacks multipliers"),
        ("near", lambda d: d["guarantees"][0]["promised"].update(local_dp="9/10"), "level of local_dp is"),
        ("near", lambda d: d["guarantees"][0]["promised"].update(given=["S"]), "given all kept columns"),
        ("within", lambda d: d["guarantees"][1]["promised"].update(local_dp="1"), "level of local_dp is"),
        ("within", lambda d: d["guarantees"][1]["promised"].pop("given"), "given all kept columns"),
        ("within", lambda d: d["certificate"]["near"][0][0].append([0, 1, 1]), "does not speak of"),
    ],
)
def test_a_spoilt_level_is_refused(designs, name, spoil, message):
    document = copy.deepcopy(designs[name])
    spoil(document)
    with pytest.raises(NotCertified, match=message):
        check(json.dumps(document))


def test_a_level_that_holds_in_each_world_alone_is_not_one_for_all():
    """Rows of X and V, equal where V is the same, and five times as likely where it is not."""
    rows, inputs = [[1, 9], [5, 5], [1, 9], [5, 5]], (["X", "V"], [2, 2])
    assert dp_level(rows, ["V"], {"local_dp": "0", "given": ["V"]}, *inputs)["epsilon_nats"] == "0"
    apart = [[0, 9, 1, 9], [9, 0, 9, 1], [1, 9, 0, 9], [9, 1, 9, 0]]
    assert dp_level(rows, ["V"], {"local_dp": "0", "given": ["V"], "metric": apart}, *inputs)["epsilon_nats"] == "0"
    with pytest.raises(NotCertified, match=r"level of local_dp is 1\.609"):
        dp_level(rows, [], {"local_dp": "1"}, *inputs)
    with pytest.raises(NotCertified, match=r"level of local_dp is 1\.609"):
        dp_level(rows, ["X"], {"local_dp": "1", "given": ["X"]}, *inputs)


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
