"""`protect`: release columns of a frame so that a secret stays secret, in one call."""

import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any
from weakref import finalize

import pyarrow as pa
import pyarrow.parquet

from dalenius.api import Outcome, Progress, release
from dalenius.core import Design, Problem
from dalenius.core.digits import one_in
from dalenius.core.guarantee import as_names
from dalenius.core.problem_file import read_toml
from dalenius.errors import InputError
from dalenius.frames.conversion import returning, typed
from dalenius.frames.showing import release_html
from dalenius.outputs import RELEASE, new_folder
from dalenius.report.facts import Facts
from dalenius.report.plain import changed_entries, fields_compared, promises
from dalenius.sampling import Key
from dalenius.starting import PYTHON, Draft, Wish, draft, level_of, roles
from dalenius.tables import bind, open_table

__all__ = ["Release", "problem", "protect"]

Number = float | str | Fraction
Grouping = Mapping[str, str | Sequence[float] | Mapping[str, Sequence[str]]]

LOST = Fraction(3, 4)
"""A value that keeps less than this share of its rows is a loss."""

STATEMENTS = ("statement.html", "report.html")
WRITTEN = replace(RELEASE, files=(*RELEASE.files, "problem.toml"))  # what `write` leaves, and may replace


def protect(
    data: Any,
    *,
    secret: str | Sequence[str],
    release: str | Sequence[str] | None = None,
    reveal_at_most: Number | None = None,
    guess_at_most: Number | None = None,
    reveal_nothing: bool = False,
    deny: Number | None = None,
    times_at_most: Number | None = None,
    keep: str | Sequence[str] = (),
    keep_rows: Number = 1,
    person: str | None = None,
    groups: Grouping | None = None,
    form: str | None = None,
    min_rows: int = 10,
    key: Key | None = None,
    seconds: float = 120.0,
    progress: Progress | None = None,
) -> "Release":
    """Release columns of a table so that a secret column stays secret, with proof.

    Parameters
    ----------
    data : DataFrame of pandas or polars, pyarrow.Table, or path
        One row for each person or event. It is not changed.
    secret : str or sequence of str
        Column that must stay secret. Several names are protected together.
    release : str or sequence of str, optional
        Columns to release. Default: all others that do not look like identifiers.
    reveal_at_most : float, str or Fraction, optional
        Bits that a row may reveal about `secret`, on average. Exactly one promise is needed.
    guess_at_most : float or str, optional
        Share of right guesses, as 0.8 or "80 %". Weak for rare answers; see `times_at_most`.
    reveal_nothing : bool
        Every answer stays exactly as likely as it was.
    deny : float, optional
        No entry is more than so many times likelier for one person than for another (local differential privacy).
    times_at_most : float, optional
        No answer becomes more than so many times as likely, for any row. It may also stand beside another promise.
    keep : str or sequence of str
        Columns that are released as they are.
    keep_rows : float or str
        The share of its rows that every value keeps on average; 1 preserves how often each combination occurs.
    person : str, optional
        The column that names the person, where one person has several rows.
    groups : mapping, optional
        For a column either the numbers at which groups begin, or named lists of values, or for dates "year" or
        "month". The others are suggested; what was suggested is in ``Release.groups``.
    form : str, optional
        "dense", "records" or "each"; chosen by the size of the table unless said.
    min_rows : int
        A combination with fewer rows is small, and groups are merged until there is none.
    key : Key, optional
        Of the draw; a fresh one unless given.
    seconds : float
        Time for everything.
    progress : callable, optional
        Called with a stage, what is done and how much there is.

    Returns
    -------
    Release
        ``.data`` in the type of `data`, ``.promise``, ``.losses``, ``.groups``, ``.design``, ``.statement()``,
        ``.write(folder)``.

    Raises
    ------
    InputError
        If the wishes contradict each other or the table.
    Infeasible
        If nothing can keep the promise.

    Examples
    --------
    >>> table = pa.table({"town": ["a", "a", "b", "b"] * 50, "sick": ["yes", "no", "no", "no"] * 50})
    >>> protect(table, secret="sick", release=["town"], reveal_nothing=True).promise
    'reveals nothing about sick'
    """
    said = {
        "reveal": reveal_at_most,
        "guess": guess_at_most,
        "nothing": True if reveal_nothing else None,
        "deny": deny,
    }
    found = _drafted(data, secret, release, said, times_at_most, keep, keep_rows, person, groups, form, min_rows)
    return _released(data, found, key, seconds, progress)


