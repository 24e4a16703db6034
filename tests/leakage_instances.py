"""Programs for tests and benchmarks of `solvers.leakage`: named mixtures, and random ones around a known channel."""

from dataclasses import replace
from fractions import Fraction

import numpy as np

from dalenius.solvers.leakage import Program, Term, search
from dalenius.solvers.leakage.arrays import Arrays, Secret

MIXTURES = ("dist", "local", "ind", "mindist", "limits", "marginal", "worst", "combined", "together", "zeros")


def near(x, digits=9):
    """A short Fraction near x."""
    return Fraction(round(float(x) * 10**digits), 10**digits)


def exact(matrix):
    """Whole numbers or short decimals, as Fractions in an object array."""
    return np.array(
        [[Fraction(v).limit_denominator(10**6) for v in row] for row in np.asarray(matrix).tolist()], object
    )


def hamming(n):
    return (1 - np.eye(n, dtype=int)).astype(object)


def steps(n):
    return np.array([[Fraction(abs(i - j), n) for j in range(n)] for i in range(n)], object)


def term(counts):
    return Term(counts, np.zeros(len(counts), dtype=np.int64))


def rows(n, limit):
    """The same limit for every row, of a worst case."""
    return np.array([Fraction(limit)] * n, dtype=object)


def odds(counts, mass, r):
    """1/r <= p(k|t) / p(k) <= r."""
    total = int(mass.sum())
    prior = np.array([[Fraction(int(row.sum()) * int(n), total) for n in mass] for row in counts], dtype=object)
    return counts, prior, r


