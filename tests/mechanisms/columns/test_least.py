"""The leakage-distortion family: reference values, the contract, side information, mixtures and refusals."""

import json
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import log2
from pathlib import Path

import pytest
from contract import DesignContract, expected_distortion, information
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dalenius.core import (
    Distortion,
    Independent,
    InformationPrivacy,
    Leakage,
    LocalDP,
    MinimizeDistortion,
    MinimizeLeakage,
    MinimizeLeakageAndRate,
    MinimizeRate,
    Pmf,
    Problem,
    SideInformation,
    WorstCaseLeakage,
)
from dalenius.errors import Infeasible, InputError, ProblemFileError, Unsupported
from dalenius.mechanisms import solve
from dalenius.mechanisms.columns.leakage import least
from dalenius.solvers.leakage import searching
from dalenius.testing import binary_tradeoff, tradeoff
from tests.effort import effort

ORACLE = json.loads((Path(__file__).parents[2] / "oracle" / "003_discrete.json").read_text(encoding="utf-8"))
ENCODERS = {"uninformed": None, "stat_informed": "statistically-informed", "informed": "informed"}
TOLERANCE = 1e-9


def case(inputs, key):
    """The problem of one entry of the reference values, such as "stat_informed_both"."""
    encoder, view = key.rsplit("_", 1)
    problem = tradeoff(inputs["counts_xr_xh_z"], inputs["distortion"], inputs["D"], view=view)
    side = SideInformation("Z", ENCODERS[encoder]) if ENCODERS[encoder] else None
    return replace(problem, side_information=side)


CASES = {
    f"{c['name']} {key}": (c["inputs"], key, c["expected"][key]) for c in ORACLE["tradeoff"] for key in c["expected"]
}
I09, I14 = (c["inputs"] for c in ORACLE["tradeoff"])


@pytest.mark.long
@pytest.mark.parametrize(("inputs", "key", "want"), CASES.values(), ids=CASES.keys())
def test_least_leakage_of_three_encoders_and_two_views(inputs, key, want):
    design = solve(case(inputs, key))
    assert float(design.value) == pytest.approx(want, abs=TOLERANCE)
    assert design.gap <= TOLERANCE
    assert float(design.bound) <= want + 1e-12


@pytest.mark.long
@pytest.mark.parametrize(("inputs", "key", "want"), CASES.values(), ids=CASES.keys())
def test_least_rate_and_half_of_both(inputs, key, want):
    rate, half = next(c for c in ORACLE["tradeoff"] if c["inputs"] is inputs)["rates"][key]
    for goal, wanted in ((MinimizeRate(), rate), (MinimizeLeakageAndRate(("H",), Fraction(1, 2)), half)):
        design = solve(replace(case(inputs, key), objective=goal))
        assert float(design.value) == pytest.approx(wanted, abs=TOLERANCE)
        assert design.gap <= TOLERANCE


HAMMING = ((0, 1), (1, 0))
RARE = {
    "one value for each row": ([[[1, 1, 2], [9, 10**9, 1]], [[0, 5, 10**9], [10**6, 10**6, 2]]], HAMMING, "0"),
    "next to nothing leaks": ([[[9], [10**9]], [[1], [10**9]]], HAMMING, "0"),
    "just below the largest": (
        [[[2], [0], [0]], [[0], [30], [0]], [[0], [0], [10]]],
        ((144, 568), (771, 132), (876, 314)),
        "5147499947/26250000",
    ),
    "large costs": ([[[9], [4]], [[1], [10]]], ((0, 10**10), (3 * 10**10, 0)), "123456789"),
}


@pytest.mark.long
@pytest.mark.parametrize(("counts", "matrix", "limit"), RARE.values(), ids=RARE)
@pytest.mark.parametrize("key", ["stat_informed_public", "uninformed_public", "informed_both"][: effort(1, 3)])
def test_rare_records_large_costs_and_limits_at_either_end(counts, matrix, limit, key):
    inputs = {"counts_xr_xh_z": counts, "distortion": matrix, "D": limit}
    design = solve(case(inputs, key))
    assert 0 <= design.gap <= 1e-8


@pytest.mark.parametrize("entry", ORACLE["example1"], ids=lambda e: f"p={e['p']} D={e['D']}")
def test_a_binary_secret_matches_example_1_of_paper_004(entry):
    design = solve(binary_tradeoff(entry["p"], entry["D"]))
    assert float(design.value) == pytest.approx(float(entry["opt_leakage_bits"]), abs=TOLERANCE)
    assert design.gap <= TOLERANCE


