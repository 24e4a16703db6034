r"""Next to a point that nearly has its row sums and equalities, one that has them to the last digit of a double.

Of all pi' on the support of pi with row sums p and G pi'_t = h_t the one with the least relative entropy to pi is

    pi'(e, t) = pi(e, t) exp(alpha(e) + <G_e, eta_t>).

Newton's method on its concave dual finds alpha and eta. Entries change in proportion to their size, so that a small one
never pays for what a large one owes: an amount that is tiny beside the masses may be large beside an entry.
"""

import numpy as np

from dalenius.solvers.leakage.program import Floats

__all__ = ["projected"]

_STEPS = 30
_LONGEST = 1.0  # the most that the logarithm of an entry may change in one step
_EXACT = 1e-16  # what is missed by no more is rounding
_ENTRIES = 4_000_000  # doubles of G pi_t at a time


def projected(pi: Floats, masses: Floats, G: Floats, h: Floats) -> Floats:
    """The point near pi, and as near to its equalities as any that was met; pi itself where none is nearer.

    Parameters
    ----------
    pi
        Nonnegative (n, m); zeros stay zeros.
    masses
        Its row sums (n,).
    G, h
        Equalities G pi_t = h_t: (r, n) and (r, m).

    Returns
    -------
    array
        Like `pi`.

    Examples
    --------
    >>> nearly = np.array([[0.5 - 1e-9, 1e-9], [3e-9, 0.5 - 3e-9]])
    >>> law = np.array([[0.5, 0.5]])
    >>> exact = projected(nearly, np.array([0.5, 0.5]), np.ones((1, 2)), law)
    >>> bool(np.abs(exact.sum(axis=0) - 0.5).max() < 1e-15), float(np.round(exact[0, 1] / 1e-9, 3))
    (True, 1.732)
    """
    best, least = pi, _missed(pi, masses, G, h)
    with np.errstate(all="ignore"):
        for _ in range(_STEPS):
            if least <= _EXACT:
                break
            try:
                step = _newton(pi, masses - pi.sum(axis=1), G, h - G @ pi)
            except np.linalg.LinAlgError:
                break
            if not np.isfinite(step).all():
                break
            pi = pi * np.exp(step * min(1.0, _LONGEST / max(float(np.abs(step).max()), 1e-300)))
            missed = _missed(pi, masses, G, h)
            if missed >= least and least <= 10 * _EXACT:
                break
            if missed < least:
                best, least = pi, missed
    return best


def _missed(pi: Floats, masses: Floats, G: Floats, h: Floats) -> float:
    return max(float(np.abs(masses - pi.sum(axis=1)).max()), float(np.abs(h - G @ pi).max(initial=0.0)))


def _newton(pi: Floats, rows: Floats, G: Floats, equal: Floats) -> Floats:
    """The change of log pi (n, m) that meets row sums and equalities to first order; eta is eliminated by letter."""
    n, m = pi.shape
    inverses = np.zeros((m, len(G), len(G)))
    S = np.diag(pi.sum(axis=1))
    right = rows.copy()
    size = max(1, _ENTRIES // max(1, n * len(G)))
    parts = [slice(first, first + size) for first in range(0, m, size)]
    for part in parts:
        P = G * pi.T[part, None, :]  # (letters, r, n)
        inverses[part] = np.linalg.pinv(P @ G.T, rcond=1e-13, hermitian=True)
        moved = inverses[part] @ P
        S -= np.tensordot(P, moved, axes=([0, 1], [0, 1]))
        right -= np.einsum("tre,rt->e", moved, equal[:, part])
    # Row sums and equalities repeat each other: of all solutions the least one.
    alpha = np.linalg.lstsq(S, right, rcond=1e-13)[0]
    step = np.repeat(alpha[:, None], m, axis=1)
    for part in parts:
        left = equal[:, part].T - (G * pi.T[part, None, :]) @ alpha
        step[:, part] += ((inverses[part] @ left[:, :, None])[:, :, 0] @ G).T
    return np.asarray(np.where(pi > 0, step, 0.0))
