r"""S* = sup_Q D(Q p || P p) / D(Q || P) of a prior P and a channel p, between proved ends (004, Def. 4).

From below: the monotone iteration Q <- P exp((p log(Qp / Pp)) / lambda), lambda the ratio at Q, from many starts, and
Newton's method from the best. From above, for few inputs: S* <= lambda iff

    phi(Q)  =  lambda D(Q||P) - D(Qp||Pp)  =  lambda D(Q_{X|Y} || P_{X|Y} | Qp) - (1 - lambda) D(Qp||Pp)  >=  0,

proved on a simplicial cover. On a cell with corners v and centroid c the conditional divergence, convex, lies above its
tangent at c, and D(Qp||Pp), convex, below its values at the corners, so

    phi  >=  min_v [lambda v.(log(c/P) - p log(cp/Pp)) - (1 - lambda) D(vp||Pp)].

Near P no cover is fine enough; but phi has a stationary point at P with phi(P) = 0, so it is not negative on any cell
whose hull with P lies where phi is convex.

References: paper 004, section IV; Ahlswede & Gacs (1976); Anantharam et al. (2013).
"""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dalenius.solvers.divergence import UNIT, halved_simplices

__all__ = ["at_most", "best_ratio"]

Floats: TypeAlias = NDArray[np.float64]

_TILTS = (0.3, 0.9, -0.3, -0.9)
_STARTS = 64
_ROUNDS = 400


def best_ratio(p: Floats, rows: Floats, direction: Floats) -> float:
    """A proved lower end of S* from many starts; `direction` is where the maximal correlation is reached.

    Parameters
    ----------
    p : ndarray of float
        (inputs,): the law.
    rows : ndarray of float
        (inputs, letters): the channel.
    direction : ndarray of float
        (inputs,).

    Returns
    -------
    float
    """
    n = len(p)
    out = p @ rows
    rng = np.random.default_rng(0)
    tilted = [p * np.maximum(1 + t * direction / max(float(np.abs(direction).max()), 1e-300), 1e-9) for t in _TILTS]
    q = np.vstack(
        [
            np.eye(n) * (1 - 1e-6 * n) + 1e-6,
            *(value / value.sum() for value in tilted),
            rng.dirichlet([0.4] * n, _STARTS),
        ]
    )
    q = np.maximum(q, 1e-15)
    q /= q.sum(axis=1, keepdims=True)
    log_p = np.log(p)
    # A law of one input is one too, and no iteration from inside gets there.
    best = max(_ratio(p, rows, out, np.eye(n))[0].tolist())
    found = q[:1]
    ratio, tilt = _ratio(p, rows, out, q)
    for turn in range(_ROUNDS):
        exponent = log_p + (tilt @ rows.T) / np.maximum(ratio, 1e-12)[:, None]
        q = np.exp(exponent - exponent.max(axis=1, keepdims=True))
        q /= q.sum(axis=1, keepdims=True)
        new, tilt = _ratio(p, rows, out, q)
        found = np.vstack([found, q[np.argsort(-new)[:2]]])[-8:]
        best = max(best, float(new.max()))
        gain = new - ratio
        # Starts that climb no more are left, and those that climb slowly far below the best.
        going = (gain > 1e-14) & ~((turn > 60) & (gain < 1e-5 * new) & (new < best * (1 - 1e-3)))
        if not going.any():
            break
        ratio = new[going]
        tilt = tilt[going]
    ends = [_polished(p, rows, out, start) for start in [*found, *q[:4], tilted[0] / tilted[0].sum()]]
    return float(max(best, *ends))


def _polished(p: Floats, rows: Floats, out: Floats, q: Floats) -> float:
    """Newton's method for D(Qp||Pp) - lambda D(Q||P) with lambda the ratio at Q, from a Q nearly stationary."""
    n = len(p)
    best = float(_ratio(p, rows, out, q[None])[0][0])
    seen = out > 0
    for _ in range(30):
        if best <= 0 or q.min() < 1e-12:
            break
        y = (q @ rows)[seen]
        system = np.zeros((n + 1, n + 1))
        system[:n, :n] = (rows[:, seen] / y) @ rows[:, seen].T - best * np.diag(1 / q)
        system[:n, n] = system[n, :n] = 1.0
        slope = rows[:, seen] @ np.log(y / out[seen]) - best * np.log(q / p)
        try:
            step = np.linalg.solve(system, np.append(-slope, 0.0))[:n]
        except np.linalg.LinAlgError:
            break
        # Not all of the way to the first entry that would be zero: its logarithm ends there.
        way = min(1.0, 0.9 / max(1e-300, float((-step / q).max())))
        # Newton goes to saddles as well; the last try is the other way.
        for share in (way, way / 4, way / 16, -way / 4):
            moved = np.maximum(q + share * step, 1e-15)
            moved /= moved.sum()
            there = float(_ratio(p, rows, out, moved[None])[0][0])
            if there > best + 1e-15:
                q = moved
                best = there
                break
        else:
            break
    return best


