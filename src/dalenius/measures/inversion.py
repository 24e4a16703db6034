"""The matrices behind released columns and their inverses, dense or in closed form, one for each group of columns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from dalenius.core import Kernel
from dalenius.core.conditional_law import once_each
from dalenius.errors import Unsupported
from dalenius.solvers.likelihood import RankOne

__all__ = ["SINGULAR", "Factor", "Seen", "along", "as_it_is", "factors_of", "surprise"]

Array = npt.NDArray[Any]

SINGULAR = 1e-7
"""Relative to the largest singular value: to see past it would take 1e14 rows."""


@dataclass(frozen=True, eq=False)
class Factor:
    """One matrix M of the product and its left inverse A: dense, or diag(d) + u v' for many letters.

    `inputs` are the original columns that it says something about, `output` the released columns that it reads.
    `identified` marks the input outcomes whose probability the released law determines.

    Parameters
    ----------
    inputs : mapping of str to letters
        What is estimated.
    output : mapping of str to letters
        What is released.
    dense : array, optional
        M.
    law : RankOne, optional
        M for many letters.
    """

    inputs: Mapping[str, tuple[str, ...]]
    output: Mapping[str, tuple[str, ...]]
    dense: Array | None = None
    law: RankOne | None = None
    A: Array | None = field(init=False, default=None)
    condition: float = field(init=False, default=1.0)
    identified: Array = field(init=False)

    def __post_init__(self) -> None:
        if self.dense is None:
            object.__setattr__(self, "identified", np.ones(self.letters, dtype=bool))
            if self.law is not None:  # what is not common to all rows is multiplied by d
                object.__setattr__(self, "condition", float(1 / max(np.abs(self.law.d).min(), SINGULAR)))
            return
        M = self.dense
        m0 = M.mean(axis=0)
        weight = np.divide(1.0, m0, out=np.zeros_like(m0), where=m0 > 0)
        # Generalised least squares at the uniform law: unbiased for every law, and the estimates sum to one.
        U, size, _ = np.linalg.svd(M * np.sqrt(weight), full_matrices=False)
        kept = size > SINGULAR * size[0]
        inverse = (U[:, kept] / size[kept] ** 2) @ U[:, kept].T
        object.__setattr__(self, "A", inverse @ (M * weight))
        object.__setattr__(self, "condition", float(size[0] / size[kept][-1]))
        object.__setattr__(self, "identified", np.abs(1 - (U[:, kept] ** 2).sum(axis=1)) < 1e-9)

    @property
    def letters(self) -> int:
        return prod(map(len, self.inputs.values()))

    @property
    def seen(self) -> int:
        return prod(map(len, self.output.values()))

    @property
    def constant(self) -> Array:
        """The letters that nothing leads to."""
        if self.dense is not None:
            return np.asarray(self.dense.max(axis=0) <= 0)
        return np.zeros(self.seen, dtype=bool)

    def _rank_one(self) -> tuple[Array, Array, Array]:
        """A = diag(1/d) - alpha beta', by Sherman and Morrison."""
        assert self.law is not None
        beta = self.law.u / self.law.d
        alpha = self.law.v / self.law.d / (1 + self.law.v @ beta)
        return 1 / self.law.d, alpha, beta

    def forward(self, p: Array) -> Array:
        """The released law, along the last axis."""
        if self.dense is not None:
            return np.asarray(p @ self.dense)
        assert self.law is not None
        return np.asarray(p * self.law.d + (p @ self.law.u)[..., None] * self.law.v)

    def back(self, f: Array) -> Array:
        """A applied along the last axis."""
        if self.A is not None:
            return np.asarray(f @ self.A.T)
        scale, alpha, beta = self._rank_one()
        return np.asarray(f * scale - (f @ beta)[..., None] * alpha)

    def squared(self, f: Array) -> Array:
        """The squares of the entries of A, applied along the last axis."""
        if self.A is not None:
            return np.asarray(f @ (self.A**2).T)
        scale, alpha, beta = self._rank_one()
        own = (scale - alpha * beta) ** 2 - (alpha * beta) ** 2
        return np.asarray(f * own + (f @ beta**2)[..., None] * alpha**2)

    def transposed(self, h: Array) -> Array:
        """A' applied to a function of the input, along the last axis: its unbiased counterpart on released letters."""
        if self.A is not None:
            return np.asarray(h @ self.A)
        scale, alpha, beta = self._rank_one()
        return np.asarray(h * scale - (h @ alpha)[..., None] * beta)

    def mean(self, h: Array) -> Array:
        """E[h(released) | x] for each input outcome, along the last axis."""
        if self.dense is not None:
            return np.asarray(h @ self.dense.T)
        assert self.law is not None
        return np.asarray(h * self.law.d + (h @ self.law.v)[..., None] * self.law.u)

    def row_entropies(self) -> Array:
        """The entropy of each row, in bits."""
        if self.dense is not None:
            return np.asarray(surprise(self.dense).sum(axis=1))
        assert self.law is not None
        u, v, d = self.law.u, self.law.v, self.law.d
        total = surprise(v).sum() if np.ptp(v) else len(v) * surprise(v[:1])[0]
        # sum over y of h(u v_y), where h(u v) = u h(v) + v h(u), but for the entry on the diagonal.
        rest = u * total + v.sum() * surprise(u)
        return np.asarray(rest - surprise(u * v) + surprise(d + u * v))