@pytest.mark.parametrize("entry", ORACLE["problem2"], ids=lambda e: e["name"])
def test_problem_2_of_paper_004(entry):
    inputs = entry["inputs"]
    cells = [((str(s), str(x)), p) for s, row in enumerate(inputs["P_SX"]) for x, p in enumerate(row) if Fraction(p)]
    letters = {"S": [c[0][0] for c in cells], "X": [c[0][1] for c in cells]}
    joint = Pmf.from_records({n: tuple(sorted(set(v))) for n, v in letters.items()}, cells)
    matrix = tuple(tuple(map(Fraction, row)) for row in inputs["d"])
    where = {"release": ("X",)} if len(matrix) == len(matrix[0]) else {"output": "Y"}
    limits = (Distortion(matrix, ("X",), Fraction(inputs["D"])),)
    design = solve(Problem(joint=joint, observe=("X",), objective=MinimizeLeakage(("S",)), limits=limits, **where))
    assert float(design.value) == pytest.approx(float(entry["opt2_bits"]), abs=TOLERANCE)
    assert design.gap <= TOLERANCE


@pytest.mark.parametrize("entry", ORACLE["frontier"], ids=lambda e: f"theta={e['theta']}")
def test_the_frontier_of_leakage_and_rate_by_errata_3_and_4(entry):
    """Separate minima give only a rectangle: the weighted sum stays above its corner."""
    theta = Fraction(str(entry["theta"]))
    problem = replace(case(I14, "uninformed_public"), objective=MinimizeLeakageAndRate(("H",), theta))
    wanted = float(theta) * entry["L_bits"] + float(1 - theta) * entry["R_bits"]
    design = solve(problem)
    assert float(design.value) == pytest.approx(wanted, abs=2e-5)
    assert design.gap <= TOLERANCE
    corner = float(theta) * 0.0472366 + float(1 - theta) * 0.6083441
    assert float(design.value) >= corner - 1e-6


def test_the_least_distortion_at_a_leakage_is_the_inverse_of_the_least_leakage():
    least = solve(binary_tradeoff("1/10", "3/20"))
    inverse = replace(
        binary_tradeoff("1/10", "3/20"),
        limits=(),
        objective=MinimizeDistortion(Distortion("hamming", ("X",))),
        guarantees=(Leakage(("S",), least.value),),
    )
    design = solve(inverse)
    assert design.unit == "distortion"
    assert float(design.value) == pytest.approx(0.15, abs=1e-8)


def test_an_uninformed_encoder_says_what_it_tells_beside_z():
    plain = case(I09, "uninformed_public")
    design = solve(replace(plain, side_information=SideInformation("Z", "uninformed")))
    assert design.value == solve(plain).value
    beside = information(replace(plain, keep=("Z",)), design.channel.rows, ["H"])
    assert float(design.beside) == pytest.approx(beside, abs=1e-12)
    assert float(design.beside) > float(design.value) + 0.1


def test_an_uninformed_encoder_may_promise_what_needs_no_law():
    plain = replace(case(I09, "uninformed_public"), guarantees=(LocalDP("2"),))
    design = solve(replace(plain, side_information=SideInformation("Z", "uninformed")))
    assert design.value == solve(plain).value
    assert design.beside > design.value


def test_strategies_are_few_and_their_decoder_says_what_they_mean():
    """|X_r| + 1 = 3 letters are needed and enough (errata S10)."""
    design = solve(case(I09, "stat_informed_public"))
    (letters,) = design.channel.output.values()
    assert len(letters) == 3
    for letter in letters:
        told = dict(part.split(">") for part in letter.split("|"))
        assert told == design.decoder[letter]
        assert set(told) == {"0", "1", "2"}


def test_where_nothing_needs_to_leak_the_release_is_exactly_independent():
    design = solve(case(I09, "uninformed_both"))
    assert design.value == design.bound == 0
    assert "nothing needs to leak" in design.method


def test_the_smallest_distortion_leaves_only_the_cheapest_letters():
    problem = binary_tradeoff("1/10", 0)
    design = solve(problem)
    assert design.channel.rows == ((1, 0), (0, 1))
    assert float(design.value) == pytest.approx(1 + 0.1 * log2(0.1) + 0.9 * log2(0.9), abs=1e-12)
    assert design.gap <= TOLERANCE


