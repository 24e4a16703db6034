"""Leakage within a ball by a reference law: no law of the ball tells more, whatever the evidence; and it is tight."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from dalenius.core import Channel, Pmf
from dalenius.kernel.document import read_document
from dalenius.kernel.numbers import Node, Refused, canonical
from dalenius.kernel.within import Ball, Cells, Places, _most_told
from dalenius.measures.correlation import eta_kl
from dalenius.measures.mismatch import near, worst_law
from tests.effort import effort
from tests.kernel.documents import dense, design, law_of, leakage

TRIES = effort(12, 400)
LETTERS = {"S": ["u", "v", "w"], "X": ["a", "b", "c"]}


def release_of(rng, kind, radius):
    """The document of a random law of nine cells and a random channel of three letters."""
    counts = rng.integers(1, 30, 9) * (rng.random(9) < 0.85)
    counts[0] += 1
    rows = rng.integers(1, 9, (3, 3)) * (rng.random((3, 3)) < 0.8) + np.eye(3, dtype=int)
    rows = rows * (2520 * 3 // rows.sum(axis=1))[:, None]
    rows[:, 0] += rows.sum(axis=1).max() - rows.sum(axis=1)
    outcomes = [[s, x, str(counts[3 * s + x])] for s in range(3) for x in range(3) if counts[3 * s + x]]
    document = design(
        LETTERS,
        law=law_of(LETTERS, outcomes, "table" if kind == "confidence" else "known"),
        promises=[leakage("9", "S", ball=kind, radius=radius)],
        channel=dense(*rows.tolist()),
        evidence=[{"nu": "0", "m": "0", "t": "1"}],
        work=10**9,
    )
    read = read_document(canonical(document), 10**9)
    return read.release, read.promises[0].within, counts / counts.sum(), rows / rows.sum(axis=1)[:, None]


def told(law, rows):
    joint = law.reshape(3, 3) @ rows
    product = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    return float((joint * np.log2(np.divide(joint, product, out=np.ones_like(joint), where=joint > 0))).sum())


def shift(rng, law, room):
    """Mass up to the room from random cells to random cells."""
    other = law.copy()
    takes = rng.permutation(9)[: rng.integers(1, 4)]
    share = rng.dirichlet(np.full(len(takes), 0.4)) * room
    taken = np.minimum(other[takes], share)
    other[takes] -= taken
    gives = rng.permutation(9)[: rng.integers(1, 3)]
    other[gives] += rng.dirichlet(np.full(len(gives), 0.4)) * taken.sum()
    return other


def numbers(rng, many=9):
    return [str(int(n)) for n in rng.integers(1, 1000, many)]


def moves(rng, law):
    """One part of the whole ball, or two, with weights near the law of the secret and random cells that are held."""
    up = [False, False, True] if rng.random() < 0.5 else [True, False, True]
    chosen = [None] if rng.random() < 0.4 else [up, [not value for value in up]]
    held = [int(c) for c in np.flatnonzero(rng.random(9) < 0.5)]
    weights = [str(int(10**6 * w) + 1) for w in law.reshape(3, 3).sum(axis=1) * rng.uniform(0.97, 1.03, 3)]
    return [{"rising": rising, "weights": weights, "held": held} for rising in chosen]


@pytest.mark.long
@pytest.mark.parametrize("kind", ["total_variation", "kl_bits", "confidence"])
def test_no_law_of_the_ball_tells_more_than_any_evidence_proves(kind):
    rng = np.random.default_rng(31)
    least = np.inf
    for _ in range(TRIES):
        radius = "19/20" if kind == "confidence" else str(int(rng.integers(1, 9))) + "/100"
        release, ball, law, rows = release_of(rng, kind, radius)
        by = {
            "law": numbers(rng),
            "nu": f"{int(rng.integers(-50, 50))}/100",
            "m": f"{int(rng.integers(0, 100))}/50",
            "t": f"{int(rng.integers(1, 50))}/10",
        }
        evidence = by
        if kind == "total_variation" and rng.random() < 0.5:  # weights of the values of the secret: the whole ball
            evidence = by | {"law": numbers(rng, 3)}
        elif kind == "total_variation" and rng.random() < 0.7:  # parts, in which few cells are held
            evidence = {"moves": moves(rng, law)}
        if kind == "confidence" and rng.random() < 0.5:
            cut = [int(rng.integers(9)), f"{int(rng.integers(0, 40))}/100"]
            evidence = {"cuts": [cut, None, None], "parts": [by, by | {"law": numbers(rng)}]}
        try:
            bound = float(release.within(("S",), ball, Node(evidence)))
        except Refused:  # cells that are not held give more than there is
            continue
        for _ in range(60):
            if kind == "total_variation":
                other = shift(rng, law, float(ball.radius))
            elif kind == "kl_bits":
                other = law * np.exp(rng.normal(size=9) * rng.random())
                other /= other.sum()
                for _ in range(30):
                    used = other > 0
                    if (other[used] * np.log2(other[used] / law[used])).sum() <= float(ball.radius):
                        break
                    other = (other + law) / 2
            else:
                rows_drawn = release.setting.law.rows
                other = rng.multinomial(rows_drawn, law) / rows_drawn
                other = (other + law) / 2
            least = min(least, bound - told(other, rows))
    assert least >= -1e-12


def test_the_worst_law_as_reference_is_tight_within_a_divergence():
    """I = T (r + log2 Z): with R = Q 2^(g / T) / Z nothing is lost (a fair bit, where R must be found by climbing)."""
    bit = ("0", "1")
    joint = Pmf.from_records({"S": bit, "X": bit}, [(("0", "0"), 4), (("1", "1"), 4), (("0", "1"), 1), (("1", "0"), 1)])
    flip = Channel({"X": bit}, {"Y": bit}, ((Fraction(3, 4), Fraction(1, 4)), (Fraction(1, 4), Fraction(3, 4))))
    found, proof = near(joint, flip, ["S"], "kl_bits", 0.01)
    assert "law" in proof
    assert found == pytest.approx(worst_law(joint, flip, ["S"], "kl_bits", 0.01)[1], rel=1e-6)


@pytest.mark.parametrize(
    ("evidence", "why"),
    [
        ({"law": ["1"] * 8, "nu": "0", "m": "0", "t": "1"}, "a weight for each cell"),
        ({"law": ["0"] * 9, "nu": "0", "m": "0", "t": "1"}, "a weight for each cell"),
        ({"law": ["1"] * 3 + ["0"] * 6, "nu": "0", "m": "0", "t": "1"}, None),
        ({"cuts": [[0, "1/2"], None], "parts": [{"nu": "0", "m": "0", "t": "1"}]}, "do not match"),
        ({"cuts": [None, None], "parts": [{"nu": "0", "m": "0", "t": "1"}]}, "a list"),
        ({"cuts": [None, None], "parts": [{"nu": "0", "m": "0", "t": "1"}] * 2}, "do not match"),
        ({"cuts": [None], "parts": [{"nu": "0", "m": "0", "t": "1"}] * 2}, "more parts than cuts leave"),
        (
            {"cuts": [[9, "1/2"], None, None], "parts": [{"nu": "0", "m": "0", "t": "1"}] * 2},
            "only the interval of a cell",
        ),
        ({"cuts": [[0, "1/2"]] * 70 + [None] * 71, "parts": [{"nu": "0", "m": "0", "t": "1"}] * 71}, "too deep"),
    ],
)
def test_evidence_that_says_too_little_is_refused(evidence, why):
    release, ball, _, _ = release_of(np.random.default_rng(4), "confidence", "19/20")
    if why is None:  # a reference may leave cells out as long as every letter leaves
        assert release.within(("S",), ball, Node(evidence)) > 0
        return
    with pytest.raises(Refused, match=why):
        release.within(("S",), ball, Node(evidence))


EVEN = {"weights": ["1"] * 3, "held": []}


@pytest.mark.parametrize(
    ("parts", "why"),
    [
        ([], "names no values"),
        ([{"rising": [False] * 3} | EVEN], "names no values"),
        ([{"rising": [True, False]} | EVEN], "names no values"),
        ([{"rising": [True, False, False]} | EVEN], "do not belong together"),
        ([{"rising": [True, False, False]} | EVEN] * 2, "do not belong together"),
        ([{"rising": [True] * 3} | EVEN], "do not belong together"),
        ([{"rising": None} | EVEN] * 2, "do not belong together"),
        ([{"rising": None, "weights": ["1", "0", "1"], "held": []}], "has no weight"),
        ([{"rising": None, "weights": ["1", "1"], "held": []}], "has no weight"),
        ([{"rising": None} | EVEN], "takes more than there is"),
    ],
)
def test_parts_by_moves_are_refused_that_leave_something_out(parts, why):
    release, ball, _, _ = release_of(np.random.default_rng(4), "total_variation", "9/10")
    with pytest.raises(Refused, match=why):
        release.within(("S",), ball, Node({"moves": parts}))


def test_parts_by_moves_are_for_a_total_variation():
    release, ball, _, _ = release_of(np.random.default_rng(4), "kl_bits", "1/100")
    with pytest.raises(Refused, match="moves are for a total variation"):
        release.within(("S",), ball, Node({"moves": [{"rising": None} | EVEN]}))


def test_two_parts_tell_less_than_the_whole_ball_and_no_less_than_its_laws():
    """A fair bit, which is nearly seen: it may become more likely or less, and the worst laws do both."""
    letters = {"S": ["u", "v"], "X": ["a", "b"]}
    document = design(
        letters,
        [[0, 0, "4"], [0, 1, "1"], [1, 0, "1"], [1, 1, "4"]],
        promises=[leakage("9", "S", ball="total_variation", radius="1/20")],
        channel=dense([3, 1], [1, 3]),
        evidence=[{"nu": "0", "m": "0", "t": "1"}],
        work=10**9,
    )
    release = read_document(canonical(document), 10**9).release
    ball = Ball("total_variation", Fraction(1, 20), 1)

    def bound(*parts):
        moves = [{"rising": up, "weights": weights, "held": []} for up, weights in parts]
        return float(release.within(("S",), ball, Node({"moves": moves})))

    whole = bound((None, ["1", "1"]))
    parts = bound(([True, False], ["21", "19"]), ([False, True], ["19", "21"]))
    rows = np.array([[3, 1], [1, 3]]) / 4
    law = np.array([4, 1, 1, 4]) / 10
    worst = 0.0
    for source in range(4):
        for target in range(4):
            other = law + (np.eye(4)[target] - np.eye(4)[source]) / 20
            joint = other.reshape(2, 2) @ rows
            ratio = joint / np.outer(joint.sum(axis=1), joint.sum(axis=0))
            worst = max(worst, float((joint * np.log2(ratio)).sum()))
    assert worst <= parts < whole < 1.1 * worst


def test_only_intervals_are_cut():
    release, ball, _, _ = release_of(np.random.default_rng(4), "total_variation", "1/100")
    by = {"nu": "0", "m": "1", "t": "1"}
    with pytest.raises(Refused, match="only the interval of a cell of a confidence"):
        release.within(("S",), ball, Node({"cuts": [[0, "1/2"], None, None], "parts": [by, by]}))


def test_corners_of_the_whole_ball_are_told_exactly():
    """One value of the secret everywhere but in one cell: the worst law is a corner, and is found by listing all."""
    rng = np.random.default_rng(8)
    for _ in range(effort(3, 40)):
        release, ball, law, rows = release_of(rng, "total_variation", "1/40")
        weights = np.maximum(law.reshape(3, 3).sum(axis=1), 1e-3)
        by = {"law": [str(int(10**6 * w)) for w in weights], "nu": "0", "m": "0", "t": "0"}
        bound = float(release.within(("S",), ball, Node(by)))
        worst = 0.0
        for giving in range(9):
            for taking in range(9):
                if law[giving] >= 0.025:
                    other = law.copy()
                    other[giving] -= 0.025
                    other[taking] += 0.025
                    secret = other.reshape(3, 3).sum(axis=1)
                    apart = (secret * np.log2(np.maximum(secret, 1e-300) / weights * weights.sum())).sum()
                    worst = max(worst, told(other, rows) + apart)
        exactly = tuple(tuple(Fraction(v).limit_denominator(10**6) for v in row) for row in rows.tolist())
        channel = Channel({"X": LETTERS["X"]}, {"Y": LETTERS["X"]}, exactly)
        worst = min(worst, eta_kl(channel)[0] * np.log2(3))  # no law passes what the channel leaves
        assert bound >= worst - 1e-5
        if law[law > 0].min() > 0.025:  # else cells can be emptied
            assert bound == pytest.approx(worst, abs=1e-5)


def test_weights_of_a_secret_are_positive_and_small_cells_are_few():
    release, ball, _, _ = release_of(np.random.default_rng(4), "total_variation", "1/100")
    by = {"law": ["1", "0", "1"], "nu": "0", "m": "0", "t": "0"}
    with pytest.raises(Refused, match="a value of the secret has no weight"):
        release.within(("S",), ball, Node(by))
    letters = {"S": ["u", "v"], "X": [str(x) for x in range(40)]}
    document = design(
        letters,
        [[s, x, "1"] for s in range(2) for x in range(40)],
        promises=[leakage("9", "S", ball="total_variation", radius="1/40")],
        channel=dense(*([1, 1],) * 40),
        evidence=[{"law": ["1", "1"], "nu": "0", "m": "0", "t": "0"}],
    )
    read = read_document(canonical(document), 10**9)
    with pytest.raises(Refused, match="too many cells have less than the radius"):
        read.release.within(("S",), read.promises[0].within, read.evidence[0])


def test_corners_of_intervals_that_share_their_sums_are_told_as_one_by_one():
    rng = np.random.default_rng(8)
    for _ in range(4):
        release, ball, _, _ = release_of(rng, "confidence", "19/20")
        cells = Cells(release.setting, *release.dense, ("S",))
        ends = cells.ends(ball)
        logs = cells.output_logs([1] * 9)
        nu = Fraction(int(rng.integers(-9, 9)), 7)
        for own in ([0, 1, 2], [3, 4, 5]):
            told_all = [cells.told(own, corner, logs) - nu * sum(corner) for corner in product(*(ends[c] for c in own))]
            found = _most_told(cells, own, [ends[c] for c in own], logs, nu)
            assert abs(found - max(told_all)) < Fraction(1, 1 << 150)


def test_an_interval_is_found_once_and_charged_once():
    release, ball, _, _ = release_of(np.random.default_rng(3), "confidence", "19/20")
    work = release.setting.work
    spent, ends = [], []
    for _ in range(2):
        before = work.spent
        ends.append(Places(release.setting, ("S",)).ends(ball))
        spent.append(work.spent - before)
    assert ends[0] == ends[1]
    assert spent[1] < spent[0] / 100


def test_a_reference_that_lacks_a_letter_of_the_ball_is_refused():
    rows = ((5, 0, 0), (0, 5, 0), (0, 0, 5))
    outcomes = [[s, x, "1"] for s in range(3) for x in range(3)]
    for kind, why in (
        ("total_variation", "no mass where the ball has some"),
        ("confidence", "no mass where the ball has some"),
        ("kl_bits", "lacks a cell"),
    ):
        document = design(
            LETTERS,
            law=law_of(LETTERS, outcomes, "table" if kind == "confidence" else "known"),
            promises=[leakage("9", "S", ball=kind, radius="1/100")],
            channel=dense(*rows),
            evidence=[{"law": ["1", "1", "0"] * 3, "nu": "0", "m": "0", "t": "1"}],
        )
        read = read_document(canonical(document), 10**9)
        with pytest.raises(Refused, match=why):
            read.release.within(("S",), Ball(kind, read.promises[0].within.radius, 1), read.evidence[0])
