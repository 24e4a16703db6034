"""The rules of addition, at closed forms, against brute force, and where they must refuse."""

import math
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dalenius.core.query import Query
from dalenius.ledger import Entry, Line, accounting, spent
from dalenius.ledger.entry import RELEASED, VOID
from dalenius.ledger.query import query_document
from dalenius.measures.rules import added, percolated
from tests.effort import effort
from tests.ledger.documents import card, coin, document, fair, flip


def entries(*texts, dataset="t.csv", rows=None, max_rows=1):
    return [
        Entry(k, str(k), RELEASED, dataset, text, rows=rows, max_rows=max_rows) for k, text in enumerate(texts, start=1)
    ]


def figure(line, many, rule="joint"):
    found = spent(Line.parse(line + "=9"), many, rule).figure
    return None if found is None else float(found)


def h(p):
    return -p * math.log2(p) - (1 - p) * math.log2(1 - p)


PARITY = [[1, 0], [0, 1], [0, 1], [1, 0]]


def test_nothing_costs_nothing_and_void_entries_cost_nothing():
    assert figure("local_dp", []) == 0
    assert figure("local_dp", [Entry(1, "1", VOID, "t", coin())]) == 0


# --- figures that hold under every distribution -----------------------------------------------------------------------
def test_levels_of_local_dp_add_and_rows_of_a_person_multiply():
    assert figure("local_dp", entries(coin(), coin(output="Z"))) == pytest.approx(2 * math.log(3), abs=1e-12)
    assert figure("local_dp", entries(coin(), max_rows=5)) == pytest.approx(5 * math.log(3), abs=1e-12)
    exact = spent(Line.parse("local_dp=9"), entries(coin())).figure
    assert exact >= Fraction(math.log(3)) - Fraction(1, 10**15)


@pytest.mark.parametrize("as_card", [False, True])
def test_rows_that_another_release_of_the_data_says_a_person_has_count_for_all(as_card):
    """A person with three rows was drawn for three times by both releases, and the first was charged for one."""
    first, one = (
        coin(),
        coin(output="U", unit="person"),
    )  # the last draws once for each person, who is alike in all rows
    first = card(first) if as_card else first
    beside = entries(coin(max_rows=3, output="Z", unit="person"), max_rows=3)
    for others, draws in ((entries(first), 6), (entries(one), 4), (entries(first, dataset="other"), 4)):
        assert figure("local_dp", [*others, *beside]) == pytest.approx(draws * math.log(3), abs=1e-12)
    few = entries(query_document(Query(2, (("0", "1"),) * 2, "parity", "randomised-response", Fraction(1, 4)), "X"))
    assert figure("independent_records", [*few, *beside]) > figure("independent_records", [*few, *entries(coin())])


def test_a_release_without_a_finite_level_is_refused_by_its_number():
    found = spent(Line.parse("local_dp=9"), entries(coin(), document(fair("X"), (("X",), flip(0)))))
    assert found.figure is None
    assert "release 2 has no finite level" in found.how
    kept = document(fair("X", "K"), (("X",), flip("1/4")), keep=["K"])
    assert figure("local_dp", entries(kept)) is None


def test_contraction_percolates():
    two = entries(coin(), coin(output="Z"))
    assert figure("contraction", two) == pytest.approx(0.4375, abs=1e-12)  # each eta_KL is 1/4
    assert 0.331877754 < 0.4375  # I(S; Y1, Y2) of a fair S = X seen twice: above one coefficient, below the bound
    assert figure("contraction", entries(coin(), max_rows=2)) == pytest.approx(0.4375, abs=1e-12)
    assert percolated([]) == 0


def test_individual_capacities_add_for_draws_from_the_same_data():
    capacity = 1 - h(0.25)
    one = entries(coin(), rows=1)
    assert figure("dalenius", one) == pytest.approx(capacity, abs=1e-9)
    assert figure("dalenius", entries(coin(), coin(output="Z"), rows=1)) == pytest.approx(2 * capacity, abs=1e-9)


def test_parallel_composition_is_charged_as_it_leaks():
    """Two bits, one for each person, each through BSC(1/4): a copy leaks 0.230040129480310669 nats, not 0.130812."""
    leaks = 0.230040129480310669 / math.log(2)
    assert leaks <= figure("dalenius", entries(coin(), rows=2)) <= 2 * (1 - h(0.25)) + 1e-9
    assert figure("dalenius", entries(coin(), rows=10**6)) == 1  # never more than the record holds
    assert figure("dalenius", entries(coin())) == 1  # nor when nobody says how many there are
    assert figure("dalenius", entries(coin(), coin(), coin())) == 1
    assert figure("dalenius", entries(coin(), rows=10**6, max_rows=3)) == 3


