r"""Paper 002 recomputed: Tables 1 to 4 and Figures 1 to 6.

The paper prints how many q_k take which of four values; the best matrix with these numbers stands beside the certified
optimum of its problem (7) and beside the best of all matrices at the same level. The probabilities of scenario III are
not printed, and the census file of Figures 5 and 6 is not public: a draw by its recipe and the women and men of the
American Community Survey of the same state take their place.
Simulations use a generator with a fixed seed: they show estimators, they release nothing.

References: Ayed, Battiston & Camerlenghi, "An information theoretic approach to post randomization methods under
differential privacy" (paper 002).
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from math import exp, log2
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dalenius.core import Design, LocalDP, MaximizeInformation, Pmf, Pram, Problem
from dalenius.measures import information_from_counts
from dalenius.mechanisms.columns.disclosure.design import disclose
from dalenius.mechanisms.local_dp.pram import pram
from dalenius.papers.curve import Chart, Line
from dalenius.papers.enclosure import Enclosure
from dalenius.papers.exhibit import Cell, Exhibit, Progress, Table, both_ends
from dalenius.solvers.likelihood import RankOne, maximum_likelihood

__all__ = ["TITLE", "exhibits", "informed", "matrices"]

TITLE = "Post randomization under differential privacy"
LEVELS = ("0.5", "1", "1.5", "2")
PRINTED_I = ("0.3", "0.1", "0.2", "0.08", "0.02", "0.04", "0.06", "0.1", "0.01", "0.09")
PRINTED_II = ("0.0336", "0.1059", "0.1697", "0.0962", "0.018", "0.0062", "0.1097", "0.0005", "0.1233", "0.3369")
PRINTED_COUNTS = {  # of v_alpha, v_-alpha, v_min, v_max
    "I": ((4, 6, 0, 0), (5, 5, 0, 0), (2, 8, 0, 0), (0, 9, 0, 1)),
    "II": ((7, 3, 0, 0), (6, 4, 0, 0), (6, 4, 0, 0), (0, 9, 0, 1)),
    "III": ((29, 0, 1, 0), (29, 0, 1, 0), (30, 0, 0, 0), (29, 0, 1, 0)),
    "IV": ((0, 29, 0, 1), (30, 0, 0, 0), (30, 0, 0, 0), (30, 0, 0, 0)),
}
PRINTED_SEX = ("0.48", "0.52")
SEX = (101_916, 108_234)  # men and women among the persons of New York, public-use file of the survey of 2024
PRINTED_Q = ("0.4875", "0.4925", "0.4975", "0.5025", "0.5075", "0.5125")
SEED, RECORDS, REPEATS = 1, 10_000, 100
Floats = npt.NDArray[np.float64]


def scenarios() -> dict[str, list[Fraction]]:
    """The probabilities of the four scenarios; III is a draw by the paper's recipe."""
    gamma = np.random.default_rng(SEED).gamma(1.0, 0.2, 30)
    third = [Fraction(max(1, round(value)), 10**6) for value in 10**6 * gamma / gamma.sum()]
    return {
        "I": [Fraction(value) for value in PRINTED_I],
        "II": [value / sum(map(Fraction, PRINTED_II)) for value in map(Fraction, PRINTED_II)],
        "III": [value / sum(third) for value in third],
        "IV": [Fraction(1, 20), *[Fraction(19, 20 * 29)] * 29],
    }


def _problem(p: Sequence[Fraction], level: str, form: str | None) -> Problem:
    letters = tuple(str(k + 1) for k in range(len(p)))
    joint = Pmf.from_records({"X": letters}, [((letter,), value) for letter, value in zip(letters, p, strict=True)])
    about = MaximizeInformation(("X",))
    promise = (LocalDP(Fraction(level)),)
    if form is None:
        return Problem(("X",), about, promise, output="Y", joint=joint)
    return Problem(("X",), about, promise, release=("X",), form=form, joint=joint)


def informed(p: Sequence[Fraction], q: Sequence[float]) -> float:
    """I(X; Z) in bits of the matrix of form (8), in floats.

    >>> round(informed([Fraction(1, 2), Fraction(1, 2)], [0.75, 0.75]), 6)
    0.188722
    """
    S = len(p)
    weights = [float(value) for value in p]
    rest = [(1 - value) / (S - 1) for value in q]
    moved = sum(weight * b for weight, b in zip(weights, rest, strict=True))
    out = [moved + weight * (value - b) for weight, value, b in zip(weights, q, rest, strict=True)]
    logs = [log2(value) for value in out]
    own = (
        weight * ((value * log2(value) if value else 0) + (1 - value) * (log2(b) if b else 0))
        for weight, value, b in zip(weights, q, rest, strict=True)
    )
    return sum(own) - sum(value * log for value, log in zip(out, logs, strict=True))


