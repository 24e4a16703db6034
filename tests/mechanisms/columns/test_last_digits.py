"""Minimised objectives end 1e-8 from their bound in corners too: barred letters, low orders, maps, dust, rare rows."""

import random
from fractions import Fraction

import pytest

from dalenius import Pmf, Problem, solve, verify
from dalenius.errors import Infeasible, Unsupported

HAMMING = {"distortion": "hamming", "of": ["X"]}
CLOSE = Fraction(1, 10**8)


def law(seed, *sizes, most=30):
    """Counts of S, X and, where there is a third size, K, drawn once."""
    draw = random.Random(seed)
    names = dict(zip("SXK", ([str(k) for k in range(size)] for size in sizes), strict=False))
    records = [()]
    for letters in names.values():
        records = [(*record, letter) for record in records for letter in letters]
    return Pmf.from_records(names, [(record, draw.randint(1, most)) for record in records])


def problem(joint, *promises, aim=None, limits=(), **further):
    side = further.pop("side_information", None)
    document = {
        "mechanism": {"observe": ["X"], "release": ["X"], **further},
        "objective": {"minimize": aim or HAMMING},
        "guarantee": list(promises),
    }
    document |= {"limit": list(limits)} if limits else {}
    document |= {"side_information": side} if side else {}
    return Problem.from_document(document).bound(joint)


@pytest.mark.parametrize("shape", [{"freeze": ["0"]}, {"forbid": [["0", "3"]]}], ids=["frozen", "forbidden"])
def test_contraction_is_closed_where_letters_are_barred(shape):
    """A row without a letter has its cut at the end of b: with 0 frozen, all others are 0 four times in five."""
    design = solve(problem(law(1, 2, 4), {"contraction": "1/5"}, **shape))
    assert 0 <= design.gap <= CLOSE
    if "freeze" in shape:
        assert all(float(row[0]) == pytest.approx(0.8, abs=1e-7) for row in design.channel.rows[1:])
    verify(design)


@pytest.mark.long
def test_contraction_with_large_costs_is_closed():
    squared = {"distortion": "squared", "of": ["X"]}
    design = solve(problem(law(2, 2, 8), {"contraction": "1/4"}, aim=squared))
    assert design.value > 2
    assert 0 <= design.gap <= CLOSE


@pytest.mark.long
@pytest.mark.parametrize(("order", "bits"), [("11/10", "1/100"), ("2", "1/20")])
def test_sibson_of_a_low_order_keeps_a_hair_of_its_room(order, bits):
    """Of order 11/10 and 0.01 bits the gauge has 6e-4 of room: a hair of fixed size was a share of 3e-7 of it."""
    design = solve(problem(law(3, 3, 3), {"sibson": ["S"], "order": order, "at_most_bits": bits}))
    assert 0 <= design.gap <= CLOSE


@pytest.mark.slow
def test_dalenius_is_closed_beside_a_frozen_value():
    """The constant that is mixed in has no letter that a frozen input may not have."""
    design = solve(problem(law(4, 2, 4), {"dalenius": True, "at_most_bits": "1/50"}, freeze=["0"]))
    assert design.channel.rows[0][0] == 1
    assert 0 <= design.gap <= CLOSE
    verify(design)


@pytest.mark.slow
def test_dalenius_is_closed_where_two_figures_are_promised():
    promises = [{"dalenius": True, "at_most_bits": bits} for bits in ("1/10", "3/10")]
    design = solve(problem(law(5, 2, 4), *promises))
    assert 0 <= design.gap <= CLOSE
    assert design.value == pytest.approx(solve(problem(law(5, 2, 4), promises[0])).value, abs=1e-7)


@pytest.mark.parametrize(
    "promise",
    [
        {"guess": ["S"], "times": "21/20"},
        {"local_dp": "1/2", "delta": "1/1000"},
        {"total_variation": ["S"], "at_most": "1/8"},
    ],
    ids=["guess", "delta", "total variation"],
)
def test_maps_from_side_information_keep_what_all_letters_share(promise):
    """A linear program is exact; its maps were mixed anew by what they leak, whatever they cost and promise."""
    for seed in range(4):
        side = {"variable": "K", "encoder": "statistically-informed"}
        costs = [["0", "7/2", "2"], ["4", "0", "3"], ["6", "1/3", "0"]]
        aim = {"distortion": costs, "of": ["X"]}
        design = solve(problem(law(seed, 3, 3, 2), promise, aim=aim, side_information=side))
        assert 0 <= design.gap <= Fraction(1, 10**12)
        verify(design)


def test_dust_is_removed_for_less_than_was_asked_for():
    side = {"variable": "K", "encoder": "informed"}
    limits = [{**HAMMING, "at_most": "1/2"}, {"distortion": "squared", "of": ["X"], "at_most": "1/2"}]
    for seed in (4, 8):  # where the removal of what is below 1e-6 cost 1e-7 and 2e-7
        promise = {"guess": ["S"], "times": "11/10"}
        joint = law(seed, 2, 5, 2)
        design = solve(problem(joint, promise, aim={"rate": True}, limits=limits, side_information=side))
        assert 0 <= design.gap <= CLOSE


