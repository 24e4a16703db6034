"""`Protector`: the main job as a transformer of scikit-learn (extra `sklearn`)."""

import hashlib
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from dalenius.api import reproved
from dalenius.core import MISSING, Column, Problem
from dalenius.core.problem_file import read_toml
from dalenius.errors import InputError, SmallCombinations
from dalenius.mechanisms import solve
from dalenius.mechanisms.applying import draw
from dalenius.sampling import Key
from dalenius.starting import PYTHON, Draft, Wish, draft, level_of
from dalenius.tables import bind, encode, open_table

try:
    from sklearn.base import BaseEstimator, TransformerMixin
    from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data
except ImportError:
    raise ImportError("Protector needs scikit-learn: pip install 'dalenius[sklearn]'") from None

__all__ = ["FewRows", "PromiseNotProved", "Protector"]

SECRET = "(secret)"
"""The name of the column that holds the secret beside those of X."""


class FewRows(UserWarning):
    """Some combination has fewer rows than was asked for: the promise is proved, but the recipe shows few people."""


class PromiseNotProved(UserWarning):
    """Rows were changed by the recipe of another table: the promise is proved for the statistics of that one."""


class Protector(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Change columns at random so that they reveal little about a secret one.

    ``fit(X, y)`` designs the recipe and proves it for the rows of X, with `y` as the secret; where `y` is what a model
    learns, ``fit(X, y, secret=...)`` names another secret. ``fit_transform`` releases these rows. ``transform`` of
    other rows draws by the same recipe; its promise is proved for the statistics of the fitted table alone, and a
    `PromiseNotProved` says so, unless their `secret` is given: then they are counted, and the promise is proved for
    them or they are refused. Rows keep their order. A value that was not fitted is refused.
    Every call of ``transform`` without `key` is a release of its own, and two of the same rows reveal more than one:
    publish one of them.

    Parameters
    ----------
    reveal_at_most : float or str, default="0.01"
        Bits that a row may reveal about the secret, on average. None with another promise.
    reveal_nothing : bool, default=False
        Every answer stays exactly as likely as it was; instead of `reveal_at_most`.
    times_at_most : float, optional
        No answer becomes more than so many times as likely, for any row.
    keep_rows : float or str, default=1
        The share of its rows that every value keeps on average; 1 preserves how often each combination occurs.
    groups : mapping, optional
        For a column the numbers at which its groups begin, or named lists of values; the others are suggested.
    min_rows : int, default=10
        Groups are merged until no combination has fewer rows, or as far as they can be; `FewRows` warns of the latter.
    key : path, optional
        File with the key of the draws; a fresh key each time unless given. With it the same rows give the same again.

    Attributes
    ----------
    design_ : Design
        The recipe and its proof; as confidential as the table, also in a pickle.
    groups_ : dict
        The groups of each column.
    n_features_in_ : int
        Columns of X.
    feature_names_in_ : array
        Their names, where X has names.

    Examples
    --------
    >>> X = np.array([["a", "u"], ["a", "v"], ["b", "u"], ["b", "v"]] * 100, dtype=object)
    >>> y = np.array(["yes", "no", "no", "no"] * 100)
    >>> Protector(reveal_at_most="0.01").fit_transform(X, y).shape
    (400, 2)
    """

    def __init__(
        self,
        *,
        reveal_at_most: float | str | Fraction | None = "0.01",
        reveal_nothing: bool = False,
        times_at_most: float | str | Fraction | None = None,
        keep_rows: float | str | Fraction = 1,
        groups: Mapping[str, Any] | None = None,
        min_rows: int = 10,
        key: str | Path | None = None,
    ) -> None:
        self.reveal_at_most = reveal_at_most
        self.reveal_nothing = reveal_nothing
        self.times_at_most = times_at_most
        self.keep_rows = keep_rows
        self.groups = groups
        self.min_rows = min_rows
        self.key = key

    def fit(self, X: Any, y: Any = None, *, secret: Any = None) -> "Protector":
        """Design the recipe for the rows of X, and prove it.

        Parameters
        ----------
        X : array or frame of shape (rows, columns)
            The columns to release.
        y : array of shape (rows,), optional
            The secret, unless `secret` is given.
        secret : array of shape (rows,), optional
            The secret, where `y` is something else.

        Returns
        -------
        Protector
        """
        hidden = y if secret is None else secret
        X, hidden = validate_data(self, X, hidden, dtype=None, ensure_all_finite="allow-nan", y_numeric=False)
        if len({*hidden.tolist()}) == 1:
            raise InputError("The secret has one class: all rows have the same value.", do="Give another column.")
        names = self._names()
        table = _table(X, names).append_column(SECRET, _texts(hidden))
        found = self._drafted(table, names)
        declared = Problem.from_document(read_toml(found.text, "problem.toml"))
        bound, _ = bind(replace(declared, order="keep"), table=table)
        self.design_ = solve(bound)
        self.groups_ = {
            g.look.name: list(g.cuts) if g.cuts else dict(zip(g.labels, map(list, g.members), strict=True))
            for g in found.released
        }
        self._fitted = _digest(X)
        return self

    def transform(self, X: Any, *, secret: Any = None) -> np.ndarray[Any, Any]:
        """Change rows by the recipe.

        Parameters
        ----------
        X : array or frame of shape (rows, columns)
            Rows with the columns that were fitted.
        secret : array of shape (rows,), optional
            The secret of these rows: with it the promise is proved for them.

        Returns
        -------
        array of shape (rows, columns)
            Names of groups and values, as text; None where a value is missing.

        Raises
        ------
        NotCertified
            If `secret` is given, and the promise does not hold for these rows.
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=None, ensure_all_finite="allow-nan", reset=False)
        names = self._names()
        design = self.design_
        if secret is not None:
            table = _table(X, names).append_column(SECRET, _texts(column_or_1d(secret)))
            design, _ = reproved(design, table)
        elif _digest(X) != self._fitted:
            warnings.warn(
                "These rows are not those that were fitted. The promise is proved for the fitted table alone.",
                PromiseNotProved,
                stacklevel=2,
            )
        declared: dict[str, Column] = {name: design.problem.columns[name] for name in names}
        coded = encode(open_table(_table(X, names)), declared, names)
        released = draw(design, coded, key=None if self.key is None else Key.from_file(self.key))
        columns = []
        for name in names:
            codes, letters = released.columns[name]
            texts = np.array([None if letter == MISSING else letter for letter in letters], dtype=object)
            columns.append(texts[codes])
        return np.stack(columns, axis=1)

    def get_feature_names_out(self, input_features: Sequence[str] | None = None) -> np.ndarray[Any, Any]:
        """The names of the released columns: those of X.

        Parameters
        ----------
        input_features : sequence of str, optional
            Names for columns that were fitted without.

        Returns
        -------
        array of str
        """
        check_is_fitted(self)
        known = getattr(self, "feature_names_in_", None)
        if input_features is None:
            return np.asarray(self._names(), dtype=object)
        if len(input_features) != self.n_features_in_:
            raise ValueError("input_features should have length equal to number of features")
        if known is not None and list(input_features) != list(known):
            raise ValueError("input_features is not equal to feature_names_in_")
        return np.asarray(input_features, dtype=object)

    def _names(self) -> list[str]:
        """The names of the columns; x0, x1, ... where X has none."""
        given = getattr(self, "feature_names_in_", None)
        return [f"x{k}" for k in range(self.n_features_in_)] if given is None else [str(name) for name in given]

    def _drafted(self, table: pa.Table, names: Sequence[str]) -> Draft:
        """The groups and the promise, with as many rows for each combination as there can be, up to `min_rows`."""
        wish = self._wish(names)
        least = self.min_rows
        while True:
            try:
                found = draft(open_table(table), replace(wish, min_rows=least), path="table.parquet")
                break
            except (
                SmallCombinations
            ) as e:  # nobody sees the recipe of an estimator: the rule for public cards gives way
                least = min(e.smallest, least - 1)
        if least < self.min_rows:
            smallest = f"the smallest has {found.smallest[1]}"
            said = f"No grouping that was tried gives every combination {self.min_rows} rows; {smallest}."
            warnings.warn(f"{said} Keep the recipe secret.", FewRows, stacklevel=3)
        return found

    def _wish(self, names: Sequence[str]) -> Wish:
        """The parameters as a wish about the secret beside X."""
        if not self.reveal_nothing and self.reveal_at_most is None:
            raise InputError("Say reveal_at_most, or reveal_nothing=True.")
        promise = "nothing" if self.reveal_nothing else "reveal"
        given = self.groups or {}
        return Wish(
            ((SECRET,),),
            tuple(names),
            promise,
            level_of(promise, self.reveal_at_most),
            times=None if self.times_at_most is None else level_of("times", self.times_at_most),
            keep_rows=Fraction(str(self.keep_rows)),
            form="dense",
            min_rows=self.min_rows,
            spoken=PYTHON,
            cuts={
                name: (g,) if isinstance(g, str) else tuple(map(str, g))
                for name, g in given.items()
                if not isinstance(g, Mapping)
            },
            named={
                name: {label: tuple(map(str, values)) for label, values in g.items()}
                for name, g in given.items()
                if isinstance(g, Mapping)
            },
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
        tags.non_deterministic = True
        return tags


def _digest(X: np.ndarray[Any, Any]) -> str:
    """What tells the fitted rows from others."""
    text = "\x1f".join(map(str, X.reshape(-1).tolist()))
    return hashlib.sha256(f"{X.shape}{text}".encode()).hexdigest()


def _table(X: np.ndarray[Any, Any], names: Sequence[str]) -> pa.Table:
    """An array as a table with these columns."""
    return pa.table({name: _texts(X[:, k]) for k, name in enumerate(names)})


def _texts(column: np.ndarray[Any, Any]) -> pa.Array:
    """Numbers as they are, anything else as text; null where nothing is said."""
    if column.dtype.kind in "iuf":
        return pa.array(column, from_pandas=True)
    said = [None if value is None or value != value else str(value) for value in column.tolist()]
    return pa.array(said, pa.string())
