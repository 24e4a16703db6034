"""Questions about a released table that a file asks: weighted sums of combinations."""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from dalenius.core.numbers import exact
from dalenius.errors import InputError, MismatchError

__all__ = ["each_combination", "terms_as_vector"]


def each_combination(alphabets: Mapping[str, Sequence[str]]) -> dict[str, list[dict[str, Any]]]:
    """A question for the share of each combination.

    Parameters
    ----------
    alphabets : mapping
        Columns with their values.

    Returns
    -------
    dict
        Names and terms.

    Examples
    --------
    >>> each_combination({"age": ("young", "old")})
    {'age=young': [{'age': 'young', 'weight': 1}], 'age=old': [{'age': 'old', 'weight': 1}]}
    """
    terms = [dict(zip(alphabets, values, strict=True)) for values in product(*alphabets.values())]
    return {", ".join(f"{n}={v}" for n, v in term.items()): [term | {"weight": 1}] for term in terms}


def terms_as_vector(name: str, terms: Any, alphabets: Mapping[str, Sequence[str]]) -> Any:
    """The weight of each combination in a question.

    Parameters
    ----------
    name : str
        Of the question.
    terms : list of dict
        Values of some columns, with their weight.
    alphabets : mapping
        The columns that were changed, with their values.

    Returns
    -------
    array
        With an axis for each column.

    Raises
    ------
    InputError
        If it is not a question about these columns.

    Examples
    --------
    >>> terms_as_vector("young", [{"age": "under 40", "weight": 1}], {"age": ("under 40", "40 or more")}).tolist()
    [1.0, 0.0]
    """
    if not isinstance(terms, list) or not all(isinstance(t, dict) and "weight" in t for t in terms):
        raise InputError(
            f'query {name!r} is not a list of terms such as {{"X": "a", "weight": 1}}', do="Write it in that way."
        )
    c = np.zeros([len(alphabet) for alphabet in alphabets.values()])
    for term in terms:
        if unknown := [n for n in term if n != "weight" and n not in alphabets]:
            raise MismatchError(
                f"query {name!r} names the column {unknown[0]!r}, which is not perturbed",
                do="Name columns that were changed.",
            )
        at: list[Any] = []
        for n, letters in alphabets.items():
            if n in term and term[n] not in letters:
                raise MismatchError(
                    f"query {name!r}: {term[n]!r} is no value of {n!r}", do="Write a value that the card lists."
                )
            at.append(letters.index(term[n]) if n in term else slice(None))
        c[tuple(at)] += float(exact(term["weight"], f"the weight of query {name!r}"))
    return c
