r"""Sums modulo M: the schemes of paper 000 that need no search, as certified designs.

`modular_sums` makes each sample uniform (S_i = uniformiser of X_i, Example 5 for any alphabet) and tells S_k + S_{k+1}
mod M for neighbours. Y is a function of S, and S_i together with Y gives all of S, which is uniform; so Y is
independent of each S_i and, as X_i acts on Y through S_i alone, of each X_i. `window_sums` is Example 3: sums of k
neighbours with one common uniform shift, independent of every window of k samples jointly.

References: Rassouli, Rosas & Gündüz, "Data Disclosure under Perfect Sample Privacy" (paper 000), section V-C.
"""

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise, product

import numpy as np

from dalenius.core import (
    Certificate,
    Channel,
    Design,
    Independent,
    MaximizeInformation,
    Pmf,
    Problem,
    ProductPmf,
    Sums,
)
from dalenius.designs.compositions import why_not
from dalenius.designs.proving import proved
from dalenius.errors import InputError, InvalidPmf, Unsupported
from dalenius.measures import chains

__all__ = ["modular_sums", "window_sums"]

DENSE = 1 << 16


def modular_sums(problem: Problem) -> Design:
    r"""Y_k = S_k + S_{k+1} mod M of uniformised samples; samples independent, all with M letters, each letter possible.

    One S_i serves both neighbours, and the outputs tell exactly what `measures.chains.modular_information` says. While
    the channel can be written out, it is. Beyond, it has form `sums`, for hundreds of samples; its proof (kind `sums`)
    states a value that is less by the entropy of the one shift that Y leaves open, next to nothing for many samples.

    >>> from dalenius.testing import self_disclosure
    >>> design = modular_sums(self_disclosure(["9/10", "1/10"], 4))
    >>> f"{float(design.value):.10f}"
    '0.0652321226'
    """
    names = problem.observe
    pairs = tuple(pairwise(names))
    problem = replace(problem, form="windows", windows=pairs)
    if reason := why_not(problem):
        raise Unsupported(f"sums modulo M cannot solve this: {reason}")
    law = problem.law if isinstance(problem.law, ProductPmf) else ProductPmf.of(problem.pmf)
    letters = law.alphabets(names)
    sizes = {len(a) for a in letters.values()}
    if len(sizes) != 1 or any(len(view) > 1 for view in problem.views):
        raise Unsupported("sums modulo M need samples with equally many letters, and views of one sample each")
    if len({law.place(n) for n in names}) < len(names):
        raise Unsupported("sums modulo M need samples that are independent of each other, each a group of its own")
    (size,) = sizes
    rows = {n: _uniform(law, n) for n in names}
    few = size ** (2 * len(names) - 1) <= DENSE
    if not few and set(problem.objective.names) != set(names):
        raise Unsupported("so many sums modulo M are proved to tell about all samples together; maximise that")
    channel: Channel | Sums
    if few:
        channel = _dense(letters, rows, size, problem.output or "Y")
    else:
        outputs = tuple(f"{problem.output}{k + 1}" for k in range(len(pairs)))
        channel = Sums(letters, outputs, size, tuple(rows[n] for n in names), pairs)
    told = ["the samples are taken to be independent as in the given distribution"]
    return proved(
        replace(problem, joint=law, form=None, windows=()),
        channel,
        [Certificate("universal" if few else "sums")],
        method=f"sums modulo {size}: each sample made uniform once, then sums of neighbours",
        remarks=told,
    )


def _uniform(law: ProductPmf, name: str) -> tuple[tuple[Fraction, ...], ...]:
    alone = law.marginal([name])
    try:
        return chains.uniformiser([alone.probability(**{name: a}) for a in alone.variables[name]]).rows
    except InvalidPmf:
        raise InputError(
            f"a letter of {name!r} never occurs; leave it out of the alphabet to make it uniform"
        ) from None


def _dense(
    inputs: dict[str, tuple[str, ...]], rows: dict[str, tuple[tuple[Fraction, ...], ...]], size: int, output: str
) -> Channel:
    """One row for each outcome of the samples; the states S are summed out one sample after the other.

    `known` has the probability of the sums so far and the last state.
    """
    out = []
    for x in product(range(size), repeat=len(inputs)):
        first, *others = (rows[n][a] for n, a in zip(inputs, x, strict=True))
        known: dict[tuple[tuple[int, ...], int], Fraction] = {((), s): p for s, p in enumerate(first) if p}
        for law in others:
            known = {
                ((*sums, (s + t) % size), t): p * u for (sums, s), p in known.items() for t, u in enumerate(law) if u
            }
        row = [Fraction(0)] * size ** (len(inputs) - 1)
        for (sums, _), p in known.items():
            at = 0
            for v in sums:
                at = at * size + v
            row[at] += p
        out.append(tuple(row))
    residues = tuple(map(str, range(size)))
    return Channel(inputs, {f"{output}{k + 1}": residues for k in range(len(inputs) - 1)}, tuple(out))


def window_sums(letters: int, n: int, k: int) -> Design:
    r"""Example 3 as a design: n uniform samples of M letters, Y independent of every window of k of them jointly.

    The verifier is the checker itself: it multiplies all out, proves the n - k + 1 joint views, and finds the value (n
    - k) log2 M equal to the bound H(X^n) - H(window), so no mechanism tells more.

    >>> design = window_sums(3, 4, 2)
    >>> f"{float(design.value):.9f}", design.gap < Fraction(1, 10**25)
    ('3.169925001', True)
    """
    channel = chains.window_sums(letters, n, k)
    names = tuple(channel.inputs)
    one = Pmf.from_counts({"X1": channel.inputs["X1"]}, np.arange(letters), [1] * letters)
    problem = Problem(
        joint=ProductPmf((one,)).alike(n),
        observe=names,
        output="L",
        objective=MaximizeInformation(names),
        guarantees=tuple(Independent(names[i : i + k]) for i in range(n - k + 1)),
    )
    return proved(problem, channel, [Certificate("universal")], method=f"sums of {k} neighbours modulo {letters}")
