r"""The matrices H_t of the Newton equations, one per letter, in factored form.

    H_t = diag(z/x) + S' diag(nu/a) S + U_t' U_t

S has the two-entry rows of ratios and floors, U_t the rows of the logarithms (few, one per value of a secret).

`LowRank` inverts diag(z/x) + S' diag(nu/a) S in closed form and adds U_t by Woodbury's identity: Cholesky factors of
size K, O(m K n^2) in all. It knows floors over disjoint rows, not general pairs: a floor y <= W(e) <= r y over R rows
is an arrow whose Schur complement in y,  z_y/y + sum_e [(a + r^2 b) d + a b (r - 1)^2] / (d + a + b),  has positive
terms only, with d = p^2 z/x and a, b the weights nu/a of its two sides.

`Dense` keeps the inverse of the Cholesky factor of every H_t: O(m n^3), for anything. The inverse of H_t itself would
lose the digits that the last iterations need.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from dalenius.solvers.lapack import dpotrf, dsyrk, dtrtri
from dalenius.solvers.leakage.program import Floats, Ints

__all__ = ["Columns", "Dense", "Floor", "LowRank", "Pattern", "inverse_roots"]

_ENTRIES = 4_000_000  # doubles of U_t at a time
_BATCHED = 48  # up to this size numpy's batched Cholesky is faster than LAPACK called letter by letter

LogRows = Callable[[int, int, Floats], None]
"""Writes the rows U_t of the letters first..last-1."""


class Columns(Protocol):
    """Factors of all H_t: ``schur`` = sum_t H_t^-1 and products with H_t^-1.

    One object serves every iterate of a search: what `factor` writes, it writes over the factors of the one before.
    """

    schur: Floats

    def factor(self, z: Floats, x: Floats, weight: Floats, U: LogRows) -> None: ...

    def solve(self, V: Floats) -> Floats:
        """H_t^-1 V_t for V (m, N, k)."""
        ...


@dataclass(frozen=True, eq=False)
class Floor:
    """y <= W(e) <= r y on ``rows``, with y the extra variable number ``at``; its 2R rows of S begin at ``first``."""

    rows: Ints
    r: float
    mass: Floats
    at: int
    first: int


def _sparse(values: Floats, rows: Ints, columns: Ints, shape: tuple[int, int]) -> Any:
    """A sparse matrix; an empty one is an array, so that most problems need not open scipy, which takes long."""
    if not values.size:
        return np.zeros(shape)
    from scipy.sparse import csr_matrix

    return csr_matrix((values, (rows, columns)), shape=shape)


class Pattern:
    """The two-entry rows  c_i x_i + c_j x_j >= 0  of S; those of the ``floors`` come last."""

    def __init__(self, rows: Sequence[tuple[int, float, int, float]], floors: Sequence[Floor], size: int) -> None:
        self.floors, self.count = floors, len(rows)
        i = np.array([row[0] for row in rows], dtype=np.int64)
        j = np.array([row[2] for row in rows], dtype=np.int64)
        ci = np.array([row[1] for row in rows])
        cj = np.array([row[3] for row in rows])
        k = np.arange(len(rows))
        self.matrix = _sparse(np.r_[ci, cj], np.r_[k, k], np.r_[i, j], (len(rows), size))
        # S' diag(weight) S, as the entries it touches and the share of every row in each.
        self.touched, at = np.unique(np.r_[i, j, i, j] * size + np.r_[i, j, j, i], return_inverse=True)
        shares = np.r_[ci * ci, cj * cj, ci * cj, ci * cj]
        self.outer = _sparse(shares, at, np.r_[k, k, k, k], (len(self.touched), len(rows)))
        covered = [int(row) for floor in floors for row in floor.rows]
        self.only_floors = 2 * len(covered) == len(rows) and len(set(covered)) == len(covered)


def _gram(Y: Floats, into: Floats) -> None:
    """into += sum_t Y_t' Y_t, upper triangle, Fortran order."""
    flat = Y.reshape(-1, Y.shape[2])
    if len(flat):
        dsyrk(1.0, flat.T, beta=1.0, c=into, overwrite_c=1)


def _mirrored(upper: Floats) -> Floats:
    """The symmetric matrix of an upper triangle with zeros below."""
    whole = upper + upper.T
    whole[np.diag_indices(len(upper))] *= 0.5
    return np.asarray(whole)


def inverse_roots(H: Floats) -> Floats:
    """L_t^-1 for H_t = L_t L_t' (letters, K, K), row by row for all letters at once."""
    L = np.linalg.cholesky(H)
    out = np.zeros_like(L)
    for i, own in enumerate(1 / np.diagonal(L, axis1=1, axis2=2).T):
        out[:, i, i] = own
        out[:, i, :i] = (L[:, i, None, :i] @ out[:, :i, :i])[:, 0] * -own[:, None]
    return out


def _scaled_to_one(H: Floats) -> Floats:
    """Scale H_t in place so that its diagonal is 1; the roots of the diagonal before, inverted."""
    e = np.arange(H.shape[1])
    size = 1 / np.sqrt(H[:, e, e])
    H *= size[:, :, None]
    H *= size[:, None, :]
    return np.asarray(size)


