r"""All channels under local DP, for outputs that tell about all of the input (W = X): staircase columns, any number.

Few letters are designed one by one. Of many, the rare ones are grouped: the channel does not tell the letters of a
group apart, which costs a little, and a bound that may divide them at will says how much at most.

References: paper 002, eq. 6 and 10, over all stochastic matrices; Kairouz, Oh & Viswanath (2016).
"""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from time import monotonic

import numpy as np
import numpy.typing as npt

from dalenius.core import Certificate, Design, Kernel, LocalDP, Problem, Staircase
from dalenius.core.numbers import up
from dalenius.documents.text import text
from dalenius.mechanisms.column_bounds import local_ceiling, plain_ratio
from dalenius.mechanisms.columns.exact_columns import channel_from_rows
from dalenius.mechanisms.estimable import rank_remarks
from dalenius.mechanisms.interval_words import in_bits
from dalenius.mechanisms.local_dp.takes import FEW, STAIRCASE
from dalenius.mechanisms.proving import proved
from dalenius.solvers import best_mixture
from dalenius.solvers.interior import Floats
from dalenius.solvers.staircase import Staircase as Found
from dalenius.solvers.staircase import best_mass, staircase

__all__ = ["design", "in_form", "local_dp", "serves_rows"]

ALONE = 64  # letters that are designed one by one
HEAVY = 14  # letters told apart by the bound for many
GROUPS = 128
FINER = 3  # times that the classes of many letters are halved where the gap asks for it
ROUND, LATER = 2.0, 5  # seconds of the first search in classes, and how many times as long a later one may take
RELATIVE = 1e-7
ADVICE = 'form = "pram" keeps it identifiable, at less information'
LARGE = 1e10  # the search takes a larger ratio for this one; what is then lost is less than it can see

Told = Callable[[str], None] | None
Integers = npt.NDArray[np.int64]
Columns = list[tuple[Fraction, frozenset[int]]]  # weight and members


def serves_rows(problem: Problem) -> bool:
    """Whether a channel in rows for the whole input, under plain levels of local_dp alone, is found this way."""
    if any(not isinstance(promise, LocalDP) or promise.metric is not None for promise in problem.guarantees):
        return False
    ratio = plain_ratio(problem)
    if set(problem.objective.names) != set(problem.inputs) or ratio is None or ratio <= 1:
        return False
    return 2 <= len(problem.pmf.grouped(problem.inputs)[0]) <= FEW


def design(
    problem: Problem, *, gap: float, seconds: float, on_progress: Told = None
) -> tuple[Kernel, list[Certificate], str]:
    """A channel in rows, its certificate and the method in words.

    Parameters
    ----------
    problem : Problem
        Bound to its data.
    gap : float
        In bits.
    seconds : float
        After which the search ends.
    on_progress : callable, optional
        Takes a line for whoever waits.

    Returns
    -------
    channel, certificates, method
    """
    joint, ratio = problem.pmf, plain_ratio(problem) or Fraction(1)
    p = np.array([float(Fraction(int(n), joint.total)) for n in joint.counts(problem.inputs)])
    r = min(float(ratio), LARGE)
    found = staircase(p / p.sum(), r, gap=min(gap, 1e-10), seconds=seconds, on_progress=in_bits(on_progress))
    columns = weighted(found, p, ratio)
    rows = [tuple(weight * (ratio if x in members else 1) for weight, members in columns) for x in range(len(p))]
    return channel_from_rows(problem, rows), [_proof(found)], _METHOD


_METHOD = "staircase columns, generated one by one"


def local_dp(problem: Problem, *, gap: float = RELATIVE, seconds: float = 120.0, on_progress: Told = None) -> Design:
    """Maximise I(X; Y) over all channels that keep local_dp, with X of more than a few letters.

    `gap` counts as a share of the ceiling here. Of many letters classes are made, and finer ones until the gap is
    reached, the time is over or the classes have been halved three times.

    Parameters
    ----------
    problem : Problem
        Bound to its data.
    gap : float
        As a share of the most that any channel tells at the level.
    seconds : float
        After which the search ends.
    on_progress : callable, optional
        Takes a line for whoever waits.

    Returns
    -------
    Design
    """
    STAIRCASE.refuse(problem)
    return in_form(problem, gap=gap, seconds=seconds, on_progress=on_progress)


