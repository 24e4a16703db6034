r"""Mirror descent for programs beyond the memory of the interior point: terms, costs, distortions, forbidden entries.

    W <- W exp(-step (g + sum_j s_j C_j)) / normaliser,    g = C + sum_k theta_k B_k' log(b_k/c_k),

with s >= 0 such that <C_j, pi> <= D_j. With step 1 / sum theta this is the Blahut-Arimoto scheme for a secret behind
the row: f is 1-smooth relative to the entropy of W (data processing), so the value falls at every step, and after k of
them is within KL(W*, W_0) / k. Longer steps are tried and kept while the smoothness test passes. Any iterate proves the
bound (*), with its own posteriors and s.

References: Blahut (1972); Bauschke, Bolte & Teboulle, "A descent lemma beyond Lipschitz gradient continuity" (2017).
"""

import numpy as np

from dalenius.solvers.leakage.arrays import Arrays
from dalenius.solvers.leakage.interior import Found, Progress
from dalenius.solvers.leakage.lifting import none_of
from dalenius.solvers.leakage.program import Floats, Multipliers
from dalenius.stopping import over

__all__ = ["mirror_descent", "suits"]

_NEWTON = 60  # steps of a projection
_CHECK = 10  # steps between two evaluations of the bound


def suits(given: Arrays) -> bool:
    """Whether nothing but row sums, distortions and forbidden entries holds the letters."""
    return not (
        given.leakages or given.worst or len(given.G) or given.local_dp or given.pairs or len(given.A) or given.gauges
    )


def mirror_descent(
    given: Arrays, wanted: Arrays, *, gap: float, deadline: float, on_progress: Progress | None = None
) -> Found:
    """Descend on ``given`` until value - bound <= ``gap`` for ``wanted``, or the time is up; then what was found."""
    found = Found(words="the time ran out")
    p = given.p[:, None]
    with np.errstate(divide="ignore"):
        logs = np.where(given.allowed, np.log(np.where(given.allowed, given.start, 1.0)), -np.inf)
    Cs = [C for C, _ in given.distortions]
    D = np.array([D for _, D in given.distortions])
    weight = sum(theta for theta, _ in given.objective)
    shortest = 1 / weight if weight else 1.0
    step, s = shortest, np.zeros(len(D))
    W, s = _projected(logs, Cs, D, given.p, s)
    found.inner = p * W
    k = 0
    while not over(deadline):
        pi = p * W
        posteriors = [secret.logs(pi) for _, secret in given.objective]
        g = given.cost.copy()
        for (theta, secret), values in zip(given.objective, posteriors, strict=True):
            g += theta * (secret.B.T @ values)
        if k % _CHECK == 0:
            y = none_of(given)
            logs_b = tuple(
                sec.spread(posterior) for (_, sec), posterior in zip(given.objective, posteriors, strict=True)
            )
            y = Multipliers(logs_b, y.leakage, _steepest(wanted, g, s), equal=y.equal, pairs=y.pairs)
            bound = wanted.bound(y)
            value = wanted.value(pi)
            if bound > found.bound:
                found.bound, found.multipliers = bound, y
            if value < found.value:
                found.value, found.pi = value, pi
            if on_progress is not None:
                on_progress(k, found.value, found.bound)
            if found.value - found.bound <= gap:
                break
            found.words = f"the gap is {found.value - found.bound:.1e} when the time ran out"
        here = float((pi * g).sum())
        now = given.value(pi)
        while True:
            with np.errstate(divide="ignore"):
                ahead, pull = _projected(np.log(W) - step * g, Cs, D, given.p, s * step)
            if step <= shortest:
                break
            with np.errstate(all="ignore"):
                distance = float(np.where(ahead > 0, p * ahead * np.log(ahead / W), 0.0).sum())
            if given.value(p * ahead) <= now + float((p * ahead * g).sum()) - here + distance / step + 1e-15:
                break
            step = max(shortest, step / 2)
        W, s = ahead, pull / step
        k += 1
        step *= 1.5 if k % 5 == 0 else 1.0
    found.iterations = k
    return found


def _steepest(given: Arrays, g: Floats, s: Floats) -> Floats:
    """The s >= 0 with the best bound sum_e p(e) min_t (g + s C) - s D, for one distortion; with more, s as it is."""
    if len(s) != 1:
        return s.copy()
    C, D = given.distortions[0]
    g = np.where(given.allowed, g, np.inf)
    rows = np.arange(len(g))

    def line(v: float) -> tuple[float, float]:
        best = (g + v * C).argmin(axis=1)
        slope = float(given.p @ C[rows, best]) - D
        return float(given.p @ g[rows, best]) + v * slope, slope

    # The bound is concave and piecewise linear in s: meet its two outermost lines until they touch it.
    low, high = 0.0, max(2 * float(s[0]), 1e-9)
    at_low = line(low)
    if at_low[1] <= 0:
        return np.zeros(1)
    at_high = line(high)
    while at_high[1] > 0 and high < 1e12:
        low, at_low, high = high, at_high, 2 * high
        at_high = line(high)
    for _ in range(60):
        apart = at_low[1] - at_high[1]
        between = (at_high[0] - at_low[0] + at_low[1] * low - at_high[1] * high) / apart if apart > 0 else low
        if not low < between < high:
            break
        value, slope = line(between)
        if at_low[0] + at_low[1] * (between - low) - value < 1e-14:
            return np.array([between])
        if slope > 0:
            low, at_low = between, (value, slope)
        else:
            high, at_high = between, (value, slope)
    return np.array([low if at_low[0] > at_high[0] else high])


def _projected(logs: Floats, Cs: list[Floats], D: Floats, p: Floats, s: Floats) -> tuple[Floats, Floats]:
    """W proportional to exp(logs - sum_j s_j C_j) in every row, with the least s >= 0 that keeps <C_j, pi> <= D_j.

    s minimises the convex function sum_e p(e) log sum_t exp(...) + s.D: Newton on the coordinates not held at 0.
    """

    def channel(s: Floats) -> tuple[Floats, float]:
        a = logs.copy()
        for C, v in zip(Cs, s, strict=True):
            a -= v * C
        top = a.max(axis=1, keepdims=True)
        a = np.exp(a - top)
        sums = a.sum(axis=1, keepdims=True)
        return a / sums, float(p @ (np.log(sums) + top)[:, 0]) + float(s @ D)

    W, value = channel(s)
    for _ in range(_NEWTON if len(D) else 0):
        means = np.array([(W * C).sum(axis=1) for C in Cs])
        slope = D - means @ p
        free = (s > 0) | (slope < 0)
        if np.abs(slope[free]).max(initial=0.0) < 1e-14 * max(1.0, float(np.abs(D).max())):
            break
        products = np.array([[float(p @ ((W * A * B).sum(axis=1))) for B in Cs] for A in Cs])
        bend = products - (means * p) @ means.T
        d = np.zeros_like(s)
        inner = bend[np.ix_(free, free)]
        d[free] = -np.linalg.solve(inner + 1e-14 * (1e-300 + np.trace(inner)) * np.eye(free.sum()), slope[free])
        far = 1.0
        for _ in range(40):
            trial = np.maximum(s + far * d, 0.0)
            other, lower = channel(trial)
            if lower <= value + 1e-4 * float(slope @ (trial - s)) or far < 1e-9:
                break
            far /= 2
        if np.abs(trial - s).max() <= 1e-15 * max(1.0, float(np.abs(s).max())):
            break
        s, W, value = trial, other, lower
    return W, s
