r"""Design when the statistics are only partly known: what passes is bounded whatever the secret is.

What is known, what is promised, and how it is found (paper 004, section IV, with the errata):

    P_X and P_S|X        least I(S; Y) under distortion                         `solve` with minimize = { leakage }
    P_X, not P_S|X       least worst-case I(S; Y) = rate-distortion of P_X      `solve` with minimize = { rate }
    nothing              least capacity under distortion                        `least_passing(least="capacity")`
    P_X, or nothing      least share s with I(S; Y) <= s I(S; X) for every S    `least_passing(least="s_star" | ...)`

`contract` is the family of the dispatcher: least distortion with [[guarantee]] contraction = c, which is eta_KL <= c:
I(S; Y) <= c I(S; X) whatever S is AND whatever the law of X is; the rational channel is proved to keep it, and the
bound on the distortion is proved by linear cuts of eta_KL (`kernel.lines`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dalenius.core import (
    Channel,
    Contraction,
    Dalenius,
    Design,
    Distortion,
    MinimizeDistortion,
    Pmf,
    Problem,
)
from dalenius.core.conditional_law import Kernel
from dalenius.core.numbers import written
from dalenius.errors import Infeasible, InputError, InvalidPmf, SolverFailed
from dalenius.measures.capacity import capacity
from dalenius.measures.correlation import eta_kl, maximal_correlation, s_star
from dalenius.mechanisms.columns.takes import CONTRACTION
from dalenius.mechanisms.declared import GAP, SECONDS
from dalenius.mechanisms.proof_terms import by_lines, in_units
from dalenius.mechanisms.proving import proved
from dalenius.stopping import left

if TYPE_CHECKING:
    from dalenius.solvers.leakage.program import Program
    from dalenius.solvers.robust import Limits

__all__ = ["Passing", "contract", "least_passing", "least_within", "proved_within", "reconstructed"]

Floats: TypeAlias = NDArray[np.float64]
GRAIN = 1 << 52
CLOSE = 5e-9  # the gap that a conic solver in doubles can be asked for
QUICK = 24  # letters for which it is asked for that in any case: seconds
FEW = 6  # letters for which the gap is closed further, by linear cuts
FINE = 1e-8
ROOM = Fraction(1, 10**5)  # bits by which a proof may miss what a search in floats found


def contract(
    problem: Problem,
    *,
    gap: float = GAP,
    seconds: float = SECONDS,
    on_progress: Callable[[str], None] | None = None,
) -> Design:
    """Least distortion under a promised contraction coefficient (004, (5) and (8) the other way round).

    >>> from dalenius.testing import contracted_bit
    >>> design = contract(contracted_bit("9/25"))
    >>> round(float(design.value), 7), design.unit
    (0.2, 'distortion')
    """
    CONTRACTION.refuse(problem)
    from dalenius.mechanisms.columns.leakage.model import Model
    from dalenius.mechanisms.columns.leakage.preflight import Size
    from dalenius.solvers.robust import least_contraction

    Size.of(problem).refuse_too_large(seconds)
    deadline = monotonic() + seconds
    if on_progress:
        on_progress("a second-order cone program with cuts")
    model = Model.of(problem)  # with the rows of inputs that never occur, which are compared like all others
    mass, limits = _limits(model.program)
    cost = mass[:, None] * model.program.cost.astype(np.float64)
    level = min(promise.at_most for promise in problem.guarantees if isinstance(promise, Contraction))
    if len(limits.at_most):
        within = least_contraction(limits, gap=1e-3, seconds=seconds / 3).bound
        if within > level:
            raise Infeasible(
                f"within the limits of distortion no recipe has a contraction coefficient below {within:.6g}, and "
                f"{float(level):g} is promised",
                do="Allow more change, or promise that figure or more.",
            )
    aim = CLOSE if len(mass) <= QUICK else max(gap, CLOSE)
    # Of whatever size costs are, the search sees them below one; its multipliers are of that size again.
    size = float(cost.max(initial=0.0, where=model.program.allowed)) or 1.0
    most = min(float(level), 1.0)
    found = least_contraction(limits, cost=cost / size, level=most, gap=aim / max(size, 1.0), seconds=left(deadline))
    channel, _ = model.channel(_rational(found.rows, cost + 1e6 * ~model.program.allowed))
    place = next(
        k
        for k, promise in enumerate(problem.guarantees)
        if isinstance(promise, Contraction) and promise.at_most == level
    )
    cuts = [
        {
            "promise": place,
            "first": model.near.numbers[cut.first],
            "second": model.near.numbers[cut.second],
            "at": written(Fraction(round(cut.b * GRAIN), GRAIN)),  # near its ends slopes are its inverse
            "weight": written(Fraction(cut.weight * size).limit_denominator(1 << 40)),
            "slopes": [written(Fraction(round(float(slope) * (1 << 40)), 1 << 40)) for slope in cut.slopes],
        }
        for cut in found.cuts
    ]
    letters = range(model.program.letters)
    nothing = ["0"] * len(problem.guarantees)
    certificate = by_lines(
        "letters",
        [[["leaf", letter]] for letter in letters],
        [{"objective": [], "promises": [[] for _ in nothing]} for _ in letters],
        promises=nothing,
        limits=in_units(max(0.0, float(multiplier) * size) for multiplier in found.multipliers),
        cuts=cuts,
    )
    method = f"second-order cone program, {found.rounds} rounds of cuts"
    cone = proved(problem, channel, [certificate], method=method)
    if len(mass) > FEW or cone.gap <= FINE or problem.forbid or problem.freeze:
        return cone
    from dalenius.mechanisms.columns.leakage.searching import designed

    try:
        return min(cone, designed(problem, gap=gap, seconds=left(deadline)), key=lambda design: design.gap)
    except (Infeasible, SolverFailed):
        return cone


def _rational(rows: Floats, cost: Floats) -> list[list[Fraction]]:
    """Rows rounded down to a grain; what is left goes to the cheapest letter."""
    out = []
    for row, price in zip(rows, cost, strict=True):
        whole = [int(entry * GRAIN) for entry in row.tolist()]
        whole[int(price.argmin())] += GRAIN - sum(whole)
        out.append([Fraction(value, GRAIN) for value in whole])
    return out


# --- least coefficient under distortion ------------------------------------------------------------------------------
@dataclass(frozen=True)
class Passing:
    """A rational channel within the limit, its coefficient rounded up, and a lower bound over all such channels."""

    channel: Kernel
    value: float
    bound: float
    least: str

    @property
    def gap(self) -> float:
        return self.value - self.bound


def _limits(program: "Program") -> tuple[Floats, "Limits"]:
    """The law of the inputs, and the limits of distortion under it, in floats."""
    from dalenius.solvers.robust import Limits

    mass = np.array([float(Fraction(int(value), int(sum(program.mass)))) for value in program.mass])
    parts = [mass[:, None] * np.asarray(costs).astype(np.float64) for costs, _ in program.distortions]
    most = np.array([float(limit) for _, limit in program.distortions])
    return mass, Limits(np.array(parts).reshape(-1, *program.cost.shape), most, ~program.allowed)


def least_passing(
    prior: Pmf | None,
    distortion: Sequence[Sequence[Any]],
    at_most: Any,
    *,
    least: str = "eta_kl",
    every_input: bool = False,
    letters: Sequence[str] | None = None,
    gap: float = 1e-4,
    seconds: float = 60.0,
) -> Passing:
    """The channel within a distortion limit that passes on least, whatever the secret is.

    `least`: "eta_kl" (004, (5) and (8)), "correlation" (rho_m^2, (10)), "s_star" ((9)) or "capacity" in bits (case 2).
    The limit is on E d(X, Y) under the prior, or with `every_input` on E d(x, Y) for every x, which needs no prior:
    (5) and (8) leave open which one is meant, and under an unknown prior only the second makes sense.

    >>> found = least_passing(None, [[0, 1], [1, 0]], "1/5", every_input=True)
    >>> round(found.value, 6), found.gap < 1e-4
    (0.36, True)
    """
    from dalenius.solvers.robust import Limits, least_contraction
    from dalenius.solvers.robust_prior import least_capacity, least_correlation, least_ratio

    d = np.array([[float(Fraction(entry)) for entry in row] for row in distortion])
    limit = Fraction(at_most)
    if prior is None and (not every_input or least in ("correlation", "s_star")):
        raise InputError(
            f"without a stated distribution only every_input=True makes sense, and not least={least!r}",
            do="Say every_input=True, or give a distribution.",
        )
    p = np.full(len(d), 1 / len(d)) if prior is None else _weights(prior, len(d))
    limits = Limits.every_input(d, float(limit)) if every_input else Limits.average(p, d, float(limit))
    name, alphabet = ("X", tuple(map(str, range(len(d))))) if prior is None else next(iter(prior.variables.items()))
    output = {"Y": tuple(letters or map(str, range(d.shape[1])))}

    def channel(rows: Floats) -> Channel:
        return Channel({name: tuple(alphabet)}, output, tuple(map(tuple, _rational(rows, d))))

    if least == "eta_kl":
        found = least_contraction(limits, gap=gap, seconds=seconds)
        exact = channel(found.rows)
        return Passing(exact, eta_kl(exact)[1], found.bound, least)
    if least == "capacity":
        found = least_capacity(limits, seconds=seconds)
        exact = channel(found.rows)
        return Passing(exact, capacity(exact).high, found.bound / float(np.log(2)) * (1 - 1e-15), least)
    if prior is None:
        raise InputError("a stated distribution is needed", do="Give a distribution.")
    if least == "correlation":
        found = least_correlation(p, limits, seconds=seconds)
        exact = channel(found.rows)
        return Passing(exact, maximal_correlation(prior, exact)[1] ** 2 * (1 + 1e-15), found.bound, least)
    if least != "s_star":
        raise InputError(f"least is {least!r}; there are 'capacity', 'correlation', 'eta_kl' and 's_star'")

    def bracket(_: Floats, rows: Floats) -> tuple[float, float]:
        return s_star(prior, channel(rows))

    found = least_ratio(p, limits, gap=gap, seconds=seconds, evaluate=bracket)
    exact = channel(found.rows)
    return Passing(exact, s_star(prior, exact)[1], found.bound, least)


def _weights(prior: Pmf, n: int) -> Floats:
    if len(prior.variables) != 1 or len(next(iter(prior.variables.values()))) != n:
        raise InputError(
            f"the stated distribution has one variable with a value for each of the {n} rows of the distortion",
            do="Give a distribution of so many values.",
        )
    if len(prior) != n:
        raise InvalidPmf("a value has probability 0; leave it out, since nothing is known about what it would reveal")
    return np.array([int(weight) / prior.total for weight in prior.weights.tolist()])


def least_within(problem: Problem) -> Passing:
    """The recipe of least capacity within the limits of distortion of a problem (004, case 2), whatever else it asks.

    Parameters
    ----------
    problem : Problem
        With its law and at least one limit of distortion.

    Returns
    -------
    Passing
        In bits: what the recipe tells under no statistics more than, and what every recipe within the limits tells
        under some. Where the search ended with nothing, a recipe that needs none, with a bound of nothing.

    Examples
    --------
    >>> from dalenius.testing import contracted_bit
    >>> from dalenius.core import Distortion
    >>> bit = contracted_bit("9/25")
    >>> limited = replace(bit, limits=(Distortion("hamming", ("X",), Fraction(1, 5)),))
    >>> found = least_within(limited)
    >>> round(found.value, 5), found.gap < 1e-4
    (0.27807, True)
    """
    from dalenius.mechanisms.columns.leakage.model import Model
    from dalenius.solvers.leakage.simple import at_hand
    from dalenius.solvers.robust_prior import least_capacity

    model = Model.of(replace(problem, guarantees=()))
    if not model.program.distortions:
        raise InputError("without a limit of distortion a constant reveals nothing; add a [[limit]] with distortion")
    _, limits = _limits(model.program)
    try:
        found = least_capacity(limits, seconds=SECONDS)
    except SolverFailed:
        simple = at_hand(model.program)
        if simple is None or simple.channel is None:
            raise
        channel, _ = model.channel(simple.channel)
        return Passing(channel, capacity(channel).high, 0.0, "capacity")
    channel, _ = model.channel(_rational(found.rows, limits.costs.sum(axis=0) + 1e6 * ~model.program.allowed))
    return Passing(channel, capacity(channel).high, found.bound / float(np.log(2)) * (1 - 1e-15), "capacity")


def proved_within(problem: Problem, found: Passing) -> tuple[Design, Design]:
    """The two ends of `least_within` as designs of the other direction: the first limit minimised under `dalenius`.

    Parameters
    ----------
    problem : Problem
        As for `least_within`.
    found : Passing
        What that found.

    Returns
    -------
    Design, Design
        Where the distortion of the first is within the limit, some recipe within the limits reveals no more than it
        promises; where the bound of the second exceeds the limit, every one reveals more than that promises.

    Examples
    --------
    >>> from dalenius.testing import contracted_bit
    >>> from dalenius.core import Distortion
    >>> limited = replace(contracted_bit("9/25"), limits=(Distortion("hamming", ("X",), Fraction(1, 5)),))
    >>> above, below = proved_within(limited, least_within(limited))
    >>> above.value <= Fraction(1, 5) < below.bound
    True
    """
    from dalenius.mechanisms.columns.leakage.searching import designed

    first = next(limit for limit in problem.limits if isinstance(limit, Distortion))
    others = tuple(limit for limit in problem.limits if limit is not first)
    aim = MinimizeDistortion(replace(first, at_most=None))
    ends = (Fraction(int(found.value / float(ROOM)) + 2), Fraction(max(0, int(found.bound / float(ROOM)) - 1)))
    above, below = (
        designed(
            replace(problem, objective=aim, limits=others, guarantees=(Dalenius(end * ROOM),)),
            gap=float(ROOM) / 100,
            seconds=SECONDS,
        )
        for end in ends
    )
    return above, below


def reconstructed(q: Sequence[Sequence[float]], prior: Sequence[float]) -> tuple[Floats, Floats]:
    """P_Y and W from Q(x, y) = P(x, y) / sqrt(P(x) P(y)) (004, Theorem 2, with the conditions that it lacks).

    sqrt(P_Y) = Q' sqrt(P_X), and W = diag(P_X)^-1/2 Q diag(P_Y)^1/2. It needs P_X > 0, Q >= 0 and Q Q' sqrt(P_X) =
    sqrt(P_X); letters of P_Y = 0 are left out. With a zero in P_X the second singular value of Q may be 1 though the
    maximal correlation is not (errata).

    >>> out, rows = reconstructed([[0.8, 0.2], [0.2, 0.8]], [0.5, 0.5])
    >>> out.round(12).tolist(), rows.round(12).tolist()
    ([0.5, 0.5], [[0.8, 0.2], [0.2, 0.8]])
    """
    matrix = np.array(q, dtype=np.float64)
    p = np.array(prior, dtype=np.float64)
    if (p <= 0).any() or abs(float(p.sum()) - 1) > 1e-9:
        raise InvalidPmf("Theorem 2 needs a stated distribution that is positive everywhere and sums to one")
    if (matrix < 0).any():
        raise InputError("the matrix Q has a negative entry", do="Give numbers from 0 on.")
    root = np.sqrt(p)
    if float(np.abs(matrix @ (matrix.T @ root) - root).max()) > 1e-9:
        raise InputError(
            "Q Q' does not keep sqrt(P_X), so Q does not come from a distribution with this one",
            do="Give the matrix and the distribution of one table.",
        )
    out = (matrix.T @ root) ** 2
    return out[out > 0], (matrix * np.sqrt(out) / root[:, None])[:, out > 0]