def in_form(problem: Problem, *, gap: float = RELATIVE, seconds: float = 120.0, on_progress: Told = None) -> Design:
    """The same for any number of letters, with a channel of form staircase.

    Parameters
    ----------
    problem : Problem
        Bound to its data.
    gap : float
        As a share of the most that any channel tells at the level.
    seconds : float
        After which the search ends.
    on_progress : callable, optional
        Takes a line for whoever waits.

    Returns
    -------
    Design
    """
    joint = problem.pmf.marginal(list(problem.observe))
    problem, ratio = replace(problem, joint=joint), plain_ratio(problem) or Fraction(1)
    counts = joint.every().astype(object)
    if len(joint) < 2:
        return _silent(problem)
    order = np.array(sorted(np.flatnonzero(counts), key=lambda x: (-int(counts[x]), x)))  # commonest first
    p = np.array([int(counts[x]) / joint.total for x in order])
    begun = monotonic()
    r = min(float(ratio), LARGE)
    share = min(gap, RELATIVE) * local_ceiling(float(ratio))
    say = in_bits(on_progress)
    if len(p) <= ALONE:
        found = above = staircase(p / p.sum(), r, gap=share, seconds=min(seconds, 20.0), on_progress=say)
        groups = np.arange(len(p))
        masses = p
        proof = _proof(found)
    else:
        heavy = np.concatenate([p[:HEAVY], [p[HEAVY:].sum()]])
        divisible = np.arange(HEAVY + 1) == HEAVY
        above = staircase(heavy / heavy.sum(), r, gap=share, divisible=divisible, seconds=seconds, on_progress=say)
        proof = _proof(above, len(p) - HEAVY)
        left = seconds - (monotonic() - begun)
        groups, masses, found = _in_groups(p, r, above.bound, gap=gap, share=share, seconds=left, say=say)
    columns = weighted(found, masses, ratio)
    channel = channel_of_columns(problem, ratio, columns, spread(groups, order, len(counts)))
    method = f"{_METHOD}, {len(masses)} classes of {len(p):,} values" if len(p) > ALONE else _METHOD
    return proved(
        problem,
        channel,
        [proof],
        method=method,
        remarks=rank_remarks(channel.by_class, channel.group, advice=ADVICE),
    )


def _in_groups(
    p: Floats,
    r: float,
    bound: float,
    *,
    gap: float,
    share: float,
    seconds: float,
    say: Callable[[float, float], None] | None,
) -> tuple[Integers, Floats, Found]:
    """Classes of letters, their masses and the best columns of them: finer classes until the gap is reached.

    A column that takes whole classes misses the best mass by half a class or so, which costs the square of that.
    """
    begun = monotonic()
    best: tuple[Integers, Floats, Found] | None = None
    mass = max(min(best_mass(r) / 4, 1 / 48), 1 / GROUPS)
    enough = bound - min(gap, 1e-6 * bound)
    for halvings in range(FINER + 1):
        groups = grouped(p, mass / 2**halvings)
        masses = np.bincount(groups, weights=p).astype(np.float64)
        left = seconds - (monotonic() - begun)
        limit = ROUND if not halvings else min(left, LATER * ROUND)
        found = staircase(masses / masses.sum(), r, gap=share, enough=enough, seconds=limit, on_progress=say)
        if best is None or found.value > best[2].value:
            best = groups, masses, found
        if bound - best[2].value <= gap or left < LATER * ROUND or len(masses) == len(p):
            break
    assert best is not None
    return best


def _silent(problem: Problem) -> Design:
    """One letter occurs, so that there is nothing to tell about it."""
    alphabets = problem.pmf.alphabets(problem.observe)
    group = (0,) * int(np.prod([len(letters) for letters in alphabets.values()]))
    channel = Staircase(alphabets, {problem.output or "Y": ("0",)}, Fraction(1), group, ((Fraction(1), ()),))
    proof = Certificate({"rule": "subsets", "runs": [["1", ["0"]]], "tree": [["leaf", "0"]]})
    return proved(problem, channel, [proof], method="one value: there is nothing to say")


def grouped(p: Floats, mass: float) -> Integers:
    """The class of each letter, the commonest first: alone when it is heavier, else in groups of about this mass.

    Parameters
    ----------
    p : array of float
        Probabilities of the letters, which fall.
    mass : float
        Of a group.

    Returns
    -------
    array of int

    >>> grouped(np.array([0.5, 0.1, 0.1, 0.1, 0.1, 0.1]), 0.2)
    array([0, 1, 1, 2, 2, 3])
    """
    alone = int(np.count_nonzero(p >= mass))
    light = np.cumsum(p[alone:]) - p[alone:] / 2
    # A hair less, so that a group that is just full does not become two by rounding.
    _, part = np.unique(np.floor(light / mass * (1 - 1e-12)).astype(np.int64), return_inverse=True)
    return np.concatenate([np.arange(alone), alone + part.astype(np.int64)])


