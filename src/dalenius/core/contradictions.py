"""What contradicts something else in a problem, with the place in the file that says it."""

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING

from dalenius.core.markov import MarkovChain
from dalenius.core.pmf import Pmf
from dalenius.core.product_pmf import Margins, ProductPmf
from dalenius.core.samples import Samples
from dalenius.kernel.document import MOST_PROMISES

if TYPE_CHECKING:
    from dalenius.core.problem import Problem

__all__ = ["refuse", "refuse_combinations", "refuse_levels", "refuse_names"]

Law = Pmf | ProductPmf | Margins | Samples | MarkovChain


def refuse(problem: "Problem") -> None:
    """Columns that are named twice or nowhere, and keys that belong to another form, or to none."""
    if not problem.observe:
        raise problem.error(("mechanism", "observe"), "the mechanism observes nothing; name the columns it may look at")
    if bool(problem.release) == bool(problem.output):
        raise problem.error(("mechanism",), 'say either release = [...] (same values) or output = "Y" (a new column)')
    for key in ("observe", "release", "keep", "strata"):
        names = getattr(problem, key)
        if len(set(names)) != len(names):
            raise problem.error(("mechanism", key), f"{key} names a column twice")
    if clash := set(problem.keep) & (set(problem.release) | set(problem.strata)):
        raise problem.error(("mechanism", "keep"), f"{min(clash)!r} is kept and released or a stratum at once")
    if (many := len(problem.guarantees)) > MOST_PROMISES:
        raise problem.error(
            ("guarantee", MOST_PROMISES),
            f"there are {many:,} promises, and a proof file holds at most {MOST_PROMISES:,}; protect several columns "
            "in one promise, or observe fewer",
        )
    _refuse_keys_of_forms(problem)


def _refuse_keys_of_forms(problem: "Problem") -> None:
    if bool(problem.windows) != (problem.form == "windows") and not (problem.windows and problem.form == "sums"):
        raise problem.error(("mechanism", "windows"), 'form = "windows" and windows = ... are said together')
    if problem.modulus is not None and (problem.form != "sums" or problem.modulus < 2):
        raise problem.error(("mechanism", "modulus"), 'modulus is a number above 1, and belongs to form = "sums"')
    if (problem.noise is None) != (problem.form != "noise"):
        raise problem.error(("mechanism", "noise"), 'form = "noise" and noise = "..." are said together')
    if problem.towards is not None and (
        problem.form != "records"
        or problem.preserve_marginals
        or (problem.towards != "median" and not 0 <= problem.towards <= 1)
    ):
        raise problem.error(
            ("mechanism", "towards"),
            'towards is a share from 0 to 1, or "median", and belongs to form = "records", without preserve_marginals',
        )
    if problem.min_multiplicity is not None and (
        problem.form != "records" or problem.preserve_marginals or problem.min_multiplicity < 1
    ):
        raise problem.error(
            ("mechanism", "min_multiplicity"),
            'min_multiplicity is a number of rows from 1 on and belongs to form = "records"; with '
            "preserve_marginals every record is released as often as it occurs",
        )
    for window in problem.windows:
        if len(set(window)) != len(window) or not set(window) <= set(problem.observe) or not window:
            raise problem.error(
                ("mechanism", "windows"),
                f"a window names observed columns, each once; [{', '.join(window)}] does not",
            )


def refuse_levels(problem: "Problem") -> None:
    """Levels stand for the observed columns, and what a level is given is what leaves as it is."""
    if isinstance(problem.each, Mapping) and set(problem.each) != set(problem.observe):
        raise problem.error(("mechanism", "each"), "each = { ... } gives one level for each observed column")
    for k, guarantee in enumerate(problem.guarantees):
        given = set(guarantee.given)
        if given and given != set(problem.kept):
            raise problem.error(
                ("guarantee", k, "given"),
                f"given names the columns that leave as they are ({', '.join(problem.kept) or 'there are none'}), "
                f"not {', '.join(sorted(given))}",
            )


def refuse_names(problem: "Problem", joint: Law) -> None:
    """Variables that the source does not have, and an output with the name of one that it has."""
    for place, name in problem.named():
        if name not in joint.variables:
            there = ", ".join(map(repr, joint.variables))
            raise problem.error(place, f"there is no variable {name!r}; the source has {there}")
    if problem.output in joint.variables:
        raise problem.error(("mechanism", "output"), f"the output {problem.output!r} is the name of a source variable")


def refuse_combinations(problem: "Problem", joint: Law) -> None:
    """Combinations are of letters of released columns, and no record has one of them."""
    for zero in problem.combinations:
        for name, letters in zero.columns:
            if name not in problem.release:
                raise problem.error(("mechanism", "forbid"), f"a combination is of released columns; {name!r} is none")
            if unknown := [letter for letter in letters if letter not in joint.variables[name]]:
                raise problem.error(("mechanism", "forbid"), f"{name!r} has no value {unknown[0]!r}")
        if isinstance(joint, Pmf) and (here := zero.among(joint.variables, joint.support)).any():
            share = Fraction(int(joint.weights[here].sum()), joint.total)
            raise problem.error(
                ("mechanism", "forbid"),
                f"{zero.words()} is forbidden as impossible, but a share of {float(share):.6g} of the records is "
                "so; correct them, or leave the combination out",
            )
