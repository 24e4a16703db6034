"""What any adversary learns about a record, proved from the rows and a tree; false trees prove nothing false."""

import copy
import json
import math
import random
from fractions import Fraction
from itertools import combinations, product

import pytest

from dalenius.convert import checked as check
from dalenius.certify.capacity import individual
from dalenius.core import Certificate, Channel, Dalenius, MaximizeInformation, Pmf, Problem
from dalenius.core.numbers import exact
from dalenius.core.reading import whole
from dalenius.designs.proving import proved
from dalenius.errors import NotCertified
from dalenius.measures.individual import individual_capacity, individual_proof
from tests.effort import effort


def random_channel(sizes, letters, seed):
    draw = random.Random(seed)
    rows = []
    for _ in range(math.prod(sizes)):
        counts = [draw.randrange(1, 30) if draw.random() < 0.8 else 0 for _ in range(letters - 1)] + [1]
        rows.append(tuple(Fraction(c, sum(counts)) for c in counts))
    inputs = {f"X{k}": tuple(map(str, range(m))) for k, m in enumerate(sizes)}
    return Channel(inputs, {"Y": tuple(map(str, range(letters)))}, tuple(rows))


def in_whole_numbers(channel):
    flat, scale = whole([v for row in channel.rows for v in row])
    k = channel.shape[1]
    assert all(sum(flat[i : i + k]) == scale for i in range(0, len(flat), k))
    return [len(a) for a in channel.inputs.values()], [flat[i : i + k] for i in range(0, len(flat), k)]


CASES = [((2,), 2, 1), ((2, 2), 3, 1), ((3, 2), 2, 2), ((3, 3), 4, 1), ((2, 2, 2), 3, 2), ((2, 2, 2, 2), 4, 1)]


@pytest.mark.parametrize(("sizes", "letters", "group"), CASES)
@pytest.mark.parametrize("seed", range(effort(1, 3)))
def test_a_tree_proves_what_the_search_found(sizes, letters, group, seed):
    channel = random_channel(sizes, letters, seed)
    found = individual_capacity(channel, group=group)
    bound = individual(*in_whole_numbers(channel), group, individual_proof(channel, group))
    assert found.low <= bound <= found.high + 1e-9
    alone = individual(*in_whole_numbers(channel), group, {})
    assert alone >= found.low


def test_without_a_tree_the_checker_proves_the_capacity_of_all_rows():
    flip = (Fraction(3, 4), Fraction(1, 4))
    channel = Channel({"A": ("0", "1")}, {"Y": ("0", "1")}, (flip, flip[::-1]))
    assert float(individual(*in_whole_numbers(channel), 1, {})) == pytest.approx(0.188721875540867, abs=1e-12)


@pytest.mark.parametrize("seed", range(effort(10, 30)))
def test_a_false_tree_is_refused_or_proves_something_true(seed):
    draw = random.Random(seed)
    sizes, letters, group = draw.choice(CASES[1:])
    channel = random_channel(sizes, letters, seed)
    low = individual_capacity(channel, group=group).low
    proof = individual_proof(channel, group)
    for _ in range(20):
        spoilt = copy.deepcopy(proof)
        tree = draw.choice(spoilt["trees"])
        node = draw.choice(tree)
        change = draw.randrange(5)
        if "q" in node:
            node["q"][draw.randrange(letters)] = draw.choice([0, 1, 1 << 70, draw.randrange(1, 1 << 60)])
        elif change == 0:
            node["rows"] = draw.sample(range(math.prod(sizes)), draw.randrange(math.prod(sizes)))
        elif change == 1:
            node["class"] = draw.randrange(-2, 9)
        elif change == 2:
            tree.pop(draw.randrange(len(tree)))
        elif change == 3:
            tree.append(copy.deepcopy(draw.choice(tree)))
        else:
            draw.shuffle(tree)
        try:
            bound = individual(*in_whole_numbers(channel), group, spoilt)
        except (NotCertified, KeyError):
            continue
        assert bound >= low - 1e-12


# --- in designs and cards --------------------------------------------------------------------------------------------
def promising(at_most, group=1):
    """A noisy parity of two bits that promises what an adversary learns."""
    flip = (Fraction(3, 4), Fraction(1, 4))
    channel = Channel({"A": ("0", "1"), "B": ("0", "1")}, {"Y": ("0", "1")}, (flip, flip[::-1], flip[::-1], flip))
    joint = Pmf.from_records({"A": ("0", "1"), "B": ("0", "1")}, [(x, 1) for x in product("01", repeat=2)])
    promise = Dalenius(exact(at_most), group=group)
    problem = Problem(
        joint=joint, observe=("A", "B"), output="Y", objective=MaximizeInformation(("A", "B")), guarantees=(promise,)
    )
    return proved(problem, channel, [Certificate("universal")], method="by hand")


@pytest.mark.parametrize("group", [1, 2])
def test_a_design_and_its_card_prove_the_promise(group):
    design = promising("0.1888", group)
    (figures,) = check(design.dumps()).figures
    assert float(figures["capacity_bits"]) == pytest.approx(0.188721875540867, abs=1e-9)
    card = check(json.dumps(design.card()))
    assert card.figures == (figures,)


def test_a_promise_that_is_not_kept_is_refused():
    with pytest.raises(NotCertified, match="an adversary may learn"):
        promising("0.1887")


@pytest.mark.parametrize("where", ["design", "card"])
def test_a_figure_that_is_too_good_is_refused(where):
    design = promising("0.19")
    document = design.card() if where == "card" else design.to_json()
    document["guarantees"][0]["proved"]["capacity_bits"] = "0.1887"
    with pytest.raises(NotCertified, match="a claimed figure of guarantee 1 is not proved"):
        check(json.dumps(document))


def test_a_promise_beside_kept_columns_is_refused():
    document = promising("0.19").to_json()
    document["mechanism"]["keep"] = ["A"]
    with pytest.raises(NotCertified, match="without kept columns"):
        check(json.dumps(document))


def test_the_bound_holds_for_every_selection():
    """Beside the search: every selection of one row per value, its capacity by many rounds of Blahut-Arimoto."""
    channel = random_channel((2, 3), 3, 11)
    sizes, rows = in_whole_numbers(channel)
    bound = individual(sizes, rows, 1, individual_proof(channel))
    outcomes = list(product(*map(range, sizes)))
    worst = 0.0
    for (i,) in combinations(range(2), 1):
        classes = [[r for x, r in zip(outcomes, rows, strict=True) if x[i] == a] for a in range(sizes[i])]
        for chosen in product(*classes):
            worst = max(worst, _capacity_bits(chosen))
    assert worst <= bound <= worst + 1e-6


def _capacity_bits(rows):
    p = [[v / sum(row) for v in row] for row in rows]
    w = [1 / len(p)] * len(p)
    for _ in range(3000):
        q = [sum(a * row[y] for a, row in zip(w, p, strict=True)) for y in range(len(p[0]))]
        d = [sum(v * math.log2(v / t) for v, t in zip(row, q, strict=True) if v) for row in p]
        value = sum(a * b for a, b in zip(w, d, strict=True))
        w = [a * 2**b for a, b in zip(w, d, strict=True)]
        w = [a / sum(w) for a in w]
    return value
