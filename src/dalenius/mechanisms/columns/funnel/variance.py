r"""The least variance of estimated shares under promises that are convex in a column, in any mixture.

    min tr V      such that every promise is kept,       V / n the covariance of the efficient unbiased estimate.

Channels whose G = sum_y v_y v_y' / p.c_y points where the mixture so far says least are searched for as most
information is (`solvers.funnel.spreading`), and mixed; each of these searches proves a bound by cells of the posterior.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from dalenius.core import Certificate, Design, Guess, MaximizeInformation, Problem
from dalenius.errors import Infeasible, Unsupported
from dalenius.mechanisms.columns.funnel.gains import (
    BITS,
    Wanted,
    by_cells,
    certificate,
    exact_channel,
    kept_share,
)
from dalenius.mechanisms.columns.funnel.takes import SPREAD
from dalenius.mechanisms.columns.leakage.curved_promises import Cuts, is_curved
from dalenius.mechanisms.columns.leakage.gauges import ties_actions
from dalenius.mechanisms.declared import SECONDS
from dalenius.mechanisms.local_dp.variance import REMARK, UNIT, whole
from dalenius.mechanisms.proof_terms import by_lines
from dalenius.mechanisms.proving import proved
from dalenius.solvers.funnel import Gains, Labels
from dalenius.solvers.funnel.spreading import Floats, Mixed, least_spread, merged_by_posterior, psi_of
from dalenius.tables import with_files

__all__ = ["least_variance_under_limits"]

LETTERS = 6
RELATIVE = 1e-4
NEAR = 1e-6  # posteriors that are no further apart are one letter


def least_variance_under_limits(
    problem: Problem,
    *,
    gap: float = RELATIVE,
    seconds: float = SECONDS,
    on_progress: Callable[[str], None] | None = None,
) -> Design:
    """Minimise tr V over all channels that keep the promises.

    Parameters
    ----------
    problem : Problem
        Bound to its data; every value of the columns that are observed occurs.
    gap : float
        Stop when value and bound are so near, as a share of the value.
    seconds : float
        Stop after so long; value and bound are then further apart.
    on_progress : callable, optional
        Told one line now and then.

    Returns
    -------
    Design
        With the exact channel and the proof that no channel has a smaller variance than its bound.

    Raises
    ------
    Unsupported
        If there are more than six values, or one that never occurs.
    Infeasible
        If a promise about guesses leaves some share undetermined.

    >>> from fractions import Fraction
    >>> from dalenius.core import Guess, MinimizeVariance, Pmf
    >>> joint = Pmf.from_records({"S": "01", "X": "ab"}, [("0a", 3), ("0b", 1), ("1b", 4)])
    >>> promise = Guess(("S",), Fraction(3, 4))
    >>> asked = Problem(("X",), MinimizeVariance(("X",)), (promise,), output="Y", joint=joint)
    >>> design = least_variance_under_limits(asked)
    >>> float(design.value) < 2, design.gap < design.value / 1000
    (True, True)
    """
    SPREAD.refuse(problem)
    problem = with_files(problem)
    asked = replace(problem, objective=MaximizeInformation(problem.observe))
    wanted = Wanted(asked)
    every = int(np.prod([len(letters) for letters in problem.pmf.alphabets(problem.inputs).values()]))
    if not 2 <= every <= LETTERS:
        raise Unsupported(
            f"there are {every} values; under these promises the least variance is found for 2 to {LETTERS}: merge "
            "some, or minimise a distortion"
        )
    if len(wanted.mass) < every:
        raise Unsupported(
            f"{every - len(wanted.mass)} of {every} values never occur, and the variance of their shares is not "
            "bounded under these promises; leave them out of the list of values"
        )
    searched = by_cells(asked, wanted)
    proofs: list[Certificate] = []

    def most(labels: Labels, enough: float, left: float) -> Gains:
        found, model = searched(labels, enough * BITS, left)
        proofs.append(certificate(model, found))
        return found

    def told(value: float, bound: float) -> None:
        if on_progress:
            on_progress(f"between {bound:.6g} and {value:.6g}")

    for promise in problem.guarantees:
        if isinstance(promise, Guess) and ties_actions(problem, promise):
            about = ", ".join(promise.about)
            raise Infeasible(
                f"guesses of {about} may be no better than without the release, and several are equally good without "
                "it: no release may favour one of them, so that some share is undetermined and no variance is finite",
                do="Let guess be right more often.",
            )
    first = erased(asked, wanted.mass)
    found = least_spread(wanted.mass, most, gap=max(gap, RELATIVE), seconds=seconds, first=first, on_progress=told)
    wanted.labels = psi_of(wanted.mass, found.B)
    held = partial(_grams, wanted.mass)
    channel = exact_channel(asked, wanted, merged_by_posterior(found.pi, NEAR), loss=0.0, held=held)
    method = f"{found.rounds} recipes, each a convex program over cells of the conclusion, and their best mixture"
    lines = nothing(problem, len(wanted.mass)) if found.place is None else proofs[found.place]
    return proved(problem, channel, [_proof(found, lines)], method=method, remarks=[REMARK])


def erased(problem: Problem, mass: Floats) -> Floats | None:
    """The input itself, as often as curved promises allow it, else a letter that says nothing; None beside others."""
    if not all(map(is_curved, problem.guarantees)):
        return None
    share = kept_share(Cuts.of(problem), mass, np.diag(mass))
    return np.column_stack([share * np.diag(mass), (1 - share) * mass]) if share > 0 else None


def nothing(problem: Problem, inputs: int) -> Certificate:
    """Lines that prove that a sum of zeros is zero."""
    leaf = {"objective": ["0"] * inputs, "promises": [[] for promise in problem.guarantees]}
    return by_lines("simplices", [[["leaf", 0]]], [leaf], promises=["0"] * len(problem.guarantees))


def _grams(mass: Floats, pi: Floats) -> Floats:
    """The entries of v v' / p.c (h, J) of each letter."""
    c = pi / mass[:, None]
    v = c[:-1] - c[-1]
    first, second = np.triu_indices(len(v))
    return np.asarray(v[first] * v[second] / pi.sum(axis=0))


def _proof(found: Mixed, lines: Certificate) -> Certificate:
    """A matrix B, and lines that bound the sum of psi over all columns."""
    said = {"rule": "variance", "unit": str(UNIT), "matrix": whole(found.B), "prices": [], "form": lines.proof}
    return Certificate(said)
