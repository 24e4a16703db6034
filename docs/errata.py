"""Recomputes every number of docs/errata.md that version 0.1.0 can compute: python docs/errata.py"""

from collections.abc import Callable, Iterable
from fractions import Fraction
from itertools import combinations, product

import numpy as np

from dalenius import Channel, Pmf, Problem
from dalenius.measures import (
    LatentModel,
    preprocessing,
    preprocessing_efficiency,
    preprocessing_lower_bound_efficiency,
    preprocessing_lower_bound_eq67,
    typical_epsilon,
    weak_deviation,
)
from dalenius.mechanisms import solve
from dalenius.solvers import rank, vertices
from dalenius.tables import conditionally_iid
from dalenius.testing import disclosure, example2, two_binary

HALF = Fraction(1, 2)
BITS = ("0", "1")


def samples(alphabets: dict[str, tuple[str, ...]], law: Callable[..., tuple[Fraction, Fraction]]) -> Problem:
    """Y independent of X1 and of X2 and so on, about W; law(x) = (p(x), p(W = 0 | x))."""
    records = []
    for x in product(*alphabets.values()):
        p, w0 = law(*x)
        records += [((*x, "0"), p * w0), ((*x, "1"), p * (1 - w0))]
    joint = Pmf.from_records({**alphabets, "W": BITS}, records)
    return disclosure(joint, list(alphabets), ["W"], [[n] for n in alphabets])


def incidence(problem: Problem) -> list[list[int]]:
    """The matrix P of (3): one row for each letter of each sample, one column for each outcome that occurs."""
    joint = problem.pmf.marginal(problem.observe)
    return [
        [int(x[i] == a) for x in joint.support.tolist()]
        for i, letters in enumerate(joint.variables.values())
        for a in range(len(letters))
    ]


def information(joint: Pmf, a: str, b: str) -> float:
    """I(A; B) in bits, in floats, from an exact joint pmf."""
    p = joint.counts([a], [b]).astype(float) / joint.total
    q = p.sum(axis=1, keepdims=True) * p.sum(axis=0, keepdims=True)
    return float((p[p > 0] * np.log2(p[p > 0] / q[p > 0])).sum())


def told(values: Iterable[Fraction]) -> str:
    return "(" + ", ".join(str(v) for v in values) + ")"


def second_example() -> None:
    design = solve(example2())
    joint = design.problem.pmf
    print("Example 2")
    print("  p(x)        ", told(joint.marginal(["X1", "X2"]).probability(X1=a, X2=b) for a in "01" for b in "0e1"))
    given = [joint.probability(X1=a, X2=b, W="0") / joint.probability(X1=a, X2=b) for a in "01" for b in "0e1"]
    print("  p(W = 0 | x)", told(given), "where (20) prints (1, 2/3, 0, 1, 1/3, 0)")
    print(f"  value {float(design.value):.16f}, gap {float(design.gap):.0e}, {design.method}")
    for y, column in enumerate(zip(*design.channel.rows, strict=True)):
        print(f"  p(y{y} | x)    ", told(column))


def proposition_4() -> None:
    four = ("0", "1", "2", "3")

    def law(flip: bool) -> Callable[[str, str], tuple[Fraction, Fraction]]:
        def at(a: str, b: str) -> tuple[Fraction, Fraction]:
            i, j = int(a), int(b)
            if (i < 2) != (j < 2):
                return Fraction(0), HALF
            sign = (1 if i == j else -1) * (-1 if flip and i >= 2 else 1)
            return Fraction(1, 8), HALF + Fraction(sign, 4)

        return at

    plus, minus = (solve(samples({"X1": four, "X2": four}, law(flip))) for flip in (False, True))
    P = incidence(plus.problem)
    print("E3, Proposition 4")
    print(f"  outcomes {len(P[0])} = 4 + 4 - 2 + 2; nullity {len(P[0]) - rank(P)}, extreme points", end=" ")
    print(len(vertices(P, [Fraction(1, 4)] * 8)))
    for name, design in (("W+", plus), ("W-", minus)):
        others = [information(design.channel.after(d.problem.pmf), "W", "Y") for d in (plus, minus)]
        print(f"  best for {name}: value {float(design.value):.12f}", end="; ")
        print(f"tells {others[0]:.12f} about W+, {others[1]:.12f} about W-")


def two_binary_samples() -> None:
    alpha, beta, r = Fraction(7, 10), Fraction(4, 10), Fraction(42, 100)
    R, least = min(alpha, 1 - beta), max(Fraction(0), alpha - beta)
    p, n = [alpha - r, r, beta - alpha + r, 1 - beta - r], [1, -1, -1, 1]
    print("E4, two binary samples, alpha = 7/10, beta = 4/10, r = 42/100")
    print("  printed a_2 = p + r n           ", told(a + r * b for a, b in zip(p, n, strict=True)))
    print("  printed entry of (26)           ", (beta - alpha) * (R - r) / (R * (beta - alpha + r)))
    a1 = [a - (R - r) * b for a, b in zip(p, n, strict=True)]
    a2 = [a + (r - least) * b for a, b in zip(p, n, strict=True)]
    weight = (r - least) / (R - least)
    print("  corrected a_1, a_2, weight of a_1", told(a1), told(a2), weight)
    design = solve(two_binary(p, [1, 0, 0, 1]))  # W = X1 xor X2
    print(f"  ours: value {float(design.value):.15f}, gap {float(design.gap):.0e}, columns", end=" ")
    print(*(told(c) for c in zip(*design.channel.rows, strict=True)))

    def h(q: Fraction) -> float:
        return float(-sum(v * np.log2(float(v)) for v in (q, 1 - q) if v))

    closed = h(p[0] + p[3]) - float(weight) * h(a1[0] + a1[3]) - float(1 - weight) * h(a2[0] + a2[3])
    print(f"  corrected closed form: value {closed:.15f}")


