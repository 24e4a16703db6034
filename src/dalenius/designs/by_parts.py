r"""Several matrices in one design under local DP: one for each column (`each`), for each stratum (`strata`), or both.

Columns that are perturbed one by one are charged together: the level of the design is the sum of theirs. Strata leave
as they are and no level holds between them; within each the promise is kept, and

    I(X; Y, S) = I(X; S) + sum_s p(s) I(X; Y | S = s)

is largest when each stratum has the best matrix for its own law. Every part is a design of its own, with its own proof.
With both, a stratum is a design of several columns, and what each column tells together with the stratum is added up.

References: paper 002, sections 2.3 and 5 (J variables, strata); docs/decisions/010.
"""

from collections.abc import Callable, Mapping
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
    MaximizeInformationOfEach,
    Pmf,
    Pram,
    Problem,
    Product,
    Staircase,
    Strata,
)
from dalenius.core.numbers import written
from dalenius.designs import staircase, subset_selection
from dalenius.designs.keeping import why_not_told_itself
from dalenius.designs.pram import FORMS, pram
from dalenius.designs.proving import proved
from dalenius.errors import Unsupported

__all__ = ["by_parts", "why_not"]

Told = Callable[[str], None] | None
Part = tuple[str, tuple[str, ...], Pmf, Fraction]
"""A part in words, its columns, their law and its level."""


def why_not(problem: Problem) -> str | None:
    """The reason why this family does not solve a problem, or None."""
    if not problem.each and not problem.strata:
        return "it makes a matrix for each column (each = true) or for each stratum (strata = [...])"
    if problem.each and problem.combinations:
        return (
            "columns that are perturbed one by one reach every combination of letters, impossible ones too; perturb "
            "them jointly: leave out each and form"
        )
    if len(problem.guarantees) != 1 or not isinstance(promise := problem.guarantees[0], LocalDP):
        return "it promises local_dp and nothing else"
    if promise.metric is not None:
        return (
            "distances between the letters of several matrices are not composed; with a metric design one channel at a "
            'time, output = "Y" and maximize = { information = [...] }, and let a ledger add the levels'
        )
    if promise.delta:
        return 'it promises local_dp without delta, which is had for one column at a time with output = "Y"'
    if reason := problem.not_taken(
        "keep", "forbid", "freeze", "preserve_marginals", "limits", "side_information", "windows"
    ):
        return reason
    if problem.form is not None and problem.form not in (*FORMS, subset_selection.FORM):
        return f"it does not take form = {problem.form!r}"
    if problem.release and (problem.form not in FORMS or problem.release != problem.observe):
        return f'released letters are those of all observed columns, with form = "{FORMS[0]}" or "{FORMS[1]}"'
    if problem.output and problem.form in FORMS:
        return f"form = {problem.form!r} releases the letters of its columns: say release, not output"
    of_columns = _why_not_columns(problem, promise) if problem.each else None
    return of_columns or (_why_not_strata(problem, promise) if problem.strata else None)


def _why_not_columns(problem: Problem, promise: LocalDP) -> str | None:
    if problem.objective != MaximizeInformationOfEach(problem.observe):
        return (
            "what is told of several columns that are perturbed one by one is counted column by column: write maximize "
            "= { information_of_each = [...] } with the observed columns"
        )
    levels = _levels(problem, promise)
    if min(levels.values()) <= 0:
        return "the level of every column is above 0"
    if sum(levels.values()) > promise.epsilon:
        return (
            f"the levels of the columns add up to {written(sum(levels.values(), Fraction(0)))}, more than local_dp = "
            f"{written(promise.epsilon)}: columns that are perturbed one by one are charged with the sum"
        )
    return None


def _why_not_strata(problem: Problem, promise: LocalDP) -> str | None:
    if not problem.each and (reason := why_not_told_itself(problem)):
        return reason
    if set(problem.strata) & set(problem.observe):
        return "a stratum is not perturbed: name it in strata alone, not in observe"
    names = ", ".join(problem.strata)
    if promise.given != problem.strata:
        return (
            f"{names} leaves as it is, so no level holds between records that differ in it; say given = "
            f"{list(problem.strata)} beside local_dp to promise the level within each stratum"
        )
    return None


def _levels(problem: Problem, promise: LocalDP) -> dict[str, Fraction]:
    """The level of each column: as given, or the total in equal parts."""
    if isinstance(problem.each, Mapping):
        return {n: Fraction(problem.each[n]) for n in problem.observe}
    return dict.fromkeys(problem.observe, promise.epsilon / len(problem.observe))