def matrices(S: int, level: float, counts: Sequence[int]) -> list[list[float]]:
    """The matrices of Prop. 3.2 with so many entries of each kind, one for each choice of the letters.

    v_max is e^alpha / (e^-alpha + S - 1), v_min is e^-alpha / (e^alpha + S - 1), as in the proof, not as printed (E3).
    """
    up = exp(level)
    down = exp(-level)
    plus = up / (up + S - 1)
    minus = down / (down + S - 1)
    least = down / (up + S - 1)
    most = up / (down + S - 1)
    n_plus, _, n_least, n_most = counts
    if n_least or n_most:
        rest, alone = (plus, least) if n_least else (minus, most)
        return [[alone if k == x else rest for k in range(S)] for x in range(S)]
    return [[plus if k in chosen else minus for k in range(S)] for chosen in map(set, combinations(range(S), n_plus))]


class _Matrix(NamedTuple):
    """A matrix of form (8) in floats."""

    q: Floats

    @property
    def rest(self) -> Floats:
        return np.asarray((1 - self.q) / (len(self.q) - 1))

    def pairs(self, original: npt.NDArray[np.int64], draw: np.random.Generator) -> npt.NDArray[np.int64]:
        """How many records of each original letter (rows) were released as which."""
        rows = np.where(np.eye(len(self.q), dtype=bool), self.q[:, None], self.rest[:, None])
        return np.array([draw.multinomial(n, row) for n, row in zip(original, rows, strict=True)])

    def unbiased(self, counts: npt.NDArray[np.int64]) -> Floats:
        """The estimate by the inverse, for each row of counts: p (q - b) = f - p.b, and sum_x p_x = 1."""
        f = counts / counts.sum(axis=1, keepdims=True)
        d = self.q - self.rest
        moved = ((f / d).sum(axis=1, keepdims=True) - 1) / (1 / d).sum()
        return np.asarray((f - moved) / d)

    def most_likely(self, counts: npt.NDArray[np.int64]) -> Floats:
        """The estimate of largest likelihood, for each row of counts."""
        law = RankOne(self.q - self.rest, self.rest, np.ones(len(self.q)))
        return np.array([maximum_likelihood(law, count).p for count in counts])


def _both(p: Sequence[Fraction], q: Sequence[float]) -> tuple[Floats, Floats]:
    """Unbiased and most likely estimates of p from released counts, one row for each repetition."""
    draw = np.random.default_rng(SEED)
    matrix = _Matrix(np.array(q))
    weights = np.array([float(value) for value in p])
    counts = [matrix.pairs(draw.multinomial(RECORDS, weights), draw).sum(axis=0) for _ in range(REPEATS)]
    return matrix.unbiased(np.array(counts)), matrix.most_likely(np.array(counts))


def table(number: int, name: str, p: list[Fraction], told: Progress | None) -> Exhibit:
    """Table `number` and Figure `number` of one scenario."""
    S = len(p)
    rows: list[tuple[Cell, ...]] = []
    lines = [Line("p", tuple((k + 1.0, float(value)) for k, value in enumerate(p)), 3, joined=False)]
    for k, level in enumerate(LEVELS):
        if told:
            told(f"scenario {name}, alpha = {level}", None, None)
        printed = PRINTED_COUNTS[name][k]
        best = max(matrices(S, float(level), printed), key=lambda q: informed(p, q))
        design = pram(_problem(p, level, "pram"))
        whole = disclose(_problem(p, level, None), seconds=10.0)
        found = Enclosure.proved(design)
        every = Enclosure.proved(whole)
        paper = informed(p, best)
        ours = float(found)
        loss = 1 - paper / ours
        note = "the paper's is the optimum" if loss < 1e-9 else f"the paper's tells {100 * loss:.2g} % less (E1, E10)"
        fits = [fit for q in (best, _q(design)) for fit in _both(p, q)]
        apart = [f"{float(np.abs(fit - np.array(list(map(float, p)))).sum(axis=1).mean()):.4f}" for fit in fits]
        rows.append(
            (level, "/".join(map(str, printed)), f"{paper:.12f}", *both_ends(found), *both_ends(every), *apart, note)
        )
        if level in ("0.5", "2"):
            for how, fit in (("unbiased", fits[2]), ("most likely", fits[3])):
                points = tuple((x + 1.0, max(0.0, float(value))) for x, value in enumerate(fit.mean(axis=0)))
                lines.append(Line(f"{how}, alpha = {level}", points, int(level == "2"), dashed=how == "most likely"))
    head = ("alpha", "paper: number of v_a/v_-a/v_min/v_max", "paper: bits at best", "ours", "bound")
    errors = tuple(f"{how} error, {whose}" for whose in ("paper's", "ours") for how in ("unbiased", "most likely"))
    more = ("all matrices", "bound of all", *errors, "note")
    words = [
        f"Of all matrices with the printed numbers the one that tells the most; {S} categories. Every figure of ours "
        "is a certified global optimum of (7). The last columns are the mean L1 errors of the unbiased and of the most "
        f"likely estimate of p, with the paper's matrix and with ours, n = {RECORDS:,}, {REPEATS} repetitions.",
    ]
    if name == "III":
        words.append("The paper does not print p: these are 30 gamma variables of ours, normalised as it says.")
    chart = Chart(
        f"Figure {number}", "category", "probability", tuple(lines), "Means of the estimates with our matrix."
    )
    title = f"Table {number} and Figure {number}: scenario {name}"
    return Exhibit(
        f"table{number}", title, tuple(words), (Table(f"table{number}", title, (*head, *more), tuple(rows)),), chart
    )


