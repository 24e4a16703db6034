r"""Paper 003 recomputed: Figures 3 to 5, its codes, Example 1 of paper 004; the papers' curves beside ours.

Only numbers that the papers print are written here, each under a name that begins with PRINTED. Designs are solved and
proved when `exhibits` is called; Gaussian curves are closed formulas in floats. Errata are numbered as in
docs/errata.md.

References: Sankar, Rajagopalan & Poor, "Utility-Privacy Tradeoff in Databases" (paper 003); Makhdoumi & Fawaz,
"Privacy-Utility Tradeoff under Statistical Uncertainty" (paper 004).
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import log2

from dalenius.core import Design, Distortion, MinimizeLeakage, MinimizeRate, Objective, Pmf, Problem, Resample
from dalenius.core.numbers import written
from dalenius.core.objective import MinimizeLeakageAndRate
from dalenius.errors import SolverFailed
from dalenius.measures import entropy_bounds
from dalenius.measures.operational import binomial_band, quantise, quantise_and_bin
from dalenius.mechanisms import solve
from dalenius.mechanisms.columns.categorical import categorical
from dalenius.papers.curve import Chart, Line
from dalenius.papers.enclosure import Enclosure, binary_entropy
from dalenius.papers.exhibit import Cell, Exhibit, Figure, Progress, Table, both_ends, computed
from dalenius.papers.gaussian import informed, leakage_seeing_both, uninformed

__all__ = ["PRINTED_LAW", "TITLE", "completions", "exhibits"]

TITLE = "Utility-privacy tradeoff in databases"

PRINTED_LAW = ("0.25", "0.25", "0.15", "0.1", "0.04", "0.005", "0.003", "0.002")
PRINTED_DISTORTIONS = ("0.1", "0.25", "0.5")
SHORT = 1 - sum(map(Fraction, PRINTED_LAW), Fraction(0))

COUNTS = ((2, 15, 1), (12, 11, 0), (12, 0, 14), (3, 31, 0))
"""A small database for Figure 3, which the paper only sketches: rows are public letters, columns private ones."""

AT = Fraction(299, 1000)


def _least(design: Design) -> Enclosure:
    """Bound and value of a design that minimises."""
    return Enclosure(design.bound, design.value)


# --- Figure 3 --------------------------------------------------------------------------------------------------------
def _database() -> Pmf:
    letters = {"X": tuple("abcd"), "S": tuple("rst")}
    records = [
        ((x, s), entry)
        for x, row in zip("abcd", COUNTS, strict=True)
        for s, entry in zip("rst", row, strict=True)
        if entry
    ]
    return Pmf.from_records(letters, records)


def _released(joint: Pmf, aim: Objective, most: Fraction) -> Enclosure:
    limit = Distortion("hamming", ("X",), most)
    return _least(solve(Problem(("X",), aim, release=("X",), limits=(limit,), joint=joint)))


def figure_3() -> Exhibit:
    """The region of rate, distortion and leakage, computed for a small database; the paper draws it by hand."""
    joint = _database()
    leak = MinimizeLeakage(("S",))
    rate = MinimizeRate()
    grid = [Fraction(k, 40) for k in range(1, 26)]
    leaks = [_released(joint, leak, d) for d in grid]
    rates = [_released(joint, rate, d) for d in grid]
    rows: list[tuple[Cell, ...]] = [
        (written(d), *both_ends(a), *both_ends(b), "proved") for d, a, b in zip(grid, leaks, rates, strict=True)
    ]
    corner_leak = _released(joint, leak, AT)
    corner_rate = _released(joint, rate, AT)
    frontier: list[tuple[Cell, ...]] = []
    for theta in (Fraction(k, 10) for k in (1, 3, 5, 7, 9)):
        found = _released(joint, MinimizeLeakageAndRate(("S",), theta), AT)
        corner = corner_leak.times(theta) + corner_rate.times(1 - theta)
        told = "the corner is not attained" if corner.high < found.low else "the corner is attained"
        frontier.append((written(theta), both_ends(corner)[1], *both_ends(found), f"S4: {told}"))
    return Exhibit(
        "figure-3",
        "Figure 3: the region of rate, distortion and leakage",
        (
            "The paper sketches the region; here it is computed for a database of 101 records with a public attribute "
            "of four letters and a private one of three, the mechanism seeing the public one. Every point is a proved "
            "design. Both boundaries are convex and end at the distortion of the best constant letter.",
            f"At a fixed distortion (here {written(AT)}) least leakage and least rate are NOT reached together: the "
            "rectangle with both minima as its corner, which the converse of the paper leaves (S3, S4), is larger than "
            "the region. The second table gives the least of theta x leakage + (1 - theta) x rate beside the corner.",
        ),
        (
            Table(
                "",
                "Least leakage about the private attribute and least rate, each with its proved bound, in bits.",
                ("D", "leakage, bound", "leakage", "rate, bound", "rate", "note"),
                tuple(rows),
                tuple(range(0, len(rows), 4)),
            ),
            Table(
                "frontier",
                "The share theta of the leakage, the corner of the rectangle, and the least that is attained, in bits.",
                ("theta", "corner", "bound", "ours", "note"),
                tuple(frontier),
            ),
        ),
        Chart(
            "Figure 3",
            "Hamming distortion D of the public attribute",
            "bits",
            (
                Line("least rate R(D)", tuple(zip(map(float, grid), map(float, rates), strict=True)), 1, every=4),
                Line(
                    "least leakage L(D) = H(S) - Gamma(D)",
                    tuple(zip(map(float, grid), map(float, leaks), strict=True)),
                    0,
                    every=4,
                ),
            ),
            "Certified boundaries of the region for one database. Above the lower curve lie the leakages that can be "
            "had at a distortion, above the upper one the rates.",
        ),
    )


# --- Figure 4 --------------------------------------------------------------------------------------------------------
def completions() -> dict[str, tuple[Fraction, ...]]:
    """The printed law of Example 1 sums to 4/5; three ways to make it a law.

    >>> {name: str(sum(p)) for name, p in completions().items()}
    {'divided by 0.8': '1', 'with a letter of 0.2': '1', 'first letter 0.45': '1'}
    """
    p = tuple(map(Fraction, PRINTED_LAW))
    return {
        "divided by 0.8": tuple(value / (1 - SHORT) for value in p),
        "with a letter of 0.2": tuple(sorted((*p, SHORT), reverse=True)),
        "first letter 0.45": (p[0] + SHORT, *p[1:]),
    }


def _column(p: Sequence[Fraction]) -> Pmf:
    letters = tuple(str(k + 1) for k in range(len(p)))
    return Pmf.from_records({"X": letters}, [((letter,), value) for letter, value in zip(letters, p, strict=True)])


def _closed(joint: Pmf, most: Fraction) -> Design:
    limit = Distortion("hamming", ("X",), most)
    return categorical(Problem(("X",), MinimizeLeakage(("X",)), release=("X",), limits=(limit,), joint=joint))


def _output_law(design: Design) -> list[Fraction]:
    if not isinstance(design.channel, Resample):
        raise SolverFailed("the closed form returned a channel of another form")
    return list(design.channel.q)


def _blind(most: Fraction) -> float:
    """(16)-(18) applied to the printed numbers as they stand, which do not sum to one."""
    p = [float(value) for value in PRINTED_LAW]
    low = 0.0
    high = float(max(PRINTED_LAW))
    for _ in range(200):
        level = (low + high) / 2
        reached = sum(value for value in p if value <= level) + level * (sum(value > level for value in p) - 1)
        low, high = (level, high) if reached < float(most) else (low, level)
    level, d = low, float(most)
    told = -(1 - d) * log2(1 - d) - (sum(value > level for value in p) - 1) * level * log2(level)
    return told - sum(value * log2(value) for value in p if value <= level)


def figure_4() -> Exhibit:
    """Reverse water-filling: what is released at three distortions, and Gamma(D) for three readings of the law."""
    laws: list[tuple[Cell, ...]] = []
    kept: list[tuple[Cell, ...]] = []
    lines = []
    for colour, (name, p) in enumerate(completions().items()):
        joint = _column(p)
        prior = Enclosure(*entropy_bounds(joint, ["X"]))
        laws.append((name, "0", *(Figure(value, "down") for value in p), *("",) * (9 - len(p)), "the source itself"))
        for d in map(Fraction, PRINTED_DISTORTIONS):
            design = _closed(joint, d)
            q = _output_law(design)
            peak = "more peaked than the source" if max(q) > max(p) else "NOT more peaked"
            laws.append(
                (name, written(d), *(Figure(value, "down") for value in q), *("",) * (9 - len(q)), f"S12: {peak}")
            )
            gamma = prior - _least(design)
            level = Fraction(str(design.certificate.proof["level"]))
            slope = log2(Fraction(str(design.certificate.proof["slope"])))
            note = f"S11: the level is {written(level)}, the slope {slope:.6f} bits per unit of distortion"
            if abs(_blind(d) - float(gamma)) < 1e-9:
                note += "; (16)-(18) on the printed numbers give this"
            kept.append((name, written(d), *both_ends(gamma), *both_ends(_least(design)), note))
        edge = 1 - max(p)
        grid = [edge * Fraction(k, 40) for k in range(41)]
        points = tuple((float(d), float(prior - _least(_closed(joint, d)))) for d in grid)
        lines.append(Line(f"Gamma(D), law {name}", (*points, (0.8, points[-1][1])), colour, every=8))
    return Exhibit(
        "figure-4",
        "Figure 4: reverse water-filling of categories",
        (
            f"The law that the paper prints sums to {written(1 - SHORT)}, not to 1 (S2). Three completions: all are "
            "divided by 0.8; a ninth letter of 0.2 in its place, which keeps the order of the list; and a first letter "
            "of 0.45. The formulas (16)-(18) on the printed numbers give the Gamma of the last, because suppressed "
            "letters alone enter them, and wrong marginals.",
            "The released law is more peaked than the source, not flatter (S12). The level is not the multiplier of "
            "the distortion; the slope of the curve is log2((1 - D)/level) (S11).",
            "Every row is a proved design: the released column keeps a letter, or draws it from the output law.",
        ),
        (
            Table(
                "a",
                "Figure 4a: the law of the released letters.",
                ("law", "D", *(str(k + 1) for k in range(9)), "note"),
                tuple(laws),
            ),
            Table(
                "b",
                "Figure 4b at the printed distortions: equivocation Gamma(D) and leakage with their bounds, in bits.",
                ("law", "D", "Gamma", "at most", "leakage, bound", "leakage", "note"),
                tuple(kept),
            ),
        ),
        Chart(
            "Figure 4b",
            "Hamming distortion D",
            "equivocation, bits",
            tuple(lines),
            "The largest equivocation at each distortion, for three completions of the printed law. Each curve ends at "
            "H(X) when D = 1 - p_max and stays there.",
        ),
    )


# --- Figure 5 --------------------------------------------------------------------------------------------------------
def figure_5() -> Exhibit:
    """Gaussian records: rate and leakage against squared error with and without side information."""
    rho, beside = 0.7, 0.9
    edge = 1 - beside * beside
    grid = [k / 100 for k in range(1, 101)]
    inside = [d for d in grid if d <= edge]
    rows: list[tuple[Cell, ...]] = []
    for d in (0.05, 0.1, 0.19, 0.3, 0.5, 0.75, 0.9, 1.0):
        for other in (0.5, 0.9):
            alone = uninformed(rho, d)
            known = informed(rho, other, d)
            ignorant = uninformed(rho, d, rho_xz=other).leakage_bits
            fits = known.leakage_bits <= alone.leakage_bits + 1e-12
            rows.append(
                (
                    f"{d:g}",
                    f"{other:g}",
                    *(f"{v:.12f}" for v in (alone.rate_bits, known.rate_bits, alone.leakage_bits, known.leakage_bits)),
                    f"{ignorant:.12f}",
                    f"{leakage_seeing_both(rho, d):.12f}",
                    "as printed" if fits else "S6: more than without Z, not the same",
                )
            )
    return Exhibit(
        "figure-5",
        "Figure 5: Gaussian records with and without side information",
        (
            "X is public with variance 1, Y private with correlation 0.7, Z known to the user. The printed formulas "
            "hold up to D = 1 - rho_XZ^2, not 1 - rho_XZ (S7); beyond, nothing need be sent and the leakage stays at "
            "I(Y; Z). So side information does degrade privacy there, and everywhere if the encoder ignores it (S6).",
            "The release is (1 - D)(X + N): X + N itself has the squared error D/(1 - D) (S5). An encoder that sees Y, "
            "too, leaks far less (last column), at an infinite rate.",
        ),
        (
            Table(
                "",
                "Correlation 0.7 of X and Y. Closed formulas in floats, in bits.",
                ("D", "rho_XZ", "R, i", "R, ii and iii", "L, i", "L, ii and iii", "L, Z ignored", "L, Y seen", "note"),
                tuple(rows),
            ),
        ),
        Chart(
            "Figure 5",
            "squared error D",
            "bits",
            (
                Line("rate, no side information", tuple((d, uninformed(rho, d).rate_bits) for d in grid), 1, every=20),
                Line("rate with Z", tuple((d, informed(rho, beside, d).rate_bits) for d in grid), 2, every=20),
                Line("leakage, no Z", tuple((d, uninformed(rho, d).leakage_bits) for d in grid), 0, every=20),
                Line("leakage with Z", tuple((d, informed(rho, beside, d).leakage_bits) for d in grid), 3, every=20),
                Line(
                    "leakage with Z as printed, in its range",
                    tuple((d, uninformed(rho, d).leakage_bits) for d in inside),
                    4,
                    dashed=True,
                    every=6,
                ),
            ),
            "rho_XY = 0.7, rho_XZ = 0.9. With Z the leakage stops falling at D = 0.19, where Z alone is enough.",
        ),
    )


# --- Example 1 of paper 004 ------------------------------------------------------------------------------------------
BEYOND = "the formula ends at D = 1/2: from there on one letter for everybody leaks nothing"


def example_1_of_004() -> Exhibit:
    """S fair, X = S through a BSC(p), Hamming distortion: I(S; Y) = 1 - h(p * D), against proved designs."""
    rows: list[tuple[Cell, ...]] = []
    lines = []
    for colour, p in enumerate((Fraction(1, 10), Fraction(1, 4))):
        records = [((s, x), (1 - p) / 2 if s == x else p / 2) for s in "01" for x in "01"]
        joint = Pmf.from_records({"S": ("0", "1"), "X": ("0", "1")}, records)
        points = []
        for d in (Fraction(k, 20) for k in range(13)):
            limit = Distortion("hamming", ("X",), d)
            aim = MinimizeLeakage(("S",))
            found = _least(solve(Problem(("X",), aim, release=("X",), limits=(limit,), joint=joint)))
            printed = Enclosure.of(1) - binary_entropy(p * (1 - d) + (1 - p) * d)
            silent = d > Fraction(1, 2) and found.high == 0
            note = "agrees" if found.meets(printed) else BEYOND if silent else "DIFFERS"
            rows.append((written(p), written(d), both_ends(printed)[1], *both_ends(found), note))
            points.append((float(d), float(found)))
        curve = tuple(
            (k / 100, float(1 - float(binary_entropy(p + (1 - 2 * p) * Fraction(k, 100))))) for k in range(61)
        )
        lines += [
            Line(f"paper: 1 - h(p * D), p = {written(p)}", curve, 2 + colour, every=0, dashed=True),
            Line(f"ours: proved, p = {written(p)}", tuple(points), colour, joined=False),
        ]
    return Exhibit(
        "example-1-of-004",
        "Example 1 of paper 004: a fair bit behind a noisy channel",
        (
            "S is a fair bit, X is S flipped with probability p, and X may be released with P(Y != X) <= D. The "
            "printed value 1 - h(p * D) is right for D <= 1/2; it rises again beyond, where nothing need leak (E15).",
        ),
        (Table("", "In bits.", ("p", "D", "paper", "bound", "ours", "note"), tuple(rows)),),
        Chart(
            "Example 1 of paper 004",
            "Hamming distortion D",
            "bits about S",
            tuple(lines),
            "The marks are proved designs; the dashed lines are the paper's formula, which holds up to D = 1/2.",
        ),
    )


# --- the codes of the proofs -----------------------------------------------------------------------------------------
def codes() -> Exhibit:
    """What coding over n records buys, and what it does not: the codes of Theorems 1 and 2 at small n."""
    flip, side, most = 0.2, 0.1, 0.25
    quantised, binned = [], []
    for n in (4, 8, 12):
        found = quantise(n, most, flip=flip, seed=1)
        figures = (found.distortion, found.rate_bits, found.record_rate_bits, found.leakage_bits, found.record_bits)
        note = "leaks more than record by record" if found.leakage_bits > found.record_bits else "leaks LESS"
        quantised.append((str(n), str(found.words), *(f"{figure:.6f}" for figure in figures), note))
    for n, trials in ((8, 200), (40, 60)):
        for back_off in (0.0, 0.08):
            one = quantise_and_bin(n, 0.2, side=side, back_off=back_off, flip=flip, trials=trials, seed=3)
            told = [f"{v:.6f}" if v is not None else "-" for v in (one.leakage_bits, one.record_bits)]
            shown = (f"{one.rate_bits:.6f}", f"{one.decoding_error:.3f}", f"{one.distortion:.4f}", *told)
            binned.append((str(n), f"{back_off:g}", f"{one.words} in bins of {one.per_bin}", *shown))
    bands = [(str(n), *(f"{v:.4f}" for v in binomial_band(most, n, error=0.05))) for n in (100, 1000, 10_000)]
    return Exhibit(
        "codes",
        "The codes of Theorems 1 and 2 at small n",
        (
            "Drawing record by record from the optimal channel attains the least leakage exactly at every n, n = 1 "
            "included. A code over n records buys only a lower rate and a narrower distribution of the realised "
            f"distortion; X is a fair bit, X_h = X + Bern({flip:g}), Z = X + Bern({side:g}).",
            "Bins of the size in the proof are too large at small n (S13): the user often decodes another word. "
            "Leakage is exact, over all databases, where these can be listed; rates are H(J)/n and log2(bins)/n; "
            "decoding errors and the distortion after decoding were measured in random trials from a fixed seed.",
        ),
        (
            Table(
                "quantised",
                "Random codebooks for D = 1/4, the nearest word released; in bits by record.",
                ("n", "words", "D", "rate", "R(D)", "leakage", "leakage, record by record", "note"),
                tuple(quantised),
            ),
            Table(
                "binned",
                "Quantise and bin for a user with Z, D = 1/5.",
                ("n", "back-off", "words", "rate", "wrongly decoded", "D", "leakage", "leakage, record by record"),
                tuple(binned),
            ),
            Table(
                "band",
                "Realised distortion of n records released one by one with D = 1/4: 95 % lie between.",
                ("n", "from", "to"),
                tuple(bands),
            ),
        ),
    )


EXHIBITS: tuple[tuple[str, Callable[[], Exhibit]], ...] = (
    ("Figure 3", figure_3),
    ("Figure 4", figure_4),
    ("Figure 5", figure_5),
    ("the codes of the proofs", codes),
    ("Example 1 of paper 004", example_1_of_004),
)


def exhibits(on_progress: Progress | None = None) -> list[Exhibit]:
    """All exhibits, in the order of the paper."""
    return computed(EXHIBITS, on_progress)
