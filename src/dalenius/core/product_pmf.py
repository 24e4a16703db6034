"""`ProductPmf`: independent groups of variables, multiplied out only while that is small. `Margins`: columns alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod
from typing import Any, Self

import numpy as np

from dalenius.core.pmf import Pmf
from dalenius.errors import InvalidPmf, MismatchError, Unsupported

__all__ = ["Margins", "ProductPmf", "law_of"]

MOST_OUTCOMES = 200_000


@dataclass(frozen=True)
class ProductPmf:
    """p(all variables) = product of the pmfs of the groups, whose variables are disjoint.

    Parameters
    ----------
    groups : tuple of Pmf
        Independent of each other.

    >>> coin = {"variables": {"X1": ["0", "1"]}, "pmf": [{"X1": "0", "p": "1/3"}, {"X1": "1", "p": "2/3"}]}
    >>> law = ProductPmf.from_json({"independent": [coin]}).alike(60)
    >>> len(law.groups), law.marginal(["X7", "X60"]).probability(X7="1", X60="0")
    (60, Fraction(2, 9))
    """

    groups: tuple[Pmf, ...]

    def __post_init__(self) -> None:
        if not self.groups:
            raise InvalidPmf("a product of independent groups needs at least one of them")
        seen: set[str] = set()
        for name in (name for group in self.groups for name in group.variables):
            if name in seen:
                raise InvalidPmf(f"{name!r} stands in two groups, which are then not independent")
            seen.add(name)

    # --- births -----------------------------------------------------------------------------------------------------
    @classmethod
    def from_json(cls, document: object) -> Self:
        """From `{"independent": [joint, ...]}`, each joint in the `joint.json` format.

        Parameters
        ----------
        document : object
            What the file has.

        Returns
        -------
        ProductPmf
        """
        if not isinstance(document, dict) or set(document) != {"independent"}:
            raise InvalidPmf('a product of independent groups is an object with the one key "independent"')
        if not isinstance(document["independent"], list):
            raise InvalidPmf('"independent" is a list of distributions')
        return cls(tuple(Pmf.from_json(group) for group in document["independent"]))

    @classmethod
    def of(cls, pmf: Pmf) -> Self:
        """A pmf whose variables are independent of each other, one group for each; refused if they are not.

        Parameters
        ----------
        pmf : Pmf
            The law of all of them.

        Returns
        -------
        ProductPmf
        """
        law = cls(tuple(pmf.marginal([name]) for name in pmf.variables))
        if prod(map(len, law.groups)) != len(pmf) or law.multiplied != pmf:
            raise MismatchError(f"{', '.join(pmf.variables)} are not independent of each other, not exactly")
        return law

    def alike(self, n: int) -> "ProductPmf":
        """n independent samples X1, ..., Xn, each distributed like the only variable here.

        Parameters
        ----------
        n : int
            How many samples.

        Returns
        -------
        ProductPmf
        """
        ((_, letters),) = self.variables.items()
        law = self.groups[0]
        return ProductPmf(
            tuple(Pmf.from_counts({f"X{i + 1}": letters}, law.support, law.weights.tolist()) for i in range(n))
        )

    def to_json(self) -> dict[str, Any]:
        return {"independent": [group.to_json() for group in self.groups]}

    # --- questions --------------------------------------------------------------------------------------------------
    @cached_property
    def variables(self) -> dict[str, tuple[str, ...]]:
        return {name: tuple(letters) for group in self.groups for name, letters in group.variables.items()}

    @property
    def note(self) -> str:
        return "; ".join(dict.fromkeys(group.note for group in self.groups if group.note))

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: k for k, group in enumerate(self.groups) for name in group.variables}

    def place(self, name: str) -> int:
        """The number of the group that has a variable; an unknown name is refused.

        Parameters
        ----------
        name : str
            A variable.

        Returns
        -------
        int
        """
        if name in self._places:
            return self._places[name]
        raise MismatchError(f"no variable {name!r}; there are {', '.join(map(repr, self.variables))}")

    def alphabets(self, names: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """The alphabets of the named variables, in that order.

        Parameters
        ----------
        names : sequence of str
            Variables of the law.

        Returns
        -------
        dict of names to tuples of str
        """
        return {name: tuple(self.groups[self.place(name)].variables[name]) for name in names}

    def touching(self, names: Sequence[str]) -> "ProductPmf":
        """The groups that have any of the named variables, whole.

        Parameters
        ----------
        names : sequence of str
            Variables of the law.

        Returns
        -------
        ProductPmf
        """
        return ProductPmf(tuple(self.groups[k] for k in sorted({self.place(name) for name in names})))

    def marginal(self, names: Sequence[str]) -> Pmf:
        """The joint pmf of the named variables, multiplied out.

        Parameters
        ----------
        names : sequence of str
            Variables of the law.

        Returns
        -------
        Pmf
        """
        return self.touching(names).multiplied.marginal(names)

    @cached_property
    def multiplied(self) -> Pmf:
        """The same law as one pmf, while its outcomes are few."""
        if (size := prod(map(len, self.groups))) > MOST_OUTCOMES:
            many = f"{size:,}" if size < 10**15 else "far too many"
            raise Unsupported(
                f"{len(self.groups)} independent groups have {many} outcomes together, more than {MOST_OUTCOMES:,}; "
                'a composition of small windows can be designed for them: form = "windows" in [mechanism]'
            )
        atoms = product(*(zip(group.support.tolist(), group.weights.tolist(), strict=True) for group in self.groups))
        codes, counts = [], []
        for atom in atoms:
            codes.append([c for part, _ in atom for c in part])
            counts.append(prod(weight for _, weight in atom))
        return Pmf.from_counts(self.variables, np.array(codes), counts, note=self.note)


@dataclass(frozen=True)
class Margins:
    """The pmfs of single columns, without a word about how the columns depend on each other.

    Parameters
    ----------
    columns : tuple of Pmf
        One for each column.

    >>> coin = {"variables": {"X": ["0", "1"]}, "pmf": [{"X": "0", "p": "1/3"}, {"X": "1", "p": "2/3"}]}
    >>> Margins.from_json({"margins": [coin]}).marginal(["X"]).probability(X="1")
    Fraction(2, 3)
    """

    columns: tuple[Pmf, ...]

    def __post_init__(self) -> None:
        if not self.columns or any(len(column.variables) != 1 for column in self.columns):
            raise InvalidPmf("margins are pmfs of one column each, at least one")
        if len(self.variables) != len(self.columns):
            raise InvalidPmf("two margins are of the same column")

    @classmethod
    def of(cls, law: "Pmf | ProductPmf | Margins", names: Sequence[str]) -> Self:
        """The margins of these columns.

        Parameters
        ----------
        law : Pmf, ProductPmf or Margins
            That has these columns.
        names : sequence of str
            Variables of the law.

        Returns
        -------
        Margins
        """
        return cls(tuple(law.marginal([name]) for name in names))

    @classmethod
    def from_json(cls, document: object) -> Self:
        if not isinstance(document, dict) or set(document) != {"margins"} or not isinstance(document["margins"], list):
            raise InvalidPmf('margins are an object with the one key "margins", a list of pmfs')
        return cls(tuple(Pmf.from_json(column) for column in document["margins"]))

    def to_json(self) -> dict[str, Any]:
        return {"margins": [column.to_json() for column in self.columns]}

    @cached_property
    def variables(self) -> dict[str, tuple[str, ...]]:
        return {name: tuple(letters) for column in self.columns for name, letters in column.variables.items()}

    @property
    def note(self) -> str:
        return "; ".join(dict.fromkeys(column.note for column in self.columns if column.note))

    def alphabets(self, names: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """The alphabets of the named columns, in that order.

        Parameters
        ----------
        names : sequence of str
            Variables of the law.

        Returns
        -------
        dict of names to tuples of str
        """
        return {name: self.variables[name] for name in names}

    def marginal(self, names: Sequence[str]) -> Pmf:
        """The pmf of one column.

        Parameters
        ----------
        names : sequence of str
            One column.

        Returns
        -------
        Pmf
        """
        found = [column for column in self.columns if list(column.variables) == list(names)]
        if not found:
            raise MismatchError(
                f"only margins are known, and not how {', '.join(names)} depend on each other",
                do="Give the statistics of these columns together, or a table.",
            )
        return found[0]


def law_of(document: object) -> Pmf | ProductPmf:
    """A joint pmf or a product of independent ones, from the `joint.json` format.

    Parameters
    ----------
    document : object
        The JSON value.

    Returns
    -------
    Pmf, ProductPmf or Margins
        The law.

    Raises
    ------
    InvalidPmf
        If it is none.
    """
    if isinstance(document, dict) and "independent" in document:
        return ProductPmf.from_json(document)
    return Pmf.from_json(document)
