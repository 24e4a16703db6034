"""Shares within groups, differences, risk and odds ratios from released tables: intervals that cover."""

from math import comb

import numpy as np
import pytest

from dalenius.errors import InputError, MismatchError, Unsupported
from dalenius.measures.contrasts import compared, within_groups
from dalenius.measures.estimation import estimate_law
from dalenius.measures.inversion import Factor, Seen, as_it_is
from dalenius.measures.moments import Moments
from tests.effort import effort

LETTERS = {"sex": ("f", "m"), "job": ("yes", "no")}
COUNTS = np.array([900, 1100, 700, 2300])
TRUTH = {"share_1": 0.45, "share_2": 700 / 3000, "difference": 0.45 - 700 / 3000}
TRUTH |= {"risk_ratio": 0.45 * 3000 / 700, "odds_ratio": 900 * 2300 / (1100 * 700)}
KEEP = np.array([[0.8, 0.1, 0.05, 0.05], [0.1, 0.8, 0.02, 0.08], [0.1, 0.05, 0.75, 0.1], [0.02, 0.08, 0.1, 0.8]])


def invariant():
    """A matrix that leaves the law of COUNTS as it is: symmetric flows between the cells."""
    flows = np.array([[0, 60, 40, 50], [60, 0, 30, 80], [40, 30, 0, 90], [50, 80, 90, 0.0]])
    return flows / COUNTS[:, None] + np.diag(1 - flows.sum(axis=1) / COUNTS)


@pytest.mark.long
@pytest.mark.parametrize(
    ("matrix", "preserved", "most"), [(KEEP, "", 0.99), (invariant(), "shown", 0.99), (invariant(), "withheld", 1)]
)
@pytest.mark.parametrize("target", ["table", "population"])
def test_point_17_intervals_of_every_figure_cover(matrix, preserved, most, target):
    """A card that does not show its channel gives wider intervals, and no narrower ones."""
    rng = np.random.default_rng(4)
    factor = Factor(LETTERS, LETTERS, dense=matrix)
    inside, rounds = dict.fromkeys(TRUTH, 0), 300
    for _ in range(rounds):
        table = COUNTS if target == "table" else rng.multinomial(COUNTS.sum(), COUNTS / COUNTS.sum())
        seen = sum(rng.multinomial(n, row) for n, row in zip(table, matrix, strict=True))
        told = Moments([factor], Seen.of(seen), target=target, preserved=preserved)
        for name, figure in compared(told, {"job": "yes"}, [{"sex": "f"}, {"sex": "m"}]).items():
            assert figure.low <= figure.estimate <= figure.high
            inside[name] += figure.low <= TRUTH[name] <= figure.high
    assert min(inside.values()) >= 0.91 * rounds
    assert max(inside.values()) <= most * rounds


def test_shares_within_groups_are_those_of_the_comparison():
    told = Moments([Factor(LETTERS, LETTERS, dense=KEEP)], Seen.of(COUNTS))
    shares = within_groups(told, ["job"], ["sex"])
    figures = compared(told, {"job": "yes"}, [{"sex": "f"}, {"sex": "m"}])
    for name, group in (("share_1", ("f",)), ("share_2", ("m",))):
        ours, theirs = shares[group][("yes",)], figures[name]
        assert (ours.estimate, ours.low, ours.high) == pytest.approx((theirs.estimate, theirs.low, theirs.high))
        assert sum(figure.estimate for figure in shares[group].values()) == pytest.approx(1)


def test_a_group_that_hardly_anybody_is_in_has_no_shares():
    told = Moments([Factor(LETTERS, LETTERS, dense=KEEP)], Seen.of([6, 30, 300, 900]))
    assert all(figure.whole for figure in within_groups(told, ["job"], ["sex"])[("f",)].values())
    figures = compared(told, {"job": "yes"}, [{"sex": "f"}, {"sex": "m"}])
    assert [name for name, figure in figures.items() if not figure.whole] == ["share_2"]
    assert figures["odds_ratio"].to_json() == {"estimate": None, "low": 0.0, "high": None}
    faint = [Factor({n: a}, {n: a}, dense=np.array([[0.55, 0.45], [0.45, 0.55]])) for n, a in LETTERS.items()]
    told = Moments(faint, Seen.of([[9, 11], [10, 10]]))
    with pytest.raises(Unsupported, match="how many rows the groups had"):
        compared(told, {"job": "yes"}, [{"sex": "f"}, {"sex": "m"}])