# --- the contract ----------------------------------------------------------------------------------------------------
def mixed():
    """Everything that is promised column by column, at once, with a forbidden letter."""
    cells = list(product("012", "01", "01"))
    counts = [17, 5, 9, 12, 8, 14, 11, 6, 13, 10, 7, 16]
    joint = Pmf.from_records({"X": ("0", "1", "2"), "S": ("0", "1"), "V": ("0", "1")}, zip(cells, counts, strict=True))
    return Problem(
        joint=joint,
        observe=("X", "V"),
        release=("X",),
        objective=MinimizeDistortion(Distortion("hamming", ("X",))),
        guarantees=(
            Independent("V"),
            LocalDP("3"),
            InformationPrivacy("S", "1/2"),
            Leakage("S", "1/100"),
            WorstCaseLeakage("S", "1/20"),
        ),
    )


def preserved():
    problem = mixed()
    return replace(
        problem,
        guarantees=(Leakage("S", "1/5000"),),
        forbid=(("0", "2"),),
        preserve_marginals=True,
        observe=("X",),
    )


@pytest.mark.long
def test_what_tightened_limits_cost_is_not_searched_for(monkeypatch):
    """A leakage limit of 1/5000 bits has a price of hundreds: a hair of it is more than the finest gap."""
    steps, real = [], searching.descend

    def counted(*args, **kwargs):
        found = real(*args, **kwargs)
        steps.append(found.iterations)
        return found

    monkeypatch.setattr(searching, "descend", counted)
    assert float(solve(preserved()).gap) <= TOLERANCE
    assert len(steps) == 3  # one that ends early, one for a gap that can be had, and one on the support that is left
    assert sum(steps) < 150


@pytest.mark.parametrize("forbid", [(), (("0", "2"),)])
def test_no_leakage_at_all_is_proved_as_well_as_independence(forbid):
    problem = replace(preserved(), forbid=forbid, guarantees=(Leakage("S", "0"),))
    design, same = solve(problem), solve(replace(problem, guarantees=(Independent("S"),)))
    assert float(design.value) == pytest.approx(float(same.value), abs=1e-12)
    assert float(design.gap) <= 1e-8


def beside(keep=(), strata=()):
    cells = list(product("012", "01", "01"))
    counts = [17, 5, 9, 12, 8, 14, 11, 6, 13, 10, 7, 0]
    joint = Pmf.from_records({"X": ("0", "1", "2"), "S": ("0", "1"), "K": ("0", "1")}, zip(cells, counts, strict=True))
    return Problem(
        joint=joint,
        observe=("X",),
        release=("X",),
        keep=keep,
        strata=strata,
        objective=MinimizeLeakage(("S",)),
        limits=(Distortion("hamming", ("X",), Fraction(1, 4)),),
    )


def apart(**changes):
    """A view V that is independent of K, and tells about X in a way that depends on K."""
    cells, counts = [], []
    for v, k in product("01", "01"):  # each (v, k) with 12 records
        shares = [[5, 4, 3], [3, 3, 6], [2, 6, 4], [6, 1, 5]][2 * int(v) + int(k)]
        for x, n in zip("012", shares, strict=True):
            cells += [(x, v, k, "0"), (x, v, k, "1")]
            counts += [n * (int(x) + 1), n * (3 - int(x))]
    joint = Pmf.from_records(
        {"X": ("0", "1", "2"), "V": ("0", "1"), "K": ("0", "1"), "S": ("0", "1")}, zip(cells, counts, strict=True)
    )
    measure = Distortion("hamming", ("X",), Fraction(1, 2))
    guarantees = (Independent("V"),)
    problem = Problem(
        joint=joint,
        observe=("X",),
        release=("X",),
        objective=MinimizeLeakage(("S",)),
        limits=(measure,),
        guarantees=guarantees,
    )
    return replace(problem, **changes)


LINE = [[abs(i - j) for j in range(3)] for i in range(3)]
MATRIX = ((0, Fraction(1, 3), 2), (1, 0, Fraction(1, 2)), (2, 1, 0))


