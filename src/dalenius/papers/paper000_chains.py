r"""Schemes for many independent bits: Examples 4 and 5, Figures 4 and 5 of paper 000, with the corrected curves.

Eq. (67) adds up the windows of the preprocessing as if they were independent given the samples. They share noise, so it
is a lower bound only (E2); here it is drawn beside the exact figure, which is computed from the mapping itself.
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise, product

from dalenius.core import Channel, Independent, Kernel, MaximizeInformation, Pmf, Problem
from dalenius.core.numbers import written
from dalenius.measures import (
    independent,
    modular_information,
    mutual_information_bounds,
    preprocessing,
    preprocessing_efficiency,
    preprocessing_lower_bound_efficiency,
    preprocessing_lower_bound_eq67,
    uniformiser,
)
from dalenius.mechanisms.columns.disclosure.design import disclose
from dalenius.papers.curve import Chart, Line
from dalenius.papers.enclosure import Enclosure, binary_entropy
from dalenius.papers.exhibit import Cell, Exhibit, Table, both_ends

__all__ = ["GRID", "example_4", "example_5", "figure_4", "figure_5"]

GRID = tuple(Fraction(k, 100) for k in range(5, 51))
HEURISTICS = (
    "partial, windows of two",
    "bound",
    "paper: preprocessing by (67)",
    "ours: preprocessing, exact",
    "bound",
)
SHOWN = 5  # every so-manieth point of the grid stands in the table of the page and has a mark
HALF = Fraction(1, 2)
BITS = ("0", "1")
HEAD = ("paper", "ours", "bound", "note")
E2 = "E2: (67) is too small"


def _fair(q: Fraction, n: int) -> Pmf:
    """n independent bits with P(X=1) = q."""
    records = [(x, q ** x.count("1") * (1 - q) ** x.count("0")) for x in product(BITS, repeat=n)]
    return Pmf.from_records({f"X{k + 1}": BITS for k in range(n)}, records)


@lru_cache(maxsize=256)
def _best(q: Fraction, n: int) -> tuple[Enclosure, Kernel]:
    """The self-disclosure capacity (51) of n such bits with its bound, and the mapping."""
    joint = _fair(q, n)
    names = tuple(joint.variables)
    promises = tuple(Independent((name,)) for name in names)
    design = disclose(
        Problem(joint=joint, observe=names, output="Y", objective=MaximizeInformation(names), guarantees=promises)
    )
    return Enclosure.proved(design), design.channel


def _crossover(q: Fraction) -> Fraction:
    return (HALF - q) / (1 - q)


def _printed_pair(q: Fraction) -> Enclosure:
    """One term of eq. (67): 1 - 2q(1-q) h(b) - (1-q)^2 h(2b(1-b))."""
    b = _crossover(q)
    some = binary_entropy(b).times(2 * q * (1 - q)) + binary_entropy(2 * b * (1 - b)).times((1 - q) ** 2)
    return Enclosure.of(1) - some


@lru_cache(maxsize=256)
def _preprocessed(q: Fraction, n: int) -> tuple[Enclosure, bool]:
    """I(X^n; Y_pre) of Example 5 from the mapping itself, and whether it is independent of every sample."""
    joint = _fair(q, n)
    z = uniformiser([1 - q, q]).rows
    places = {y: k for k, y in enumerate(product((0, 1), repeat=n - 1))}
    rows = []
    for x in product((0, 1), repeat=n):
        row = [Fraction(0)] * len(places)
        for s in product((0, 1), repeat=n):
            mass = Fraction(1)
            for a, b in zip(x, s, strict=True):
                mass *= z[a][b]
            row[places[tuple(a ^ b for a, b in pairwise(s))]] += mass
        rows.append(tuple(row))
    output = {f"Y{k}": BITS for k in range(1, n)}
    names = list(joint.variables)
    after = Channel(joint.variables, output, tuple(rows)).after(joint)
    private = all(independent(after, [name], list(output)) for name in names)
    return Enclosure(*mutual_information_bounds(after, names, list(output))), private


def _uniformised(q: Fraction) -> Enclosure:
    """I(X; S) of the uniformiser, the limit of preprocessing per sample."""
    joint = uniformiser([1 - q, q]).after(Pmf.from_records({"X": BITS}, [(("0",), 1 - q), (("1",), q)]))
    return Enclosure(*mutual_information_bounds(joint, ["X"], ["S"]))


# --- Example 4 --------------------------------------------------------------------------------------------------------
def _chained(q: Fraction, n: int, starts: Sequence[int]) -> tuple[Pmf, list[str], list[str]]:
    """The joint law of n bits and of the best mapping of three samples applied from each start."""
    joint = _fair(q, n)
    mapping = _best(q, 3)[1]
    (letters,) = mapping.output.values()
    names = list(joint.variables)
    told = [f"Y{k + 1}" for k in range(len(starts))]
    for name, at in zip(told, starts, strict=True):
        joint = Channel(dict.fromkeys(names[at : at + 3], BITS), {name: letters}, mapping.rows).after(joint)
    return joint, names, told


def example_4() -> Exhibit:
    r"""Partial processing (65)(66): its efficiency, and why windows of three may share one sample only (E1)."""
    grid = [Fraction(k, 20) for k in range(1, 11)]
    shares = {q: _best(q, 2)[0].over(binary_entropy(q)) for q in grid}
    rows: list[tuple[Cell, ...]] = []
    for q, share in shares.items():
        largest = share.high == 1
        note = (
            "agrees: maximal at 1/2" if q == HALF and largest else "agrees: below one" if share.high < 1 else "DIFFERS"
        )
        rows.append((_decimal(q), "1" if q == HALF else "< 1", *both_ends(share), note))
    leak: list[tuple[Cell, ...]] = []
    for q in (Fraction(1, 5), Fraction(2, 5)):
        joint, names, told = _chained(q, 4, (0, 1))
        for name in names:
            found = Enclosure(*mutual_information_bounds(joint, [name], told))
            note = "E1: not private" if found.low > 0 else "private"
            leak.append((_decimal(q), name, "0", *both_ends(found), note))
    mend: list[tuple[Cell, ...]] = []
    for q in (Fraction(1, 5), Fraction(2, 5)):
        joint, names, told = _chained(q, 5, (0, 2))
        private = all(independent(joint, [name], told) for name in names)
        found = Enclosure(*mutual_information_bounds(joint, names, told))
        note = "windows (1,2,3) and (3,4,5): " + ("independent of every sample, exactly" if private else "NOT private")
        mend.append((_decimal(q), "windows of three", *both_ends(found), note))
        mend.append((_decimal(q), "windows of two", *both_ends(_best(q, 2)[0].times(4)), "the chain of eq. (65)(66)"))
    lines = []
    for colour, q in ((0, HALF), (2, Fraction(3, 10)), (4, Fraction(1, 10))):
        limit = float(shares[q])
        lines.append(
            Line(
                f"P(X=1) = {_decimal(q)}", tuple((float(n), (n - 1) / n * limit) for n in range(2, 61)), colour, every=8
            )
        )
    return Exhibit(
        "example-4",
        "Example 4: partial processing, two samples at a time",
        (
            "Each pair of neighbours gets the best private mapping for two samples. All the letters together are still "
            "independent of each sample (Lemma 7), and the bits add up. For windows of two that is right.",
            "The paper adds that windows of any length k work the same. They do not (E1): windows of three that "
            "overlap in two samples give samples away when their letters are put together, although each letter alone "
            "gives nothing. Windows that share one sample only are safe, and tell more than windows of two.",
        ),
        (
            Table(
                "",
                "Share of the entropy that a long chain of windows of two tells. Paper: one at q = 1/2 only.",
                ("q", *HEAD),
                tuple(rows),
            ),
            Table(
                "windows-of-three",
                "Four samples, windows (1,2,3) and (2,3,4), each with its best mapping: I(X_i; Y1, Y2) in bits.",
                ("q", "sample", *HEAD),
                tuple(leak),
            ),
            Table(
                "repaired",
                "Five samples: what is told about all of them, in bits. Not in the paper.",
                ("q", "scheme", "ours", "bound", "note"),
                tuple(mend),
            ),
        ),
        Chart(
            "Example 4",
            "n, number of samples",
            "share of H(X^n) that is told",
            tuple(lines),
            "Windows of two. The share (n-1)/n times its limit grows with n, as the paper says. Nothing to correct "
            "here; what is wrong are longer windows, see the second table.",
        ),
    )


# --- Example 5 --------------------------------------------------------------------------------------------------------
def example_5() -> Exhibit:
    r"""Preprocessing by a uniformiser: eq. (67) as printed, and the exact figure."""
    rows: list[tuple[Cell, ...]] = []
    for q in (Fraction(1, 20), Fraction(1, 10), Fraction(3, 10), HALF):
        for n in (2, 3, 4):
            printed, (found, private) = _printed_pair(q).times(n - 1), _preprocessed(q, n)
            note = "agrees" if printed.high >= found.low else E2
            note += "" if private else "; NOT private"
            rows.append((_decimal(q), str(n), both_ends(printed)[0], *both_ends(found), note))
    q = Fraction(1, 20)
    sizes = range(2, 121)
    share = [float(binary_entropy(q)) * size for size in sizes]
    exact = tuple((float(size), preprocessing(q, size) / h) for size, h in zip(sizes, share, strict=True))
    printed67 = tuple((float(n), preprocessing_lower_bound_eq67(q, n) / h) for n, h in zip(sizes, share, strict=True))
    ends = (float(sizes[0]), float(sizes[-1]))
    limit = preprocessing_efficiency(q)
    low = preprocessing_lower_bound_efficiency(q)
    return Exhibit(
        "example-5",
        "Example 5: make the samples uniform first",
        (
            "Each bit passes a Z-channel that makes it fair; what leaves are the parities of neighbours. Equation (67) "
            "adds up what each parity tells. Given the samples, neighbouring parities share the noise of the bit "
            "between them, so together they tell more than the sum (E2). For two samples there is one parity "
            "and (67) is exact.",
        ),
        (
            Table(
                "",
                "I(X^n; Y_pre) in bits. Paper: eq. (67). Ours: computed from the mapping itself, in rationals.",
                ("q", "n", *HEAD),
                tuple(rows),
            ),
        ),
        Chart(
            "Example 5",
            "n, number of samples",
            "share of H(X^n) that is told",
            (
                Line("corrected: exact, P(X=1) = 0.05", exact, 2, every=12),
                Line("corrected: its limit I(X;S)/H(X)", tuple((end, limit) for end in ends), 0, every=0),
                Line("paper: eq. (67), too small for n > 2", printed67, 1, dashed=True, every=12),
            ),
            f"The dashed curve is the paper's equation (67), the solid one is exact. (67) ignores that neighbouring "
            f"parities share noise (E2): in the limit it says {low:.4f} where {limit:.4f} is true.",
        ),
    )


# --- Figures 4 and 5 --------------------------------------------------------------------------------------------------
def figure_4(grid: Sequence[Fraction] = GRID, n: int = 4) -> Exhibit:
    r"""Fig. 4: what four bits can tell about themselves, by the optimum, partial processing and preprocessing."""
    rows: list[tuple[Cell, ...]] = []
    curves: list[list[tuple[float, float]]] = [[], [], [], []]
    for q in grid:
        best = _best(q, n)[0]
        partial = _best(q, 2)[0].times(n - 1)
        printed = _printed_pair(q).times(n - 1)
        exact = _preprocessed(q, n)[0]
        note = "all agree" if printed.high >= exact.low else E2
        rows.append(
            (_decimal(q), *both_ends(best), *both_ends(partial), both_ends(printed)[0], *both_ends(exact), note)
        )
        for curve, found in zip(curves, (best, partial, exact, printed), strict=True):
            curve.append((float(q), float(found)))
    sums = {q: max((modular_information([[1 - q, q]] * n, m), -m) for m in range(2, 11)) for q in grid[::SHOWN]}
    wins = all(a[1] > b[1] for a, b in zip(curves[1], curves[2], strict=True) if a[0] < 0.5)
    times = max(right / wrong for (_, right), (_, wrong) in zip(curves[2], curves[3], strict=True))
    return Exhibit(
        "figure-4",
        f"Figure 4: {n} bits, three ways",
        (
            "Independent bits with P(X=1) = q tell about themselves, independent of each one. The optimum and partial "
            "processing follow the paper. Its formula for preprocessing, equation (67), lies too low (E2); the "
            "corrected one stands beside it. With so few samples partial processing is still the better of the two "
            + ("heuristics at every q below 1/2." if wins else "heuristics at some q only."),
            "Nothing binds the uniform variable to two letters. Sums modulo M of states that are uniform on Z_M are as "
            "private for every M, and with the best M up to 10 they come close to the optimum where M q is whole.",
        ),
        (
            Table(
                "",
                "In bits. The paper prints no numbers here and we have its text only; the column (67) is its formula. "
                "Each figure of ours is rounded down and followed by its bound, rounded up. The file has "
                "every hundredth of q.",
                ("q", "optimum", "bound", *HEURISTICS, "note"),
                tuple(rows),
                tuple(range(0, len(rows), SHOWN)),
            ),
            Table(
                "sums",
                "Preprocessing with the best modulus, not in the paper; in bits, by the exact formula in doubles.",
                ("q", "best M up to 10", "ours: sums modulo M"),
                tuple((_decimal(q), str(-m), f"{bits:.12f}") for q, (bits, m) in sums.items()),
            ),
        ),
        Chart(
            "Figure 4",
            "q = P(X=1)",
            f"bits about the {n} samples",
            (
                Line("optimum, certified (the paper's definition)", tuple(curves[0]), 0, every=SHOWN),
                Line("partial processing, windows of two (the paper's scheme)", tuple(curves[1]), 4, every=SHOWN),
                Line("corrected: preprocessing, exact", tuple(curves[2]), 2, every=SHOWN),
                Line("paper: preprocessing by eq. (67), too small", tuple(curves[3]), 1, dashed=True, every=SHOWN),
                Line(
                    "new: preprocessing, best modulus",
                    tuple((float(q), b) for q, (b, _) in sums.items()),
                    3,
                    joined=False,
                ),
            ),
            f"The dashed curve is the paper's, by equation (67); the solid one with diamonds is exact. (67) treats "
            f"neighbouring parities as independent given the samples, but they share noise (E2), so it is a lower "
            f"bound only: up to {times:.1f} times too small here. The optimum and partial processing follow the "
            "paper's definitions; the triangles that nothing joins are new.",
        ),
    )


def figure_5(grid: Sequence[Fraction] = GRID) -> Exhibit:
    r"""Fig. 5: the share of H(X^n) that very many bits can tell, by the same schemes."""
    rows: list[tuple[Cell, ...]] = []
    curves: list[list[tuple[float, float]]] = [[], [], []]
    ahead = []
    for q in grid:
        whole = binary_entropy(q)
        partial, printed, exact = (f.over(whole) for f in (_best(q, 2)[0], _printed_pair(q), _uniformised(q)))
        if exact.low > partial.high:
            ahead.append(q)
        note = (
            "all agree"
            if printed.high >= exact.low
            else E2 + ("; preprocessing wins" if exact.low > partial.high else "")
        )
        rows.append((_decimal(q), "1", *both_ends(partial), both_ends(printed)[0], *both_ends(exact), note))
        for curve, found in zip(curves, (partial, exact, printed), strict=True):
            curve.append((float(q), float(found)))
    crossing = f"for q up to {_decimal(max(ahead))}" if ahead else "nowhere on this grid"
    factor = curves[1][0][1] / curves[2][0][1]
    return Exhibit(
        "figure-5",
        "Figure 5: very many bits",
        (
            "The share of the entropy of a very long row of bits that can be told, private for each bit. The optimum "
            "tends to one (Theorem 4). The paper calls "
            "preprocessing often less efficient than partial processing; with the "
            f"corrected curve it is better {crossing}. With M states in place of two, M q whole, X is a function of S "
            "and preprocessing reaches the optimum: it loses log2 M bits in all, whatever n is.",
        ),
        (
            Table(
                "",
                "Shares of H(X^n) in the limit. The paper prints no numbers here and we have its text only; the column "
                "(67) is its formula. The file has every hundredth of q.",
                ("q", "optimum (Theorem 4)", *HEURISTICS, "note"),
                tuple(rows),
                tuple(range(0, len(rows), SHOWN)),
            ),
        ),
        Chart(
            "Figure 5",
            "q = P(X=1)",
            "share of H(X^n) that is told",
            (
                Line(
                    "optimum, one (Theorem 4); sums modulo M with M q whole",
                    tuple((float(q), 1.0) for q in grid),
                    0,
                    every=0,
                ),
                Line("partial processing, windows of two (the paper's scheme)", tuple(curves[0]), 4, every=SHOWN),
                Line("corrected: preprocessing, exact", tuple(curves[1]), 2, every=SHOWN),
                Line("paper: preprocessing by eq. (67), too small", tuple(curves[2]), 1, dashed=True, every=SHOWN),
            ),
            f"The dashed curve is the paper's, the limit of equation (67); the solid one with diamonds is the true "
            f"limit I(X;S)/H(X). (67) counts the shared noise of neighbouring parities twice (E2). At q = "
            f"{_decimal(grid[0])} the paper's curve is {factor:.0f} times too small, and preprocessing beats partial "
            f"processing {crossing}, which its formula hides.",
        ),
    )


def _decimal(q: Fraction) -> str:
    text = f"{float(q):.10g}"
    return text if Fraction(text) == q else written(q)