def test_what_is_not_determined_is_not_compared():
    merged = np.array([[0.9, 0.1, 0, 0], [0.9, 0.1, 0, 0], [0, 0, 0.8, 0.2], [0, 0, 0.1, 0.9]])
    told = Moments([Factor(LETTERS, LETTERS, dense=merged)], Seen.of([500, 60, 300, 700]))
    with pytest.raises(Unsupported, match="does not determine this figure"):
        compared(told, {"job": "yes"}, [{"sex": "f"}, {"sex": "m"}])


def test_shares_within_a_group_cover_where_the_draws_hide_much():
    """On the scale of log odds an interval shrank with a share that came out small: 91 % at a tenth of 200 rows."""
    rows, own, stay = 200, 20, 0.7
    letters = {"job": ("yes", "no")}
    factor = Factor(letters, letters, dense=np.array([[stay, 1 - stay], [1 - stay, stay]]))

    def binomial(n, p):
        return np.array([comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)])

    held = 0.0
    for k, chance in enumerate(np.convolve(binomial(own, stay), binomial(rows - own, 1 - stay))):
        if chance > 1e-7:
            told = Moments([factor, as_it_is("sex", ("f",))], Seen.of([[k], [rows - k]]))
            figure = within_groups(told, ["job"], ["sex"])[("f",)][("yes",)]
            held += chance * (figure.low <= own / rows <= figure.high)
    assert held >= 0.94


STAY = {k: np.array([[k, 1 - k], [1 - k, k]]) for k in (0.55, 0.7, 1.0)}
HIDING = {  # rows of both groups with and without the value, what stays of the group and of the value
    "little is left of the value": ([[400, 1700], [450, 220]], 1.0, 0.55),
    "a rare value in one group": ([[12, 288], [150, 150]], 1.0, 0.7),
    "a rare group": ([[30, 70], [180, 720]], 0.7, 0.7),
    "a group that the draws invent": ([[5, 5], [500, 500]], 0.7, 1.0),
}


def held_by(rows, group, value, target, rounds, error=0.0):
    """How often each figure is held; `error` moves the matrix that is believed."""
    rows, both = np.array(rows), np.kron(STAY[group], STAY[value])
    believed = STAY[value] * (1 - error) + error / 2
    factors = [Factor({"g": ("1", "2")}, {"g": ("1", "2")}, dense=STAY[group])]
    factors.append(Factor({"v": ("y", "n")}, {"v": ("y", "n")}, dense=believed))
    (a, b), (c, d) = rows
    truth = {"share_1": a / (a + b), "share_2": c / (c + d), "difference": a / (a + b) - c / (c + d)}
    truth |= {"risk_ratio": a * (c + d) / (c * (a + b)), "odds_ratio": a * d / (b * c)}
    held, rng = dict.fromkeys(truth, 0), np.random.default_rng(3)
    for _ in range(rounds):
        table = rows.ravel() if target == "table" else rng.multinomial(rows.sum(), rows.ravel() / rows.sum())
        seen = sum(rng.multinomial(n, row) for n, row in zip(table, both, strict=True)).reshape(2, 2)
        figures = compared(Moments(factors, Seen.of(seen), target=target), {"v": "y"}, [{"g": "1"}, {"g": "2"}])
        for name, figure in figures.items():
            held[name] += figure.low <= truth[name] <= figure.high
            assert np.isnan(figure.estimate) or figure.low <= figure.estimate <= figure.high
    return held


@pytest.mark.parametrize("which", HIDING)
@pytest.mark.parametrize("target", ["table", pytest.param("population", marks=pytest.mark.long)])
def test_every_release_has_figures_that_cover(which, target):
    """Left out where the draws made a group small, they held the truth in 57 to 93 % of the releases that told them."""
    rounds = effort(250, 1000)
    held = held_by(*HIDING[which], target, rounds)
    assert min(held.values()) >= 0.93 * rounds - 2 * (0.05 * 0.95 * rounds) ** 0.5, held