def _q(design: Design) -> list[float]:
    assert isinstance(design.channel, Pram)
    return [float(value) for value in design.channel.q]


def sex() -> list[Exhibit]:
    """Figures 5 and 6: two categories at alpha = 0.05; estimates for six q, and the estimated information against q."""
    n = np.array(SEX)
    level = "0.05"
    draw = np.random.default_rng(SEED)
    p = [Fraction(value, sum(SEX)) for value in SEX]
    found = Enclosure.proved(pram(_problem(p, level, "pram")))
    rows: list[tuple[Cell, ...]] = []
    points: list[tuple[float, float]] = []
    for text in PRINTED_Q:
        q = float(text)
        matrix = _Matrix(np.full(2, float(text)))
        counts = np.array([matrix.pairs(n, draw).sum(axis=0) for _ in range(REPEATS)])
        fits = [fit[:, 0] for fit in (matrix.unbiased(counts), matrix.most_likely(counts))]
        points += [(q, float(value)) for value in fits[1]]
        realised = abs(np.log(q / (1 - q)))
        note = "breaks the promise (E11)" if realised > float(level) else ""
        seen = [f"{figure:.4f}" for fit in fits for figure in (fit.mean(), fit.std())]
        rows.append((text, f"{realised:.6f}", f"{informed(p, [q, q]):.3e}", *seen, note))
    best = exp(0.05) / (1 + exp(0.05))
    rows.append(("optimum", level, both_ends(found)[0], "", "", "", "", f"q = {best:.6f} or {1 - best:.6f}"))
    head = ("q", "level", "bits", "unbiased p_1", "deviation", "most likely p_1", "deviation", "note")
    title = "Figure 5: sex, two categories"
    words = (
        "The census file of the paper is not public. In its place: the "
        f"{SEX[0]:,} men and {SEX[1]:,} women of the American Community Survey 2024, New York, p = ({float(p[0]):.4f}, "
        f"{float(p[1]):.4f}); the paper prints ({', '.join(PRINTED_SEX)}). The table is fixed and released {REPEATS} "
        "times for each q. Near q = 1/2 an estimate is noise.",
    )
    truth = Line("p_1", tuple((float(q), float(p[0])) for q in PRINTED_Q), 3)
    marks = Line("most likely p_1, 100 releases", tuple(points), 0, joined=False)
    fifth = Chart("Figure 5", "q", "p_1", (truth, marks), "One mark for each release.")
    return [Exhibit("figure5", title, words, (Table("figure5", title, head, tuple(rows)),), fifth), _told(p, draw)]


def _told(p: list[Fraction], draw: np.random.Generator) -> Exhibit:
    """Figure 6: I(X; Z) against q, and what is estimated from the pairs by 3H, as it is and corrected."""
    best = exp(0.05) / (1 + exp(0.05))
    n = np.array(SEX)
    rows: list[tuple[Cell, ...]] = []
    curves: list[list[tuple[float, float]]] = [[], [], []]
    for q in np.linspace(1 - best, best, 11).tolist():
        pairs = [_Matrix(np.full(2, q)).pairs(n, draw) for _ in range(REPEATS)]
        seen = [np.mean([information_from_counts(pair, corrected=c) for pair in pairs]) for c in (False, True)]
        figures = [max(0.0, informed(p, [q, q])), *map(float, seen)]
        rows.append((f"{q:.6f}", *(f"{figure:.3e}" for figure in figures)))
        for curve, v in zip(curves, figures, strict=True):
            curve.append((q, max(0.0, v)))
    head, title = ("q", "bits", "bits by 3H", "bits by 3H, corrected"), "Figure 6: the information between X and Z"
    words = (
        "Means over the releases. H(X) + H(Z) - H(X, Z) of the counts is too large by about 1/(2 n ln 2) bits, which "
        "matters where little is told.",
    )
    lines = [Line(name, tuple(c), k, dashed=k > 0) for k, (name, c) in enumerate(zip(head[1:], curves, strict=True))]
    chart = Chart("Figure 6", "q", "bits", tuple(lines), "Least in the middle, best at the ends.")
    return Exhibit("figure6", title, words, (Table("figure6", title, head, tuple(rows)),), chart)


def exhibits(on_progress: Progress | None = None) -> list[Exhibit]:
    """Everything, recomputed now."""
    found = [table(k, name, p, on_progress) for k, (name, p) in enumerate(scenarios().items(), 1)]
    return [*found, *sex()]