def problem(
    data: Any, *, secret: str | Sequence[str], release: str | Sequence[str] | None = None, **wishes: Any
) -> Problem:
    """The problem that `protect` would solve, bound to the table, for `solve`, `tradeoff` and `explain`.

    Parameters
    ----------
    data, secret, release
        As for `protect`.
    **wishes
        The other keywords of `protect` that say what is promised and how values are grouped.

    Returns
    -------
    Problem
        Bound to the statistics of the table.

    Examples
    --------
    >>> table = pa.table({"town": ["a", "a", "b", "b"] * 50, "sick": ["yes", "no", "no", "no"] * 50})
    >>> problem(table, secret="sick", release=["town"], reveal_at_most="0.01")
    Problem(release town from 2 combinations; leakage of sick at most 1/100; bound to 200 rows)
    """
    names = {"reveal": "reveal_at_most", "guess": "guess_at_most", "nothing": "reveal_nothing", "deny": "deny"}
    said = {promise: wishes.pop(name, None) or None for promise, name in names.items()}
    rest = {"times_at_most": None, "keep": (), "keep_rows": 1, "person": None, "groups": None, "form": None}
    rest["min_rows"] = 10
    if unknown := set(wishes) - set(rest):
        raise InputError(
            f'There is no wish "{min(unknown)}". Known are {", ".join([*names.values(), *rest])}.',
            do="Use one of these names.",
        )
    found = _drafted(data, secret, release, said, *(rest | wishes).values())
    declared = Problem.from_document(read_toml(found.text, "problem.toml"))
    return bind(declared, table=data, rows=False)[0]


def _drafted(
    data: Any,
    secret: str | Sequence[str],
    chosen: str | Sequence[str] | None,
    said: Mapping[str, Any],
    times_at_most: Number | None,
    keep: str | Sequence[str],
    keep_rows: Number,
    person: str | None,
    groups: Grouping | None,
    form: str | None,
    min_rows: int,
) -> Draft:
    """The draft of a wish in keywords."""
    given = [(promise, level) for promise, level in said.items() if level is not None]
    if not given and times_at_most is not None:
        given, times_at_most = [("times", times_at_most)], None
    if len(given) != 1:
        raise InputError(
            "Say one of reveal_at_most, guess_at_most, reveal_nothing and deny; times_at_most may stand beside it, or "
            "alone."
        )
    table = open_table(data)
    left_out, _ = roles(table, PYTHON)
    secrets = as_names(secret)
    keep = as_names(keep)
    others = [n for n in table.names if n not in left_out and n not in secrets and n not in keep and n != person]
    cuts = {
        name: (g,) if isinstance(g, str) else tuple(map(str, g))
        for name, g in (groups or {}).items()
        if not isinstance(g, Mapping)
    }
    named = {
        name: {label: tuple(map(str, values)) for label, values in g.items()}
        for name, g in (groups or {}).items()
        if isinstance(g, Mapping)
    }
    wish = Wish(
        (secrets,),
        tuple(others) if chosen is None else as_names(chosen),
        given[0][0],
        level_of(*given[0]),
        times=None if times_at_most is None else level_of("times", times_at_most),
        keep=keep,
        person=person,
        keep_rows=Fraction(str(keep_rows)),
        form=form,
        min_rows=min_rows,
        cuts=cuts,
        named=named,
        spoken=PYTHON,
    )
    path = str(data) if isinstance(data, str | Path) else "table.parquet"
    # A column that somebody names is released, even if it looks like an identifier: the groups make it coarse.
    return draft(table, wish, path=path, left_out=left_out if chosen is None else None)


def _released(data: Any, found: Draft, key: Key | None, seconds: float, progress: Progress | None) -> "Release":
    """Design, prove, draw and test, into a folder of its own that goes with the object."""
    declared = Problem.from_document(read_toml(found.text, "problem.toml"))
    place = Path(tempfile.mkdtemp(prefix="dalenius-"))  # which only this user can read
    try:
        outcome = release(declared, place / "release", table=data, key=key, seconds=seconds, on_progress=progress)
        (place / "release" / "problem.toml").write_text(found.text, encoding="utf-8")
        made = Release(data, found, outcome)
    except BaseException:
        shutil.rmtree(place, ignore_errors=True)
        raise
    finalize(made, shutil.rmtree, place, ignore_errors=True)
    return made


