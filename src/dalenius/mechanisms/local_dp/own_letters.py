r"""Any matrix under local DP that releases a column in its own letters: invariant PRAM, forbidden and frozen letters.

    max I(X; Z)   over all matrices at the level with   p M = p (`preserve_marginals`),   M(x, z) = 0 where forbidden.

I is convex in M and the matrices are a polytope, so the best is one of its corners: from several starts the linear
program of the tangent is solved until no corner is better. That alone proves nothing; the bound is that of all channels
at the level, whatever letters they release. It is met where as many letters are allowed as the best channel has and no
margin is preserved. With margins, or with fewer letters, up to eight values are searched by branch and bound, which
proves the optimum or says what it leaves open. Under pure local DP a transition that is forbidden from one letter is
impossible from every letter: a zero in a column makes the whole column zero.

References: paper 002, section 2.2 and 5; Gouweleeuw et al. (1998) for invariant PRAM.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from dalenius.core import Certificate, Channel, Design, Problem
from dalenius.core.arithmetic import exp
from dalenius.core.numbers import written
from dalenius.errors import Infeasible, Unsupported
from dalenius.mechanisms.barred_letters import barred_letters
from dalenius.mechanisms.column_bounds import (
    kept_exactly,
    local_ceiling,
)
from dalenius.mechanisms.estimable import determined_words
from dalenius.mechanisms.local_dp import staircase
from dalenius.mechanisms.local_dp.takes import OWN_LETTERS, level_and_law, with_fresh_letters
from dalenius.mechanisms.proof_terms import CLOSED, in_units
from dalenius.mechanisms.proving import proved
from dalenius.mechanisms.value_names import names_that_keep
from dalenius.solvers import maximise
from dalenius.solvers.interior import Floats
from dalenius.solvers.invariant import Invariant, invariant

__all__ = ["own_letters"]

LETTERS = 24
FEW = 8  # values whose matrices are searched by branch and bound
NODES = 4000
SECONDS = 40.0
RELATIVE = 1e-6
STARTS = 12
STEPS = 50
GRAIN = 1 << 62


def own_letters(
    problem: Problem,
    *,
    gap: float = staircase.RELATIVE,
    seconds: float = 60.0,
    on_progress: Callable[[str], None] | None = None,
) -> Design:
    """The best matrix that the search finds, with the bound of all channels.

    Parameters
    ----------
    problem : Problem
        Bound to its data, with up to 24 values.
    gap : float
        Of the bound over all channels, as a share of its ceiling.
    seconds : float
        For each of the searches.
    on_progress : callable, optional
        Takes a line for whoever waits.

    Returns
    -------
    Design

    Raises
    ------
    Infeasible
        If what is forbidden leaves no letter, or a share cannot be preserved.
    Unsupported
        If there are too many values.

    >>> from dalenius.core import LocalDP, MaximizeInformation, Pmf
    >>> joint = Pmf.from_records({"X": ("a", "b", "c")}, [(("a",), 5), (("b",), 3), (("c",), 2)])
    >>> goal, promise = MaximizeInformation(("X",)), LocalDP(Fraction(1))
    >>> design = own_letters(Problem(("X",), goal, (promise,), release=("X",), preserve_marginals=True, joint=joint))
    >>> [sum(n * row[y] for n, row in zip((5, 3, 2), design.channel.rows)) for y in range(3)]
    [Fraction(5, 1), Fraction(3, 1), Fraction(2, 1)]
    """
    OWN_LETTERS.refuse(problem)
    promise, joint = level_and_law(problem)
    r = exp(promise.epsilon)[0]
    problem = replace(problem, joint=joint)
    alphabets = joint.alphabets(problem.observe)
    letters = list(product(*alphabets.values()))
    if len(letters) > LETTERS:
        raise Unsupported(
            f"there are {len(letters)} values, and a matrix in their own values is searched for up to {LETTERS}; "
            'form = "pram" takes 100,000'
        )
    counts = joint.every().tolist()
    allowed = _allowed(problem, letters, counts)
    occur = [x for x, count in enumerate(counts) if count]
    p = np.array([counts[x] / joint.total for x in occur])
    margin = np.array([counts[y] / joint.total for y in allowed]) if problem.preserve_marginals else None
    best = staircase.in_form(with_fresh_letters(problem), gap=gap, seconds=seconds)
    starts = [_labelled(best, occur, allowed) if margin is None else _filled(best, occur, p, margin)]
    own = [allowed.index(x) for x in occur] if set(occur) <= set(allowed) else []
    fits = _upright(own, margin) if own and not problem.allow_inverted else None
    if fits and margin is None:
        starts += _cyclic(len(allowed), own, float(r))
    found = _searched(p, float(r), len(allowed), margin, starts, on_progress, own, fits)
    certificates, method = [CLOSED, best.certificate], _CLIMBED
    if margin is not None and own and 2 <= len(occur) <= FEW:
        better = _branched(p, float(r), found[:, own], True, min(seconds, SECONDS), on_progress)
        branched = found.copy()
        branched[:, own] = better.W
        branched = _named(p, branched, own, margin)
        found = branched if fits is None or fits(branched) else found
        certificates, method = [_proof(better), *certificates], _BRANCHED
    elif margin is None and 1 < len(allowed) < len(occur) and len(letters) <= FEW and _lost(found, p, best, gap):
        better = _branched(p, float(r), found, False, min(seconds, SECONDS), on_progress)
        found = _named(p, better.W, own, None)
        certificates, method = [_proof(better), *certificates], _BRANCHED
    mass = [Fraction(counts[x], joint.total) for x in occur]
    wanted = [Fraction(counts[y], joint.total) for y in allowed] if problem.preserve_marginals else None
    exactly = _coupled(found, mass, wanted)
    near = {x: _spread(row, allowed, len(letters)) for x, row in zip(occur, exactly, strict=True)}
    rows = kept_exactly(problem, near)
    columns = zip(*(rows[x] for x in occur), strict=True)
    out = tuple(sum((m * entry for m, entry in zip(mass, column, strict=True)), Fraction(0)) for column in columns)
    channel = Channel(alphabets, alphabets, tuple(rows.get(x, out) for x in range(len(letters))))
    remarks = _remarks(problem, letters, allowed, channel, occur)
    return proved(problem, channel, certificates, method=method, remarks=remarks)


_CLIMBED = "corners of the polytope of matrices, climbed"
_BRANCHED = "corners of the polytope of matrices, by branch and bound"


def _lost(found: Floats, p: Floats, best: Design, gap: float) -> bool:
    """Whether a matrix tells less than the best channel in fresh letters."""
    return _told(p, found) < float(best.value) - max(gap, RELATIVE)


def _branched(
    p: Floats, r: float, first: Floats, margin: bool, seconds: float, on_progress: Callable[[str], None] | None
) -> Invariant:
    words = "between {:.9g} and {:.9g} bits"
    told = (lambda value, bound: on_progress(words.format(value, bound))) if on_progress else None
    gap = RELATIVE * local_ceiling(r)
    return invariant(p, r, first, gap=gap, nodes=NODES, seconds=seconds, margin=margin, on_progress=told)


def _proof(found: Invariant) -> Certificate:
    """Exact ratios, and prices in whole units."""
    tree: list[list[Any]] = [
        ["split", node[0], node[1], written(Fraction(node[2]))]
        if isinstance(node, tuple)
        else ["leaf", *in_units(node)]
        for node in found.tree
    ]
    return Certificate({"rule": "invariant", "tree": tree})


def _filled(best: Design, occur: Sequence[int], p: Floats, margin: Floats) -> Floats:
    """The best channel poured into letters of the wanted mass, the largest first."""
    columns = np.array([[float(value) for value in best.channel.rows[x]] for x in occur])
    left = list(p @ columns)
    k = 0
    order = np.argsort(-(p @ columns)).tolist()
    out: Floats = np.zeros((len(occur), len(margin)))
    for y in np.argsort(-margin).tolist():
        want = float(margin[y])
        while want > 1e-12 and k < len(order):
            part = min(want, left[order[k]])
            out[:, y] += columns[:, order[k]] * (part / float(p @ columns[:, order[k]]))
            want -= part
            left[order[k]] -= part
            k += left[order[k]] <= 1e-12
    return out


def _allowed(problem: Problem, letters: Sequence[tuple[str, ...]], counts: Sequence[int]) -> list[int]:
    """The letters that may be released: forbidden from one is impossible from all."""
    known = {value for letter in letters for value in letter}
    for value in [*(value for pair in problem.transitions for value in pair), *problem.freeze]:
        if value not in known:
            raise problem.error(("mechanism", "forbid"), f"no released column has the value {value!r}")
    barred = set[int]().union(*barred_letters(problem, letters, letters))
    allowed = [k for k in range(len(letters)) if k not in barred]
    why = "under local_dp a transition that is forbidden from one value is impossible from every value"
    if not allowed:
        raise Infeasible(f"{why}: of {len(letters)} values 0 may be released; forbid or freeze fewer of them")
    if problem.preserve_marginals:
        for k, count in enumerate(counts):
            if count and k not in allowed:
                share = count / sum(counts)
                raise Infeasible(
                    f"{why}: {' '.join(letters[k])} is never released, and its share of {share:.6g} cannot be "
                    "preserved; leave out preserve_marginals, or what forbids it"
                )
    return allowed


def _labelled(best: Design, occur: Sequence[int], allowed: Sequence[int]) -> Floats:
    """The best channel in these letters, each for the column that it stands for most; what is too much is merged."""
    from scipy.optimize import linear_sum_assignment  # imports scipy, which takes a second

    rows = np.array([[float(value) for value in best.channel.rows[x]] for x in occur])
    order = np.argsort(-rows.sum(axis=0))
    keep = order[: len(allowed)]
    rest = order[len(allowed) :]
    columns = rows[:, keep]
    columns[:, -1] += rows[:, rest].sum(axis=1)
    place = {x: i for i, x in enumerate(occur)}
    agree = np.array([[columns[place[y], k] if y in place else 0.0 for k in range(columns.shape[1])] for y in allowed])
    where, which = linear_sum_assignment(-agree)
    out: Floats = np.zeros((len(occur), len(allowed)))
    out[:, where] = columns[:, which]
    return out


def _told(p: Floats, W: Floats) -> float:
    out = p @ W
    ratio = np.divide(W, out, out=np.ones_like(W), where=W > 0)
    return float((p[:, None] * W * np.log2(ratio)).sum())


def _searched(
    p: Floats,
    r: float,
    letters: int,
    margin: Floats | None,
    starts: list[Floats],
    on_progress: Callable[[str], None] | None,
    own: Sequence[int],
    fits: Callable[[Floats], bool] | None,
) -> Floats:
    """The best corner of all starts, or a start that is better; only those that `fits` takes, if there are any.

    Letters are named so that the most rows are kept, `own` being the places of the values that occur.
    """
    n = len(p)
    draw = np.random.default_rng(2)
    columns, low, high = _program(p, r, letters, margin)
    gradients = [np.where(W > 0, np.log(np.maximum(W, 1e-300) / np.maximum(p @ W, 1e-300)), 0.0) for W in starts]
    for k in range(STARTS):  # letters beside their own, in a ring and at random
        near = np.abs((np.arange(n)[:, None] - np.arange(letters)) % max(n, letters)) <= k
        gradients.append(near.astype(float) if k < max(n // 2, 1) else draw.standard_normal((n, letters)))
    candidates = [_named(p, start, own, margin) for start in starts]
    for k, gradient in enumerate(gradients):
        value, W = -1.0, candidates[0]
        for _ in range(STEPS):
            costs = np.concatenate([(p[:, None] * gradient).T.reshape(-1), np.zeros(letters)])
            x = maximise(costs, columns, low, high).x
            W = np.clip(x[: n * letters].reshape(letters, n).T, 0.0, None)
            W = W / W.sum(axis=1)[:, None]
            if (told := _told(p, W)) <= value + 1e-12:
                break
            value, out = told, p @ W
            gradient = np.log2(np.maximum(W, 1e-300) / np.maximum(out, 1e-300)) * (out > 1e-14)
        candidates.append(_named(p, W, own, margin))
        if on_progress:
            on_progress(f"start {k + 1} of {len(gradients)}, {max(_told(p, V) for V in candidates):.9g} bits")
    upright = [candidate for candidate in candidates if fits is None or fits(candidate)]
    # Of matrices that tell as much (to 12 digits) the one that keeps the most rows.
    return max(upright or candidates, key=lambda W: (round(_told(p, W), 12), _kept(p, W, own)))


def _named(p: Floats, W: Floats, own: Sequence[int], margin: Floats | None) -> Floats:
    """The same matrix with the names of letters that keep the most rows."""
    out = W.copy()
    if own:
        square = W[:, own]
        out[:, own] = square[:, names_that_keep(p, square, None if margin is None else margin[list(own)])]
    return out


def _kept(p: Floats, W: Floats, own: Sequence[int]) -> float:
    """The expected share of unchanged rows."""
    return sum(float(p[x] * W[x, y]) for x, y in enumerate(own))


def _upright(own: Sequence[int], margin: Floats | None) -> Callable[[Floats], bool]:
    """Whether a matrix releases every value as itself at least as often as any other, or as the margin asks."""

    def fits(W: Floats) -> bool:
        kept = W[np.arange(len(own)), own]
        most = W.max(axis=1) if margin is None else np.minimum(W.max(axis=1), margin[list(own)])
        return bool((kept * (1 + 1e-9) >= most).all())

    return fits


def _cyclic(letters: int, own: Sequence[int], r: float) -> list[Floats]:
    """Every value is released as itself or one of the next `width` - 1 with the same probability; 1: it is kept."""
    ahead = (np.arange(letters) - np.array(own)[:, None]) % letters
    return [np.where(ahead < width, r, 1.0) / (width * r + letters - width) for width in range(1, letters)]


def _program(p: Floats, r: float, letters: int, margin: Floats | None) -> tuple[list[dict[int, float]], Floats, Floats]:
    """Rows: sums, margins, W - f >= 0, r f - W >= 0; columns: W letter by letter, then a floor f of each letter."""
    n = len(p)
    start = n + (letters if margin is not None else 0)
    columns: list[dict[int, float]] = []
    for y in range(letters):
        for x in range(n):
            at = start + 2 * (y * n + x)
            columns.append({x: 1.0, at: 1.0, at + 1: -1.0} | ({n + y: float(p[x])} if margin is not None else {}))
    for y in range(letters):
        rows = [start + 2 * (y * n + x) for x in range(n)]
        columns.append(dict.fromkeys(rows, -1.0) | {at + 1: r for at in rows})
    fixed = np.concatenate([np.ones(n), margin if margin is not None else np.zeros(0)])
    low = np.concatenate([fixed, np.zeros(2 * n * letters)])
    return columns, low, np.concatenate([fixed, np.full(2 * n * letters, np.inf)])


def _coupled(W: Floats, mass: Sequence[Fraction], margin: Sequence[Fraction] | None) -> list[list[Fraction]]:
    """Rows near W with exact sums, and with exact margins: what rounding down left over is shared out as a product."""
    shares = [[Fraction(int(entry * (1 - 1e-13) * GRAIN), GRAIN) for entry in row.tolist()] for row in W]
    joint = [[own * entry for entry in row] for own, row in zip(mass, shares, strict=True)]
    left = [own - sum(row, Fraction(0)) for own, row in zip(mass, joint, strict=True)]
    sums = [sum(column, Fraction(0)) for column in zip(*joint, strict=True)]
    if margin is None:
        released = sum(sums, Fraction(0))
        goal = [total / released for total in sums]
        return [
            [entry + rest / own * share for entry, share in zip(row, goal, strict=True)]
            for row, rest, own in zip(shares, left, mass, strict=True)
        ]
    # What rounding made too heavy in a column is taken off all of them, so that every column lacks something.
    over = max([Fraction(1), *(total / wanted for total, wanted in zip(sums, margin, strict=True) if wanted)])
    joint = [[entry / over for entry in row] for row in joint]
    left = [own - sum(row, Fraction(0)) for own, row in zip(mass, joint, strict=True)]
    lack = [wanted - total / over for wanted, total in zip(margin, sums, strict=True)]
    rest = sum(left, Fraction(0))
    return [
        [(entry + (missing * share / rest if rest else 0)) / own for entry, share in zip(row, lack, strict=True)]
        for row, missing, own in zip(joint, left, mass, strict=True)
    ]


def _spread(row: Sequence[Fraction], allowed: Sequence[int], letters: int) -> tuple[Fraction, ...]:
    out = [Fraction(0)] * letters
    for y, entry in zip(allowed, row, strict=True):
        out[y] = entry
    return tuple(out)


def _remarks(
    problem: Problem, letters: Sequence[tuple[str, ...]], allowed: Sequence[int], channel: Channel, occur: Sequence[int]
) -> list[str]:
    sentences = []
    zeros = problem.combinations
    impossible = [any(zero.holds(dict(zip(problem.release, y, strict=True))) for zero in zeros) for y in letters]
    if any(impossible):
        sentences.append(
            f"{sum(impossible)} of {len(letters)} combinations are impossible and never released, from no record at "
            "all: under local_dp what cannot come from one record can come from none"
        )
    if never := [" · ".join(letter) for k, letter in enumerate(letters) if k not in allowed and not impossible[k]]:
        sentences.append(
            f"under local_dp a transition that is forbidden from one value is impossible from every value, so "
            f"{', '.join(never)} is never released"
        )
    if few := determined_words([channel.rows[x] for x in occur]):
        margins = ", but they are those of the release" if problem.preserve_marginals else ""
        sentences.append(f"{few}{margins}")
    return sentences