METRIC = [["0", "1", "2"], ["1", "0", "1"], ["2", "1", "0"]]
LEVELS = {"level": {}, "metric": {"metric": METRIC}, "delta": {"delta": "1/20"}}


@pytest.mark.parametrize("further", LEVELS.values(), ids=LEVELS)
@pytest.mark.parametrize("shape", [{"freeze": ["0"]}, {"forbid": [["0", "2"]]}], ids=["frozen", "forbidden"])
def test_a_level_holds_beside_a_barred_input_that_never_occurs(further, shape):
    """What the input 0 may not be released as no other may, but for delta: their ratio would have no end."""
    joint = Pmf.from_records({"S": "01", "X": "012"}, [(("0", "1"), 3), (("1", "1"), 2), (("1", "2"), 5)])
    design = solve(problem(joint, {"local_dp": "1", **further}, **shape))
    barred = {"freeze": [1, 2], "forbid": [2]}[next(iter(shape))]
    most = Fraction(further.get("delta", 0))
    assert all(sum(row[letter] for letter in barred) <= most for row in design.channel.rows)
    assert 0 <= design.gap <= CLOSE
    verify(design)


@pytest.mark.long
@pytest.mark.parametrize(
    ("promise", "further", "shape"),
    [
        ({"sibson": ["S"], "order": "2", "at_most_bits": "1/20"}, {"metric": METRIC}, {}),
        ({"sibson": ["S"], "order": "2", "at_most_bits": "1/20"}, {}, {"freeze": ["0"]}),
        ({"dalenius": True, "at_most_bits": "1/10"}, {"delta": "1/20"}, {"freeze": ["0"]}),
        ({"leakage": ["S"], "at_most_bits": "1/100"}, {"delta": "1/20"}, {"freeze": ["0"]}),
        ({"independent": ["S"]}, {"delta": "1/20"}, {"forbid": [["0", "2"]]}),
    ],
    ids=["sibson, metric", "sibson, level", "dalenius, delta", "leakage, delta", "independent, delta"],
)
def test_rows_that_never_occur_change_no_other_promise(promise, further, shape):
    """They have no part in what is told about those that occur, whichever letters they may have."""
    joint = Pmf.from_records({"S": "01", "X": "012"}, [(("0", "1"), 3), (("1", "1"), 2), (("1", "2"), 5)])
    design = solve(problem(joint, {"local_dp": "1", **further}, promise, **shape))
    assert 0 <= design.gap <= CLOSE
    verify(design)


@pytest.mark.parametrize("further", [LEVELS["level"], LEVELS["delta"]], ids=["level", "delta"])
def test_inputs_that_never_occur_share_a_row_where_they_may_not_have_the_same(further):
    """Of 0, 1 and 2, which never occur, two may not be 3 or 4, and one may be anything."""
    joint = Pmf.from_records({"S": "01", "X": "01234"}, [(("0", "3"), 3), (("1", "3"), 2), (("1", "4"), 5)])
    forbid = [[x, y] for x in "01" for y in "34"]
    design = solve(problem(joint, {"local_dp": "1", **further}, forbid=forbid))
    assert design.channel.rows[0] == design.channel.rows[1]
    assert sum(design.channel.rows[0][3:]) == 0
    assert 0 <= design.gap <= CLOSE
    verify(design)


def test_margins_are_refused_beside_a_level_and_a_barred_input_that_never_occurs():
    joint = Pmf.from_records({"S": "01", "X": "012"}, [(("0", "1"), 3), (("1", "1"), 2), (("1", "2"), 5)])
    with pytest.raises(Unsupported, match="local_dp, and forbid or freeze, needs inputs that all occur; 1 never do"):
        solve(problem(joint, {"local_dp": "1"}, freeze=["0"], preserve_marginals=True))
    wide = Pmf.from_records({"S": "01", "X": "0123"}, [(("0", "1"), 3), (("1", "1"), 2), (("1", "2"), 5)])
    design = solve(problem(wide, {"local_dp": "1"}, forbid=[["0", "3"]], preserve_marginals=True))
    assert 0 <= design.gap <= CLOSE  # nobody is released as 3 in any case


@pytest.mark.long
@pytest.mark.parametrize(
    "shape", [{"freeze": ["0"]}, {"forbid": [["0", "2"], ["0", "3"]]}], ids=["frozen", "forbidden"]
)
def test_a_contraction_beside_another_promise_is_closed_where_letters_are_barred(shape):
    """Its cut at b = 1 says nothing: what one row may have alone is limited by itself, else the bound misses 1e-1."""
    promises = [{"contraction": "1/5"}, {"guess": ["S"], "times": "6/5"}]
    design = solve(problem(law(1, 2, 4), *promises, **shape))
    assert 0 <= design.gap <= CLOSE
    if "freeze" in shape:
        assert all(float(row[0]) >= 0.8 - 1e-12 for row in design.channel.rows[1:])
    verify(design)


def test_a_contraction_below_one_is_refused_where_two_inputs_share_no_value():
    promises = [{"contraction": "1/5"}, {"guess": ["S"], "times": "6/5"}]
    with pytest.raises(Infeasible, match="0 and 1 have no value that both may be released as"):
        solve(problem(law(1, 2, 3), *promises, freeze=["0", "1"]))
