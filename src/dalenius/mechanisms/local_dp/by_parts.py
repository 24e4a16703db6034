r"""Several matrices in one design under local DP: one for each column (`each`), for each stratum (`strata`), or both.

Columns that are perturbed one by one are charged together: the level of the design is the sum of theirs. Strata leave
as they are and no level holds between them; within each the promise is kept, and

    I(X; Y, S) = I(X; S) + sum_s p(s) I(X; Y | S = s)

is largest when each stratum has the best matrix for its own law. Every part is a design of its own, with its own proof.
With both, a stratum is a design of several columns, and what each column tells together with the stratum is added up.
A variance of estimated shares is the mean of those of the strata, by their shares, and the sum of those of the columns.

References: paper 002, sections 2.3 and 5 (J variables, strata); docs/decisions/010.
"""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np

from dalenius.core import (
    Certificate,
    Design,
    Kernel,
    LocalDP,
    Margins,
    MaximizeInformation,
    MinimizeVariance,
    Pmf,
    Pram,
    Problem,
    Product,
    Staircase,
    Strata,
)
from dalenius.core.digits import short
from dalenius.mechanisms.local_dp import staircase, subset_selection
from dalenius.mechanisms.local_dp.pram import pram
from dalenius.mechanisms.local_dp.takes import PARTS, PRAM_FORMS, SUBSETS, level_promise, levels_of
from dalenius.mechanisms.local_dp.variance import least_variance
from dalenius.mechanisms.proving import proved

__all__ = ["by_parts"]

Told = Callable[[str], None] | None
Part = tuple[str, tuple[str, ...], Pmf, Fraction]
"""A part in words, its columns, their law and its level."""


def by_parts(problem: Problem, *, gap: float = 0.0, seconds: float = 120.0, on_progress: Told = None) -> Design:
    """Maximise what is told over all matrices of a form, or over all channels, part by part.

    >>> from dalenius.core import LocalDP, MaximizeInformationOfEach, Pmf
    >>> bits, counts = ("0", "1"), [(("0", "0"), 3), (("1", "0"), 1), (("1", "1"), 2)]
    >>> joint = Pmf.from_records({"a": bits, "b": bits}, counts)
    >>> about, names = MaximizeInformationOfEach(("a", "b")), ("a", "b")
    >>> promise = LocalDP(Fraction(2))
    >>> design = by_parts(Problem(names, about, (promise,), release=names, form="pram", each=True, joint=joint))
    >>> [float(w.q[0]) > 0.7 for w in design.channel.windows], float(design.gap) < 1e-9
    ([True, True], True)
    """
    PARTS.refuse(problem)
    promise = level_promise(problem)
    asked: list[Part]
    if problem.each and not problem.strata:
        levels, law = levels_of(problem), problem.law
        margins = law if isinstance(law, Margins) else Margins.of(problem.pmf, problem.observe)
        problem = replace(problem, joint=margins)
        asked = [(f"column {n}", (n,), margins.marginal([n]), levels[n]) for n in problem.observe]
        occurs = [True] * len(asked)
    else:
        joint = problem.pmf.marginal([*problem.observe, *problem.strata])
        problem = replace(problem, joint=joint)
        strata = _strata_of(problem, joint)
        asked = [(words, problem.observe, here, promise.epsilon) for words, here, _ in strata]
        occurs = [seen for _, _, seen in strata]
    found: list[Design] = []
    for words, names, here, level in asked:
        say = (lambda text, words=words: on_progress(f"{words}: {text}")) if on_progress else None
        found.append(_part(problem, names, here, level, gap, seconds / len(asked), say))
    channel = _joined(problem, [part.channel for part in found])
    # A stratum without records needs no proof.
    proofs = [part.certificate.proof for part, seen in zip(found, occurs, strict=True) if seen]
    method = f"{len(found)} {'strata' if problem.strata else 'columns'}, each by itself: {found[0].method}"
    return proved(
        problem,
        channel,
        [Certificate({"rule": "parts", "proofs": proofs})],
        method=method,
        remarks=_remarks(found, asked),
    )


