"""Which letters a record must not be released as: forbidden changes, frozen values, impossible combinations."""

from collections.abc import Sequence

from dalenius.core import Problem

__all__ = ["barred_letters"]


def barred_letters(
    problem: Problem, inputs: Sequence[tuple[str, ...]], letters: Sequence[tuple[str, ...]]
) -> list[set[int]]:
    """For each input outcome, the letters that `forbid` and `freeze` exclude.

    Parameters
    ----------
    problem : Problem
        With released columns.
    inputs : sequence of tuple of str
        Outcomes of what the mechanism reads.
    letters : sequence of tuple of str
        Letters, a value for each released column.

    Returns
    -------
    list of set of int
        Places among `letters`, one set for each input.
    """
    pairs = set(problem.transitions)
    frozen = set(problem.freeze)
    never = set()
    for place, letter in enumerate(letters if problem.combinations else ()):
        values = dict(zip(problem.release, letter, strict=True))
        if any(impossible.holds(values) for impossible in problem.combinations):
            never.add(place)
    columns = [(problem.inputs.index(name), k) for k, name in enumerate(problem.release) if name in problem.inputs]

    def barred(record: tuple[str, ...], letter: tuple[str, ...]) -> bool:
        changes = [(record[read], letter[released]) for read, released in columns]
        return any(change in pairs or (change[0] in frozen and change[0] != change[1]) for change in changes)

    return [never | {place for place, letter in enumerate(letters) if barred(record, letter)} for record in inputs]
