r"""Noise for numeric columns on their grids: shrinkage, Gaussian, Laplace, max-entropy and minimum-capacity noise.

The mechanism needs no model of the columns beyond their means and variances (covariance), and every figure is proved
for the law on the grid. The objective is the least leakage or the least capacity within a squared error or a norm of
the noise, or the least squared error under promises.

References: Makhdoumi & Fawaz, "Privacy-Utility Tradeoff under Statistical Uncertainty" (paper 004), Prop. 2, (12),
Theorem 3, Lemma 1; its errata E2, E4, E12, E13.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from math import ceil, exp, floor, inf, log, log2, sqrt
from time import monotonic
from typing import Any

import numpy as np

from dalenius.core import (
    Certificate,
    Dalenius,
    Design,
    Leakage,
    LocalDP,
    MinimizeCapacity,
    MinimizeDistortion,
    Noise,
    Problem,
)
from dalenius.core.drafting import release_of
from dalenius.core.numbers import exact, up
from dalenius.errors import Infeasible, InputError, NotCertified, SolverFailed, Unsupported
from dalenius.kernel.noise import Noisy
from dalenius.mechanisms.declared import SECONDS
from dalenius.mechanisms.numbers.axes import axes_of
from dalenius.mechanisms.numbers.compared import best_matrix, bounded_by, compared, rounded
from dalenius.mechanisms.numbers.plans import ColumnPlan, Draft, Numbers, PrincipalPlan
from dalenius.mechanisms.numbers.preflight import refuse_too_fine, refuse_too_wide
from dalenius.mechanisms.numbers.takes import NOISE, SHAPED
from dalenius.mechanisms.proof_terms import texts
from dalenius.mechanisms.proving import proved
from dalenius.solvers.capacity_noise import least_capacity_noise
from dalenius.solvers.noise import (
    capacity_prior,
    gaussian_sigma,
    geometric_weights,
    information,
    max_entropy,
    power_weights,
    rate_line,
    root,
)
from dalenius.stopping import left, over

__all__ = ["noise", "restated"]

MARGIN = 1e-12  # floats propose a noise that is so much inside the limit
TRIES = 12
HURRIED = 4  # steps of them at once, when the time is over
SEARCHED = 0.5  # of the time, after which the least error is not searched for any longer
LINE = 4000  # points of a grid for which a line below the rate is found
Progress = Callable[[str], None] | None


def noise(problem: Problem, *, seconds: float = SECONDS, on_progress: Progress = None) -> Design:
    """The noise that tells least within the limit, or that errs least under the promises, proved on the grid.

    A grid whose proof alone takes longer than there is time is refused.

    >>> from dalenius.testing import noisy_dice
    >>> design = noise(noisy_dice())
    >>> round(float(design.value), 2), round(float(design.bound), 2), design.unit
    (1.2, 1.09, 'bits')
    """
    NOISE.refuse(problem)
    refuse_too_fine(problem, seconds)
    numbers = Numbers.of(problem.pmf, problem.observe)
    offers = _offers(problem, numbers)
    designs, refusals = [], []
    for words, make in offers:
        if on_progress:
            on_progress(words)
        try:
            designs.append(make())
        except (Unsupported, Infeasible) as e:
            refusals.append(e)
    if not designs:
        raise refusals[0]
    best = min(designs, key=lambda design: design.value)
    matrix = best_matrix(problem)
    if lines := bounded_by(matrix):
        own = best.certificate
        offered = [Certificate({"rule": "grid", **lines}), own]
        assert isinstance(best.channel, Noise)
        axes = axes_of(best.channel, best.problem.pmf.marginal(numbers.names))
        best = proved(best.problem, best.channel, offered, method=best.method, remarks=best.remarks, axes=axes)
    return replace(best, remarks=(*best.remarks, *_remarks(problem, numbers, best, designs, matrix)))


def _offers(problem: Problem, numbers: Numbers) -> list[tuple[str, Callable[[], Design]]]:
    """The ways to design it; the best of them is taken."""
    assert problem.noise is not None
    kind, goal = problem.noise.kind, problem.objective
    if kind not in SHAPED:
        return [(f"{kind} noise", lambda: _by_norm(problem, numbers))]
    levels = [promise for promise in problem.guarantees if isinstance(promise, LocalDP)]
    if isinstance(goal, MinimizeDistortion) and levels:
        return [("noise of the level that is promised", lambda: _by_level(problem, numbers, levels))]
    plans: list[Any] = [ColumnPlan(numbers, kind)]
    across = len(numbers.names) > 1 and kind != "laplace" and not problem.noise.clip
    if across and sum(variance > 0 for variance in numbers.variances) > 1:
        plans.append(PrincipalPlan(numbers, kind))
    return [(plan.words, partial(_by_plan, problem, numbers, plan)) for plan in plans]


# --- one squared error -----------------------------------------------------------------------------------------------
def _by_plan(problem: Problem, numbers: Numbers, plan: Any) -> Design:
    if isinstance(problem.objective, MinimizeDistortion):
        return _least_error(problem, numbers, plan)
    limit = problem.limits[0].at_most
    assert limit is not None
    if limit <= 0:
        raise Infeasible(f"no noise has a squared error of {float(limit):g}; allow more than 0")
    refuse_too_wide(plan.drafts(float(limit)))
    return _design(problem, numbers, _clipped(problem, numbers, plan.channel(float(limit))), plan.words)


def _least_error(problem: Problem, numbers: Numbers, plan: Any) -> Design:
    """The least squared error at which every promise holds, by bisection in floats and then a proof."""
    shrinks = plan.kind == "shrinkage"
    whole = float(numbers.variance) or float(sum(step**2 for step in numbers.steps))
    groups = [
        _groups(problem, guarantee.secret) if isinstance(guarantee, Leakage) else None
        for guarantee in problem.guarantees
    ]

    def broken(d: float) -> bool:
        try:
            drafts = plan.drafts(d)
        except Unsupported:
            return True
        return any(
            _exceeds(promise, drafts, numbers, group) for promise, group in zip(problem.guarantees, groups, strict=True)
        )

    high = log(whole) + 0.7
    while not shrinks and broken(exp(high)) and high < log(whole) + 25:
        high += 2
    low = log(whole) - 30
    if broken(exp(high)):
        raise Infeasible(
            f"a squared error of {exp(high):g} is still not enough to keep {problem.guarantees[0].words()}",
            do="Promise less.",
        )
    rounds = (
        24 if any(isinstance(guarantee, Dalenius) for guarantee in problem.guarantees) else 45
    )  # capacities are found to 1e-4
    until = monotonic() + SEARCHED * left()
    for _ in range(rounds):
        if over(until):
            break
        middle = (low + high) / 2
        low, high = (middle, high) if broken(exp(middle)) else (low, middle)
    refuse_too_wide(plan.drafts(exp(high)))
    near = 1e-4 if rounds < 45 else 1e-9
    k = 0
    while k < TRIES:
        try:
            channel = _clipped(problem, numbers, plan.channel(exp(high) * (1 + near * 4**k)))
            return _design(problem, numbers, channel, plan.words)
        except Infeasible as e:
            refused = e
        k += HURRIED if over() else 1
    raise SolverFailed(f"no noise was proved to keep the promises: {refused}")


def _groups(problem: Problem, secret: Sequence[str]) -> Any:
    """The number of the value of a secret for each outcome of the joint pmf; None where it tells the whole record."""
    if set(problem.observe) <= set(secret):
        return None
    return np.unique(problem.pmf.support[:, problem.pmf.columns(list(secret))], axis=0, return_inverse=True)[1].reshape(
        -1
    )


def _exceeds(promise: Any, drafts: Sequence[Draft], numbers: Numbers, groups: Any) -> bool:
    """Whether drafts break a promise, in floats."""
    if isinstance(promise, Leakage):
        own = [draft.told(numbers.shares) for draft in drafts]
        about = own if groups is None else [draft.told(numbers.shares, groups) for draft in drafts]
        told = sum(own) + min((a - b for a, b in zip(about, own, strict=True)), default=0.0) if inf not in own else inf
        return told > float(promise.at_most_bits) * (1 - 1e-9)
    if isinstance(promise, Dalenius):
        if promise.rows != 1 and promise.group * sum(map(log2, numbers.sizes)) <= promise.at_most_bits:
            return False  # the columns of the group hold no more
        told = promise.draws * sum(_capacity(draft, numbers) for draft in drafts)
        return told > float(promise.at_most_bits) * (1 - 1e-4)
    left = 1.0
    for d in drafts:
        first, last = d.ends(numbers.sizes)
        far = last - first
        law = np.array(d.law)
        law = np.concatenate([law[:0:-1], law])
        close = float(np.sqrt(law[far:] * law[: len(law) - far]).sum() / law.sum()) if far < len(law) else 0.0
        left *= close**2
    return 1 - left > float(promise.at_most) * (1 - 1e-9)


def _capacity(draft: Draft, numbers: Numbers) -> float:
    first, last = draft.ends(numbers.sizes)
    if first == last:
        return 0.0
    if draft.scale <= 0:
        return inf
    far = max(1, (last - first) // 200)
    law, many = draft.law[::far], (last - first) // far + 1
    prior = capacity_prior(many, law, 0, 1 - len(law), many - 2 + len(law), 150)
    return information(prior, law, 0, 1 - len(law), many - 2 + len(law))


# --- a level of local_dp ---------------------------------------------------------------------------------------------
def _by_level(problem: Problem, numbers: Numbers, levels: Sequence[LocalDP]) -> Design:
    assert problem.noise is not None
    kind, (promise, *more) = problem.noise.kind, levels
    if more or kind == "shrinkage" or (kind == "gaussian") != bool(promise.delta):
        raise Unsupported(
            f"{kind} noise cannot be made to keep this level; say --mechanism laplace or, for a small grid, "
            "--mechanism best, both without --delta, or --mechanism gaussian with --delta; one level alone"
        )
    if not promise.epsilon:
        raise Infeasible(
            "local_dp = 0 needs a release that reveals nothing, which no added noise is", do="Allow a level above 0."
        )
    many, columns = len(numbers.names), []
    for j, (name, grid) in enumerate(zip(numbers.names, numbers.grids, strict=True)):
        n = len(grid)
        clip = _clip(problem, numbers, j)
        if n == 1:
            columns.append(Noise.on_grid(name, grid, Fraction(1), Fraction(0), (1,), clip))
        elif kind == "laplace":
            low, high = clip or (0, n - 1)
            rate = float(promise.epsilon) / many / (n - 1) * (1 - MARGIN)
            weights = geometric_weights(rate, max(n - 1 - low, high, 1))
            columns.append(Noise.on_grid(name, grid, Fraction(1), Fraction(0), weights, (low, high)))
        else:
            columns.append(_gaussian(name, grid, promise.epsilon / many, promise.delta / many, clip))
    return _design(problem, numbers, Noise.side_by_side(columns), f"{kind} noise of that level")


def _gaussian(
    name: str, grid: list[Fraction], epsilon: Fraction, delta: Fraction, clip: tuple[int, int] | None
) -> Noise:
    """Discrete Gaussian noise with the least scale that is proved to keep (epsilon, delta) over the declared range."""
    far = len(grid) - 1

    def short(sigma: float) -> float:
        # Beyond 9.3 sigma there is less than 2^-62 of the law, below the unit of its weights.
        k = np.arange(-ceil(9.3 * sigma) - 1, ceil(9.3 * sigma) + 2)
        law = np.exp(-(k**2) / (2 * sigma**2))
        below = np.concatenate([[0.0], np.cumsum(law / law.sum())])
        late = np.concatenate([np.zeros(min(far, len(below))), below[: max(0, len(below) - far)]])
        return float(delta) - float((below - exp(float(epsilon)) * late).max())

    about = gaussian_sigma(float(epsilon), float(delta), far)
    sigma = root(short, about / 4, about * 2)
    for k in range(40):
        channel = Noise.on_grid(name, grid, Fraction(1), Fraction(0), power_weights(2, sigma * sqrt(2)), clip)
        if _delta(channel, epsilon) <= delta:
            return channel
        sigma *= 1 + 1e-9 * 2**k
    raise SolverFailed("no Gaussian noise was proved to keep epsilon and delta")


def _delta(channel: Noise, epsilon: Fraction) -> Fraction:
    """The delta of one column of noise at this level, proved."""
    return release_of(channel, None, axes_of(channel, None, priors=False)).delta((), epsilon)


# --- a norm of the noise ---------------------------------------------------------------------------------------------
def _by_norm(problem: Problem, numbers: Numbers) -> Design:
    """Max-entropy noise (Lemma 1), or the noise of the least capacity, within a norm."""
    limit = problem.limits[0]
    assert problem.noise is not None and limit.at_most is not None  # noqa: PT018
    if limit.at_most <= 0:
        raise Infeasible(f"no noise has a norm of {float(limit.at_most):g}; allow more than 0")
    p = inf if limit.p == "inf" else float(exact(limit.p))
    columns = list[Noise]()
    least = list[dict[str, Any]]()
    for j, (name, grid) in enumerate(zip(numbers.names, numbers.grids, strict=True)):
        size = limit.at_most / numbers.steps[j]
        if problem.noise.kind == "max-entropy":
            scale = float(size) if p == inf else max_entropy(p, float(size) * (1 - MARGIN)).scale
            clip = _clip(problem, numbers, j)
            columns.append(Noise.on_grid(name, grid, Fraction(1), Fraction(0), power_weights(p, scale), clip))
            continue
        reach = floor(size) if p == inf else ceil((14 if p == 1 else 6) * float(size)) + 1
        found = least_capacity_noise(len(grid), p, float(size ** (2 if p == 2 else 1)), reach)
        columns.append(Noise.on_grid(name, grid, Fraction(1), Fraction(0), found.weights))
        prior = [[str(k), str(value)] for k, value in enumerate(found.prior) if value]
        weights = texts(columns[-1].axes[0].weights)
        least.append({"slope": up(Fraction(found.slope), 20), "prior": prior, "weights": weights})
    return _design(problem, numbers, Noise.side_by_side(columns), f"{problem.noise.kind} noise", least)


# --- from a channel to a design --------------------------------------------------------------------------------------
def _clip(problem: Problem, numbers: Numbers, j: int) -> tuple[int, int] | None:
    assert problem.noise is not None
    ends = problem.noise.clip.get(numbers.names[j])
    if ends is None:
        return None
    low, high = ((end - numbers.grids[j][0]) / numbers.steps[j] for end in ends)
    if low.denominator != 1 or high.denominator != 1:
        raise InputError(
            f"column {numbers.names[j]!r}: the released range does not begin and end on the grid",
            do="Choose ends of clip that are points of the grid.",
        )
    return int(low), int(high)


def _clipped(problem: Problem, numbers: Numbers, channel: Noise) -> Noise:
    """The same noise, collected at the ends of the declared ranges."""
    assert problem.noise is not None
    if unknown := [n for n in problem.noise.clip if n not in numbers.names]:
        raise InputError(f"clip names {unknown[0]!r}, which is not released", do="Name a released column in clip.")
    if not problem.noise.clip:
        return channel
    columns = []
    for j, (name, grid) in enumerate(zip(numbers.names, numbers.grids, strict=True)):
        axis = channel.axes[j]
        keep = axis.take[j]
        centre = (axis.move - Fraction(1, 2)) / (1 - keep) if keep < 1 else Fraction(0)
        ends = _clip(problem, numbers, j) or (axis.low, axis.high)
        columns.append(Noise.on_grid(name, grid, keep, centre, axis.weights, ends))
    return Noise.side_by_side(columns)


def _design(
    problem: Problem, numbers: Numbers, channel: Noise, words: str, least: Sequence[dict[str, Any]] = ()
) -> Design:
    """The design with every figure that it states, proved; a promise that the noise does not keep is infeasible."""
    problem = replace(problem, joint=problem.pmf.marginal(problem.variables()))
    channel = replace(channel, inputs=numbers.letters)  # as the source writes them
    line = _line(problem, numbers, channel)
    proof = Certificate({"rule": "noise", "line": line, "least": list(least)})
    method = f"{_count(numbers)}: {words}"
    try:
        return proved(
            problem, channel, [proof], method=method, axes=axes_of(channel, problem.pmf.marginal(numbers.names))
        )
    except NotCertified as e:
        if "more than" in str(e) or "not bounded" in str(e):
            raise Infeasible(
                f"{words} within the limit does not do: {e}", do="Raise the limit, or promise less."
            ) from None
        raise


def _line(problem: Problem, numbers: Numbers, channel: Noise) -> dict[str, Any] | None:
    """A line below the rate of one column at the squared error of its noise: slope, and weights of the grid points."""
    if len(numbers.names) > 1 or len(numbers.grids[0]) > LINE or isinstance(problem.objective, MinimizeCapacity):
        return None
    prior = problem.pmf.marginal(numbers.names)
    release = release_of(channel, prior, axes_of(channel, prior, priors=False))
    assert isinstance(release, Noisy)
    squared = release.noise.squared(release.setting, 0)
    if not 0 < squared < numbers.variances[0]:
        return None
    shares = np.bincount(numbers.places[:, 0], weights=numbers.shares, minlength=numbers.sizes[0]).astype(float)
    slope, weights = rate_line(shares, float(squared))
    whole = [[str(i), str(max(1, round(weight * 2**40)))] for i, weight in enumerate(weights.tolist()) if shares[i]]
    return {"slope": up(Fraction(slope), 20), "weights": whole}


def _count(numbers: Numbers) -> str:
    return "one numeric column" if len(numbers.names) == 1 else f"{len(numbers.names)} numeric columns"


def restated(design: Design) -> Design:
    """The same mechanism for other records: every figure proved anew, or a refusal."""
    assert isinstance(design.channel, Noise)
    document = json.loads(design.dumps())
    axes = axes_of(design.channel, design.problem.pmf.marginal(list(design.channel.inputs)), priors=False)
    # The laws of the design bound the capacity for any records.
    axes = axes._replace(priors=[axis["prior"] for axis in document["channel"]["axes"]])
    proof = Certificate({"rule": "noise", "line": None, "least": document["proof"].get("least", [])})
    again = proved(design.problem, design.channel, [proof], method=design.method, axes=axes)
    return replace(again, remarks=design.remarks)


# --- remarks ---------------------------------------------------------------------------------------------------------
def _remarks(
    problem: Problem, numbers: Numbers, best: Design, designs: Sequence[Design], matrix: Design | None
) -> list[str]:
    assert problem.noise is not None
    told, stated = [], best.stated
    reached = exact(stated["distortion"])
    leaks = exact(stated["leakage_bits"])
    others = [design for design in designs if design.channel is not best.channel]
    if others:
        other = others[0].stated
        told.append(
            f"chosen: {best.method.split(': ')[1]}; {others[0].method.split(': ')[1]} would reveal "
            f"{float(exact(other['leakage_bits'])):.4g} bits at a squared error of "
            f"{float(exact(other['distortion'])):.6g}"
        )
    if problem.noise.kind == "shrinkage" and not leaks:
        told.append(
            "the distortion allowed is not below the variance: the mean is released for every record, which reveals "
            "nothing"
        )
    elif problem.noise.kind == "shrinkage" and not over():  # which takes as long as the proof
        added = _added(problem, numbers, reached)
        told.append(
            f"added Gaussian noise of the same squared error would reveal {float(added):.4g} bits, "
            f"{float(added / max(leaks, Fraction(1, 10**9))):.3g} times as much"
        )
    told += [*compared(numbers, reached, matrix), *rounded(problem, numbers)]
    told += [
        f"a gap in {name} counts as {column.missing}: what is said of means and errors is said of the filled column"
        for name, column in problem.columns.items()
        if name in numbers.names and column.missing not in ("refuse", "category")
    ]
    if stated["epsilon_nats"] is None:
        told.append(
            "the noise has an end, so that there is no pure level of local_dp; delta is stated at several levels"
        )
    told.append("the recipe is a function of the declared grids and of the means and variances of the columns")
    return told


def _added(problem: Problem, numbers: Numbers, squared: Fraction) -> Fraction:
    """What added Gaussian noise of that squared error tells about the columns, proved."""
    channel = replace(ColumnPlan(numbers, "gaussian").channel(float(squared)), inputs=numbers.letters)
    prior = problem.pmf.marginal(numbers.names)
    release = release_of(channel, prior, axes_of(channel, prior, priors=False))
    return release.information(numbers.names)[1]