def _strata_of(problem: Problem, joint: Pmf) -> list[tuple[str, Pmf, bool]]:
    """The law of the columns in each stratum, or of all records where it has none; and whether it has some."""
    names = list(joint.variables)
    many = len(problem.observe)
    everywhere, out = joint.marginal(problem.observe), []
    for outcome in product(*(range(len(joint.variables[stratum])) for stratum in problem.strata)):
        here = (joint.support[:, many:] == np.array(outcome)).all(axis=1)
        words = ", ".join(f"{name}={joint.variables[name][c]}" for name, c in zip(names[many:], outcome, strict=True))
        alphabets = joint.alphabets(problem.observe)
        law = Pmf.from_counts(alphabets, joint.support[here, :many], joint.weights[here]) if here.any() else everywhere
        out.append((f"stratum {words}", law, bool(here.any())))
    return out


def _part(
    problem: Problem, names: tuple[str, ...], law: Pmf, level: Fraction, gap: float, seconds: float, say: Told
) -> Design:
    """The design of one column or of one stratum."""
    if problem.each and problem.strata:
        small = replace(problem, guarantees=(LocalDP(level),), strata=(), joint=law)
        return by_parts(small, gap=gap, seconds=seconds, on_progress=say)
    spread = isinstance(problem.objective, MinimizeVariance)
    output = f"{problem.output}_{names[0]}" if problem.each and problem.output else problem.output
    small = Problem(
        joint=law,
        observe=names,
        release=names if problem.release else (),
        output=output,
        form=problem.form,
        objective=MinimizeVariance(names) if spread else MaximizeInformation(names),
        guarantees=(LocalDP(level),),
        source=problem.source,
        allow_inverted=problem.allow_inverted,
    )
    if spread:
        return least_variance(small, gap=gap or staircase.RELATIVE, seconds=seconds, on_progress=say)
    if problem.form in PRAM_FORMS:
        return pram(small, on_progress=say)
    if problem.form == SUBSETS:
        return subset_selection.subset_selection(small, gap=gap or staircase.RELATIVE, seconds=seconds, on_progress=say)
    return staircase.in_form(small, gap=gap or staircase.RELATIVE, seconds=seconds, on_progress=say)


def _joined(problem: Problem, parts: list[Kernel]) -> Kernel:
    if not problem.strata:
        return Product({name: letters for part in parts for name, letters in part.inputs.items()}, tuple(parts))
    inputs = problem.pmf.alphabets([*problem.observe, *problem.strata])
    if problem.each:
        rows = [part.windows for part in parts if isinstance(part, Product)]
        columns = [_alike(list(column)) for column in zip(*rows, strict=True)]
        parts = [Product(part.inputs, windows) for part, windows in zip(parts, zip(*columns, strict=True), strict=True)]
        return Strata(inputs, problem.strata, tuple(parts))
    return Strata(inputs, problem.strata, tuple(_alike(parts)))


def _alike(parts: list[Kernel]) -> list[Kernel]:
    """Channels of the same column in all strata, with the same letters."""
    most = max(part.shape[1] for part in parts)
    return [_widened(part, most) for part in parts]


def _widened(part: Kernel, letters: int) -> Kernel:
    """A staircase with further letters that are never released, so that all strata have the same ones."""
    if isinstance(part, Pram) or part.shape[1] == letters:
        return part
    assert isinstance(part, Staircase)
    ((name, known),) = part.output.items()
    never = ((Fraction(0), ()),) * (letters - len(known))
    return replace(part, output={name: tuple(map(str, range(letters)))}, columns=part.columns + never)


def _remarks(found: list[Design], asked: list[Part]) -> list[str]:
    """The level that each column is charged, and what a reader must be told about single parts."""
    if isinstance(found[0].channel, Product):  # strata of several columns: what is said of all of them, once
        said = [remark for part in found for remark in part.remarks if "relaxed levels" not in remark]
        return list(dict.fromkeys(said))
    remarks = [f"{words}: {remark}" for part, (words, *_) in zip(found, asked, strict=True) for remark in part.remarks]
    if asked[0][0].startswith("column"):
        levels = ", ".join(f"{names[0]} {short(level)}" for _, names, _, level in asked)
        remarks.insert(0, f"the level is the sum of those of the columns: {levels}")
    return remarks