def corollary_1_1() -> None:
    four = {f"X{k}": BITS for k in range(1, 5)}
    parity = solve(samples(four, lambda a, b, *_: (Fraction(1, 16), Fraction(int(a == b)))))
    P = incidence(parity.problem)
    print("E5, Corollary 1.1: four fair bits, W = X1 xor X2")
    print(f"  outcomes {len(P[0])}, rank {rank(P)}, so `at least` {-(-len(P[0]) // rank(P))} letters;", end=" ")
    print(f"ours: value {float(parity.value)}, gap {float(parity.gap)}, {parity.channel.shape[1]} letters")
    nothing = solve(two_binary(["1/4"] * 4, ["1/4", "1/2", "1/2", "3/4"]))
    print(f"  a W that only adds up the samples: value {float(nothing.value)}, {nothing.channel.shape[1]} letter")


def algorithm_1(n: int, q: Fraction) -> None:
    bits = {f"X{k}": BITS for k in range(1, n + 1)}

    def law(*x: str) -> tuple[Fraction, Fraction]:
        p = Fraction(1)
        for a in x:
            p *= q if a == "1" else 1 - q
        return p, HALF

    P = incidence(samples(bits, law))
    margins = [1 - q, q] * n
    p = np.array([float(np.prod([q if a == "1" else 1 - q for a in x])) for x in product(BITS, repeat=n)])
    size = rank(P)
    A = np.linalg.svd(np.array(P, float))[2][:size]
    accepted = []
    for basis in combinations(range(2**n), size):
        try:
            x = np.linalg.solve(A[:, basis], A @ p)
        except np.linalg.LinAlgError:
            continue
        if x.min() >= -1e-9:
            v = np.zeros(2**n)
            v[list(basis)] = x
            accepted.append(tuple(np.round(v, 9) + 0.0))
    true = len(vertices(P, margins))
    print(f"E14, Algorithm 1 in floats, {n} bits, q = {q}: {len(accepted)} accepted,", end=" ")
    print(f"{len(set(accepted))} distinct, {true} true")


def windows_of_three() -> None:
    names = [f"X{k}" for k in range(1, 5)]
    q = Fraction(2, 5)
    records = []
    for x in product(BITS, repeat=4):
        ones = x.count("1")
        records.append((x, q**ones * (1 - q) ** (4 - ones)))
    joint = Pmf.from_records(dict.fromkeys(names, BITS), records)
    columns = (["2/9", 0, 0, 1, "2/3", 0, 0, 0], [0, "1/3", "1/3", 0, "1/3", 0, 0, "1/4"])
    for at, (name, column) in enumerate(zip(("A", "B"), columns, strict=True)):
        rows = tuple((Fraction(c), 1 - Fraction(c)) for c in column)
        joint = Channel(dict.fromkeys(names[at : at + 3], BITS), {name: ("y", "else")}, rows).after(joint)
    print("E1, windows of three samples that overlap in two, q = 2/5")
    for event in ({"A": "y"}, {"B": "y"}, {"A": "y", "B": "y"}):
        given = [joint.probability(**{x: "1"}, **event) / joint.probability(**event) for x in names]
        print(f"  P(X = 1 | {', '.join(event)})".ljust(24), told(given))


def sections_4_and_5() -> None:
    q, n = Fraction(1, 20), 4
    print(
        f"E2, preprocessing of {n} bits, q = {q}: (67) says {preprocessing_lower_bound_eq67(q, n):.12f} bits,", end=" "
    )
    print(f"exactly {preprocessing(q, n):.12f}")
    printed, true = preprocessing_lower_bound_efficiency(q), preprocessing_efficiency(q)
    print(f"  asymptotic efficiency: (67) says {printed:.12f}, exactly {true:.12f}")
    off = [weak_deviation(law, [9, 1]) for law in (["9/10", "1/10"], ["1/10", "9/10"])]
    print(f"E8, ten samples with one 1, crossover 1/10: off by {off[0]:.3f} bits for input 0,", end=" ")
    print(f"by {off[1]:.3f} bits for input 1")
    model = LatentModel.of([HALF, HALF], [["1/5", "1/10", "7/10"], ["1/10", "1/5", "7/10"]])
    print(
        f"E10, (.2, .1, .7) and (.1, .2, .7): epsilon {typical_epsilon(model)} instead of {2 * typical_epsilon(model)}"
    )


def table_1() -> None:
    prior = Pmf.from_records({"W": BITS}, [(("0",), "2/3"), (("1",), "1/3")])
    kernel = Channel({"W": BITS}, {"X": BITS}, ((Fraction(9, 10), Fraction(1, 10)), (Fraction(1, 10), Fraction(9, 10))))
    print("Table I")
    for n in (2, 3, 4):
        names = [f"X{k}" for k in range(1, n + 1)]
        design = solve(disclosure(conditionally_iid(prior, kernel, "W", n), names, ["W"], [[x] for x in names]))
        print(f"  n = {n}: {float(design.value):.15f}, gap {float(design.gap):.0e}")


if __name__ == "__main__":
    second_example()
    proposition_4()
    two_binary_samples()
    corollary_1_1()
    algorithm_1(3, Fraction(1, 10))
    algorithm_1(4, Fraction(1, 10))
    windows_of_three()
    sections_4_and_5()
    table_1()