def test_other_data_of_the_same_people_are_charged_over_all_records():
    """Two data of two people, each bit through BSC(1/4): C_1 is 0.479079505393 nats, more than both sums of C_1."""
    first, second = entries(coin(), rows=2), entries(coin(), dataset="other", rows=2)
    charged = figure("dalenius", [*first, *second])
    assert 0.479079505393 / math.log(2) <= charged == pytest.approx(4 * (1 - h(0.25)), abs=1e-8)
    unknown = entries(coin(), dataset="other")
    assert figure("dalenius", [*first, *unknown]) == 2  # two bits of one person
    kept = card(document(fair("X", "K"), (("X",), flip("1/4")), keep=["K"]))
    found = spent(Line.parse("dalenius=9"), entries(coin(), kept))
    assert found.figure is None
    assert "add the design instead" in found.how


def test_a_proved_promise_about_one_draw_from_all_records_is_used_as_it_stands():
    promised = [{"dalenius": True, "at_most_bits": "1/20"}]
    table = document(fair("X"), (("X",), flip("3/8")), promised)
    query = document(fair("X"), (("X",), flip("3/8")), promised, beside={"source": {"pmf": "joint.json"}})
    assert 0.05 < figure("dalenius", entries(query, query)) <= 0.1
    assert figure("dalenius", entries(query, rows=7)) > 0.1  # not for seven draws
    assert figure("dalenius", entries(table)) == 1  # nor when each row of a table is drawn for


# --- figures about a secret ------------------------------------------------------------------------------------------
def test_two_releases_of_zero_bits_give_one_bit():
    joint = fair("A", "B")
    parity = document(joint, (("A", "B"), PARITY), [{"independent": ["A"]}])
    second = document(joint, (("B",), flip(0)), [{"independent": ["A"]}], output="Z")
    assert figure("leakage:A", entries(parity)) == 0
    assert figure("leakage:A", entries(second)) == 0
    assert figure("leakage:A", entries(parity, second)) == 1
    assert figure("worst_case_leakage:A", entries(parity, second)) == 1
    assert figure("information_privacy:A", entries(parity, second)) is None
    assert figure("information_privacy:A", entries(parity)) == 0


def test_guesses_are_recomputed_on_the_joint_channel():
    """A fair bit through BSC(1/4): one look is right 3/4 of the time, and so are two; three are right 27/32."""
    assert figure("guess:X", entries(coin())) == Fraction(3, 4)
    assert figure("guess:X", entries(coin(), coin())) == Fraction(3, 4)
    assert figure("guess:X", entries(coin(), coin(), coin())) == Fraction(27, 32)
    assert figure("total_variation:X", entries(coin())) == Fraction(1, 4)
    joint = fair("A", "B")
    parity = document(joint, (("A", "B"), PARITY), [{"independent": ["A"]}])
    second = document(joint, (("B",), flip(0)), [{"independent": ["A"]}], output="Z")
    assert [figure("guess:A", entries(*those)) for those in ((parity,), (second,), (parity, second))] == [0.5, 0.5, 1]


def test_maximal_leakage_adds_and_multiplies_the_guess_of_what_is_not_on_the_joint_channel():
    factor = math.log2(1.5)
    assert figure("maximal_leakage", entries(coin())) == pytest.approx(factor, abs=1e-12)
    assert figure("maximal_leakage", entries(coin(), coin())) == pytest.approx(2 * factor, abs=1e-12)
    assert figure("maximal_leakage:X", entries(coin(), coin())) == pytest.approx(math.log2(1.5), abs=1e-12)
    assert figure("guess:X", entries(coin()), "prior-free") == 1
    far = document(fair("C"), (("C",), flip("1/4")), output="Z")  # other data of the same people
    assert figure("guess:X", entries(coin(), far)) == 1  # 3/4 times 3/2
    assert figure("total_variation:X", entries(coin(), far)) == Fraction(3, 4)


def test_a_second_draw_is_the_two_look_channel():
    """I(X; Y1, Y2) of a fair bit through BSC(1/4) twice, in closed form: H(Y1, Y2) - 2 h(1/4)."""
    same, other = (0.75**2 + 0.25**2) / 2, 2 * 0.75 * 0.25 / 2
    closed = -2 * same * math.log2(same) - 2 * other * math.log2(other) - 2 * h(0.25)
    assert figure("leakage:X", entries(coin(), coin())) == pytest.approx(closed, abs=1e-12)
    assert closed == pytest.approx(0.331877754, abs=1e-9)