def surprise(p: Array) -> Array:
    """-p log2 p, entry by entry, 0 at 0."""
    return np.asarray(-p * np.log2(np.where(p > 0, p, 1.0)))


def factors_of(channel: Kernel, kept: Sequence[str] = ()) -> list[Factor]:
    """The matrices of a channel, one for each group of released columns that is drawn on its own.

    Strata (kept columns that the channel reads) stand beside the released letter, so each has its own block.

    Parameters
    ----------
    channel : Kernel
        p(output | inputs).
    kept : names
        Columns that leave as they are.

    Returns
    -------
    list of Factor
        In the order of the released columns.
    """
    strata = [n for n in channel.inputs if n in kept and n not in channel.output]
    written = None if strata else channel.rank_one
    if written is not None:
        law = RankOne(*(np.array(once_each(float, numbers)) for numbers in written))
        inputs = _plain(channel.inputs)
        output = _plain(channel.output)
        if bool((np.abs(law.d) > 1e-12).all()) and abs(1 + float(law.v @ (law.u / law.d))) > 1e-9:
            return [Factor(inputs, output, law=law)]
    parts = channel.apart_given_inputs
    if parts[0] is not channel and not strata:
        names = [n for part in parts for n in part.inputs]
        if len(set(names)) == len(names):
            return [factor for part in parts for factor in factors_of(part)]
    if not channel.few:
        raise Unsupported(
            f"a recipe of form {channel.form!r} with {channel.shape[0]:,} x {channel.shape[1]:,} entries is not "
            "inverted; estimate from fewer columns"
        )
    return [_dense(channel, strata)]


def _plain(alphabets: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    return {name: tuple(a) for name, a in alphabets.items()}


def _dense(channel: Kernel, strata: Sequence[str]) -> Factor:
    M = np.array([[float(entry) for entry in row] for row in channel.rows])
    output = _plain(channel.output)
    if strata:
        names = list(channel.inputs)
        sizes = [len(a) for a in channel.inputs.values()]
        codes = np.unravel_index(np.arange(len(M)), sizes)
        place = np.ravel_multi_index(
            tuple(codes[names.index(stratum)] for stratum in strata), tuple(len(channel.inputs[n]) for n in strata)
        )
        many = prod(len(channel.inputs[stratum]) for stratum in strata)
        blocks = np.zeros((*M.shape, many))
        blocks[np.arange(len(M)), :, place] = M
        M = blocks.reshape(len(M), -1)
        output |= {stratum: tuple(channel.inputs[stratum]) for stratum in strata}
    return Factor(_plain(channel.inputs), output, dense=M)


def as_it_is(name: str, letters: Sequence[str]) -> Factor:
    """A kept column: what is released is the truth.

    Parameters
    ----------
    name : str
        The column.
    letters : letters
        Its values.
    """
    k = len(letters)
    same = {name: tuple(letters)}
    return Factor(same, same, law=RankOne(np.ones(k), np.zeros(k), np.ones(k)))


@dataclass(frozen=True, eq=False)
class Seen:
    """Released rows counted: for each combination of letters the sum of weights and of their squares; `rows` in all.

    Parameters
    ----------
    sums : array
        Of weights.
    squares : array
        Of weights squared.
    rows : int
        In all.
    """

    sums: Array
    squares: Array
    rows: int

    @property
    def plain(self) -> bool:
        """Whether every row counts once."""
        return self.sums is self.squares

    @property
    def counting(self) -> float:
        """Rows that count alike and say as much as these with their weights."""
        return float(self.sums.sum()) ** 2 / float(self.squares.sum())

    @classmethod
    def of(cls, counts: npt.ArrayLike) -> "Seen":
        """From plain counts."""
        n = np.asarray(counts, dtype=float)
        return cls(n, n, int(n.sum()))


def along(tensor: Array, factors: Sequence[Factor], what: str) -> Array:
    """One operation of each factor along its own axis."""
    for k, factor in enumerate(factors):
        tensor = np.moveaxis(getattr(factor, what)(np.moveaxis(tensor, k, -1)), -1, k)
    return tensor
