"""Examples and formulas of paper 001, "Achieving Dalenius' Goal of Data Privacy with Practical Assumptions".

Every figure is recomputed when it is asked for, as a proved bracket in bits. The printed formulas stand beside it, with
units and meanings repaired where the paper mixes them (docs/errata.md).
"""

from collections.abc import Callable
from fractions import Fraction
from math import e, log, log2, sqrt

from dalenius.core import Channel
from dalenius.core.query import Interval, Query
from dalenius.measures.composition import parallel
from dalenius.measures.dp import information_of_dp
from dalenius.measures.noise import (
    exponential_rate,
    gaussian_bound,
    gaussian_variance,
    noisy_mean_tail,
    response_bits,
    response_probability,
)
from dalenius.measures.query import query_capacity, query_independent
from dalenius.papers.curve import Chart, Line
from dalenius.papers.enclosure import Enclosure
from dalenius.papers.exhibit import Cell, Exhibit, Progress, Table, both_ends, computed
from dalenius.solvers.smith import interval_capacity

__all__ = ["TITLE", "exhibits"]

TITLE = "Achieving Dalenius' goal of data privacy with practical assumptions"

TRITS, BITS = ("0", "1", "2"), ("0", "1")
SAME = tuple("1" if a == b else "0" for a in TRITS for b in BITS)


def _between(low: float, high: float) -> Enclosure:
    return Enclosure(Fraction(low), Fraction(max(low, high)))


def example() -> Exhibit:
    """Section 3.1: f = [x1 = x2] over 3 x 2 letters under randomised response, and (54)."""
    rows: list[tuple[Cell, ...]] = []
    points, formula = [], []
    for p in (Fraction(k, 20) for k in range(1, 10)):
        query = Query(2, (TRITS, BITS), "table", "randomised-response", p, table=SAME)
        found = query_capacity(query)
        printed = Enclosure(*response_bits(p))
        ours = _between(found.low, found.high)
        note = "agrees: reached, by both records" if ours.meets(printed) else "DIFFERS from (54)"
        rows.append((str(p), both_ends(printed)[0], *both_ends(ours), note))
        points.append((float(p), found.low))
        formula.append((float(p), float(printed)))
    return Exhibit(
        "section-3-1",
        "Section 3.1: randomised response about whether two records agree",
        (
            "X1 has three letters, X2 has two, f says whether they agree, and the answer is wrong with probability p. "
            "The search over all adversaries finds log 2 - h(p), the formula (54). The paper leaves open whether it is "
            "reached in general: it is, by every record of two letters and every f that is not constant.",
        ),
        (
            Table(
                "",
                "Paper: (54). Ours: individual capacity, bits.",
                ("p", "paper", "ours", "bound", "note"),
                tuple(rows),
            ),
        ),
        Chart(
            "Section 3.1",
            "p, probability of a wrong answer",
            "bits about one record",
            (
                Line("paper: log 2 - h(p)", tuple(formula), 3, every=0),
                Line("ours: any adversary", tuple(points), 0, joined=False),
            ),
            "The marks are proved brackets narrower than the line.",
        ),
    )


def calibrations() -> Exhibit:
    """p*(eps) of (57) and the largest rate lambda(eps) of (83), eps in bits."""
    budgets = [Fraction(k, 20) for k in range(1, 20)]
    answers = {budget: response_probability(budget) for budget in budgets}
    rates = {k: {budget: exponential_rate(k, budget, digits=10) for budget in budgets[::3]} for k in (2, 5, 10, 100)}
    first = tuple(
        (str(budget), *both_ends(Enclosure(min(answers[budget]), max(answers[budget]))), "the larger meets the budget")
        for budget in budgets
    )
    second = tuple(
        (
            str(k),
            str(b),
            *both_ends(Enclosure(min(ends), max(ends))),
            "above 1, which the paper excludes" * (ends[0] > 1),
        )
        for k, of in rates.items()
        for b, ends in of.items()
    )
    return Exhibit(
        "calibration",
        "p*(eps) of (57) and lambda(eps) of (83)",
        (
            "The least probability of a wrong answer, and the largest rate of the exponential channel over k values, "
            "that keep to a budget. Each pair of numbers is proved: one meets the budget, the other does not.",
        ),
        (
            Table("response", "Randomised response of two values.", ("eps, bits", "ours", "bound", "note"), first),
            Table("exponential", "Exponential channel.", ("k", "eps, bits", "ours", "bound", "note"), second),
        ),
        Chart(
            "Calibration",
            "budget, bits",
            "parameter",
            (
                Line(
                    "p* of randomised response",
                    tuple((float(budget), float(answers[budget][0])) for budget in budgets),
                    0,
                ),
                *(
                    Line(f"rate, {k} values", tuple((float(b), float(v[0])) for b, v in of.items()), c, dashed=True)
                    for c, (k, of) in enumerate(rates.items(), 1)
                ),
            ),
            "More noise lies up for p* and down for the rates.",
        ),
    )