class TestLeastContract(DesignContract):
    def solve(self, problem):
        """This family itself, also where a closed form would come first."""
        return least(problem)

    def problems(self):
        some = beside()
        return {
            "example 1": binary_tradeoff("1/10", "3/20"),
            "both": case(I14, "uninformed_both"),
            "informed": case(I09, "informed_public"),
            "strategies": case(I09, "stat_informed_public"),
            "kept": beside(keep=("K",)),
            "strata": beside(strata=("K",)),
            "strata and independence": apart(strata=("K",)),
            "kept and independence": apart(keep=("K",)),
            "informed, independent and local_dp": apart(
                side_information=SideInformation("K", "informed"), guarantees=(Independent("V"), LocalDP("3"))
            ),
            "local_dp given a stratum": replace(
                beside(strata=("K",)), guarantees=(LocalDP("2", given=("K",)), Leakage("S", "1/30"))
            ),
            "local_dp given a kept column": replace(beside(keep=("K",)), guarantees=(LocalDP("2", given=("K",)),)),
            "metric": replace(
                some,
                guarantees=(LocalDP("3/2", LINE), WorstCaseLeakage("S", "1/50"), InformationPrivacy("S", "1/9")),
                limits=(Distortion("hamming", ("X",), Fraction(3, 5)),),
            ),
            "metric, informed": replace(
                some,
                side_information=SideInformation("K", "informed"),
                guarantees=(
                    LocalDP("1", [[abs(i // 2 - j // 2) + abs(i % 2 - j % 2) for j in range(6)] for i in range(6)]),
                ),
                limits=(Distortion("hamming", ("X",), Fraction(3, 5)),),
            ),
            "metric, strategies": replace(
                some,
                side_information=SideInformation("K", "statistically-informed"),
                guarantees=(LocalDP("1", LINE),),
                limits=(Distortion("hamming", ("X",), Fraction(1, 2)),),
            ),
            "mixed": mixed(),
            "preserved": preserved(),
            "rate": replace(some, objective=MinimizeRate()),
            "rate with strategies": replace(case(I09, "stat_informed_public"), objective=MinimizeRate()),
            "matrix": replace(
                some,
                release=(),
                output="Y",
                limits=(Distortion(tuple(r[:2] for r in MATRIX), ("X",), Fraction(3, 10)),),
            ),
            "square matrix": replace(some, limits=(Distortion(MATRIX, ("X",), Fraction(1, 3)),)),
        }

    def infeasible(self):
        distortion = MinimizeDistortion(Distortion("hamming", ("R",)))
        side = case(I09, "informed_public")
        matrix = Distortion(((1, 2), (2, 1)), ("X",), Fraction(1, 2))
        return {
            "below the smallest distortion": replace(binary_tradeoff("1/10", 1), limits=(matrix,)),
            "side information alone reveals more": replace(
                side, objective=distortion, limits=(), guarantees=(Leakage("H", "1/10"),)
            ),
            "together": replace(binary_tradeoff("1/10", "1/10"), guarantees=(Independent("S"),)),
        }


# --- refusals --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (
            {"limits": (Distortion(((0, 1),), ("X",), Fraction(1)),)},
            ProblemFileError,
            "1 by 2; it needs one row for each of the 2",
        ),
        (
            {"limits": (Distortion("hamming", ("S",), Fraction(1)),)},
            ProblemFileError,
            "'S' needs it among the released",
        ),
        ({"release": (), "output": "Y"}, Unsupported, "nothing says which values"),
        ({"forbid": (("0", "7"),)}, ProblemFileError, "both the values '0' and '7'"),
        ({"freeze": ("7",)}, ProblemFileError, "has the value '7'"),
        ({"form": "pram"}, Unsupported, "Leave out form"),
        ({"guarantees": (LocalDP("1", "d.json"),)}, ProblemFileError, "there is no metric file d.json"),
        ({"guarantees": (LocalDP("1", delta="1/100"),)}, Infeasible, "the distortion of X is at least 0.26"),
        (
            {"keep": ("S",), "guarantees": (InformationPrivacy("S", 1),)},
            Infeasible,
            "S = 1 alone moves the odds of S = 0",
        ),
        ({"keep": ("S",), "guarantees": (WorstCaseLeakage("S", "1/2"),)}, Infeasible, r"S = \d alone reveals 1 bits"),
        ({"keep": ("S",), "guarantees": (LocalDP(1),)}, Unsupported, r'say given = \["S"\]'),
        ({"keep": ("S",), "guarantees": (Independent("S"),)}, Infeasible, "S alone reveals 1 bits about S"),
        ({"side_information": SideInformation("X", "informed")}, Unsupported, "observed or kept already"),
        (
            {"side_information": SideInformation("S"), "guarantees": (Leakage("S", 1),)},
            Unsupported,
            "needs an encoder that knows of it",
        ),
    ],
)
def test_what_the_family_does_not_solve_is_refused_with_the_reason(change, error, message):
    with pytest.raises(error, match=message):
        solve(replace(binary_tradeoff("1/10", "1/10"), **change))


def test_an_empty_private_set_is_refused():
    with pytest.raises(InputError, match="nothing is private"):
        MinimizeLeakage(())


# --- distortions -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "measure",
    [
        Distortion("absolute", ("X",), Fraction(1, 4)),
        Distortion("squared", ("X",), Fraction(1, 4)),
        Distortion("hamming", ("X",), Fraction(1, 5), classes=(("0", "1"),)),
        Distortion.sum_of(
            [Distortion("hamming", ("X",)), Distortion("absolute", ("X",), weight=Fraction(1, 2))], Fraction(1, 3)
        ),
    ],
    ids=["absolute", "squared", "classes", "sum"],
)
def test_named_distortions_are_kept_exactly(measure):
    problem = replace(beside(), limits=(measure,))
    design = solve(problem)
    assert expected_distortion(design, measure) <= measure.at_most
    assert design.gap <= TOLERANCE