def _letters_at_once(shape: tuple[int, int], rank: int) -> int:
    """How many letters are factored together."""
    letters, inputs = shape
    return max(1, min(letters, _ENTRIES // max(1, rank * inputs)))


class LowRank:
    """H_t^-1 = P_t - Y_t' Y_t with P_t = diag(theta_t) + sum_floors w_t w_t'."""

    def __init__(self, pattern: Pattern, shape: tuple[int, int], rank: int) -> None:
        self.pattern, self.rank = pattern, rank
        self.step = _letters_at_once(shape, rank)
        m, N = shape
        self.Y = np.empty((m, rank, N))
        self.rows, self.scaled = np.empty((2, self.step, rank, N))

    def factor(self, z: Floats, x: Floats, weight: Floats, U: LogRows) -> None:
        m, N = x.shape
        arrows: list[Floats] = []
        diagonal = np.where(x > 0, z / np.where(x > 0, x, 1.0), np.inf)
        for floor in self.pattern.floors:
            R, rows, r = len(floor.rows), floor.rows, floor.r
            a = weight[:, floor.first : floor.first + R]
            b = weight[:, floor.first + R : floor.first + 2 * R]
            own = diagonal[:, rows] * floor.mass**2
            with np.errstate(invalid="ignore"):
                shared = np.where(
                    np.isinf(own), a + r * r * b, ((a + r * r * b) * own + a * b * (r - 1) ** 2) / (own + a + b)
                )
            tip = diagonal[:, floor.at] + shared.sum(axis=1)
            diagonal[:, rows] += (a + b) / floor.mass**2
            w = np.zeros((m, N))
            w[:, rows] = (a + r * b) / floor.mass / diagonal[:, rows]
            w[:, floor.at] = 1.0
            arrows.append(w / np.sqrt(tip)[:, None])
            diagonal[:, floor.at] = np.inf
        self.theta = 1 / diagonal
        self.arrows = arrows
        schur = np.zeros((N, N), order="F")
        k = np.arange(self.rank)
        for first in range(0, m, self.step) if self.rank else ():
            part = slice(first, min(m, first + self.step))
            rows_ = self.rows[: part.stop - first]
            scaled = self.scaled[: part.stop - first]
            U(first, part.stop, rows_)
            np.multiply(rows_, self.theta[part, None, :], out=scaled)
            for w in arrows:
                scaled += (rows_ @ w[part, :, None]) * w[part, None, :]
            inner = scaled @ rows_.transpose(0, 2, 1)
            inner[:, k, k] += 1.0
            size = _scaled_to_one(inner)
            inner[:, k, k] += 1e-15
            np.matmul(inverse_roots(inner) * size[:, None, :], scaled, out=self.Y[part])
            _gram(self.Y[part], schur)
        self.schur = -_mirrored(schur)
        self.schur[np.diag_indices(N)] += self.theta.sum(axis=0)
        for w in arrows:
            self.schur += w.T @ w

    def solve(self, V: Floats) -> Floats:
        out = self.theta[:, :, None] * V
        for w in self.arrows:
            out += w[:, :, None] * (w[:, None, :] @ V)
        if self.rank:
            out -= self.Y.transpose(0, 2, 1) @ (self.Y @ V)
        return np.asarray(out)


class Dense:
    """H_t^-1 = F_t' F_t with F_t the inverse of a Cholesky factor; F_t vanishes on forbidden entries."""

    def __init__(self, pattern: Pattern, shape: tuple[int, int], rank: int) -> None:
        self.pattern, self.rank = pattern, rank
        self.step = _letters_at_once(shape, rank)
        m, N = shape
        self.rows = np.empty((self.step, rank, N))
        self.F = np.empty((m, N, N))

    def factor(self, z: Floats, x: Floats, weight: Floats, U: LogRows) -> None:
        m, N = x.shape
        e = np.arange(N)
        live = (x > 0).astype(np.float64)
        H, pattern = self.F, self.pattern
        if not self.rank:
            H[:] = 0.0
        for first in range(0, m, self.step) if self.rank else ():
            part = slice(first, min(m, first + self.step))
            rows_ = self.rows[: part.stop - first]
            U(first, part.stop, rows_)
            np.matmul(rows_.transpose(0, 2, 1), rows_, out=H[part])
        H[:, e, e] += np.where(x > 0, z / np.where(x > 0, x, 1.0), 0.0)
        if pattern.count:
            H.reshape(m, N * N)[:, pattern.touched] += (pattern.outer @ weight[:, : pattern.count].T).T
        if not live.all():
            H *= live[:, :, None]
            H *= live[:, None, :]
            H[:, e, e] += 1 - live
        size = _scaled_to_one(H)
        if N < _BATCHED:
            H[:] = _batched_inverse_root(H)
        else:
            for t in range(m):
                H[t] = _inverse_root(H[t])
        H *= (size * live)[:, None, :]
        schur = np.zeros((N, N), order="F")
        _gram(H, schur)
        self.schur = _mirrored(schur)

    def solve(self, V: Floats) -> Floats:
        return np.asarray(self.F.transpose(0, 2, 1) @ (self.F @ V))


def _batched_inverse_root(H: Floats) -> Floats:
    e = np.arange(H.shape[1])
    shift = 1e-15
    while True:
        H[:, e, e] += shift
        try:
            return inverse_roots(H)
        except np.linalg.LinAlgError:
            if shift > 1e-4:
                raise
            shift = max(100 * shift, 1e-14)


def _inverse_root(H: Floats) -> Floats:
    shift = 1e-15
    while True:
        factor, info = dpotrf(H + shift * np.eye(len(H)), lower=1, clean=1)
        if info == 0:
            return np.asarray(dtrtri(factor, lower=1)[0])
        if shift > 1e-4:
            raise np.linalg.LinAlgError("a column of the Newton equations is not positive definite")
        shift = max(100 * shift, 1e-14)
