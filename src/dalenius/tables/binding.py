"""From a declared problem to a bound one: read its source, count, and check every name before any work is done."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from dalenius.core.guess_guarantees import Guess
from dalenius.core.information_guarantees import Dalenius
from dalenius.core.markov import MarkovChain
from dalenius.core.odds_guarantees import LocalDP
from dalenius.core.pmf import Alphabets, Pmf
from dalenius.core.problem import Problem
from dalenius.core.product_pmf import Margins, ProductPmf
from dalenius.core.samples import Samples
from dalenius.core.source import ConditionallyIid, MarkovSource, PmfSource, TableSource, is_address
from dalenius.errors import DaleniusError, InputError, InvalidPmf, MismatchError, ProblemFileError
from dalenius.tables.counting import Coded
from dalenius.tables.documents import conditionally_iid, read_channel, read_gain, read_law, read_metric, read_pmf
from dalenius.tables.workspace import Workspace, usual

if TYPE_CHECKING:  # what reads tables imports pyarrow; a stated law needs none
    from dalenius.tables.source import Progress, Table

__all__ = ["UNIFORM", "base_of", "bind", "opened_table", "stated_law", "table_of", "with_files"]

UNIFORM = "uniform"
_P = TypeVar("_P", LocalDP, Guess)
OUTCOMES = 1 << 20
INDEPENDENT = ("windows", "sums")  # forms for independent groups, which are not multiplied out


def base_of(problem: Problem) -> Path:
    """The folder that relative paths of a problem file start from.

    Parameters
    ----------
    problem : Problem
        Read from a file or not.

    Returns
    -------
    Path
        That of the file, else the current one.
    """
    return problem.file.parent if problem.file else Path()


def table_of(problem: Problem, source: TableSource) -> str | Path:
    """Where the table of a problem is: the address of a database, or a path from the folder of its file.

    Parameters
    ----------
    problem : Problem
        Whose paths are relative to its file.
    source : TableSource
        Its source.

    Returns
    -------
    str or Path
        An address or a path.
    """
    return source.table if is_address(source.table) else base_of(problem) / source.table


def bind(
    problem: Problem,
    *,
    table: Any = None,
    workspace: Workspace | None = None,
    on_progress: "Progress | None" = None,
    rows: bool = True,
) -> tuple[Problem, Coded | None]:
    """The problem with its joint pmf, and the coded table if there is one.

    `table` replaces the table that the source names: a `Table`, a path or a data frame. The codes of its rows lie in
    the `workspace`, half of the machine's memory unless given.

    Parameters
    ----------
    problem : Problem
        Declared.
    table : path, Table or data frame, optional
        In place of the one that the source names.
    workspace : Workspace, optional
        Where codes of rows lie.
    on_progress : callable, optional
        Told how many rows are done, and how many there are.
    rows : bool
        Whether the rows are needed; where counts suffice, DuckDB counts long Parquet files.

    Returns
    -------
    Problem, Coded or None
        Bound, and the codes of its table.

    Raises
    ------
    ProblemFileError
        If the data do not fit what the problem says.
    """
    bound, coded = _bound(problem, table, workspace or usual(), on_progress, rows)
    return with_files(bound), coded


def with_files(
    problem: Problem,
    inputs: Mapping[str, Sequence[str]] | None = None,
    variables: Mapping[str, Sequence[str]] | None = None,
) -> Problem:
    """The problem with the numbers of every metric and gain in place of the names of their files.

    Parameters
    ----------
    problem : Problem
        With names of files.
    inputs : mapping of str to letters, optional
        The columns that metrics are about; those that the problem reads, unless given.
    variables : mapping of str to letters, optional
        The columns that gains are about; those of the law, unless given.

    Returns
    -------
    Problem
        With distances and gains.

    Raises
    ------
    ProblemFileError
        If a file cannot be read, or has not one number for every value.
    """
    guarantees = list(problem.guarantees)
    for k, guarantee in enumerate(guarantees):
        if isinstance(guarantee, LocalDP) and guarantee.metric is not None:
            place = ("guarantee", k, "metric")
            known = inputs or {name: problem.law.variables[name] for name in problem.inputs}
            guarantees[k] = guarantee = _read(problem, place, guarantee, read_metric, known, "the distances")
            rows = len(guarantee.metric or ())
            outcomes = prod(map(len, known.values()))
            if rows != outcomes:
                raise problem.error(place, f"the metric has {rows} rows, and there are {outcomes} input outcomes")
        if isinstance(guarantee, Guess) and guarantee.gain is not None:
            place = ("guarantee", k, "gain")
            secret = {name: (variables or problem.law.variables)[name] for name in guarantee.about}
            guarantees[k] = guarantee = _read(problem, place, guarantee, read_gain, secret, "the gains")
            wide = len((guarantee.gain or ((),))[0])
            values = prod(map(len, secret.values()))
            if wide != values:
                sentence = f"a row of the gain has {wide} numbers, and {', '.join(guarantee.about)} has {values} values"
                raise problem.error(place, sentence)
    return replace(problem, guarantees=tuple(guarantees))


def _read(
    problem: Problem,
    place: tuple[str, int, str],
    promise: _P,
    reader: Callable[[Path, Mapping[str, Sequence[str]]], Any],
    alphabets: Mapping[str, Sequence[str]],
    what: str,
) -> _P:
    """A promise with its numbers, which the reader takes from the file that it names, if it names one."""
    named = getattr(promise, place[-1])
    if not isinstance(named, str):
        return promise
    try:
        return replace(promise, **{place[-1]: reader(base_of(problem) / named, alphabets)})
    except TypeError:
        raise problem.error(place, f"{what} are not a list of rows") from None
    except DaleniusError as e:
        raise problem.error(place, str(e)) from None


def stated_law(problem: Problem, alphabets: Alphabets) -> Pmf | ProductPmf | Margins | Samples | MarkovChain | None:
    """The law that a problem states, without looking at a table; None where it is counted from one.

    Parameters
    ----------
    problem : Problem
        Declared.
    alphabets : mapping of str to letters
        Of the columns, where every outcome of them is alike.

    Returns
    -------
    Pmf and its like, or None
        The law.
    """
    source = problem.source
    if not isinstance(source, TableSource):
        return _bound(problem, None, usual())[0].law
    if source.prior is None:
        return None
    if source.prior == UNIFORM:
        return _uniform(problem, alphabets)
    return _of_names(problem, read_law(base_of(problem) / source.prior, "stated distribution file"))


def _of_names(problem: Problem, prior: Pmf | ProductPmf) -> Pmf | ProductPmf | Margins:
    """The part of a stated law that a problem speaks of."""
    names = problem.variables()
    if problem.by_margins:
        return Margins.of(prior, names)
    same = list(prior.variables) == names or isinstance(prior, ProductPmf)
    return prior if same else prior.marginal(names)


def _bound(
    problem: Problem, table: Any, workspace: Workspace, on_progress: "Progress | None" = None, rows: bool = True
) -> tuple[Problem, Coded | None]:
    source = problem.source
    if isinstance(source, TableSource) or table is not None:
        known = source if isinstance(source, TableSource) else TableSource("")
        return _bind_table(problem, known, table, workspace, on_progress, rows)
    if isinstance(source, PmfSource):
        return problem.bound(read_law(base_of(problem) / source.pmf)), None
    if isinstance(source, ConditionallyIid):
        return problem.bound(_alike(problem, source)), None
    if isinstance(source, MarkovSource):
        try:
            return problem.bound(MarkovChain(source.letters, source.initial, source.transition, source.n)), None
        except InvalidPmf as e:
            raise problem.error(("source", "markov"), str(e)) from None
    if problem.joint is None:
        raise problem.error(("source",), "there is no [source] section, so there is nothing to read")
    return problem, None


def _alike(problem: Problem, source: ConditionallyIid) -> Pmf | Samples:
    """The law of the samples: written out when the problem names single ones, X1, X2, ..., and by types for X."""
    base = base_of(problem)
    prior = read_pmf(base / source.prior, "stated distribution file")
    kernel = read_channel(base / source.kernel, "kernel file")
    try:
        samples = Samples(source.hidden, prior, kernel, source.n)
        return (
            samples if samples.sample in problem.observe else conditionally_iid(prior, kernel, source.hidden, source.n)
        )
    except InputError as e:
        raise problem.error(("source", "conditionally_iid"), str(e)) from None


def _bind_table(
    problem: Problem, source: TableSource, given: Any, workspace: Workspace, on_progress: "Progress | None", rows: bool
) -> tuple[Problem, Coded]:
    from dalenius.tables.coding import encode
    from dalenius.tables.persons import per_person
    from dalenius.tables.quantiles import cut_at_quantiles
    from dalenius.tables.weighing import weights_of

    base = base_of(problem)
    table = replace(opened_table(problem, given), workspace=workspace)
    _check_names(problem, source, table)
    several = (
        source.unit != "row"
        or source.weights is not None
        or any(column.quantiles for column in problem.columns.values())
    )
    table = table.for_several_passes() if several else table
    if source.weights is not None:  # for estimation and risk; a promise is about rows, so the design does not use them
        weights_of(table, source.weights)
    named = source.prior not in (None, UNIFORM)
    prior = read_law(base / str(source.prior), "stated distribution file") if named else None
    names = problem.variables()
    declared = cut_at_quantiles(table, problem.columns, names, on_progress=on_progress)
    read = encode if rows or several else _tallied()
    coded = read(table, declared, names, base=base, on_progress=on_progress)
    columns = coded.resolved(declared)
    if source.unit != "row" and table.per_person is not None:
        coded = table.per_person(coded, columns)
    elif source.unit != "row":
        coded = per_person(table, coded, source.unit, max_rows=source.max_rows, on_progress=on_progress)
    table.unchanged(contents=True)
    problem = _all_rows(_with_rows(problem, source, coded), coded)
    if prior is None:
        law = _public_uniform(problem, coded) if source.prior else _counted(problem, coded)
        return problem.bound(law, columns), coded
    problem.bound(prior)  # names first: their errors say the line
    _check_alphabets(prior, coded, source.prior or "")
    return problem.bound(_of_names(problem, prior), columns), coded


def _tallied() -> Any:
    """Who counts records without their rows; imported where somebody wants that."""
    from dalenius.tables.grouping import tallied

    return tallied


def _with_rows(problem: Problem, source: TableSource, coded: Coded) -> Problem:
    """With [robust] confidence: how many rows speak for the population, if they do."""
    if problem.robust is None or problem.robust.ball != "confidence":
        return problem
    why = None
    if source.unit != "row":
        why = f'rows of one {source.unit} are not independent draws; only unit = "row" is'
    elif source.prior is not None:
        why = "a public statistics was not counted from these rows; leave out one of the two"
    elif coded.from_table:
        why = f"the population may have values that the table lacks; declare the values of {coded.from_table[0]!r}"
    if why:
        raise problem.error(("robust", "confidence"), f"confidence is about the population behind the rows: {why}")
    return replace(problem, robust=replace(problem.robust, rows=coded.rows))


def _all_rows(problem: Problem, coded: Coded) -> Problem:
    """With the number of released rows in place of "all" in every promise about all of them."""
    counted = tuple(
        replace(promise, rows=max(coded.rows, promise.group))
        if isinstance(promise, Dalenius) and promise.rows == "all"
        else promise
        for promise in problem.guarantees
    )
    return replace(problem, guarantees=counted)


def _counted(problem: Problem, coded: Coded) -> Pmf | Margins:
    """The law of a row; only that of each column where each has a mechanism of its own."""
    return Margins(tuple(coded.pmf([name]) for name in coded.names)) if problem.by_margins else coded.pmf()


def _public_uniform(problem: Problem, coded: Coded) -> Pmf | ProductPmf | Margins:
    """Every outcome alike: a public law that needs no file. The alphabets must be declared, or they tell the table.

    A kept column leaves as it is, and its values with it.
    """
    if hidden := [name for name in coded.from_table if name not in problem.keep]:
        raise problem.error(
            ("source", "prior"),
            f'prior = "uniform" is public only with public values; declare the values of {hidden[0]!r}',
        )
    return _uniform(problem, coded.alphabets)


def _uniform(problem: Problem, alphabets: Alphabets) -> Pmf | ProductPmf | Margins:
    """Every outcome of these alphabets alike."""
    if problem.by_margins or problem.form in INDEPENDENT:
        alike = ((name, letters, np.arange(len(letters))[:, None]) for name, letters in alphabets.items())
        columns = tuple(Pmf.from_counts({name: a}, codes, [1] * len(a)) for name, a, codes in alike)
        return Margins(columns) if problem.by_margins else ProductPmf(columns)
    sizes = [len(letters) for letters in alphabets.values()]
    if prod(sizes) > OUTCOMES:
        raise problem.error(("source", "prior"), f"equal shares of {prod(sizes):,} combinations are too many")
    support = np.stack(np.unravel_index(np.arange(prod(sizes)), sizes), axis=1)
    for zero in problem.combinations:
        support = support[~zero.among(alphabets, support)]
    return Pmf.from_counts(alphabets, support, [1] * len(support))


def opened_table(problem: Problem, given: Any = None) -> "Table":
    """The table of a problem, opened; an error names the line that names it.

    Parameters
    ----------
    problem : Problem
        With a table as its source, or without one.
    given : path, Table or data frame, optional
        In place of the one that the source names.

    Returns
    -------
    Table
    """
    from dalenius.tables.opening import open_table

    source = problem.source if isinstance(problem.source, TableSource) else TableSource("")
    place = table_of(problem, source) if given is None else given
    try:
        query = source.query if is_address(place) else None
        return open_table(place, dialect=source.dialect, query=query)
    except DaleniusError as e:
        if isinstance(place, Path) and not os.path.exists(place):  # which takes a name that is too long, too
            raise problem.error(("source", "table"), str(e)) from None
        raise


def _check_names(problem: Problem, source: TableSource, table: "Table") -> None:
    """Every name of the problem is a column, or the error names the key and the line that say otherwise."""

    def refused(place: tuple[str | int, ...], name: str) -> ProblemFileError:
        if problem.file is None:  # nobody wrote a file: the table is to be corrected
            table.position(name)
        close = get_close_matches(name, table.names, 1, 0.6)
        hint = f"did you mean {close[0]!r}?" if close else f"{table.name} has {', '.join(map(repr, table.names))}"
        return problem.error(place, f"there is no column {name!r}; {hint}", "unknown-column")

    for place, name in problem.named():
        if name not in table.names:
            raise refused(place, name)
    unit = source.unit if source.unit != "row" else None
    for key, column in (("unit", unit), ("weights", source.weights), ("row_number", source.row_number)):
        if column is not None and column not in table.names:
            raise refused(("source", key), column)


def _check_alphabets(prior: Pmf | ProductPmf, coded: Coded, file: str) -> None:
    for name, letters in coded.alphabets.items():
        theirs = tuple(prior.variables[name])
        if theirs == letters:
            continue
        if extra := [their for their in theirs if their not in letters]:
            why = f"the stated distribution has {extra[0]!r}, which is not declared"
        elif lacking := [letter for letter in letters if letter not in theirs]:
            why = f"the stated distribution lacks {lacking[0]!r}"
        else:
            why = "the values stand in another order"
        hint = ' (its values are "from-table"; declare them)' if name in coded.from_table else ""
        raise MismatchError(
            f"{file}: {name!r} has other values than the table: {why}{hint}", do="Make both lists of values equal."
        )
