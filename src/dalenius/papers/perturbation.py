r"""C_1 and C_2: the most about W~ when a fresh sample X may leak at most alpha bits.

Output perturbation, eq. (38): the mechanism sees W~.  Full observation, eq. (39): it sees W~ and X.  Both are the
linear program over columns v, the posteriors of the atoms that the mechanism sees,

    max sum_y theta_y D(v_W || p_W)    s.t.   sum_y theta_y v_y = mass,   sum_y theta_y D(v_X || p_X) <= alpha.

At alpha = 0 the columns are the extreme points of a polytope and the answer is exact. For alpha > 0 columns are
generated: with the prices z of the atoms and mu of the leakage, a column is worth adding if its excess

    e(v) = D(v_W || p_W) - mu D(v_X || p_X) - z.v

is positive. The maximum of e is bounded on simplicial cells of posteriors a = v_W: the first term is convex, so at most
its values at the corners interpolated; by Gibbs, -D(v_X || p_X) <= sum_x v_X(x) log2(p_X(x) / b(x)) for any pmf b.
Hence

    e <= max over corners A of  sum_w A_w [log2(A_w / p_w) + max_{s of w} (mu sum_x k_s(x) log2(p_x / b_x) - z_s)],

and that plus the value of the program is an upper bound. The paper proves continuity in alpha only (Lemma 5).

References: Rassouli, Rosas & Gündüz (paper 000), Definition 3.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dalenius.core.numbers import exact
from dalenius.errors import InputError, SolverFailed
from dalenius.measures.latent import LatentModel
from dalenius.measures.shannon import entropy_of, information_of
from dalenius.mechanisms.alike.exchangeable import Mixed, best_columns, full_observation
from dalenius.solvers import maximise

__all__ = ["Perturbed", "full_observation_tradeoff", "output_perturbation"]

_Floats: TypeAlias = NDArray[np.float64]

ROUNDS = 60
MOST_CELLS = 50_000
SLOW_ROUNDS, SLOW_CELLS = (
    25,
    6_000,
)  # C_2 with three letters of X or more: the interior point costs more than other answers
STEPS, ENOUGH = 40, 1e-10
LEVELS = 120
FRESH = 12
FAINT = 1e-7
NEAR = 1e-4


@dataclass(frozen=True)
class Perturbed:
    """A point of the trade-off in bits: what is attained, what is impossible, what X leaks, p(w, y) and p(x, y)."""

    value_bits: float
    bound_bits: float
    leakage_bits: float
    joint: _Floats
    sample_joint: _Floats

    @property
    def gap_bits(self) -> float:
        return self.bound_bits - self.value_bits


def output_perturbation(model: LatentModel, alpha: Any = 0, *, tol: float = 1e-8) -> Perturbed:
    r"""C_1(alpha), eq. (38): max I(W~; Y) over X - W~ - Y with I(X; Y) <= alpha bits.

    alpha = 0: extreme points of {u >= 0 : sum_w u_w p(x|w) = p(x)}, exact up to the last rounding, and the limit of
    I_s(W, X^n), eq. (40). alpha > 0: the gap says how far the two figures are apart; below `tol` for |W~| <= 4 as a
    rule.

    >>> model = LatentModel.of(["1/2", "1/2"], [["9/10", "1/10"], ["1/10", "9/10"]])
    >>> output_perturbation(model).value_bits, round(output_perturbation(model, "1/10").value_bits, 9)
    (0.0, 0.188322354)
    """
    model = model.merged()
    limit = _level(alpha)
    letters = range(len(model.prior))
    if not limit:
        found = best_columns(
            list(zip(*model.kernel, strict=True)),
            model.sample,
            {(w,): p for w, p in enumerate(model.prior)},
            [[Fraction(int(w == letter)) for w in letters] for letter in letters],
            model.prior,
        )
        return _private(found, model)
    prior, kernel = model.floats
    start = output_perturbation(model, 0)
    columns = (start.joint / start.joint.sum(axis=0)).T
    return _traded(_Atoms(prior, np.arange(len(prior)), kernel, prior), limit, columns, tol)


def full_observation_tradeoff(model: LatentModel, alpha: Any = 0, *, tol: float = 1e-6) -> Perturbed:
    r"""C_2(alpha), eq. (39): max I(W~; Y) over mappings of (W~, X) with I(X; Y) <= alpha bits.

    alpha = 0 is J(W, X^1), eq. (47). For alpha > 0 the gap closes to `tol`, or, with more letters than two, to a
    little more, which the gap says.

    >>> model = LatentModel.of(["2/3", "1/3"], [["9/10", "1/10"], ["1/10", "9/10"]])
    >>> round(full_observation_tradeoff(model).value_bits, 12)
    0.192494307858
    """
    model = model.merged()
    limit = _level(alpha)
    found = full_observation(model, 1)
    if not limit:
        return _private(found, model)
    prior, kernel = model.floats
    w, x = np.nonzero(kernel)
    where = {(int(a), int(b)): s for s, (a, b) in enumerate(zip(w, x, strict=True))}
    columns = np.zeros((len(found.letters), len(w)))
    for y, letter in enumerate(found.letters):
        for atom, share in letter.items():
            columns[y, where[atom[0], atom[1:].index(1)]] += share
    atoms = _Atoms(prior, w, np.eye(kernel.shape[1])[x], prior[w] * kernel[w, x])
    return _traded(atoms, limit, columns, tol)


def _level(alpha: Any) -> float:
    level = float(exact(alpha.item() if isinstance(alpha, np.generic) else alpha, "alpha"))
    if level < 0:
        raise InputError(f"alpha is {level}; a leakage cannot be negative")
    return level


def _private(found: Mixed, model: LatentModel) -> Perturbed:
    sample = np.array([float(p) for p in model.sample])
    return Perturbed(found.value_bits, found.bound_bits, 0.0, found.joint, np.outer(sample, found.joint.sum(axis=0)))


@dataclass(frozen=True)
class _Atoms:
    """What the mechanism sees: for each atom its w, its law k_s of X and its mass; and the prior of W."""

    prior: _Floats
    w: NDArray[np.intp]
    rows: _Floats
    mass: _Floats

    @property
    def sample(self) -> _Floats:
        return self.mass @ self.rows

    @property
    def slow(self) -> bool:
        return len(self.mass) > len(self.prior) and len(self.sample) > 2

    def hidden(self, v: _Floats) -> _Floats:
        """v_W for atoms along the last axis."""
        a: _Floats = v @ (self.w[:, None] == np.arange(len(self.prior)))
        return a

    def terms(self, v: _Floats) -> tuple[_Floats, _Floats]:
        """D(v_W || p_W) and D(v_X || p_X) of each row."""
        return _relative(self.hidden(v), self.prior), _relative(v @ self.rows, self.sample)


def _relative(a: _Floats, p: _Floats) -> _Floats:
    logs = np.log2(a / p, out=np.zeros_like(a), where=a > 0)
    bits: _Floats = (a * logs).sum(axis=-1)
    return bits


def _traded(atoms: _Atoms, alpha: float, columns: _Floats, tol: float) -> Perturbed:
    whole = float(entropy_of(atoms.prior))
    told = information_of(atoms.hidden(np.diag(atoms.mass)).T @ atoms.rows)
    if alpha >= told:  # Y = W~ is allowed
        both = atoms.rows.T @ atoms.hidden(np.diag(atoms.mass))
        return Perturbed(whole, whole, told, np.diag(atoms.prior), both)
    columns = np.concatenate([columns, np.eye(len(atoms.mass)), atoms.mass[None]])
    # I(W;Y) = I(X;Y) + I(W;Y|X) - I(X;Y|W), so H(W|X) + alpha is a bound before any search.
    bound = min(whole, whole - told + alpha)
    best = Perturbed(0.0, bound, 0.0, atoms.prior[:, None], atoms.sample[:, None])
    for _ in range(SLOW_ROUNDS if atoms.slow else ROUNDS):
        gain, leak = atoms.terms(columns)
        # HiGHS stumbles over tiny entries; any prices are valid, and the mapping is made exact afterwards.
        matrix = np.concatenate([columns.T, np.where(leak > 1e-9, leak, 0.0)[None]])
        low = np.append(atoms.mass, -np.inf)
        try:
            found = maximise(gain, matrix, low, np.append(atoms.mass, alpha))
        except SolverFailed:  # columns too much alike for HiGHS; what is proved so far stands
            break
        kept = found.x > 1e-13
        value = _feasible(atoms, alpha, columns[kept], found.x[kept])
        z, mu = found.dual[:-1], max(0.0, float(found.dual[-1]))
        excess, fresh = _priced(atoms, z, mu, columns[kept], tol / 4)
        bound = min(bound, float(z @ atoms.mass) + mu * alpha + excess)
        if value.value_bits > best.value_bits:
            best = value
        if bound - best.value_bits <= tol or not len(fresh):
            break
        columns = np.concatenate([columns[kept], columns[~kept][-400:], fresh])
    return replace(best, bound_bits=bound)


def _feasible(atoms: _Atoms, alpha: float, columns: _Floats, theta: _Floats) -> Perturbed:
    """The mapping of the solver with its rows made exact; a leakage above alpha is mixed with silence."""
    joint = theta[:, None] * columns
    joint *= atoms.mass / joint.sum(axis=0)
    told = atoms.hidden(joint).T
    leaked = atoms.rows.T @ joint.T
    leakage = information_of(leaked)
    if leakage > alpha:
        share = alpha / leakage
        told = np.column_stack([share * told, (1 - share) * atoms.prior])
        leaked = np.column_stack([share * leaked, (1 - share) * atoms.sample])
        leakage = alpha
    return Perturbed(information_of(told), np.inf, leakage, told, leaked)


def _priced(atoms: _Atoms, z: _Floats, mu: float, known: _Floats, tol: float) -> tuple[float, _Floats]:
    """An upper bound on the excess of every column, and columns of positive excess; branch and bound over cells."""
    size = len(atoms.prior)
    cells = np.eye(size)[None]
    edges = list(combinations(range(size), 2))
    gain, leak = atoms.terms(known)
    best = max(0.0, float((gain - mu * leak - known @ z).max(initial=0.0)))
    ceiling, found = 0.0, [(0.0, value) for value in known[:0]]
    for _ in range(LEVELS):
        slope = _response(atoms, z, mu, cells)[1]
        corners = np.log2(cells / atoms.prior, out=np.zeros_like(cells), where=cells > 0) + slope[:, None, :]
        each = (cells * corners).sum(axis=2)
        bounds = each.max(axis=1)
        # The best columns often lie on faces of the simplex, where only corners get.
        likely = np.argsort(-bounds)[: 4 * FRESH]
        corner = np.unique(cells[likely, each[likely].argmax(axis=1)], axis=0)
        v = _response(atoms, z, mu, corner[:, None])[0]
        gain, leak = atoms.terms(v)
        excess = gain - mu * leak - v @ z
        order = np.argsort(-excess)[:FRESH]
        found += [(float(excess[k]), v[k]) for k in order if excess[k] > tol]
        best = max(best, float(excess.max()))
        enough = 1.02 * best + tol
        alive = bounds > enough
        if alive.any():
            ceiling = max(ceiling, enough)
        else:
            ceiling = max(ceiling, float(bounds.max()))
            break
        cells, bounds = cells[alive], bounds[alive]
        if 2 * len(cells) > (SLOW_CELLS if atoms.slow else MOST_CELLS):
            ceiling = max(ceiling, float(bounds.max()))
            break
        lengths = np.stack([np.abs(cells[:, i] - cells[:, j]).sum(axis=1) for i, j in edges])
        cut = np.array(edges)[lengths.argmax(axis=0)]
        at = np.arange(len(cells))
        middle = (cells[at, cut[:, 0]] + cells[at, cut[:, 1]]) / 2
        halves = [cells.copy(), cells.copy()]
        for side in (0, 1):
            halves[side][at, cut[:, side]] = middle
        cells = np.concatenate(halves)
    else:
        ceiling = max(ceiling, float(bounds.max()))
    found.sort(key=lambda pair: -pair[0])
    fresh: list[_Floats] = []
    for _, v in found:
        v = np.where(v > FAINT, v, 0.0)
        v /= v.sum()
        if all(np.abs(v - other).sum() > NEAR for other in fresh):
            fresh.append(v)
        if len(fresh) == 4 * FRESH:
            break
    return max(0.0, ceiling), np.array(fresh).reshape(-1, len(atoms.mass))


def _response(atoms: _Atoms, z: _Floats, mu: float, cells: _Floats) -> tuple[_Floats, _Floats]:
    """For each cell (J, corners, W): a column v, and max_s (mu sum_x k_s log2(p_x / b_x) - z_s) for each w.

    With one atom for each w there is nothing to choose. Otherwise v should climb the concave -mu D(v_X || p_X) - z.v,
    and b = v_X where it stands; any b is valid. Binary X: bisection at the middle of the cell for the b that its best
    answer gives back. More letters: the b of least maximum over the corners, by an interior point.
    """
    a = cells.mean(axis=1)
    at, p = np.arange(len(a)), atoms.sample
    of_w = [np.flatnonzero(atoms.w == w) for w in range(len(atoms.prior))]

    def answer(b: _Floats) -> tuple[_Floats, _Floats]:
        values = mu * (np.log2(p / np.maximum(b, 1e-300)) @ atoms.rows.T) - z
        v = np.zeros((len(a), len(atoms.mass)))
        best = np.empty_like(a)
        for w, members in enumerate(of_w):
            top = values[:, members].argmax(axis=1)
            v[at, members[top]] = a[:, w]
            best[:, w] = values[at, members[top]]
        return v, best

    if len(of_w) == len(atoms.mass):
        v = a[:, atoms.w]
        return v, answer(v @ atoms.rows)[1]
    if len(p) == 2:
        low = np.zeros(len(a))
        high = np.ones(len(a))
        for _ in range(50):
            middle = (low + high) / 2
            more = (answer(np.column_stack([1 - middle, middle]))[0] @ atoms.rows)[:, 1] > middle
            low = np.where(more, middle, low)
            high = np.where(more, high, middle)
        below, best = answer(np.column_stack([1 - low, low]))
        above = answer(np.column_stack([1 - high, high]))[0]
        up = (below @ atoms.rows)[:, 1]
        down = (above @ atoms.rows)[:, 1]
        t = np.divide(low - down, up - down, out=np.ones(len(a)), where=up > down)
        return above + np.clip(t, 0.0, 1.0)[:, None] * (below - above), best
    if mu < FAINT:  # X may leak: the best atom of each w
        return answer(np.tile(p, (len(a), 1)))
    v, b = _central(atoms, z, mu, cells)
    return v, answer(b)[1]


def _central(atoms: _Atoms, z: _Floats, mu: float, cells: _Floats) -> tuple[_Floats, _Floats]:
    r"""Columns v and laws b near the optimum of each cell, by an interior point, all cells at once.

    With beta_x = mu log2(p_x / b_x) the least maximum is  min t  over (beta, m, t)  subject to

        m_w >= k_s.beta - z_s  (s of w),    t >= sum_w A_w [log2(A_w / p_w) + m_w]  (corners A),
        sum_x p_x 2^(-beta_x / mu) <= 1,

    and the multipliers of the first are v.
    """
    (J, corners, size), letters, p = cells.shape, len(atoms.sample), atoms.sample
    scale = np.log(2) / mu
    offset = (cells * np.log2(cells / atoms.prior, out=np.zeros_like(cells), where=cells > 0)).sum(axis=2)
    # slack of row r is  G_r.y - h_r  with y = (beta, m, t)
    first = np.zeros((len(atoms.mass), letters + size + 1))
    first[:, :letters] = -atoms.rows
    first[np.arange(len(first)), letters + atoms.w] = 1.0
    second = np.zeros((J, corners, letters + size + 1))
    second[:, :, letters:-1], second[:, :, -1] = -cells, 1.0
    y = np.zeros((J, letters + size + 1))
    y[:, :letters] = 0.5 / scale
    y[:, letters:-1] = np.array([(atoms.rows @ y[0, :letters] - z)[atoms.w == w].max() for w in range(size)]) + 1.0
    y[:, -1] = (offset + (cells * y[:, None, letters:-1]).sum(axis=2)).max(axis=1) + 1.0

    def slacks(y: _Floats) -> tuple[_Floats, _Floats, _Floats]:
        shares = p * np.exp(-scale * y[:, :letters])
        lines = np.concatenate([y @ first.T + z, (second @ y[:, :, None])[:, :, 0] - offset], axis=1)
        return lines, 1 - shares.sum(axis=1), shares

    G = np.concatenate([np.broadcast_to(first, (J, *first.shape)), second], axis=1)
    s, room, shares = slacks(y)
    dual, price = 1 / s, 1 / room  # of the lines, and of b
    every = np.arange(letters)
    for _ in range(STEPS):
        gap = (dual * s).sum(axis=1) + price * room
        centre = 0.1 * gap / (s.shape[1] + 1)
        slope = scale * shares  # of the room
        H = np.einsum("jr,jra,jrb->jab", dual / s, G, G)
        H[:, :letters, :letters] += (price / room)[:, None, None] * slope[:, :, None] * slope[:, None, :]
        H[:, every, every] += price[:, None] * scale * slope
        right = np.einsum("jr,jra->ja", centre[:, None] / s, G)
        right[:, :letters] += (centre / room)[:, None] * slope
        right[:, -1] -= 1.0
        ridge = 1e-14 * np.trace(H, axis1=1, axis2=2)[:, None, None] * np.eye(H.shape[1])
        move = np.linalg.solve(H + ridge, right[:, :, None])[:, :, 0]
        along = (G @ move[:, :, None])[:, :, 0]
        toward = centre[:, None] / s - dual - dual / s * along
        dearer = centre / room - price - price / room * (slope * move[:, :letters]).sum(axis=1)
        up = 0.98 / np.maximum(1.0, (-along / s).max(axis=1))
        down = 0.98 / np.maximum(1.0, np.maximum((-toward / dual).max(axis=1), -dearer / price))
        for _ in range(30):
            ahead = slacks(y + up[:, None] * move)
            bad = (ahead[0].min(axis=1) <= 0) | (ahead[1] <= 0.02 * room)
            if not bad.any():
                break
            up = np.where(bad, 0.6 * up, up)
        fine = ~bad & np.isfinite(move).all(axis=1)
        y = np.where(fine[:, None], y + up[:, None] * move, y)
        dual = np.where(fine[:, None], dual + down[:, None] * toward, dual)
        price = np.where(fine, price + down * dearer, price)
        s, room, shares = slacks(y)
        if (gap < ENOUGH).all():
            break
    v = dual[:, : len(first)]
    return v / v.sum(axis=1, keepdims=True), shares / shares.sum(axis=1, keepdims=True)
