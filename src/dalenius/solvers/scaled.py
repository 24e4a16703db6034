"""Interior point for letters in a cone: one simplex per atom, moments, inequalities and one scale per letter.

    max  sum_j E[c_j S_j]   s.t.  sum_j c_j(x) = 1,   E[c_j M] = 0,   E[c_j Q] >= 0,   tau_j <= c_j(x) <= r tau_j
    min  E z                s.t.  z - S_j - nu_j . Q + lambda_j . M = alpha_j - beta_j,   E alpha_j = r E beta_j

with nu, alpha, beta >= 0. In the code c are ``shares``, S ``scores``, M ``moments``, Q ``limits``, tau ``floors``, r
``ratio``, z ``prices``, lambda ``multipliers``, nu ``limit_prices``, alpha ``floor_prices``, beta ``ceiling_prices``.

The scale tau_j is the floor of letter j, so the last constraint is local DP; without a ratio it is c_j >= 0. With
a = c - tau, b = r tau - c, D = alpha / a + beta / b and h = alpha / a + r beta / b the Newton equations of a letter are

    p dc = C_j (rho + F dv_j - dz) + ...,   F = (-M, Q),  v_j = (lambda_j, nu_j),   C_j = diag(w) + (w h)(w h)' / kappa,

w = p / D (``diagonal``), h (``tilt``), w h (``tilted``), kappa = E[alpha/a + r^2 beta/b] - E[h^2 / D] (``stiffness``):
diagonal plus rank one. Eliminating the letters leaves N unknowns dz, at a cost of N^2 J (r + q + 1) + N^3.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dalenius.solvers.interior import Floats, inverse_operator, longest_step

__all__ = ["Scaled", "best_in_cone"]

_SHORT = 0.99
_STEPS = 100


@dataclass(frozen=True)
class Scaled:
    """Letters and the other side that bounds them; line j is S_j + multipliers_j . M + prices_j . Q."""

    shares: Floats  # (letters, atoms): c
    atom_prices: Floats  # (atoms,): z
    multipliers: Floats  # (letters, moments): of M
    prices: Floats  # (letters, limits): of Q, not negative
    gap: float  # E z - sum_j E[c_j S_j]


def best_in_cone(
    weights: Floats,
    moments: Floats,
    limits: Floats,
    ratio: float | None,
    scores: Floats,
    *,
    enough: Callable[[Floats, float], bool],
) -> Scaled:
    """The program above.

    It starts strictly inside on both sides, and it ends early where doubles cannot go on. What it returns is a
    proposal: the caller evaluates it.

    Parameters
    ----------
    weights : ndarray of float
        (atoms,): p, positive, with sum one.
    moments : ndarray of float
        (atoms, moments): M, with E M = 0.
    limits : ndarray of float
        (atoms, limits): Q, with E Q > 0.
    ratio : float, optional
        r > 1 of local DP; without one letters are only not negative.
    scores : ndarray of float
        (letters, atoms): S.
    enough : Callable[[Floats, float], bool]
        Asked with the shares and the gap before each step; True ends the search.

    Returns
    -------
    Scaled

    >>> even = np.array([0.5, 0.5])
    >>> none = np.zeros((2, 0))
    >>> found = best_in_cone(even, none, none, 3.0, np.eye(2), enough=lambda shares, gap: gap < 1e-9)
    >>> found.shares.round(6).tolist()  # a letter is three times as likely at its own atom: randomised response
    [[0.75, 0.25], [0.25, 0.75]]
    """
    state = _State(weights, moments, limits, ratio, scores)
    for _ in range(_STEPS):
        gap = state.gap
        if enough(state.shares, gap):
            break
        try:
            toward = state.newton()
            step = toward(0.0, 0.0, 0.0, 0.0)
            ahead = state.ahead(step)
            centre = (ahead / gap) ** 3 * gap / state.count
            bend = state.bend(step)
            step = toward(centre, *bend)
        except np.linalg.LinAlgError:
            break
        if not all(np.isfinite(value).all() for value in step) or not state.move(step):
            break
    return Scaled(state.shares, state.prices, -state.multipliers, state.limit_prices, state.gap)


_Step = tuple[Floats, Floats, Floats, Floats, Floats, Floats, Floats]  # dc, dtau, dz, dlam, dnu, dalpha, dbeta


class _State:
    """A point inside both sides."""

    def __init__(self, weights: Floats, moments: Floats, limits: Floats, ratio: float | None, scores: Floats) -> None:
        self.weights = weights
        self.moments = moments
        self.limits = limits
        self.ratio = ratio
        self.scores = scores
        letters, atoms = scores.shape
        limits_many = limits.shape[1]
        self.letters = letters
        self.atoms = atoms
        self.shares = np.full((letters, atoms), 1 / letters)
        self.floors = np.full(letters, 2 / ((1 + ratio) * letters)) if ratio else np.zeros(letters)
        self.multipliers = np.zeros((letters, moments.shape[1]))
        self.limit_prices = np.zeros((letters, limits_many))
        # The floors lie between the ends of their room, and the prices above every score: inside on both sides.
        spread = max(float(np.ptp(scores)), 1e-3)
        if limits_many:
            self.limit_prices[:] = spread / (limits_many * np.maximum(np.abs(limits).max(axis=0), 1e-9))
        score = scores + self.limit_prices @ limits.T
        self.prices = score.max(axis=0) + spread
        self.floor_prices = self.prices - score
        self.ceiling_prices = np.zeros((letters, atoms))
        if ratio:
            shift = (self.floor_prices @ weights) / (ratio - 1)
            self.floor_prices += shift[:, None]
            self.ceiling_prices += shift[:, None]
        # complementary pairs, each atom of a letter weighing p(x)
        self.count = letters * ((2 if ratio else 1) + limits_many)

    def slacks(self, shares: Floats, floors: Floats) -> tuple[Floats, Floats, Floats]:
        """a, b and E[c Q]."""
        below_ceiling = self.ratio * floors[:, None] - shares if self.ratio else np.ones_like(shares)
        return shares - floors[:, None], below_ceiling, (shares * self.weights) @ self.limits

    @property
    def gap(self) -> float:
        above_floor, below_ceiling, limit_slacks = self.slacks(self.shares, self.floors)
        return float(
            ((self.floor_prices * above_floor + self.ceiling_prices * below_ceiling) @ self.weights).sum()
            + (self.limit_prices * limit_slacks).sum()
        )

    def newton(self) -> Callable[..., _Step]:
        weights = self.weights
        moments = self.moments
        limits = self.limits
        ratio = self.ratio or 0.0
        letters = self.letters
        above_floor, below_ceiling, limit_slacks = self.slacks(self.shares, self.floors)
        floor_ratios = self.floor_prices / above_floor
        ceiling_ratios = self.ceiling_prices / below_ceiling
        diagonal = weights / (floor_ratios + ceiling_ratios)
        tilt = floor_ratios + ratio * ceiling_ratios
        tilted = diagonal * tilt
        stiffness = (
            (floor_ratios * ceiling_ratios / (floor_ratios + ceiling_ratios) * (ratio - 1) ** 2) @ weights
            if self.ratio
            else np.full(letters, np.inf)
        )
        rows = np.concatenate([-moments, limits], axis=1)
        width = rows.shape[1]
        blocks = np.zeros((letters, width, width))
        across = tilted @ rows  # E[(h / D) F]
        for letter in range(letters):
            blocks[letter] = (rows * diagonal[letter][:, None]).T @ rows
        blocks += across[:, :, None] * across[:, None, :] / stiffness[:, None, None]
        loose = np.concatenate(
            [
                np.zeros((letters, moments.shape[1])),
                limit_slacks / self.limit_prices if limits.shape[1] else limit_slacks,
            ],
            axis=1,
        )
        blocks[:, np.arange(width), np.arange(width)] += loose
        solve = self._by_atoms(rows, diagonal, tilted, stiffness, across, blocks)
        # residuals of the two sides
        dual = (
            self.scores
            + self.floor_prices
            - self.ceiling_prices
            + self.limit_prices @ limits.T
            - self.prices
            - self.multipliers @ moments.T
        )
        primal = weights * (1 - self.shares.sum(axis=0))
        moment = (self.shares * weights) @ moments

        def toward(centre: float, bend_a: Floats | float, bend_b: Floats | float, bend_q: Floats | float) -> _Step:
            floor_target = centre - bend_a
            ceiling_target = centre - bend_b
            limit_target = centre - bend_q
            gain = (
                dual
                + floor_target / above_floor
                - self.floor_prices
                - ((ceiling_target / below_ceiling - self.ceiling_prices) if self.ratio else 0.0)
            )
            right = np.zeros((letters, width))
            right[:, : moments.shape[1]] = moment
            if limits.shape[1]:
                right[:, moments.shape[1] :] = limit_target / self.limit_prices - limit_slacks
            floor_miss = (
                (floor_target / above_floor - ratio * ceiling_target / below_ceiling) @ weights
                if self.ratio
                else np.zeros(letters)
            )
            # p dc = C (rho + F dv - dz) - g rtau / kappa
            plain = diagonal * gain + tilted * (((tilted * gain).sum(axis=1) - floor_miss) / stiffness)[:, None]
            own_step, price_step = solve(right - plain @ rows, primal - plain.sum(axis=0))
            lift = gain + own_step @ rows.T - price_step
            floor_step = ((tilted * lift).sum(axis=1) - floor_miss) / stiffness if self.ratio else np.zeros(letters)
            share_step = (diagonal * lift + tilted * floor_step[:, None]) / weights
            above_step = share_step - floor_step[:, None]
            below_step = ratio * floor_step[:, None] - share_step
            floor_price_step = floor_target / above_floor - self.floor_prices - floor_ratios * above_step
            ceiling_price_step = (
                ceiling_target / below_ceiling - self.ceiling_prices - ceiling_ratios * below_step
                if self.ratio
                else np.zeros_like(share_step)
            )
            return (
                share_step,
                floor_step,
                price_step,
                own_step[:, : moments.shape[1]],
                own_step[:, moments.shape[1] :],
                floor_price_step,
                ceiling_price_step,
            )

        return toward

    def _by_atoms(
        self, rows: Floats, diagonal: Floats, tilted: Floats, stiffness: Floats, across: Floats, blocks: Floats
    ) -> Callable[[Floats, Floats], tuple[Floats, Floats]]:
        """(dv, dz) from F' C_j (F dv_j - dz) + loose dv_j = left_j and sum_j C_j (F dv_j - dz) = right."""
        letters = self.letters
        atoms = self.atoms
        width = rows.shape[1]
        matrix = np.zeros((atoms, atoms))
        if self.ratio:
            scaled = tilted / np.sqrt(stiffness)[:, None]
            matrix += scaled.T @ scaled
        if width:
            ridge = 1e-14 * np.trace(blocks, axis1=1, axis2=2)[:, None, None] * np.eye(width)
            factors = np.linalg.inv(np.linalg.cholesky(blocks + ridge))
            # C_j F L' for every letter
            spread = diagonal[:, :, None] * rows[None] + tilted[:, :, None] * (across / stiffness[:, None])[:, None, :]
            half = (spread @ factors.transpose(0, 2, 1)).transpose(0, 2, 1).reshape(letters * width, atoms)
            matrix -= half.T @ half
        matrix.flat[:: atoms + 1] += diagonal.sum(axis=0)
        root = np.sqrt(diagonal.sum(axis=0))
        matrix /= root[:, None] * root
        if self.moments.shape[1]:  # the gauge lambda_j + mu, z + mu . M
            gauge = np.linalg.qr(self.moments * root[:, None])[0]
            matrix += gauge @ gauge.T
        inverse = inverse_operator(matrix)

        def solve(left: Floats, right: Floats) -> tuple[Floats, Floats]:
            if not width:
                return np.zeros((letters, 0)), -inverse(right / root) / root
            letter_side = (factors @ left[:, :, None])[:, :, 0]
            price_step = inverse((letter_side.ravel() @ half - right) / root) / root
            own_step = (
                factors.transpose(0, 2, 1) @ (letter_side + (half @ price_step).reshape(letters, width))[:, :, None]
            )[:, :, 0]
            return own_step, price_step

        return solve

    def ahead(self, step: _Step) -> float:
        """The gap after the longest step in this direction."""
        up, down = self._rooms(step)
        up = min(1.0, up)
        down = min(1.0, down)
        share_step, floor_step, _, _, limit_step, floor_price_step, ceiling_price_step = step
        above_floor, below_ceiling, limit_slacks = self.slacks(
            self.shares + up * share_step, self.floors + up * floor_step
        )
        gap = (
            (self.floor_prices + down * floor_price_step) * above_floor
            + (self.ceiling_prices + down * ceiling_price_step) * below_ceiling
        ) @ self.weights
        return float(gap.sum() + ((self.limit_prices + down * limit_step) * limit_slacks).sum())

    def bend(self, step: _Step) -> tuple[Floats, Floats, Floats]:
        """The second-order terms of the products."""
        share_step, floor_step, _, _, limit_step, floor_price_step, ceiling_price_step = step
        ratio = self.ratio or 0.0
        return (
            (share_step - floor_step[:, None]) * floor_price_step,
            (ratio * floor_step[:, None] - share_step) * ceiling_price_step,
            ((share_step * self.weights) @ self.limits) * limit_step,
        )

    def _rooms(self, step: _Step) -> tuple[float, float]:
        share_step, floor_step, _, _, limit_step, floor_price_step, ceiling_price_step = step
        above_floor, below_ceiling, limit_slacks = self.slacks(self.shares, self.floors)
        up = longest_step(above_floor, share_step - floor_step[:, None])
        down = longest_step(self.floor_prices, floor_price_step)
        if self.ratio:
            up = min(up, longest_step(below_ceiling, self.ratio * floor_step[:, None] - share_step))
            down = min(down, longest_step(self.ceiling_prices, ceiling_price_step))
        if limit_slacks.shape[1]:
            up = min(up, longest_step(limit_slacks, (share_step * self.weights) @ self.limits))
            down = min(down, longest_step(self.limit_prices, limit_step))
        return up, down

    def move(self, step: _Step) -> bool:
        """Go almost to the boundary on both sides; False where doubles end."""
        up, down = (min(1.0, _SHORT * room) for room in self._rooms(step))
        if not up * down > 1e-12:
            return False
        share_step, floor_step, price_step, multiplier_step, limit_step, floor_price_step, ceiling_price_step = step
        shares = self.shares + up * share_step
        floors = self.floors + up * floor_step
        above_floor, below_ceiling, limit_slacks = self.slacks(shares, floors)
        if min(above_floor.min(), below_ceiling.min()) <= 0 or (limit_slacks.size and limit_slacks.min() <= 0):
            return False
        self.shares = shares
        self.floors = floors
        self.prices = self.prices + down * price_step
        self.multipliers = self.multipliers + down * multiplier_step
        self.limit_prices = self.limit_prices + down * limit_step
        self.floor_prices = self.floor_prices + down * floor_price_step
        self.ceiling_prices = self.ceiling_prices + down * ceiling_price_step
        return True