def test_a_release_that_does_not_know_the_secret_is_charged_all_that_it_reads():
    known = document(fair("A", "B"), (("A", "B"), PARITY))
    blind = document(fair("B"), (("B",), flip("1/4")), output="Z")  # no A in its joint: but it fits on the other one
    assert figure("leakage:A", entries(blind)) == pytest.approx(1 - h(0.25), abs=1e-12)
    assert figure("leakage:A", entries(known, blind)) == pytest.approx(1 - h(0.25), abs=1e-12)  # exact, and equal
    aside = document(fair("C"), (("C",), flip("1/4")), output="Z")
    found = spent(Line.parse("leakage:A=1"), entries(known, aside))
    assert float(found.figure) == pytest.approx(1 - h(0.25), abs=1e-12)
    assert "1 release charged its information about all that it reads" in found.how


def test_a_card_or_a_contradicting_table_is_charged_its_capacity():
    skewed = {None: ("X",), ("0",): Fraction(9, 10), ("1",): Fraction(1, 10)}
    moved = document(skewed, (("X",), flip("1/4")))
    assert figure("leakage:X", entries(moved)) < 1 - h(0.25) - 0.05
    assert figure("leakage:X", entries(moved), "prior-free") == pytest.approx(1 - h(0.25), abs=1e-9)
    assert figure("leakage:X", entries(card(moved))) == pytest.approx(1 - h(0.25), abs=1e-9)
    both = figure("leakage:X", entries(moved, coin()))
    assert both == pytest.approx(2 * (1 - h(0.25)), abs=1e-9)  # the larger of the two laws, plus the other's capacity
    assert figure("leakage:X", entries(coin(), max_rows=3)) == pytest.approx(3 * (1 - h(0.25)), abs=1e-9)


def test_kept_columns_count_and_a_card_that_hides_them_is_refused():
    joint = fair("X", "K")
    text = document(joint, (("X",), flip("1/4")), keep=["K"])
    assert figure("leakage:K", entries(text)) == 1
    assert figure("leakage:K", entries(text), "prior-free") == 1  # all that K can hold, less than the channel
    found = spent(Line.parse("leakage:K=1"), entries(card(text)))
    assert found.figure is None
    assert "add the design" in found.how


@pytest.mark.slow
def test_a_joint_channel_that_is_too_large_is_not_built():
    many = entries(*[coin(output=f"Y{k}") for k in range(30)])
    found = spent(Line.parse("leakage:X=9"), many)
    # Fourteen of them computed together and the others added would be more than X itself holds.
    assert found.figure == 1
    assert found.how == "all that the columns that were read say about X"


def test_a_single_release_is_recomputed_however_large_it_is(monkeypatch):
    monkeypatch.setattr(accounting, "SMALL", 1)
    parity = document(fair("A", "B"), (("A", "B"), PARITY), [{"independent": ["A"]}])
    assert figure("leakage:A", entries(parity)) == 0
    noisy = document(fair("A", "B"), (("B",), flip("1/4")), output="Z")
    assert figure("leakage:A", entries(parity, noisy)) == pytest.approx(1 - h(0.25), abs=1e-12)


def test_what_is_added_up_counts_the_released_values_that_can_occur(monkeypatch):
    """Two recipes that change nothing have one value for each input, not four: they fit where four would not."""
    monkeypatch.setattr(accounting, "SMALL", 4)
    same = [document(fair("A", "B"), (("B",), flip(0)), output=name) for name in "YZ"]
    assert "2 releases computed together" in spent(Line.parse("leakage:A=1"), entries(*same)).how


def test_releases_reveal_no_more_about_a_secret_than_what_they_read(monkeypatch):
    """A agrees with B in 11 of 20: B itself tells 1 - h(9/20), however often it is released; A holds h(1/2) = 1."""
    monkeypatch.setattr(accounting, "SMALL", 1)
    near = {None: ("A", "B"), ("0", "0"): 11, ("0", "1"): 9, ("1", "0"): 9, ("1", "1"): 11}
    near = {k: v if k is None else Fraction(v, 40) for k, v in near.items()}
    twice = [document(near, (("B",), flip("1/4")), output=name) for name in "YZ"]
    found = spent(Line.parse("leakage:A=1"), entries(*twice))
    assert float(found.figure) == pytest.approx(1 - h(0.45), abs=1e-12)
    assert found.how == "all that the columns that were read say about A"
    beside = [*entries(*twice), *entries(*[document(fair("C"), (("C",), flip(0)), output=f"U{k}") for k in range(2)])]
    found = spent(Line.parse("leakage:A=1"), beside)
    assert float(found.figure) == pytest.approx(1, abs=1e-12)
    assert found.how == "all there is to know about A"