def _ratio(p: Floats, rows: Floats, out: Floats, q: Floats) -> tuple[Floats, Floats]:
    """D(Qp || Pp) / D(Q || P) less its error for each Q, zero where Q is too near P to tell; and log(Qp / Pp)."""
    seen = np.maximum(q @ rows, 1e-300)
    tilt = np.log(seen / np.where(out > 0, out, 1.0))
    tilt[:, out <= 0] = 0.0
    above = (seen * tilt).sum(axis=1)
    below = (q * np.log(np.maximum(q, 1e-300) / p)).sum(axis=1)
    error = 8 * (sum(rows.shape) + 20) * UNIT * (1 + np.abs(tilt).max(axis=1) + np.abs(np.log(p)).max())
    # Both divergences vanish as the square of the distance from P, so that very near it their errors decide; nothing is
    # said there.
    far = below > 1e-6
    # Downwards: the numerator without what it may be off by, the denominator with it.
    return np.where(far, (above - error) / np.where(far, below + error, 1.0), 0.0), tilt


class _Hessian:
    """Where phi is convex: its Hessian in the coordinates h / sqrt(P) of directions h of sum zero is at least

    lambda diag(P / Q) - A diag(Pp / Qp) A'  with the largest Q and the smallest Qp of a region.
    """

    def __init__(self, p: Floats, rows: Floats, out: Floats, bound: float) -> None:
        self.p, self.rows, self.out, self.bound = p, rows, out, bound
        a = np.sqrt(p)[:, None] * rows / np.sqrt(out)
        across = np.linalg.svd(np.sqrt(p)[None])[2][1:]  # an orthonormal basis of what is orthogonal to sqrt(P)
        self.diagonal, self.a = across, across @ a

    def convex(self, cells: Floats) -> NDArray[np.bool_]:
        """Whether phi is convex on the hull of P and each cell, hence nowhere negative there: it is least at P."""
        # The largest Q and the smallest Qp of a cell are at its corners; P belongs to the hull as well.
        most = np.maximum(cells.max(axis=1), self.p)
        least = np.minimum((cells @ self.rows).min(axis=1), self.out)
        open_ = (least > 0).all(axis=1)
        first = np.einsum("ix,cx,jx->cij", self.diagonal, self.bound * self.p / most, self.diagonal)
        second = np.einsum("iy,cy,jy->cij", self.a, self.out / np.maximum(least, 1e-300), self.a)
        ok = np.zeros(len(cells), dtype=bool)
        # An eigenvalue just above zero could be one just below it; what is not shown is cut again.
        ok[open_] = np.linalg.eigvalsh((first - second)[open_])[:, 0] > 1e-9
        return ok


def at_most(p: Floats, rows: Floats, bound: float, rho: float, *, cells: int = 400_000) -> bool:
    """Whether S* <= bound is proved by a simplicial cover of at most so many cells; rho is proved from above.

    Parameters
    ----------
    p : ndarray of float
        (inputs,): the law.
    rows : ndarray of float
        (inputs, letters): the channel.
    bound : float
        That is to be proved.
    rho : float
        An upper end of the maximal correlation.
    cells : int
        At most.

    Returns
    -------
    bool
    """
    n = len(p)
    out = p @ rows
    rows = rows[:, out > 0]
    out = out[out > 0]
    # Below rho^2 phi bends down at P: no cell around it could ever be shown, however small.
    if bound <= rho**2:
        return False
    hessian = _Hessian(p, rows, out, bound)
    log_p = np.log(p)
    log_out = np.log(out)
    pairs = np.triu_indices(n, 1)
    stack = [np.eye(n)[None]]
    used = 0
    while stack:
        part = stack.pop()
        if len(part) > 20_000:
            stack.append(part[20_000:])
            part = part[:20_000]
        used += len(part)
        # What is not proved in so many cells is not disproved: the caller keeps a larger bound.
        if used > cells:
            return False
        middle = part.mean(axis=1)
        logs = np.log(middle)
        seen = part @ rows
        second = (seen * (np.log(np.maximum(seen, 1e-300)) - log_out)).sum(axis=2)
        slope = logs - log_p - (np.log(middle @ rows) - log_out) @ rows.T
        phi = (bound * np.einsum("cij,cj->ci", part, slope) - (1 - bound) * second).min(axis=1)
        scale = 2 + np.abs(logs).max(axis=1) + np.abs(log_p).max() + np.abs(log_out).max()
        # A cell is done with only where phi is above zero by more than it may be off by.
        part = part[phi < 8 * (n + rows.shape[1] + 20) * UNIT * scale]
        part = part[~hessian.convex(part)] if len(part) else part
        if not len(part):
            continue
        corner = part.reshape(-1, n)
        there = np.maximum(corner @ rows, 1e-300)
        # A corner where phi is clearly negative disproves the bound, and spares the rest of the cover.
        value = bound * (corner * (np.log(np.maximum(corner, 1e-300)) - log_p)).sum(axis=1)
        if float((value - (there * (np.log(there) - log_out)).sum(axis=1)).min()) < -1e-11:
            return False
        ends = part[:, pairs[0]], part[:, pairs[1]]
        edge = ((ends[0] - ends[1]) ** 2 / np.maximum(0.5 * (ends[0] + ends[1]), 1e-9)).sum(axis=2).argmax(axis=1)
        stack.append(halved_simplices(part, pairs[0][edge], pairs[1][edge]))
    return True
