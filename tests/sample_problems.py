"""Small problems of perfect sample privacy that several tests ask for."""

from dataclasses import replace
from fractions import Fraction
from itertools import product

from dalenius.core import Pmf
from dalenius.testing import disclosure, self_disclosure

BIT = ("0", "1")


def counted(names, counts, samples, about, views, **rest):
    """A disclosure problem over binary variables with these counts, last variable fastest."""
    cells = product(*[BIT] * len(names))
    joint = Pmf.from_records(dict.fromkeys(names, BIT), zip(cells, counts, strict=True))
    return replace(disclosure(joint, samples, about, views), **rest)


def kept_parity():
    """W = X1 xor X2 xor K of fair bits: with K beside it the parity of the samples tells all, alone nothing."""
    counts = [int(w == a ^ b ^ k) for a, b, k, w in product((0, 1), repeat=4)]
    return counted(["X1", "X2", "K", "W"], counts, ["X1", "X2"], ["W"], [["X1"], ["X2"]], keep=("K",))


def kept_biased():
    """K goes with X2, not with X1; W is noisy. Only X1 is protected."""
    k_given_b = ((3, 1), (1, 2))
    w_given = ((5, 1), (2, 3), (1, 4), (3, 3), (2, 2), (1, 5), (4, 1), (1, 1))
    totals = [sum(w) for w in w_given]
    counts = []
    for i, (a, b, k) in enumerate(product((0, 1), repeat=3)):
        mass = Fraction((2, 3)[a] * (4, 3)[b] * k_given_b[b][k], sum(k_given_b[b]))
        counts += [mass * Fraction(w, totals[i]) / (5 * 7) for w in w_given[i]]
    return counted(["X1", "X2", "K", "W"], counts, ["X1", "X2"], ["W"], [["X1"]], keep=("K",))


def hidden_view():
    """The protected S is not observed: the mechanism sees X, a noisy three-letter copy."""
    variables = {"S": BIT, "X": ("a", "b", "c"), "W": BIT}
    counts = [6, 1, 4, 1, 1, 2, 1, 2, 4, 1, 2, 5]
    joint = Pmf.from_records(variables, zip(product(*variables.values()), counts, strict=True))
    return disclosure(joint, ["X"], ["W"], [["S"]])


def sparse():
    """Three samples, six of the eight outcomes possible."""
    counts = [4, 1, 0, 0, 2, 2, 1, 3, 3, 1, 1, 1, 0, 0, 2, 5]
    return counted(["X1", "X2", "X3", "W"], counts, ["X1", "X2", "X3"], ["W"], [["X1"], ["X2"], ["X3"]])


def stratified():
    """W is X2 in one stratum and mostly X1 xor X2 in the other: the mechanism must know which."""
    counts = [(4 if w == b ^ (a & t) else int(a & t)) for a, b, t, w in product((0, 1), repeat=4)]
    counts = [
        Fraction(n, 32 if not a & t else 40) for n, (a, _, t, _) in zip(counts, product((0, 1), repeat=4), strict=True)
    ]
    return counted(["X1", "X2", "T", "W"], counts, ["X1", "X2"], ["W"], [["X1"]], strata=("T",))


def windows():
    """Corollary 4.1: independent of (X1, X2) jointly and of (X2, X3) jointly."""
    problem = self_disclosure(["3/5", "2/5"], 3)
    return disclosure(problem.pmf, ["X1", "X2", "X3"], ["X1", "X2", "X3"], [["X1", "X2"], ["X2", "X3"]])