def by_parts(problem: Problem, *, gap: float = 0.0, seconds: float = 120.0, on_progress: Told = None) -> Design:
    """Maximise what is told over all matrices of a form, or over all channels, part by part.

    >>> from dalenius.core import Pmf
    >>> bits, counts = ("0", "1"), [(("0", "0"), 3), (("1", "0"), 1), (("1", "1"), 2)]
    >>> joint = Pmf.from_records({"a": bits, "b": bits}, counts)
    >>> about, names = MaximizeInformationOfEach(("a", "b")), ("a", "b")
    >>> promise = LocalDP(Fraction(2))
    >>> design = by_parts(Problem(names, about, (promise,), release=names, form="pram", each=True, joint=joint))
    >>> [float(w.q[0]) > 0.7 for w in design.channel.windows], float(design.gap) < 1e-9
    ([True, True], True)
    """
    if reason := why_not(problem):
        raise Unsupported(f"matrices in parts cannot solve this: {reason}")
    (promise,) = (g for g in problem.guarantees if isinstance(g, LocalDP))
    asked: list[Part]
    if problem.each and not problem.strata:
        levels, law = _levels(problem, promise), problem.law
        margins = law if isinstance(law, Margins) else Margins.of(problem.pmf, problem.observe)
        problem = replace(problem, joint=margins)
        asked = [(f"column {n}", (n,), margins.marginal([n]), levels[n]) for n in problem.observe]
    else:
        joint = problem.pmf.marginal([*problem.observe, *problem.strata])
        problem = replace(problem, joint=joint)
        asked = [(words, problem.observe, here, promise.epsilon) for words, here in _strata_of(problem, joint)]
    found: list[Design] = []
    for words, names, here, level in asked:
        told = (lambda text, words=words: on_progress(f"{words}: {text}")) if on_progress else None
        found.append(_part(problem, names, here, level, gap, seconds / len(asked), told))
    channel = _joined(problem, [part.channel for part in found])
    parts = [part.certificate.to_json() for part in found]
    method = f"{len(found)} {'strata' if problem.strata else 'columns'}, each by itself: {found[0].method}"
    return proved(
        problem, channel, [Certificate("parts", {"parts": parts})], method=method, remarks=_remarks(found, asked)
    )


def _strata_of(problem: Problem, joint: Pmf) -> list[tuple[str, Pmf]]:
    """The law of the columns in each stratum; that of all records where a stratum does not occur."""
    names, many = list(joint.variables), len(problem.observe)
    everywhere, out = joint.marginal(problem.observe), []
    for outcome in product(*(range(len(joint.variables[n])) for n in problem.strata)):
        here = (joint.support[:, many:] == np.array(outcome)).all(axis=1)
        words = ", ".join(f"{n}={joint.variables[n][c]}" for n, c in zip(names[many:], outcome, strict=True))
        alphabets = joint.alphabets(problem.observe)
        law = Pmf.from_counts(alphabets, joint.support[here, :many], joint.weights[here]) if here.any() else everywhere
        out.append((f"stratum {words}", law))
    return out


def _part(
    problem: Problem, names: tuple[str, ...], law: Pmf, level: Fraction, gap: float, seconds: float, told: Told
) -> Design:
    """The design of one column or of one stratum."""
    if problem.each and problem.strata:
        small = replace(problem, guarantees=(LocalDP(level),), strata=(), joint=law)
        return by_parts(small, gap=gap, seconds=seconds, on_progress=told)
    output = f"{problem.output}_{names[0]}" if problem.each and problem.output else problem.output
    small = Problem(
        joint=law,
        observe=names,
        release=names if problem.release else (),
        output=output,
        form=problem.form,
        objective=MaximizeInformation(names),
        guarantees=(LocalDP(level),),
    )
    if problem.form in FORMS:
        return pram(small, on_progress=told)
    if problem.form == subset_selection.FORM:
        return subset_selection.subset_selection(
            small, gap=gap or staircase.RELATIVE, seconds=seconds, on_progress=told
        )
    return staircase.in_form(small, gap=gap or staircase.RELATIVE, seconds=seconds, on_progress=told)


def _joined(problem: Problem, parts: list[Kernel]) -> Kernel:
    if not problem.strata:
        return Product({n: a for part in parts for n, a in part.inputs.items()}, tuple(parts))
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
    told = [f"{words}: {remark}" for part, (words, *_) in zip(found, asked, strict=True) for remark in part.remarks]
    if asked[0][0].startswith("column"):
        levels = ", ".join(f"{names[0]} {written(level)}" for _, names, _, level in asked)
        told.insert(0, f"the level is the sum of those of the columns: {levels}")
    return told
