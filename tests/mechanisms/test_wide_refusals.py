"""Tables of many columns are released record by record or column by column, or refused before anything is made."""

from fractions import Fraction

import numpy as np
import pytest

from dalenius import solve
from dalenius.core import (
    Distortion,
    Guess,
    Independent,
    InformationPrivacy,
    Leakage,
    LocalDP,
    MaximizeInformation,
    MaximizeInformationOfEach,
    MinimizeDistortion,
    MinimizeLeakage,
    Pmf,
    Problem,
    WorstCaseLeakage,
)
from dalenius.errors import Unsupported
from dalenius.kernel import check

NAMES = tuple(f"C{j}" for j in range(10))


def wide(**parts):
    """Ten columns of eight letters, 10^9 combinations, of which a few hundred occur."""
    rng = np.random.default_rng(1)
    codes = np.column_stack([*(rng.integers(0, 8, 250) for _ in NAMES), rng.integers(0, 2, 250)])
    variables = {name: tuple(map(str, range(8))) for name in NAMES} | {"S": ("no", "yes")}
    joint = Pmf.from_counts(variables, codes, [1] * len(codes))
    return Problem(joint=joint, **parts)


HAMMING = MinimizeDistortion(Distortion.sum_of(Distortion("hamming", (name,)) for name in NAMES))
TOLD = {"observe": NAMES, "output": "Y", "objective": MaximizeInformation(("C0",))}


@pytest.mark.parametrize(
    ("parts", "way_out"),
    [
        (TOLD | {"guarantees": (LocalDP(Fraction(1)),)}, "each = true"),
        (TOLD | {"guarantees": (Independent(("S",)),)}, 'say form = "records"'),
        (TOLD | {"guarantees": (Leakage(("S",), Fraction(1, 10)),)}, 'say form = "records"'),
        ({"observe": NAMES, "release": NAMES, "objective": HAMMING, "guarantees": (LocalDP(Fraction(1)),)}, "each"),
        (
            {
                "observe": NAMES,
                "release": NAMES,
                "objective": MinimizeLeakage(("S",)),
                "limits": (Distortion("hamming", ("C0",), Fraction(1, 10)),),
            },
            "name a secret",
        ),
    ],
)
def test_what_cannot_be_listed_is_refused_with_the_way_out(parts, way_out):
    with pytest.raises(Unsupported, match=way_out):
        solve(wide(**parts))


@pytest.mark.long
def test_many_columns_with_a_seen_secret_go_record_by_record():
    found = solve(wide(observe=(*NAMES, "S"), release=NAMES, objective=HAMMING, guarantees=(Independent(("S",)),)))
    assert found.channel.form == "records"
    assert found.gap == 0


@pytest.mark.long
@pytest.mark.parametrize(
    "promises",
    [
        (Independent(("S",)),),
        (InformationPrivacy(("S",), Fraction(1, 2)),),
        (WorstCaseLeakage(("S",), Fraction(1, 10)),),
        (Guess(("S",), times=Fraction(11, 10)),),
        (Leakage(("S",), Fraction(1, 10)), Independent(("C9",))),
    ],
    ids=lambda promises: " and ".join(promise.key for promise in promises),
)
@pytest.mark.parametrize("seen", [(), ("S",)], ids=["not observed", "observed"])
def test_part_9_many_columns_with_a_secret_are_never_refused(promises, seen):
    released = NAMES[:9]
    measure = Distortion.sum_of(Distortion("hamming", (name,)) for name in released)
    more = ("C9",) if seen else ()
    asked = wide(
        observe=(*released, *seen, *more),
        release=released,
        objective=MinimizeDistortion(measure),
        guarantees=promises,
    )
    found = solve(asked)
    assert found.channel.form == "records"
    assert found.bound <= found.value
    assert check(found.text).value <= found.value


@pytest.mark.long
def test_local_dp_on_many_columns_goes_column_by_column():
    columns = {"observe": NAMES, "release": NAMES, "objective": MaximizeInformationOfEach(NAMES)}
    found = solve(wide(**columns, guarantees=(LocalDP(Fraction(5)),), each=True, form="pram"))
    assert found.value > 0


@pytest.mark.long
def test_kept_rows_reach_wide_tables_through_the_dispatcher():
    asked = wide(
        observe=(*NAMES, "S"),
        release=NAMES,
        objective=HAMMING,
        guarantees=(Independent(("S",)),),
        keep_rows=Fraction(9, 10),
    )
    found = solve(asked)
    assert found.channel.form == "records"
    for limit, reached in zip(found.problem.limits, found.realised, strict=True):
        assert Fraction(reached["expected"]) <= limit.at_most
