r"""The other direction: the least leakage or rate under which so many bits are still told about W (the bottleneck).

min I(S; Y)   or   min I(X; Y)      such that      I(W; Y) >= c
"""

from collections.abc import Callable
from fractions import Fraction
from math import log

import numpy as np

from dalenius.core import Certificate, Design, Problem
from dalenius.core.numbers import up
from dalenius.errors import Infeasible
from dalenius.mechanisms.columns.funnel.gains import BITS, MERGING, UNIT, Wanted, exact_channel, exactly, tree_of
from dalenius.mechanisms.columns.leakage.model import Model
from dalenius.mechanisms.columns.takes import BOTTLENECK
from dalenius.mechanisms.declared import GAP, SECONDS
from dalenius.mechanisms.proving import proved
from dalenius.solvers.funnel import Least, least_beside_information
from dalenius.tables import with_metrics

__all__ = ["bottleneck"]


def bottleneck(
    problem: Problem,
    *,
    gap: float = GAP,
    seconds: float = SECONDS,
    on_progress: Callable[[str], None] | None = None,
) -> Design:
    """Minimise a leakage or the rate over all channels that tell enough about W and keep the promises.

    Parameters
    ----------
    problem : Problem
        Bound to its data, with one limit on information from below.
    gap, seconds : float
        When to end: bits between value and bound, and seconds.
    on_progress : callable, optional
        Told one line now and then.

    Returns
    -------
    Design
        With the exact channel and the proof of its bound.

    Raises
    ------
    Unsupported
        If the problem is none of this family.
    Infeasible
        If not even the input itself tells so much.
    """
    BOTTLENECK.refuse(problem)
    problem = with_metrics(problem, problem.pmf.alphabets(problem.inputs))
    (limit,) = problem.tells
    wanted = Wanted(problem, limit.about)
    most = float(wanted.labels.phi(wanted.shares * wanted.mass[:, None]).sum()) / BITS
    if float(limit.at_least_bits) > most:
        raise Infeasible(
            f"all of {', '.join(problem.inputs)} tells {most:.9g} bits about {', '.join(limit.about)}, less than the "
            f"{up(limit.at_least_bits, 9)} of at_least_bits; the largest that can be asked for is {most:.9g}"
        )

    def told(value: float, bound: float) -> None:
        if on_progress:
            on_progress(f"between {bound / BITS:.6g} and {value / BITS:.6g} bits")

    def program(gains: np.ndarray[tuple[int, ...], np.dtype[np.float64]], least: float) -> object:
        nothing = np.zeros(gains.shape, dtype=object)
        return Model.of(problem, fresh=nothing, costs=[(exactly(-gains), Fraction(-least))]).program

    found = least_beside_information(
        wanted.shares,
        wanted.labels,
        float(limit.at_least_bits) * log(2),
        program,  # type: ignore[arg-type]
        gap=0.9 * gap * BITS,
        seconds=seconds,
        on_progress=told,
    )
    spare = found.told / BITS - float(limit.at_least_bits)
    channel = exact_channel(problem, wanted, found.pi, loss=min(MERGING * gap, 0.5 * spare))
    method = f"{len(found.pieces)} chords of the posterior, refined in {found.rounds} rounds, and a convex program"
    remarks = [problem.pmf.note] if problem.pmf.note else []
    return proved(problem, channel, [certificate(problem, wanted, found)], method=method, remarks=remarks)


def certificate(problem: Problem, wanted: Wanted, found: Least) -> Certificate:
    """The multipliers of what is minimised and of the promises, and the weighed linear function of each cell."""
    many = len(found.pieces)
    model = Model.of(problem, fresh=np.zeros((len(wanted.mass), many), dtype=object))
    proof = dict(model.certificate(found.multipliers).proof)
    weight = max(1, int(float(found.multipliers.distortion[-1]) * UNIT))
    pieces = [[str(round(v * weight)) for v in row] for row in (found.pieces / BITS).tolist()]
    return Certificate("gain", proof | {"distortion": [weight], "pieces": pieces, "tree": tree_of(found.tree)})