def gaussian() -> Exhibit:
    """(115) beside the exact capacity under |f| <= T, and the variance that each asks for."""
    rows: list[tuple[Cell, ...]] = []
    exact, printed = [], []
    for a in (0.25, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 7.0, 10.0):
        found = interval_capacity("gaussian", a)
        ours = _between(found.low / log(2) * (1 - 1e-15), found.high / log(2) * (1 + 1e-15))
        bound = gaussian_bound(a, 1.0)
        note = f"DIFFERS: (115) is only a bound; {len(found.points)} points reach ours"
        rows.append((f"{a:g}", f"{bound:.10f}", *both_ends(ours), note))
        exact.append((a, float(ours)))
        printed.append((a, bound))
    return Exhibit(
        "equation-115",
        "Equation (115): Gaussian noise on a limited number",
        (
            "With |f| <= T and noise of variance N the paper takes log(1 + T^2/N)/2 for the capacity. That is what a "
            "limited power would give; a limited amplitude gives less, reached by a few points (Smith). At one nat the "
            "exact capacity needs 2.06 times less variance than (117). A record with two letters never tells more "
            "than one bit, whatever (115) says.",
        ),
        (
            Table(
                "",
                "A = T / sqrt N. Paper: (115). Ours: exact, bits.",
                ("A", "paper", "ours", "bound", "note"),
                tuple(rows),
            ),
        ),
        Chart(
            "Equation (115)",
            "A = T / sqrt N",
            "bits",
            (Line("paper: (115)", tuple(printed), 1, dashed=True), Line("ours: exact", tuple(exact), 0)),
            "The formula of the paper is an upper bound that is not reached.",
        ),
    )


def utility() -> Exhibit:
    """(119)-(121) with deviations for variances repaired, and the same noises at one meaning."""
    delta, rows, lines = 1e-5, [], []
    for n in (1, 10, 100, 1000):
        step, eps = 2.0 / n, 0.1
        laplace = sqrt(2) * step / eps
        normal = step * sqrt(2 * log(1.25 / delta)) / eps
        ours = sqrt(gaussian_variance(1.0, eps / log(2)))
        rows.append((str(n), f"{laplace:.6g}", f"{normal:.6g}", f"{ours:.6g}"))
        lines.append((float(n), laplace, normal, ours))
    same: list[tuple[Cell, ...]] = []
    for n in (1, 10, 100):
        for noise in ("laplace", "gaussian"):
            query = Query(n, Interval(Fraction(-1), Fraction(1)), "mean", noise, Fraction(1))
            found = query_capacity(query)
            alone = query_independent(query)
            any_one = _between(found.low, found.high)
            independent = _between(*alone)
            same.append(
                (
                    str(n),
                    noise,
                    *both_ends(any_one),
                    *both_ends(independent),
                    "scale" if noise == "laplace" else "variance",
                )
            )
    return Exhibit(
        "utility",
        "(119)-(121): how much noise, and for which promise",
        (
            "The paper's figures for Laplace and Gaussian noise are standard deviations that it calls variances, and "
            "its epsilon is two different things. With deviations throughout, T = 1, eps = 0.1 nats and delta = 1e-5 "
            "the order of the three depends on n. The second table compares what one noise of scale or variance 1 lets "
            "out: against any adversary it does not depend on n, against independent records it falls like 1/n^2.",
        ),
        (
            Table(
                "deviations",
                "Standard deviations: Laplace sqrt 2 (2T/n)/eps, Gaussian (2T/n) sqrt(2 ln(1.25/delta))/eps, (117).",
                ("n", "Laplace, DP", "Gaussian, DP", "Gaussian, any adversary"),
                tuple(rows),
            ),
            Table(
                "one-meaning",
                "Bits about one record of a mean of numbers in [-1, 1], noise of scale or variance 1.",
                ("n", "noise", "any adversary", "bound", "independent records", "bound", "1 is its"),
                tuple(same),
            ),
        ),
        Chart(
            "Deviations",
            "n, records",
            "standard deviation",
            (
                Line("Laplace, eps-DP", tuple((n, a) for n, a, _, _ in lines), 0),
                Line("Gaussian, (eps, delta)-DP", tuple((n, b) for n, _, b, _ in lines), 1),
                Line("Gaussian, any adversary, (117)", tuple((n, c) for n, _, _, c in lines), 2, dashed=True),
            ),
            "For few records the noise of differential privacy is the larger, for many the smaller.",
            log_x=True,
        ),
    )


