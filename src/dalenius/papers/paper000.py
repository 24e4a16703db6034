r"""Paper 000 recomputed: Examples 1 to 5, the closed form for two bits, Table I, Figures 4 and 5.

Only the numbers that the paper prints are written here, each under a name that begins with PRINTED; all others are
computed when `exhibits` is called, by `disclose` where a certificate exists, else in rationals or, where it is said, in
floats with a dual bound. Errata are numbered as in docs/errata.md.

References: Rassouli, Rosas & Gündüz, "Data Disclosure under Perfect Sample Privacy" (paper 000).
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product
from math import comb, inf, nextafter
from typing import Any

from dalenius.core import Channel, Independent, MaximizeInformation, Pmf, Problem
from dalenius.core.numbers import written
from dalenius.measures import LatentModel, entropy_bounds, independent, mutual_information_bounds, window_sums
from dalenius.mechanisms.alike.exchangeable import best_columns, types_disclosure
from dalenius.mechanisms.columns.disclosure.design import disclose
from dalenius.papers import paper000_chains as chains
from dalenius.papers.curve import Chart, Line
from dalenius.papers.enclosure import Enclosure, binary_entropy, logarithm
from dalenius.papers.exhibit import Cell, Exhibit, Progress, Table, agrees, both_ends, computed
from dalenius.solvers import vertices
from dalenius.tables import conditionally_iid

__all__ = ["PRINTED_EXAMPLE_2", "PRINTED_TABLE_1", "TITLE", "exhibits", "table_1"]

TITLE = "Data disclosure under perfect sample privacy"

PRINTED_EXAMPLE_2 = {"H(W|Y)": "0.9866", "I_s": "0.0134"}
PRINTED_EXAMPLE_2_LAW = ("1/12", "3/12", "2/12", "2/12", "3/12", "1/12")
PRINTED_EQUATION_20 = ("1", "2/3", "0", "1", "1/3", "0")
PRINTED_EQUATION_21_WEIGHTS = ("1/3", "1/3", "0", "1/3")
PRINTED_EQUATION_22 = (
    ("1", "0", "1/2", "0", "2/3", "0"),
    ("0", "2/3", "0", "1/2", "0", "1"),
    ("0", "1/3", "1/2", "1/2", "1/3", "0"),
)
PRINTED_TABLE_1 = {2: "8.34e-3", 3: "4.88e-2", 4: "4.47e-2"}

TABLE_1 = LatentModel.of(["2/3", "1/3"], [["9/10", "1/10"], ["1/10", "9/10"]])
IN_RATIONALS = 50  # so many samples of Table I by exact columns over types; beyond, in floats
HEAD = ("paper", "ours", "bound", "note")
BITS = ("0", "1")


def _disclosure(joint: Pmf, samples: Sequence[str]) -> Problem:
    """The most about W with Y independent of every sample, Definition 2."""
    return Problem(
        joint=joint,
        observe=tuple(samples),
        output="Y",
        objective=MaximizeInformation(("W",)),
        guarantees=tuple(Independent((name,)) for name in samples),
    )


def _compared(printed: str, found: Enclosure, more: str = "") -> str:
    said = "agrees in all printed digits" if agrees(printed, found) else "DIFFERS from the printed figure"
    return f"{said}; {more}" if more else said


# --- Examples 1 and 2 -------------------------------------------------------------------------------------------------
def example_1() -> Exhibit:
    r"""W = X1 + X2 mod M for X1 uniform on M and X2 on kM letters: I_s = log2 M, which shows that (4) is tight."""
    rows: list[tuple[Cell, ...]] = []
    points = []
    for M, k in ((2, 1), (2, 2), (2, 3), (3, 1), (3, 2), (4, 1), (5, 1)):
        few, many = (tuple(str(value) for value in range(m)) for m in (M, k * M))
        records = [((a, b, str((int(a) + int(b)) % M)), Fraction(1, k * M * M)) for a, b in product(few, many)]
        joint = Pmf.from_records({"X1": few, "X2": many, "W": few}, records)
        found = Enclosure.proved(disclose(_disclosure(joint, ["X1", "X2"])))
        printed = logarithm(M)
        same = max(found.low, printed.low) <= min(found.high, printed.high)
        note = "agrees: the optimum is log2 M" if same else "DIFFERS from log2 M"
        rows.append((str(M), str(k), both_ends(printed)[0], *both_ends(found), note))
        points += [(float(M), float(found))] if k == 1 else []
    line = tuple((m / 10, float(logarithm(Fraction(m, 10)))) for m in range(20, 51))
    return Exhibit(
        "example-1",
        "Example 1: a sum that tells nothing about its terms",
        (
            "X1 is uniform on M letters, X2 on kM letters, and W is their sum modulo M. The sum is independent of "
            "either term, so all of W can be told: log2 M bits, which is also the upper bound (4) of Proposition 2. We "
            "let the general solver find it, which knows nothing of sums.",
        ),
        (
            Table(
                "",
                "Paper: log2 M, from the text. Ours: value and bound of the solver, in bits.",
                ("M", "k", *HEAD),
                tuple(rows),
            ),
        ),
        Chart(
            "Example 1",
            "M, letters of X1",
            "bits about W",
            (
                Line("paper: log2 M", line, 3, every=0),
                Line("ours: certified optimum, k = 1", tuple(points), 0, joined=False),
            ),
            "The marks are certified optima, the line is the paper's formula. They agree.",
        ),
    )


def _seen_twice(alpha: Fraction) -> Pmf:
    """A fair bit W through a BSC(alpha) and a BEC(1/2), Figure 1."""
    records = []
    for w, x1, x2 in product("01", "01", "0e1"):
        flip = 1 - alpha if w == x1 else alpha
        records.append(((x1, x2, w), Fraction(1, 2) * flip * (Fraction(1, 2) if x2 in ("e", w) else 0)))
    return Pmf.from_records({"X1": BITS, "X2": ("0", "e", "1"), "W": BITS}, records)


def _incidence(support: Sequence[Sequence[int]]) -> list[list[int]]:
    """The matrix P of eq. (3) for outcomes given as codes."""
    return [[int(x[i] == a) for x in support] for i in range(len(support[0])) for a in sorted({x[i] for x in support})]


def _shown(values: Sequence[Any]) -> str:
    return ", ".join(written(Fraction(value)) for value in values)


def _same(a: Sequence[Any], b: Sequence[Any]) -> bool:
    return [Fraction(value) for value in a] == [Fraction(value) for value in b]


def example_2() -> Exhibit:
    r"""W seen through a BSC(2/3) and a BEC(1/2), eq. (20)-(22), and the same for every crossover probability."""
    outcomes = list(product("01", "0e1"))
    alpha = Fraction(2, 3)
    joint = _seen_twice(alpha)
    design = disclose(_disclosure(joint, ["X1", "X2"]))
    found = Enclosure.proved(design)
    left = Enclosure(*entropy_bounds(joint, ["W"])) - found
    samples = joint.marginal(["X1", "X2"])
    P = _incidence(samples.support.tolist())
    margins = [
        sum(
            (
                value * Fraction(int(weight), samples.total)
                for value, weight in zip(row, samples.weights.tolist(), strict=True)
            ),
            Fraction(0),
        )
        for row in P
    ]
    corners = vertices(P, margins)
    other = Enclosure.proved(disclose(_disclosure(_seen_twice(1 - alpha), ["X1", "X2"])))
    law = [joint.probability(X1=a, X2=b) for a, b in outcomes]
    rows: list[tuple[Cell, ...]] = [
        ("I_s, bits", PRINTED_EXAMPLE_2["I_s"], *both_ends(found), _compared(PRINTED_EXAMPLE_2["I_s"], found)),
        ("H(W|Y), bits", PRINTED_EXAMPLE_2["H(W|Y)"], *both_ends(left), _compared(PRINTED_EXAMPLE_2["H(W|Y)"], left)),
        ("extreme points of S", "4", str(len(corners)), "", "agrees" if len(corners) == 4 else "DIFFERS"),
        (
            "p(x)",
            _shown(PRINTED_EXAMPLE_2_LAW),
            _shown(law),
            "",
            "agrees" if _same(PRINTED_EXAMPLE_2_LAW, law) else "DIFFERS",
        ),
    ]
    for (a, b), printed in zip(outcomes, PRINTED_EQUATION_20, strict=True):
        ours = joint.probability(X1=a, X2=b, W="0") / joint.probability(X1=a, X2=b)
        note = "agrees" if ours == Fraction(printed) else "(20) misprint: this entry belongs to crossover 1/3, not 2/3"
        rows.append((f"P(W=0 | X1={a}, X2={b})", printed, written(ours), "", note))
    columns = list(zip(*design.channel.rows, strict=True))
    for k, printed_row in enumerate(PRINTED_EQUATION_22):
        match = next((column for column in columns if _same(printed_row, column)), None)
        note = "agrees: a letter of ours" if match else "not a letter of our optimum"
        rows.append((f"(22), letter {k + 1}", _shown(printed_row), _shown(match or ()), "", note))
    weights = sorted(sum((p * entry for p, entry in zip(law, column, strict=True)), Fraction(0)) for column in columns)
    note = (
        "agrees"
        if _same(weights, sorted(w for value in PRINTED_EQUATION_21_WEIGHTS if (w := Fraction(value))))
        else "DIFFERS"
    )
    rows.append(
        (
            "u*, sorted, without zeros",
            _shown(sorted(w for value in PRINTED_EQUATION_21_WEIGHTS if (w := Fraction(value)))),
            _shown(weights),
            "",
            note,
        )
    )
    rows.append(("I_s with crossover 1/3", "", *both_ends(other), "not in the paper: the value is the same"))
    grid = [Fraction(k, 40) for k in range(41)]
    curve = [(float(a), float(Enclosure.proved(disclose(_disclosure(_seen_twice(a), ["X1", "X2"]))))) for a in grid]
    return Exhibit(
        "example-2",
        "Example 2: one bit seen through two noisy channels",
        (
            "A fair bit W is flipped with probability 2/3 to give X1 and erased with probability 1/2 to give X2. What "
            "can be told about W with nothing told about X1 and nothing about X2? The value and the mapping of the "
            "paper are right. Two columns of the matrix (20) are swapped: they belong to crossover 1/3.",
        ),
        (Table("", "The six outcomes stand in the order 00, 0e, 01, 10, 1e, 11.", ("quantity", *HEAD), tuple(rows)),),
        Chart(
            "Example 2",
            "crossover probability of X1",
            "bits about W",
            (
                Line("ours: certified optimum", tuple(curve), 0, every=0),
                Line(
                    "paper: 0.0134 bits at crossover 2/3", ((2 / 3, float(PRINTED_EXAMPLE_2["I_s"])),), 3, joined=False
                ),
            ),
            "The paper prints the point at crossover 2/3; the curve is ours. It is symmetric about 1/2, which is why "
            "the swapped columns of (20) do no harm to the value.",
        ),
    )


def two_bits() -> Exhibit:
    r"""The closed form (23)-(26) for two binary samples at a pmf that it does not cover, with W = X1 xor X2."""
    alpha = Fraction(7, 10)
    beta = Fraction(4, 10)
    r = Fraction(42, 100)
    R = min(alpha, 1 - beta)
    least = max(Fraction(0), alpha - beta)
    p, n = [alpha - r, r, beta - alpha + r, 1 - beta - r], [1, -1, -1, 1]
    printed = [a + r * s for a, s in zip(p, n, strict=True)]
    right = [a + (r - least) * s for a, s in zip(p, n, strict=True)]
    entry = (beta - alpha) * (R - r) / (R * (beta - alpha + r))
    records = [((a, b, str(int(a != b))), value) for (a, b), value in zip(product("01", "01"), p, strict=True)]
    joint = Pmf.from_records({"X1": BITS, "X2": BITS, "W": BITS}, records)
    found = Enclosure.proved(disclose(_disclosure(joint, ["X1", "X2"])))
    other = [a - (R - r) * s for a, s in zip(p, n, strict=True)]
    weight = (r - least) / (R - least)
    ours = weight * other[2] / p[2]
    closed = binary_entropy(p[1] + p[2]) - binary_entropy(other[1] + other[2]).times(weight)
    closed -= binary_entropy(right[1] + right[2]).times(1 - weight)
    erratum = "E4: the printed form needs alpha <= beta; here it leaves the simplex"
    rows: list[tuple[Cell, ...]] = [
        ("end a_2 of the segment (24)", _shown(printed), _shown(right), "", erratum),
        ("p(y_1 | X1=1, X2=0) in (26)", written(entry), written(ours), "", erratum),
        ("I_s for W = X1 xor X2, bits", "", *both_ends(found), "by the general solver"),
        ("the same, corrected (25)", "", *both_ends(closed), "closed form with r_min = max(0, alpha - beta)"),
    ]
    return Exhibit(
        "two-bits",
        "Equations (23) to (26): two binary samples",
        (
            "For two binary samples the set S is a segment and the optimum has a closed form. As printed it holds for "
            "alpha <= beta only. At alpha = 7/10, beta = 2/5, r = 21/50, an ordinary pair of independent bits, the "
            "printed formulas give negative probabilities; the corrected ones agree with the general solver.",
        ),
        (Table("", "Paper: the printed formulas, evaluated.", ("quantity", *HEAD), tuple(rows)),),
    )


# --- Table I ----------------------------------------------------------------------------------------------------------
def _by_outcomes(n: int) -> Enclosure:
    """I_s of Table I by `disclose`, over all 2^n outcomes."""
    prior = Pmf.from_records({"W": BITS}, [((w,), p) for w, p in zip(BITS, TABLE_1.prior, strict=True)])
    joint = conditionally_iid(prior, Channel({"W": BITS}, {"X": BITS}, TABLE_1.kernel), "W", n)
    return Enclosure.proved(disclose(_disclosure(joint, [f"X{k + 1}" for k in range(n)]), gap=1e-8))


def _by_types(n: int) -> Enclosure:
    """I_s of Table I by every extreme column over types, in rationals; each figure one float further out."""
    law: dict[tuple[int, ...], list[Fraction]] = {}
    for j in range(n, -1, -1):
        row = [p * comb(n, j) * k[1] ** j * k[0] ** (n - j) for p, k in zip(TABLE_1.prior, TABLE_1.kernel, strict=True)]
        law[(n - j, j)] = row
    masses = {t: sum(row, Fraction(0)) for t, row in law.items()}
    posteriors = [[entry / masses[t] for entry in row] for t, row in law.items()]
    rows = [[Fraction(t[x], n) for t in law] for x in range(2)]
    found = best_columns(rows, TABLE_1.sample, masses, posteriors, TABLE_1.prior)
    return Enclosure.between(nextafter(found.value_bits, -inf), nextafter(found.bound_bits, inf))


def table_1(sizes: Sequence[int] = (2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 30, 50, 70, 100, 200, 400)) -> Exhibit:
    r"""I_s(W, X^n) for a bit W with P(W=1) = 1/3 seen n times through a BSC(1/10), Table I, and far beyond."""
    rows: list[tuple[Cell, ...]] = []
    points = []
    for n in sizes:
        printed = PRINTED_TABLE_1.get(n, "")
        if n <= 4:
            found, how = _by_outcomes(n), "certified over all outcomes"
        elif n <= IN_RATIONALS:
            found, how = _by_types(n), "by types, in rationals, to 16 digits"
        else:
            mixed = types_disclosure(TABLE_1.prior, TABLE_1.kernel, n)
            found = Enclosure.between(mixed.value_bits, mixed.bound_bits)
            how = "by types, in floats with a dual bound"
        if n == 5:
            whole = _by_outcomes(n)
            meet = max(whole.low, found.low) <= min(whole.high, found.high) + Fraction(1, 10**15)
            how += f"; over all outcomes certified to {float(whole.high - whole.low):.0e} bits, "
            how += "which contains it" if meet else "which CONTRADICTS it"
        rows.append((str(n), printed, *both_ends(found), _compared(printed, found, how) if printed else how))
        points.append((float(n), float(found)))
    return Exhibit(
        "table-1",
        "Table I: more samples can tell less",
        (
            "W is one with probability 1/3 and is seen n times, each time flipped with probability 1/10. Every further "
            "sample tells more about W, and is one more thing that must stay private. The paper prints n = 2, 3, 4 to "
            "show that the optimum is not monotone; all three figures are right.",
            "Beyond that the columns are indexed by the number of ones instead of by all 2^n outcomes. Nothing is lost "
            "by it, because the samples are exchangeable. The optimum falls like 1/n to the limit of Theorem 3, which "
            "is zero here because the two rows of the channel are linearly independent.",
        ),
        (Table("", "I_s in bits. Ours is rounded down and the bound up.", ("n", *HEAD), tuple(rows)),),
        Chart(
            "Table I",
            "n, number of samples (logarithmic)",
            "I_s, bits about W",
            (
                Line("ours: optimum for n samples", tuple(points), 0),
                Line(
                    "paper: Table I", tuple((float(n), float(v)) for n, v in PRINTED_TABLE_1.items()), 3, joined=False
                ),
            ),
            "The three triangles are the figures that the paper prints; they agree with ours. All other points "
            "are new: the optimum rises and falls until n = 5 and then goes to zero.",
            log_x=True,
        ),
    )


# --- Example 3 --------------------------------------------------------------------------------------------------------
def example_3() -> Exhibit:
    r"""Sums of windows with one common noise, eq. (57)-(61): I = (n-k) log2 M exactly, and no mapping tells more."""
    rows: list[tuple[Cell, ...]] = []
    for M, n, k in ((2, 4, 2), (3, 3, 2), (2, 5, 3), (3, 4, 1), (2, 6, 2)):
        names = [f"X{i + 1}" for i in range(n)]
        letters = tuple(str(a) for a in range(M))
        fair = Pmf.from_records(
            dict.fromkeys(names, letters), [(x, Fraction(1, M**n)) for x in product(letters, repeat=n)]
        )
        channel = window_sums(M, n, k)
        joint = channel.after(fair)
        told = list(channel.output)
        found = Enclosure(*mutual_information_bounds(joint, names, told))
        views = [names[i : i + k] for i in range(n - k + 1)]
        private = all(independent(joint, view, told) for view in views)
        bound = Enclosure(*entropy_bounds(fair, names)) - Enclosure(*entropy_bounds(fair, views[0]))
        meets = bound.high - found.low < Fraction(1, 10**30)
        note = f"independent of all {len(views)} windows{'' if private else ': NO'}; " + (
            "optimal" if meets else "below the bound"
        )
        printed = logarithm(M).times(n - k)
        rows.append((str(M), str(n), str(k), both_ends(printed)[0], both_ends(found)[0], both_ends(bound)[1], note))
    lines = []
    for at, k in enumerate((1, 2, 4)):
        lines.append(Line(f"k = {k}", tuple((float(n), (n - k) / n) for n in range(k, 61)), (0, 2, 4)[at], every=10))
    return Exhibit(
        "example-3",
        "Example 3: private windows of uniform samples",
        (
            "n samples are uniform on M letters; what leaves are all sums of k neighbours modulo M, blinded by one "
            "common uniform letter. It is independent of every window of k samples jointly. The paper shows that its "
            "share of H(X^n) tends to one. It is better than that: (n-k) log2 M bits exactly, and H(X^n) less the "
            "entropy of a window is a bound on every private mapping, so the scheme is optimal at every n.",
        ),
        (
            Table(
                "",
                "In bits. Paper: the lower bound (58)-(60), which is (n-k) log2 M; (61) prints M where log M is meant "
                "(E13). Ours: computed from the mapping itself, in rationals.",
                ("M", "n", "k", *HEAD),
                tuple(rows),
            ),
        ),
        Chart(
            "Example 3",
            "n, number of samples",
            "share of H(X^n) that is told",
            tuple(lines),
            "The share (n-k)/n of the entropy, exact and optimal. The paper has the same limit, one.",
        ),
    )


EXHIBITS: tuple[tuple[str, Callable[[], Exhibit]], ...] = (
    ("Example 1", example_1),
    ("Example 2", example_2),
    ("equations 23 to 26", two_bits),
    ("Table I", table_1),
    ("Example 3", example_3),
    ("Example 4", chains.example_4),
    ("Example 5", chains.example_5),
    ("Figure 4", chains.figure_4),
    ("Figure 5", chains.figure_5),
)


def exhibits(on_progress: Progress | None = None) -> list[Exhibit]:
    """All of them, in the order of the paper."""
    return computed(EXHIBITS, on_progress)