class Source:
    """n rows with counts of a secret S, an attribute V of 3 values and a second secret of 4."""

    def __init__(self, n, secrets=None, seed=0):
        rng = np.random.default_rng(seed)
        k = secrets or max(2, min(10, n // 6))
        base = rng.dirichlet(np.ones(n) * 2)
        parts = [rng.dirichlet(np.ones(k) * 0.7, n), rng.dirichlet(np.ones(3) * 2, n), rng.dirichlet(np.ones(4), n)]
        law = np.einsum("e,es,ev,ew->esvw", base, *parts)
        cells = rng.multinomial(max(100_000, 40 * n * k), law.ravel() / law.sum()).reshape(law.shape)
        cells[cells.sum(axis=(1, 2, 3)) == 0, 0, 0, 0] = 1
        self.cells = cells
        self.mass = cells.sum(axis=(1, 2, 3)).astype(object)
        self.secret = cells.sum(axis=(2, 3)).T.astype(object)
        self.attribute = cells.sum(axis=(1, 3)).T.astype(object)
        self.second = cells.sum(axis=(1, 2)).T.astype(object)
        self.p = (self.mass / self.mass.sum()).astype(float)
        self.marginal = tuple(Fraction(int(v), int(self.mass.sum())) for v in self.mass)

    def program(self, **parts):
        n = len(self.mass)
        parts.setdefault("cost", np.zeros((n, n), object))
        parts.setdefault("allowed", np.ones((n, n), bool))
        return Program(mass=self.mass, letters=n, **parts)


def mixture(name, n, seed=0, secrets=None, share=0.3):
    """One of MIXTURES, or "metric", or "rate", on n rows and n letters."""
    src = Source(n, secrets, seed)
    p, C, C2, S = src.p, hamming(n), steps(n), term(src.secret)
    far = float((p @ C.astype(float)).min())
    kept = np.diag(p)
    spread = {k: Secret.of(term(v), src.mass) for k, v in (("S", src.secret), ("V", src.attribute), ("2", src.second))}
    least = {"objective": ((Fraction(1), S),)}
    if name == "dist":
        return src.program(**least, distortions=((C, near(share * far)),))
    if name == "local":
        return src.program(**least, distortions=((C, near(0.45 * far)),), local_dp=((np.arange(n), Fraction(4 * n)),))
    if name == "ind":
        return src.program(**least, distortions=((C, near(0.6 * far)),), independent=(src.attribute,))
    if name == "mindist":
        return src.program(cost=C, leakages=((S, near(0.2 * spread["S"].leakage(kept).sum())),))
    if name == "limits":
        k = int((p @ C2.astype(float)).argmin())
        point = 0.55 * kept
        point[:, k] += 0.45 * p
        limits = tuple(
            (term(v), near(0.3 * spread[key].leakage(point).sum()))
            for key, v in (("V", src.attribute), ("2", src.second))
        )
        distortions = tuple((M, near((M.astype(float) * point).sum())) for M in (C, C2))
        return src.program(**least, distortions=distortions, leakages=limits)
    if name == "marginal":
        return src.program(**least, distortions=((C, near(share * far)),), marginal=src.marginal)
    if name == "worst":
        return src.program(
            cost=C,
            worst=((S, rows(n, near(0.1 * np.log(len(src.secret))))),),
            leakages=((S, near(0.5 * spread["S"].leakage(kept).sum())),),
        )
    if name == "metric":
        r = near(np.exp(20 / n))
        pairs = tuple((i, j, r) for k in range(n - 1) for i, j in ((k, k + 1), (k + 1, k)))
        return src.program(**least, distortions=((C2, near(0.6 * float((p @ C2.astype(float)).min()))),), pairs=pairs)
    if name == "rate":
        rate = term(np.diag(src.mass))
        half = Fraction(1, 2)
        return src.program(objective=((half, S), (half, rate)), distortions=((C, near(share * far)),))
    return _together(src, name)


def _together(src, name):
    """Everything at once, around a channel that keeps all of it; "combined" has neither odds nor a worst case."""
    n, C, C2, S = len(src.mass), hamming(len(src.mass)), steps(len(src.mass)), term(src.secret)
    base = src.program(cost=C, independent=(src.attribute,), marginal=src.marginal)
    if name != "combined":
        base = replace(base, odds=(odds(src.second, src.mass, near(np.exp(0.7))),))
    quick = {"gap": 1e-4, "seconds": 100}
    if name != "zeros":
        base = replace(base, local_dp=((np.arange(n), Fraction(4 * n)),))
        point = 0.5 * search(base, **quick).pi + 0.5 * np.outer(src.p, src.p)
    else:
        allowed = np.ones((n, n), bool)
        allowed[np.arange(0, n, 3), (np.arange(0, n, 3) + n // 2) % n] = False
        base = replace(base, allowed=allowed)
        quiet = replace(base, cost=np.zeros((n, n), object), objective=((Fraction(1), S),))
        point = 0.5 * search(base, **quick).pi + 0.5 * search(quiet, **quick).pi
    leak = Secret.of(S, src.mass).leakage(point)
    other = Secret.of(term(src.second), src.mass).leakage(point)
    if name == "combined":
        base = replace(base, distortions=((C, near(1.02 * (C.astype(float) * point).sum())),))
    else:
        base = replace(base, worst=((S, rows(n, near(1.02 * (leak / point.sum(axis=0)).max()))),))
    return replace(
        base,
        leakages=((S, near(1.02 * leak.sum())), (term(src.second), near(1.02 * other.sum()))),
        distortions=(
            *base.distortions,
            (C2, near(1.02 * (C2.astype(float) * point).sum())),
        ),
    )


def conic(program):
    """The program for cvxpy: a term is the relative entropy of the joint weights to (letter mass) x (prior)."""
    import cvxpy as cp

    a = Arrays.of(program)
    n, m = a.allowed.shape
    pi = cp.Variable((n, m), nonneg=True)

    def leak(s):
        return cp.sum(cp.rel_entr(s.B @ pi, cp.multiply(np.outer(s.c, np.ones(m)), (s.G.T @ s.G @ s.B) @ pi)), axis=0)

    holds = [cp.sum(pi, axis=1) == a.p, *(cp.sum(cp.multiply(C, pi)) <= D for C, D in a.distortions)]
    holds += [cp.sum(leak(s)) <= L for s, L in a.leakages]
    holds += [leak(s) <= most @ pi for s, most in a.worst]
    holds += [a.G @ pi == a.h] if len(a.G) else []
    holds += [a.A @ pi >= 0] if len(a.A) else []
    W = cp.multiply(np.outer(1 / a.p, np.ones(m)), pi)
    for rows, r in a.local_dp:
        floor = np.ones((len(rows), 1)) @ cp.Variable((1, m))
        holds += [W[rows] >= floor, W[rows] <= r * floor]
    holds += [W[i] <= r * W[j] for i, j, r in a.pairs]
    holds += [] if a.allowed.all() else [cp.multiply(1.0 - a.allowed, pi) == 0]
    goal = cp.sum(cp.multiply(a.cost, pi)) + sum(theta * cp.sum(leak(s)) for theta, s in a.objective)
    return cp.Problem(cp.Minimize(goal), holds)


def random_mixture(seed, most=20):
    """A random program that one channel, drawn first, keeps with a little room: 3..most rows and letters."""
    rng = np.random.default_rng(seed)
    n, m = (int(v) for v in rng.integers(3, most + 1, 2))
    cells = rng.multinomial(20_000, rng.dirichlet(np.ones(n * 12))).reshape(n, 2, 3, 2) + 1
    mass = cells.sum(axis=(1, 2, 3)).astype(object)
    p = (mass / mass.sum()).astype(float)
    S = term(cells.sum(axis=(2, 3)).T.astype(object))
    view, third = (cells.sum(axis=axes).T.astype(object) for axes in ((1, 3), (1, 2)))
    given = Term(cells.sum(axis=2).reshape(n, 4).T.astype(object), np.array([0, 1, 0, 1]))  # rows (s, z) in groups z
    terms = [S, term(view), term(third), given, term(np.diag(mass))]
    allowed = np.ones((n, m), bool)
    parts = {}
    tied = rng.random() < 0.3
    if tied:
        parts["independent"] = (third,)
    elif rng.random() < 0.3:
        allowed = rng.random((n, m)) < 0.85
        allowed[np.arange(n), rng.integers(0, m, n)] = True
    law = rng.dirichlet(np.ones(m) * 3)
    if tied:  # a channel independent of the view: the constant one, moved along the null space
        G = (third / mass[None, :]).astype(float)
        flat = (
            np.linalg.svd(G * p)[2][len(G) :].T @ rng.normal(size=(n - len(G), m)) if n > len(G) else np.zeros((n, m))
        )
        flat -= flat.mean(axis=1, keepdims=True)
        W = law + 0.5 * law.min() * flat / max(1e-9, np.abs(flat).max())
    else:
        W = np.where(allowed, 0.3 * law + 0.7 * rng.dirichlet(np.ones(m), n), 0.0)
        W /= W.sum(axis=1, keepdims=True)
    point = p[:, None] * W
    room = 1 + rng.choice([0.02, 0.2])
    leak = [Secret.of(t, mass).leakage(point) for t in terms]
    chosen = rng.permutation(5)
    matrices = [exact(np.round(rng.random((n, m)), 3)) for _ in range(3)]
    if rng.random() < 0.5:
        parts["objective"] = tuple(
            (Fraction(int(rng.integers(1, 4)), 2), terms[k]) for k in chosen[: rng.integers(1, 3)]
        )
        parts["cost"] = np.zeros((n, m), object)
    else:
        parts["cost"] = matrices[2]
        parts["leakages"] = ((terms[chosen[0]], near(room * leak[chosen[0]].sum() + 1e-4)),)
    parts["distortions"] = tuple(
        (M, near(room * (M.astype(float) * point).sum())) for M in matrices[: rng.integers(0, 3)]
    )
    if rng.random() < 0.4:
        more = (terms[chosen[3]], near(room * leak[chosen[3]].sum() + 1e-4))
        parts["leakages"] = (*parts.get("leakages", ()), more)
    if rng.random() < 0.25:
        parts["worst"] = ((S, rows(n, near(room * (leak[0] / point.sum(axis=0)).max() + 1e-4))),)
    if rng.random() < 0.3 and allowed.all():
        parts["local_dp"] = ((np.arange(n), near(room * (W.max(axis=0) / W.min(axis=0)).max())),)
    if rng.random() < 0.25 and allowed.all():
        pairs = []
        for i in range(n - 1):
            for a, b in ((i, i + 1), (i + 1, i)):
                pairs.append((a, b, near(room * max(1.0, float((W[a] / W[b]).max())))))
        parts["pairs"] = tuple(pairs)
    if rng.random() < 0.3:
        J = (view / mass[None, :]).astype(float) @ point
        ratio = J / (J.sum(axis=0) * J.sum(axis=1, keepdims=True))
        parts["odds"] = (odds(view, mass, near(room * max(ratio.max(), 1 / ratio.min()))),)
    if rng.random() < 0.3 and not tied:
        law = [near(v, 6) for v in point.sum(axis=0)]
        parts["marginal"] = (*law[:-1], 1 - sum(law[:-1]))
    program = Program(mass=mass, letters=m, allowed=allowed, **parts)
    return program, Arrays.of(program), point