def test_what_one_table_holds_about_a_secret_limits_no_release_of_another():
    """A is 1 in one of 100 rows here; the card of another table states no counts, and tells all of a fair A."""
    rare = {None: ("A",), ("0",): Fraction(99, 100), ("1",): Fraction(1, 100)}
    here = entries(document(rare, (("A",), flip("1/4"))))
    there = entries(card(document(fair("A"), (("A",), flip(0)), output="Z")), dataset="other")
    alone = figure("leakage:A", here)
    assert figure("leakage:A", here + there) == pytest.approx(alone + 1, abs=1e-12)


def test_a_law_of_independent_groups_is_the_law_that_it_multiplies_to():
    text = document(fair("A", "B"), (("A", "B"), PARITY), [{"independent": ["A"]}])
    groups = [{"variables": {n: ["0", "1"]}, "pmf": [{n: b, "p": "1/2"} for b in "01"]} for n in "AB"]
    grouped = document(
        fair("A", "B"), (("A", "B"), PARITY), [{"independent": ["A"]}], beside={"joint": {"independent": groups}}
    )
    second = document(fair("A", "B"), (("B",), flip(0)), output="Z")
    for line in ("leakage:A", "dalenius"):
        assert figure(line, entries(grouped)) == figure(line, entries(text))
        assert figure(line, entries(grouped, second)) == figure(line, entries(text, second))
    assert figure("leakage:A", entries(grouped, second)) == 1


def test_side_information_is_refused():
    side = {"side_information": {"variable": "Z", "encoder": "uninformed"}}
    text = document(fair("X", "Z"), (("X",), flip("1/4")), [{"local_dp": "2"}], beside=side)
    found = spent(Line.parse("leakage:X=9"), entries(text))
    assert found.figure is None
    assert "side information" in found.how


# --- against brute force ---------------------------------------------------------------------------------------------
LETTERS = 2


def stochastic(draw, width):
    counts = draw(st.lists(st.integers(0, 5), min_size=width, max_size=width).filter(any))
    return [Fraction(c, sum(counts)) for c in counts]


@st.composite
def cases(draw):
    cells = list(product("01", repeat=3))  # S, A, B
    p = stochastic(draw, len(cells))
    a, b = ([stochastic(draw, 3) for _ in range(LETTERS)] for _ in range(2))
    return dict(zip(cells, p, strict=True)), a, b


@pytest.mark.long
@settings(max_examples=effort(6, 40), deadline=None)
@given(cases())
def test_no_charge_is_below_the_truth(case):
    """Every kind of charge, with both joints at hand and with partial ones, against sums over all outcomes."""
    p, a, b = case
    full = {None: ("S", "A", "B"), **{x: v for x, v in p.items() if v}}
    if any(len({x[k] for x in full if x is not None}) < 2 for k in range(3)):
        return
    law = {}
    for (s, u, v), w in p.items():
        for y, z in product(range(3), repeat=2):
            law[s, (y, z)] = law.get((s, (y, z)), 0) + w * a[int(u)][y] * b[int(v)][z]
    ps, py = {}, {}
    for (s, y), w in law.items():
        ps[s], py[y] = ps.get(s, 0) + w, py.get(y, 0) + w
    truth = sum(float(w) * math.log2(w / (ps[s] * py[y])) for (s, y), w in law.items() if w)
    worst = max(
        sum(float(law[s, y] / w) * math.log2(law[s, y] / (w * ps[s])) for s in ps if law[s, y])
        for y, w in py.items()
        if w
    )
    ratios = [law[s, y] / (ps[s] * w) for s in ps for y, w in py.items() if w]
    odds = None if min(ratios) == 0 else max(abs(math.log(r)) for r in ratios)

    def part(names):
        at = [("S", "A", "B").index(n) for n in names]
        out = {}
        for x, w in p.items():
            key = tuple(x[k] for k in at)
            out[key] = out.get(key, 0) + w
        return {None: names} | {x: w for x, w in out.items() if w}

    whole = [document(full, (("A",), a)), document(full, (("B",), b), output="Z")]
    parts = [document(part(("S", "A")), (("A",), a)), document(part(("B",)), (("B",), b), output="Z")]
    assert figure("leakage:S", entries(*whole)) == pytest.approx(truth, abs=1e-9)
    for many in (entries(*whole), entries(*parts), entries(*map(card, whole))):
        for rule in ("joint", "prior-free"):
            assert figure("leakage:S", many, rule) >= truth - 1e-9
            for kind, true in (("worst_case_leakage", worst), ("information_privacy", odds)):
                charged = figure(f"{kind}:S", many, rule)
                assert charged is None or (true is not None and charged >= true - 1e-9)


def test_added_is_infinite_when_a_part_is():
    assert added([None]) is None
    assert added([]) == 0