def test_erasure_never_lies():
    problem = replace(beside(), release=(), output="Y", limits=(Distortion("erasure", ("X",), Fraction(1, 3)),))
    design = solve(problem)
    assert design.channel.output == {"Y": ("0", "1", "2", "(missing)")}
    for x, row in enumerate(design.channel.rows):
        assert not any(v for y, v in enumerate(row) if y not in (x, 3))


def test_a_limit_on_erasure_of_a_released_column_without_a_value_for_it_is_refused():
    problem = replace(beside(), limits=(Distortion("erasure", ("X",), Fraction(1, 3)),))
    with pytest.raises(InputError, match=r"the released column 'X' has none: nothing could be erased"):
        solve(problem)


def test_two_columns_are_one_letter_under_hamming():
    joint = Pmf.from_records(
        {"A": ("0", "1"), "B": ("0", "1"), "S": ("0", "1")},
        zip(product("01", "01", "01"), [5, 2, 3, 7, 4, 4, 6, 1], strict=True),
    )
    measure = Distortion("hamming", ("A", "B"), Fraction(1, 4))
    problem = Problem(
        joint=joint, observe=("A", "B"), release=("A", "B"), objective=MinimizeLeakage(("S",)), limits=(measure,)
    )
    design = solve(problem)
    assert design.channel.shape == (4, 4)
    assert expected_distortion(design, measure) <= Fraction(1, 4)


def test_kl_is_for_probabilities_and_proved_by_intervals():
    joint = Pmf.from_records(
        {"X": ("1/10", "1/2", "9/10"), "S": ("0", "1")},
        zip(product(("1/10", "1/2", "9/10"), "01"), [9, 1, 5, 5, 1, 9], strict=True),
    )
    problem = Problem(
        joint=joint,
        observe=("X",),
        release=("X",),
        objective=MinimizeLeakage(("S",)),
        limits=(Distortion("kl", ("X",), Fraction(1, 10)),),
    )
    design = solve(problem)
    assert float(Fraction(design.realised[0]["expected"])) <= 0.1
    assert design.gap <= 1e-9
    with pytest.raises(ProblemFileError, match="are probabilities"):
        solve(replace(beside(), limits=(Distortion("kl", ("X",), Fraction(1)),)))


@pytest.mark.long
@given(st.lists(st.integers(0, 20), min_size=12, max_size=12).filter(lambda c: sum(c) > 0), st.integers(0, 10))
@settings(deadline=None, max_examples=effort(5, 15), suppress_health_check=[HealthCheck.too_slow])
def test_leakage_lies_between_zero_and_what_the_input_tells_and_falls_with_the_limit(counts, tenths):
    table = [[[counts[6 * r + 2 * h + z] for z in range(2)] for h in range(3)] for r in range(2)]
    designs = [solve(tradeoff(table, "hamming", Fraction(d, 20))) for d in (tenths, tenths + 2)]
    told = information(designs[0].problem, [[1, 0], [0, 1]], ["H"])
    assert 0 <= designs[1].value <= designs[0].value + Fraction(1, 10**9)
    assert float(designs[0].value) <= told + 1e-9


def test_what_cannot_be_erased_names_the_way_and_no_limit_that_is_not_there():
    problem = binary_tradeoff("1/10", "1/20")
    erased = Distortion("erasure", problem.limits[0].of)
    asked = replace(
        problem,
        objective=MinimizeDistortion(erased),
        limits=(),
        release=problem.limits[0].of,
        output=None,
        guarantees=(Leakage(("S",), Fraction(1, 1000)),),
    )
    with pytest.raises(InputError, match=r"needs the value .* nothing could be erased\. Write output") as refused:
        solve(asked)
    assert "distortion limits" not in str(refused.value)