def spread(groups: Integers, order: Integers, letters: int) -> tuple[int, ...]:
    """The group of every letter, from those of the letters that occur in this order; the others join the rarest.

    Parameters
    ----------
    groups : array of int
        The group of each letter that occurs, the commonest first.
    order : array of int
        Which letters these are.
    letters : int
        How many there are in all.

    Returns
    -------
    tuple of int
    """
    group = np.full(letters, int(groups[-1]), dtype=np.int64)
    group[order] = groups
    return tuple(group.tolist())


def channel_of_columns(problem: Problem, ratio: Fraction, columns: Columns, group: tuple[int, ...]) -> Staircase:
    """The channel of form staircase with these columns over groups of letters.

    Parameters
    ----------
    problem : Problem
        Bound to its data.
    ratio : Fraction
        How much likelier a column is from its members.
    columns : list of (weight, members)
        Members are groups.
    group : tuple of int
        Of every letter.

    Returns
    -------
    Staircase
    """
    names = {problem.output or "Y": tuple(map(str, range(len(columns))))}
    stairs = tuple((weight, tuple(sorted(members))) for weight, members in columns)
    return Staircase(problem.pmf.alphabets(problem.observe), names, ratio, group, stairs)


def weighted(found: Found, p: Floats, ratio: Fraction) -> Columns:
    """Exact weights of the columns found, as (weight, members).

    sum_k theta_k (1 + c 1_{A_k}) = 1 for every letter says that sum_k theta_k 1_{A_k} is the same number s everywhere,
    so theta = s u where u covers every letter once, and s = 1 / (c + sum u): the ratio enters once, at the end.

    Parameters
    ----------
    found : Found
        The columns of a search.
    p : array of float
        Masses of the letters or groups.
    ratio : Fraction
        r, exactly.

    Returns
    -------
    list of (weight, members)
    """
    members = subsets_of(found, len(p))
    worth = [told_by(float(p[list(member)].sum() / p.sum()), float(ratio)) - found.value for member in members]
    return covering(members, worth, len(p), ratio)


def subsets_of(found: Found, letters: int) -> list[frozenset[int]]:
    """The subsets of the columns found, and the whole alphabet, with which any weights can be completed."""
    everything = frozenset(range(letters))
    sets = dict.fromkeys(frozenset(np.flatnonzero(column > 0.5).tolist()) or everything for column in found.columns)
    return [*sets, *({everything} - set(sets))]


def covering(members: list[frozenset[int]], worth: list[float], letters: int, ratio: Fraction) -> Columns:
    """The exact weights of most worth with which these subsets cover every letter equally often.

    Parameters
    ----------
    members : list of frozenset of int
        Subsets; one of them is the whole alphabet.
    worth : list of float
        What the column of each tells.
    letters : int
        How many letters or groups there are.
    ratio : Fraction
        r, exactly.

    Returns
    -------
    list of (weight, members)
    """
    points = [[Fraction(x in member) for x in range(letters)] for member in members]
    u = best_mixture(points, worth, [Fraction(1)] * letters).theta
    s = 1 / (ratio - 1 + sum(u.values()))
    return [(s * t, members[k]) for k, t in u.items()]


def told_by(P: float, r: float) -> float:
    """What the column 1 + (r - 1) 1_A tells, with P = p(A).

    Parameters
    ----------
    P : float
        The probability of the members A.
    r : float
        The ratio.

    Returns
    -------
    float
        In bits.
    """
    return float(P * r * np.log2(r) - (1 + (r - 1) * P) * np.log2(1 + (r - 1) * P))


def _proof(found: Found, last: int | None = None) -> Certificate:
    """Prices of the runs of equal letters, the commonest first, and the tree; the last run may stand for more."""
    sizes = [int(many) for many in found.many]
    sizes[-1] = sizes[-1] if last is None else last
    # A price from above: where it is too high, the bound only gets looser.
    prices = [[up(Fraction(float(y)), 24)] for y in found.z / found.one]
    runs = [[str(many), price] for many, price in zip(sizes, prices, strict=True)]
    tree = [["split", *node] if isinstance(node, list) else ["leaf", text(repr(node))] for node in found.tree]
    return Certificate({"rule": "subsets", "runs": runs, "tree": tree})
