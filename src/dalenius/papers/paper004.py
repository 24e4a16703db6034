r"""Paper 004 recomputed: Examples 1 to 5, and two claims about several releases and about noise that fail.

Only numbers that the paper prints, or that its printed formulas give, stand in the columns named paper. Designs are
proved, S* and mutual informations are brackets; errata are numbered as in docs/errata.md.

References: Makhdoumi & Fawaz, "Privacy-Utility Tradeoff under Statistical Uncertainty" (paper 004).
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import exp, expm1, log, log1p, log2, sqrt

import numpy as np

from dalenius.core import Channel, Pmf
from dalenius.core.numbers import written
from dalenius.measures import capacity, maximal_correlation, s_star
from dalenius.measures.attack import fano_error
from dalenius.measures.collusion import collusion
from dalenius.papers.curve import Chart, Line
from dalenius.papers.enclosure import Enclosure, binary_entropy
from dalenius.papers.exhibit import Cell, Exhibit, Progress, Table, both_ends, computed
from dalenius.papers.paper003 import example_1_of_004
from dalenius.solvers.noise import gaussian_delta, gaussian_sigma, root
from dalenius.solvers.smith import Family, points_information

__all__ = ["TITLE", "added_noise", "exhibits"]

TITLE = "Privacy-utility tradeoff under statistical uncertainty"

BIT = ("0", "1")


def added_noise(family: Family, values: Sequence[float], scale: float) -> Enclosure:
    """I(X; X + N) in bits for X uniform on some values and noise of this standard deviation (or scale, for Laplace).

    >>> round(float(added_noise("gaussian", [-1.0, 1.0], 1.0)), 9)
    0.485944154
    """
    points = np.asarray(values, dtype=np.float64) / scale
    low, high = points_information(family, points, np.full(len(points), 1 / len(points)))
    return Enclosure.between(low / log(2) * (1 - 1e-14), high / log(2) * (1 + 1e-14))


def _symmetric(size: int, right: Fraction) -> Channel:
    letters = tuple(str(k) for k in range(size))
    wrong = (1 - right) / (size - 1)
    return Channel(
        {"X": letters},
        {"Y": letters},
        tuple(tuple(right if letter == y else wrong for y in letters) for letter in letters),
    )


def _law(weights: Sequence[int]) -> Pmf:
    letters = tuple(str(k) for k in range(len(weights)))
    return Pmf.from_records({"X": letters}, list(zip(letters, weights, strict=True)))


# --- Example 2 --------------------------------------------------------------------------------------------------------
def example_2() -> Exhibit:
    """(1 - 2D)^2 (1 - h(p)) beside 1 - h(p * D); S* and rho_m^2 beyond a fair bit."""
    rows: list[tuple[Cell, ...]] = []
    lines = []
    for colour, p in enumerate((Fraction(1, 10), Fraction(1, 4))):
        bounds, truths = [], []
        for d in (Fraction(k, 20) for k in range(11)):
            told = Enclosure.of(1) - binary_entropy(p * (1 - d) + (1 - p) * d)
            bound = (Enclosure.of(1) - binary_entropy(p)).times((1 - 2 * d) ** 2)
            note = "holds" if bound.low >= told.low else "BROKEN"
            rows.append((written(p), written(d), both_ends(bound)[1], *both_ends(told), note))
            bounds.append((float(d), float(bound)))
            truths.append((float(d), float(told)))
        lines += [
            Line(f"bound, p = {written(p)}", tuple(bounds), 2 + colour, every=0, dashed=True),
            Line(f"exact, p = {written(p)}", tuple(truths), colour, every=0),
        ]
    factors: list[tuple[Cell, ...]] = []
    cases = [
        (_symmetric(2, Fraction(9, 10)), (1, 1), "a fair bit: S* = rho_m^2 = (1 - 2D)^2"),
        (_symmetric(2, Fraction(9, 10)), (1, 4), "P(X = 0) = 1/5"),
        (_symmetric(2, Fraction(9, 10)), (1, 99), "P(X = 0) = 1/100"),
        (_symmetric(3, Fraction(8, 10)), (1, 1, 1), "three letters, uniform"),
    ]
    for channel, weights, name in cases:
        star = s_star(_law(weights), channel)
        rho = maximal_correlation(_law(weights), channel)
        square = Enclosure(Fraction(rho[0]) ** 2, Fraction(rho[1]) ** 2)
        found = Enclosure.between(*star)
        note = "S* is larger: rho_m^2 is no bound (E6)" if found.low > square.high else "equal within the bracket"
        factors.append((name, *both_ends(square), *both_ends(found), note))
    return Exhibit(
        "example-2",
        "Example 2: the contraction of a noisy bit",
        (
            "S is a fair bit, X is S flipped with probability p, Y is X flipped with probability D. The bound "
            "S*(X; Y) I(S; X) holds and is not reached for 0 < D < 1/2.",
            "That S* equals the squared maximal correlation is special to the fair bit. With another law of X, or with "
            "three letters, S* is larger, and only S* bounds what is told (E6).",
        ),
        (
            Table("", "In bits.", ("p", "D", "paper: bound", "exact", "exact, up", "note"), tuple(rows)),
            Table(
                "factors",
                "Squared maximal correlation and S*, each as a bracket.",
                ("X", "rho_m^2", "rho_m^2, up", "S*", "S*, up", "note"),
                tuple(factors),
            ),
        ),
        Chart("Example 2", "D", "bits about S", tuple(lines), "The bound of Example 2 above the exact leakage."),
    )


# --- Example 3 --------------------------------------------------------------------------------------------------------
def _needed(factor: float) -> float:
    """Variance of Gaussian noise on a fair sign that leaves exactly this share of its one bit."""
    signs = [-1.0, 1.0]
    return exp(root(lambda u: factor - float(added_noise("gaussian", signs, exp(u / 2))), -6.0, 12.0))


def example_3() -> Exhibit:
    """Gaussian noise on X = +1 or -1: the printed D, what is needed, and the constant that needs none."""
    rows: list[tuple[Cell, ...]] = []
    for text in ("0.05", "0.1", "0.25", "0.5", "0.75", "0.9"):
        eps = float(text)
        printed = 1 / expm1(2 * eps * log(2))
        needed = _needed(eps)
        told = added_noise("gaussian", [-1.0, 1.0], sqrt(printed))
        shrunk = min(1.0, exp(-2 * eps * log(2)))
        note = "the constant is better (E4)" if printed > 1 else "less noise is enough (E4)"
        rows.append(
            (
                text,
                f"{printed:.12f}",
                *both_ends(told),
                f"{needed:.12f}",
                f"{shrunk:.12f}",
                f"{min(needed, 1):.9f}",
                note,
            )
        )
    grid = [k / 50 for k in range(2, 50)]
    lines = (
        Line("paper: D(eps)", tuple((e, min(4.0, 1 / expm1(2 * e * log(2)))) for e in grid), 3, every=0, dashed=True),
        Line("exactly needed", tuple((e, min(4.0, _needed(e))) for e in grid[::3]), 0, every=0),
        Line("shrunk release, from the variance alone", tuple((e, exp(-2 * e * log(2))) for e in grid), 1, every=0),
    )
    return Exhibit(
        "example-3",
        "Example 3: Gaussian noise on a function of the secret",
        (
            "X = S is a fair sign, so H(S) is one bit and the variance is 1. The printed D = var / (e^(2 eps H) - 1), "
            "H in nats, is more than additive noise needs, and beyond the variance the constant E[X] leaks nothing.",
            "The shrunk release (1 - D) X + noise of variance D (1 - D) uses the same two moments and needs only "
            "D = var e^(-2 eps H) for its guarantee (E4).",
        ),
        (
            Table(
                "",
                "Leakage factors and mean squared errors.",
                (
                    "eps",
                    "paper: D",
                    "factor at that D",
                    "factor, up",
                    "exact D",
                    "shrunk D",
                    "additive or constant",
                    "note",
                ),
                tuple(rows),
            ),
        ),
        Chart("Example 3", "leakage factor eps", "mean squared error D (cut at 4)", lines, "A fair sign, variance 1."),
    )


# --- Example 4 --------------------------------------------------------------------------------------------------------
def example_4() -> Exhibit:
    """X uniform on 0, k, 2k, ..., k^k: Laplace noise for differential privacy, Gaussian noise by the variance."""
    laplace: list[tuple[Cell, ...]] = []
    for eps in (0.5, 1.0, 2.0):
        for k in (2, 3, 4, 5):
            m = k ** (k - 1)
            told = added_noise("laplace", [float(k * i) for i in range(m + 1)], 1 / eps).times(
                Fraction(1 / log2(m + 1))
            )
            wrong = m / (m + 1) * exp(-k * eps / 2)
            claim = 1 - exp(-k * eps / 2)
            printed = f"{exp(-k * eps / 2):.9f}", f"{claim:.9f}"
            note = "E5: another factor" if abs(claim - float(told)) > 0.01 else "near"
            laplace.append((f"{eps:g}", str(k), printed[0], f"{wrong:.9f}", printed[1], *both_ends(told), note))
    gaussian: list[tuple[Cell, ...]] = []
    for eps in (0.1, 0.25):
        for k in (2, 3, 4, 5):
            m = k ** (k - 1)
            values = [float(k * i) for i in range(m + 1)]
            spread = k * k * m * (m + 2) / 12
            whole = log2(m + 1)
            factors = [
                added_noise("gaussian", values, sqrt(spread / ratio)).times(Fraction(1 / whole))
                for ratio in (k ** (2 * eps * (k - 1)), (m + 1) ** (2 * eps) - 1)
            ]
            claim = (1 - eps) * log2(m + 1) / log2(k**k)
            least = fano_error(whole - float(factors[0].high) * whole, m + 1)
            broken = "claimed factor broken (E5)" if factors[0].low > Fraction(eps) else "within the claim"
            gaussian.append(
                (
                    f"{eps:g}",
                    str(k),
                    both_ends(factors[0])[0],
                    both_ends(factors[1])[1],
                    f"{claim:.6f}",
                    f"{least:.6f}",
                    broken,
                )
            )
    return Exhibit(
        "example-4",
        "Example 4: differential privacy without knowledge of the correlation",
        (
            "X is uniform on k^(k-1) + 1 multiples of k, and determines all bits. Laplace noise of scale 1/eps is "
            "eps-differentially private and still tells nearly all of X. The error of the best guess is "
            "m / (m + 1) e^(-k eps / 2), m = k^(k-1); the leakage factor is not one minus it (E5).",
            "Gaussian noise with sigma_X^2 / sigma_N^2 = k^(2 eps (k-1)) leaks MORE than the claimed eps; the right "
            "ratio is (1 + m)^(2 eps) - 1. The printed bound of the error drops a one from Fano's: beside it stands "
            "the exact inversion of Fano's inequality at the true leakage.",
        ),
        (
            Table(
                "laplace",
                "Laplace noise: error of the best guess, leakage factor.",
                ("eps", "k", "paper: error", "exact error", "paper: factor", "factor", "factor, up", "note"),
                tuple(laplace),
            ),
            Table(
                "gaussian",
                "Gaussian noise: leakage factor with the printed and with the corrected variance; error of any guess.",
                ("eps", "k", "factor as printed", "factor corrected", "paper: least error", "least error", "note"),
                tuple(gaussian),
            ),
        ),
    )


# --- Example 5 --------------------------------------------------------------------------------------------------------
def example_5() -> Exhibit:
    """(epsilon, delta) from Gaussian noise of sensitivity one: the printed variance and the least one."""
    rows: list[tuple[Cell, ...]] = []
    for eps, delta, variance in ((0.5, 1e-6, 25), (1, 1e-5, 100), (4, 1e-5, 100), (8, 0.01, 100), (10, 1e-5, 100)):
        printed = 2 * log(2 / delta) / eps**2
        reached = gaussian_delta(eps, sqrt(printed))
        least = gaussian_sigma(eps, delta) ** 2
        leaks = [log1p(variance / value) / 2 / log(2) for value in (printed, least)]
        shrunk = max(0.0, log2(variance / least) / 2)
        note = "the promise is broken (E14)" if reached > delta else "more noise than needed (E14)"
        figures = (f"{printed:.9f}", f"{reached:.4g}", f"{least:.9f}", f"{leaks[0]:.9f}", f"{leaks[1]:.9f}")
        rows.append((f"{eps:g}", f"{delta:g}", str(variance), *figures, f"{shrunk:.9f}", note))
    return Exhibit(
        "example-5",
        "Example 5: Gaussian noise for (epsilon, delta)-differential privacy",
        (
            "Sensitivity 1 is implicit in the paper. Its variance 2 log(2/delta) / epsilon^2 is too much for small "
            "epsilon and too little for large; the exact delta of Gaussian noise gives the least. A mechanism that "
            "leaks L has variance var / (e^(2L) - 1), L in nats; the printed eps^(2L) is a slip (E14).",
        ),
        (
            Table(
                "",
                "Variances, the delta that the printed one reaches, and bits leaked at most about X of this variance.",
                (
                    *("epsilon", "delta", "var X", "paper: variance", "its delta", "least variance"),
                    *("paper: bits", "bits at the least", "shrunk, same error", "note"),
                ),
                tuple(rows),
            ),
        ),
    )


# --- claims that fail -------------------------------------------------------------------------------------------------
def failing() -> Exhibit:
    """Theorem 4 without its condition, and Proposition 3 at p = infinity."""
    flip = _symmetric(2, Fraction(3, 4))
    same = Pmf.from_records({"S": BIT, "X": BIT}, [(("0", "0"), 1), (("1", "1"), 1)])
    told = collusion(same, [flip, flip], ["S"])
    assert told.exact is not None
    rows: list[tuple[Cell, ...]] = [
        ("Theorem 4: BSC(1/4) twice of a fair bit", "0.25", f"{told.exact:.9f}", f"{told.percolation:.9f}", "E1"),
    ]
    for name, law in (("uniform, as claimed best", (1, 1, 1)), ("(7, 6, 7)/20", (7, 6, 7))):
        outputs = tuple(str(k) for k in range(5))
        zero = Fraction(0)
        noise = [Fraction(value, sum(law)) for value in law]
        channel = Channel(
            {"X": ("-1", "0", "1")},
            {"Y": outputs},
            tuple((*[zero] * k, *noise, *[zero] * (2 - k)) for k in range(3)),
        )
        found = capacity(channel)
        rows.append((f"Proposition 3, p = inf, mu = D = 1: {name}", "", f"{found.low:.9f}", f"{found.high:.9f}", "E2"))
    return Exhibit(
        "failing-claims",
        "Theorem 4 and Proposition 3",
        (
            "Two releases of the same bit tell more than the largest contraction of one of them: Theorem 4 needs a "
            "condition that no dependent pair meets (E1); the percolation bound takes its place.",
            "Uniform noise is not the best bounded noise of integers: the second law has less capacity (E2).",
        ),
        (Table("", "In bits.", ("claim", "paper: at most", "true", "bound", "erratum"), tuple(rows)),),
    )


EXHIBITS: tuple[tuple[str, Callable[[], Exhibit]], ...] = (
    ("Example 1", example_1_of_004),
    ("Example 2", example_2),
    ("Example 3", example_3),
    ("Example 4", example_4),
    ("Example 5", example_5),
    ("claims that fail", failing),
)


def exhibits(on_progress: Progress | None = None) -> list[Exhibit]:
    """All of them, in the order of the paper."""
    return computed(EXHIBITS, on_progress)