def composition() -> Exhibit:
    """tau(k): what k disjoint bits, each through a binary symmetric channel, add to each other."""
    rows: list[tuple[Cell, ...]] = []
    lines = []
    for colour, p in enumerate((Fraction(1, 10), Fraction(1, 4), Fraction(2, 5))):
        flip = Channel({"X": BITS}, {"Y": BITS}, ((1 - p, p), (p, 1 - p)))
        points = []
        for k in (1, 2, 3, 4, 5, 6):
            found = parallel([flip] * k)
            tau = _between(*found.tau)
            rows.append((str(p), str(k), "0", *both_ends(_between(*found.together)), *both_ends(tau), found.rule))
            points.append((float(k), float(found.tau[0])))
        lines.append(Line(f"p = {p}", tuple(points), colour))
    return Exhibit(
        "parallel",
        "Proposition 7: tau(k) of parallel composition",
        (
            "k people, one bit each, released one by one. Proposition 7 holds with some tau >= 0, which says nothing; "
            "tau is above 0, because the second person may be a copy of the first. As k grows all of the bit is told.",
        ),
        (
            Table(
                "",
                "Bits. The paper hopes for tau = 0.",
                ("p", "k", "hoped for", "C_1", "bound", "tau", "bound", "note"),
                tuple(rows),
            ),
        ),
        Chart("tau(k)", "k, people", "tau, bits", tuple(lines), "What the others add to the worst single release."),
    )


def relations() -> Exhibit:
    """The arrows of Figure 2 with the strongest constants that hold, and Proposition 4 with its true limit."""
    levels = tuple(
        (f"{eps:g}", f"{eps / log(2):.6g}", f"{information_of_dp(eps):.10f}", "Corollary 1 is loose")
        for eps in (0.1, 0.5, 1.0, 3.0)
    )
    tail, chebyshev = noisy_mean_tail(gaussian_variance(1.0, log2(e)), 1.0)
    arrows = (
        ("eps-DP => C_1 <= J(eps), independent records", "holds", "J(eps) <= eps^2/8 nats"),
        ("eps-DP between any two inputs => C_1 <= J(eps), any adversary", "holds", "strong DP"),
        ("C_1 <= eps => DP", "fails", "Gaussian noise: C_1 finite, no level at all"),
        ("C_1^b small => DP", "fails", "noiseless parity of n fair bits: C_1^b = 0 at b = n"),
        ("max-mutual information = DP, independent records", "holds", "with sup for max (Theorem 1)"),
        ("C_1 composes; C_k <= k C_1", "holds", "Theorems 4 and 5"),
        ("C_1^b composes", "fails", "x1^x2^x3 and x2^x3: 0 and 0 bits, together 1"),
        ("perfect secrecy", "holds", "n = 1, one-time pad: 0 bits"),
    )
    return Exhibit(
        "figure-2",
        "Figure 2: which notion implies which",
        ("The arrows of the figure with what was proved or refuted; a level of differential privacy is in nats.",),
        (
            Table("arrows", "Relations.", ("relation", "ours", "note"), arrows),
            Table("levels", "What a level says, in bits.", ("eps, nats", "Corollary 1", "J(eps)", "note"), levels),
            Table(
                "tail",
                "Proposition 4: P(|W - mean| >= 1) as n grows, T = 1, one nat, noise by (117).",
                ("printed limit", "true limit 2Q(tau/sqrt N)"),
                ((f"{chebyshev:.10f}", f"{tail:.10f}"),),
            ),
        ),
    )


EXHIBITS: tuple[tuple[str, Callable[[], Exhibit]], ...] = (
    ("section 3.1", example),
    ("calibrations", calibrations),
    ("equation (115)", gaussian),
    ("(119) to (121)", utility),
    ("parallel composition", composition),
    ("figure 2", relations),
)


def exhibits(on_progress: Progress | None = None) -> list[Exhibit]:
    """All of them, in the order of the paper."""
    return computed(EXHIBITS, on_progress)