def test_figures_by_another_recipe_do_not_cover():
    """The other half of the pair: the card says that a tenth less of the value stays than does."""
    held = held_by([[4000, 17000], [4500, 2200]], 1.0, 0.7, "table", 100, error=0.1)
    assert held["share_1"] < 80
    right = held_by([[4000, 17000], [4500, 2200]], 1.0, 0.7, "table", 100)
    assert right["share_1"] >= 88


def test_figures_that_are_left_without_an_estimate_say_what_fits():
    """A ratio whose denominator the draws hide has a lower end alone."""
    factors = [Factor({n: ("1", "2")}, {n: ("1", "2")}, dense=STAY[k]) for n, k in (("g", 1.0), ("v", 0.7))]
    figures = compared(Moments(factors, Seen.of([[150, 150], [95, 205]])), {"v": "1"}, [{"g": "1"}, {"g": "2"}])
    risk = figures["risk_ratio"]
    assert np.isnan(risk.estimate)
    assert not risk.whole
    assert 0.4 < risk.low < risk.high == np.inf


def test_a_difference_beyond_what_is_possible_is_in_its_interval():
    """All women have the value and no man has; a release may overstate even that."""
    stay = np.array([[0.8, 0.2], [0.2, 0.8]])
    factors = [Factor({name: letters}, {name: letters}, dense=stay) for name, letters in LETTERS.items()]
    told = Moments(factors, Seen.of([[210, 40], [40, 210]]))
    figure = compared(told, {"job": "yes"}, [{"sex": "f"}, {"sex": "m"}])["difference"]
    assert figure.estimate > 1
    assert figure.low <= figure.estimate <= figure.high


def test_names_that_are_not_there_are_refused():
    told = Moments([Factor(LETTERS, LETTERS, dense=KEEP)], Seen.of(COUNTS))
    for columns, given in ((["sex"], ["sex"]), (["job", "job"], ["sex"])):
        with pytest.raises(InputError, match="is named twice"):
            within_groups(told, columns, given)
    for groups in ([{"sex": "f"}] * 2, [{"job": "yes"}, {"job": "no"}]):
        with pytest.raises(InputError, match="two different groups"):
            compared(told, {"job": "yes"}, groups)
    with pytest.raises(MismatchError, match="no estimate of 'age'"):
        compared(told, {"age": "yes"}, [{"sex": "f"}, {"sex": "m"}])
    with pytest.raises(MismatchError, match="no value 'x'"):
        compared(told, {"job": "yes"}, [{"sex": "x"}, {"sex": "m"}])


@pytest.mark.parametrize("preserved", ["shown", "withheld"])
@pytest.mark.parametrize("target", ["table", "population"])
def test_point_17_a_handful_of_rows_has_no_interval_of_one_point(preserved, target):
    """Two rows gave shares "0.500000 [0.500000, 0.500000]", of the population too."""
    factor = Factor(LETTERS, LETTERS, dense=invariant())
    told = Moments([factor], Seen.of([1, 1, 0, 0]), target=target, preserved=preserved)
    assert all(figure.whole for figure in within_groups(told, ["job"], ["sex"])[("f",)].values())
    told = Moments([factor], Seen.of([9, 0, 0, 0]), target=target, preserved=preserved)
    for value, figure in within_groups(told, ["job"], ["sex"])[("f",)].items():
        assert figure.high - figure.low > 0.2, value
    whole = estimate_law([factor], Seen.of([9, 0, 0, 0]), target=target, preserved=preserved)
    assert (whole.high - whole.low > 0.2).all()


def test_point_17_what_no_draw_can_change_is_known_from_a_handful_of_rows():
    stay = Factor(LETTERS, LETTERS, dense=np.eye(4))
    known = within_groups(Moments([stay], Seen.of([1, 1, 0, 0])), ["job"], ["sex"])[("f",)]
    assert [(f.low, f.estimate, f.high) for f in known.values()] == [(0.5, 0.5, 0.5)] * 2
    behind = Moments([stay], Seen.of([1, 1, 0, 0]), target="population")
    assert all(figure.whole for figure in within_groups(behind, ["job"], ["sex"])[("f",)].values())