@dataclass(frozen=True, eq=False, repr=False)
class Release:
    """A release in memory: the released rows, the promise with its proof, and what was lost.

    Its files wait in a folder of the system for temporary files that only you can read; it goes with the object.

    Parameters
    ----------
    source : object
        What was released.
    draft : Draft
        The wish, the groups and the problem file.
    outcome : Outcome
        The design, the tests, the counts before and after.

    Examples
    --------
    >>> table = pa.table({"town": ["a", "a", "b", "b"] * 50, "sick": ["yes", "no", "no", "no"] * 50})
    >>> protect(table, secret="sick", release=["town"], reveal_nothing=True).promise
    'reveals nothing about sick'
    """

    source: Any
    draft: Draft
    outcome: Outcome

    @property
    def _folder(self) -> Path:
        return self.outcome.folder

    @property
    def design(self) -> Design:
        """The recipe and its proof; as confidential as the table."""
        return self.outcome.design

    @property
    def rows(self) -> int:
        """Released rows."""
        return self.outcome.audit.rows

    @cached_property
    def data(self) -> Any:
        """The released rows, in the type of the frame that was given; grouped columns are categories in their order."""
        opened = next(self._folder.glob("released.*"))
        if opened.suffix == ".parquet":
            table = pa.parquet.read_table(opened)
        else:
            table = pa.Table.from_batches(list(open_table(opened).batches(open_table(opened).names)))
        groups = (*self.draft.released, *self.draft.kept)
        labels = {group.look.name: group.labels for group in groups if group.look.dates or not group.untouched}
        ranges = [group.look.name for group in groups if group.cuts or group.look.dates]
        return returning(self.source)(typed(table, _schema(self.source), labels, ranges))

    @property
    def groups(self) -> dict[str, Any]:
        """The groups of each column: numbers at which they begin, or named lists of values."""
        columns = (*self.draft.released, *self.draft.secrets, *self.draft.kept)
        return {
            column.look.name: list(column.cuts)
            if column.cuts
            else dict(zip(column.labels, map(list, column.members), strict=True))
            for column in columns
        }

    @property
    def promise(self) -> str:
        """What is proved about every released row, in one sentence."""
        return ", and ".join(promise.of_a_row() for promise in self.draft.promises)

    @property
    def changed(self) -> int | None:
        """How many rows differ from the original, where they can be compared."""
        moved = self.outcome.audit.transitions
        return int(moved[0]["changed"]) if moved and "changed" in moved[0] else None

    @property
    def losses(self) -> Any:
        """Values that lost more than a quarter of their rows, in the type of the frame that was given."""
        found = [] if self.outcome.counts is None else self.outcome.counts.single
        lost = [value for value in found if value.after < LOST * value.before]
        table = pa.table(
            {
                "column": pa.array([value.columns[0] for value in lost], pa.string()),
                "value": pa.array([value.values[0] for value in lost], pa.string()),
                "before": pa.array([value.before for value in lost], pa.int64()),
                "after": pa.array([value.after for value in lost], pa.int64()),
            }
        )
        return returning(self.source)(table)

    def statement(self) -> str:
        """The statement to be signed, as a page of HTML; confidential."""
        return next(self._folder / name for name in STATEMENTS if (self._folder / name).is_file()).read_text("utf-8")

    def write(self, folder: str | Path, *, force: bool = False) -> Path:
        """Write everything that `dalenius release` writes: table, proof, card, statements and problem file.

        Parameters
        ----------
        folder : str or Path
            To make.
        force : bool
            Replace a release that exists; another folder is refused.

        Returns
        -------
        Path
            The folder.
        """
        folder = Path(folder)
        with new_folder(folder, WRITTEN, force=force) as place:
            shutil.copytree(self._folder, place, dirs_exist_ok=True)
        return folder

    def __repr__(self) -> str:
        changed = self._entries_changed() if self.changed is None else f"{self._rows_in(self.changed)} changed"
        many = len(self.losses)
        lost = (
            "no group lost"
            if not many
            else (
                "1 group lost over a quarter of its rows"
                if many == 1
                else f"{many} groups lost over a quarter of their rows"
            )
        )
        return f"Release of {self.rows:,} rows: {self.promise} (proved); {changed}; {lost}"

    def _entries_changed(self) -> str:
        """What the recipe changes on average, where rows were shuffled so that they cannot be compared."""
        fields = fields_compared(self.design.problem.objective)
        return f"{changed_entries(self.design.value, fields)} changed" if fields else "rows changed"

    def _rows_in(self, part: int) -> str:
        """A number of rows as people say it: 1 row in 8."""
        number, _, whole = one_in(Fraction(part, self.rows)).partition(" in ")
        return f"{number} {'row' if number == '1' else 'rows'} in {whole}" if whole else f"{number} of the rows"

    def _repr_html_(self) -> str:
        counts = [] if self.outcome.counts is None else self.outcome.counts.single
        return release_html(repr(self), counts, promises(Facts.of_design(self.outcome.design)))


def _schema(data: Any) -> pa.Schema | None:
    """The types of the columns of a frame; None of a file, whose columns are text."""
    if isinstance(data, str | Path):
        return None
    if isinstance(data, pa.Table | pa.RecordBatch):
        return data.schema
    return pa.RecordBatchReader.from_stream(data).schema
