"""A release in one go: read, design, charge, draw, test, and write everything that is told about it."""

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from fractions import Fraction
from itertools import product
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dalenius.core import Design, MinimizeDistortion, Problem, TableSource
from dalenius.core.digits import figure
from dalenius.core.pmf import outcome_words
from dalenius.documents import about_of, canonical, filed
from dalenius.engines import engine_named
from dalenius.errors import NOTHING_DONE, DaleniusError, InputError, SmallCombinations
from dalenius.evidence import Audit, Beliefs, Kept, beliefs, examine, of_one_answer, population_words
from dalenius.evidence.before_after import BeforeAfter, before_and_after
from dalenius.evidence.scripts import scripts
from dalenius.ledger import Entry, Ledger
from dalenius.mechanisms import GAP, SECONDS, by_records, refuse_untaken, solve, takers
from dalenius.mechanisms.applying import Released
from dalenius.mechanisms.forms import form_of
from dalenius.outputs import RELEASE, files_read, new_folder, refuse_existing, write_text
from dalenius.report.statement import public_statement, statement
from dalenius.sampling import Key
from dalenius.stopping import limited
from dalenius.tables import Coded

if TYPE_CHECKING:
    from dalenius.mechanisms.columns.leakage.curve import Curve

__all__ = ["Outcome", "Progress", "kept_columns", "left_as_they_are", "release", "small_cells", "stage"]


Progress = Callable[[str, int | None, int | None], None]
THREE_QUARTERS = Fraction(3, 4)
OUTCOMES = 1 << 16  # of kept columns that are numbered as they stand
AFTER, AFTER_ROW = 0.5, 2e-5  # seconds that a release takes after its design, and for each row
FEW = 100_000  # entries of a matrix that is solved again for a suggestion
TRYING = 10.0  # seconds for each
CLOSE = 0.01  # share of a change up to which a short search has found the least one
FEW_POINTS = 4_096  # entries of a matrix whose curve the statement draws
POINTS = 13


@dataclass(frozen=True, repr=False)
class Outcome:
    """What a release produced.

    Parameters
    ----------
    design : Design
        What was drawn from, proved.
    audit : Audit
        The tests of what was drawn.
    folder : Path
        Where everything is.
    charged : Entry, optional
        What the ledger charged.
    counts : BeforeAfter, optional
        How often each value occurs before and after.
    tried : tuple of str
        What a smaller change of the problem would give.
    beliefs : tuple of Beliefs
        How likely each answer about a secret can become for somebody who sees one row.
    """

    design: Design
    audit: Audit
    folder: Path
    charged: Entry | None = None
    counts: BeforeAfter | None = None
    tried: tuple[str, ...] = ()
    beliefs: tuple[Beliefs, ...] = ()

    def __repr__(self) -> str:
        return f"Outcome({self.design!r}, {self.audit!r})"


def small_cells(problem: Problem, table: Coded) -> list[tuple[str, int]]:
    """Cells that the channel depends on and that hold fewer records than `min_cell`, smallest first.

    Parameters
    ----------
    problem : Problem
        Bound to its table.
    table : Coded
        The records as codes.

    Returns
    -------
    list of (str, int)
        The cells in words and how many records they have.
    """
    source = problem.source
    if not isinstance(source, TableSource) or source.prior is not None:
        return []
    shown = next((mechanism.shows_cells for mechanism in takers(problem)), "none")
    if shown == "none":
        return []  # or nobody designs it, which `solve` says better
    small: list[tuple[str, int]] = []
    for names in _combined(problem, shown):
        codes, counts = table.counts(names)
        few = (counts > 0) & (counts < source.min_cell)
        small += [
            (
                outcome_words(names, [table.alphabets[name][entry] for name, entry in zip(names, row, strict=True)]),
                int(count),
            )
            for row, count in zip(codes[few].tolist(), counts[few].tolist(), strict=True)
        ]
    return sorted(small, key=lambda cell: cell[1])


def _combined(problem: Problem, shown: str) -> list[list[str]]:
    """The columns whose combinations show in a recipe, once for all of them or once for each."""
    if problem.each:
        return [[n, *problem.strata] for n in problem.variables() if n not in problem.strata]
    return [list(problem.observe) if shown == "observed" else problem.variables()]


def left_as_they_are(design: Design, coded: Coded, released: Released) -> Kept | None:
    """The columns that were not drawn, as the table had them and as they leave, row by row."""
    if not design.problem.kept:
        return None
    leaving = {n: released.columns[n] for n in design.problem.kept}
    after = Coded({n: a for n, (_, a) in leaving.items()}, {n: c for n, (c, _) in leaving.items()})
    kept = kept_columns(design.problem, coded, after)
    return None if kept is None else replace(kept, after=released.unshuffled(kept.after))


def kept_columns(problem: Problem, coded: Coded, seen: Coded) -> Kept | None:
    """The columns that leave as they are, in the original and in a release of it."""
    if not problem.kept:
        return None
    names = list(problem.kept)
    if prod(len(coded.alphabets[n]) for n in names) <= OUTCOMES:
        called = tuple(" · ".join(values) for values in product(*(coded.alphabets[n] for n in names)))
        return Kept(problem.kept, coded.combined(names), seen.combined(names), called)
    index = np.zeros(coded.rows + seen.rows, dtype=np.int64)
    for name in problem.kept:  # numbered anew after each column, so that no number of outcomes is too large
        codes = np.concatenate([coded.codes[name], seen.codes[name]]).astype(np.int64)
        index = np.unique(index * len(coded.alphabets[name]) + codes, return_inverse=True)[1].reshape(-1)
    before, after = index[: coded.rows], index[coded.rows :]
    return Kept(problem.kept, before, after)


def release(
    problem: Problem,
    folder: str | Path,
    *,
    table: Any = None,
    key: Key | None = None,
    ledger: Ledger | str | Path | None = None,
    dataset: str | None = None,
    accept_small_cells: bool = False,
    force: bool = False,
    gap: float = GAP,
    seconds: float = SECONDS,
    engine: str = "local",
    memory: int | None = None,
    into: tuple[str, str] | None = None,
    on_progress: Progress | None = None,
    on_design: Callable[[Design], None] | None = None,
) -> Outcome:
    """The whole walk: design, prove, draw, audit, and a folder with everything that leaves and the proof of it.

    Refused before anything is drawn: an existing folder, a problem without a table, and a public card that would show
    cells with fewer records than `min_cell` unless that is accepted. With a ledger, the release is charged
    before it is drawn, or refused; `dataset` is the name of the data there, that of the table unless said.

    Rows are counted and drawn by the `engine`, "local", "duckdb" or "spark", within so many bytes of `memory` (half of
    the machine's unless said). The released table goes into the folder, or `into` the database of an address as a new
    table of a name.

    Parameters
    ----------
    problem : Problem
        With a table as its source.
    folder : str or Path
        A new folder for everything.
    table : path, Table or data frame, optional
        In place of the table that the problem names.
    key : Key, optional
        The key of the draw; without one a fresh key of the operating system is used and forgotten.
    ledger : Ledger, str or Path, optional
        Charged before anything is drawn.
    dataset : str, optional
        The name under which the ledger knows the table.
    accept_small_cells : bool
        Release although a public card could show cells of few records.
    force : bool
        Write into a folder that is there already.
    gap, seconds : float
        When the search ends: value and bound so close, or so much time gone.
    engine : str
        Who reads and draws: "local", "duckdb" or "spark".
    memory : int, optional
        Bytes that may be used; rows beyond lie on disk.
    into : tuple of str, optional
        Address of a database and a new table in it, in place of a file.
    on_progress : callable, optional
        Told the stage, how much of it is done, and how much there is in all.
    on_design : callable, optional
        Told the proved design before anything is charged or drawn; what it raises ends the release.

    Returns
    -------
    Outcome
        The design, the audit and the folder.

    Raises
    ------
    InputError
        If the folder exists, or the problem has no table.
    LedgerRefused
        If the budget does not allow it.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import pyarrow as pa
    >>> from dalenius import Problem
    >>> table = pa.table({"town": ["a", "a", "b", "b"] * 50, "sick": ["yes", "no", "no", "no"] * 50})
    >>> wish = Problem.from_document(
    ...     {
    ...         "source": {"table": "table.parquet"},
    ...         "columns": {name: {"values": "from-table"} for name in ("town", "sick")},
    ...         "guarantee": [{"leakage": ["sick"], "at_most_bits": "0.01"}],
    ...         "mechanism": {"observe": ["town"], "release": ["town"]},
    ...         "objective": {"minimize": {"distortion": "hamming", "of": ["town"]}},
    ...     }
    ... )
    >>> with TemporaryDirectory() as folder:
    ...     release(wish, folder + "/release", table=table).audit
    Audit(200 rows; 3 of 3 tests passed)
    """
    folder = Path(folder)
    book = Ledger(ledger) if isinstance(ledger, str | Path) else ledger
    deadline = time.monotonic() + seconds
    refuse_existing(folder, force=force, kind=RELEASE, inputs=files_read(problem, table))
    if table is None and not isinstance(problem.source, TableSource):
        raise InputError(
            "a release needs a table; this problem has none",
            do='Name one in [source], table = "...", or use `dalenius solve`.',
        )
    with limited(seconds):
        refuse_untaken(problem)
    rows = engine_named(engine, folder=folder.absolute().parent, memory=memory, into=into)
    bound, coded = rows.counted(problem, table, stage(on_progress, "reading"))
    if coded is None:
        raise InputError("a release needs a table", do="Name the table in [source] of the problem file.")
    cells = small_cells(bound, coded)
    if cells and not accept_small_cells:
        raise _too_small(bound, coded, cells)
    designing = (lambda words: on_progress(f"designing, {words}", None, None)) if on_progress else None
    # What was read took of the time already; the rows still have to be drawn, tested and written.
    after = max(0.1 * seconds, min(0.3 * seconds, AFTER + AFTER_ROW * coded.rows))
    design = solve(bound, gap=gap, seconds=max(1.0, deadline - time.monotonic() - after), on_progress=designing)
    design = _remarked(design, bound, coded, accepted=bool(cells))
    if on_design is not None:
        on_design(design)
    key = key or Key.fresh()
    digest = rows.digest(coded)
    charged = _charged(book, design, coded, digest, key, dataset or _name_of(bound, table)) if book else None
    if charged and charged.table_digest:  # a draw that is finished uses the digest with which it was begun
        digest = charged.table_digest
    released, coded = rows.drawn(design, coded, key=key, digest=digest, on_progress=stage(on_progress, "drawing"))
    seen = examine(design, released.inputs, released.letters, kept=left_as_they_are(design, coded, released))
    seen.refuse_contradiction()
    counts = _counted_values(coded, released) if form_of(design.channel).keeps_values else None
    tried = _tried(bound, design, counts, deadline) if counts is not None else ()
    card = _card(design, bound, counts)
    card_text = design.card_text()
    believed = beliefs(design)
    made = datetime.now(UTC)
    with new_folder(folder, RELEASE, force=force) as place:
        write_text(place / "design.json", design.dumps(), private=True)
        write_text(place / "design.about.json", design.about(), private=True)
        write_text(place / "card.json", card_text)
        write_text(place / "card.about.json", canonical(about_of(card, card_text)) + "\n")
        page = statement(
            design,
            seen,
            counts=counts,
            beliefs=believed,
            curve=_other_points(bound, design, deadline),
            tried=tried,
            made=made,
        )
        write_text(place / "statement.html", page, private=True)
        public = public_statement(card, text=card_text, made=made, channel=design.channel)
        write_text(place / "statement-public.html", public)
        for name, text in scripts(design.channel, design.problem.kept).items():
            write_text(place / name, text)
        # Last of all: whatever fails before or in it leaves no rows.
        rows.written(place, released, coded.format, stage(on_progress, "writing"))
    if book and charged:
        charged = book.settle(charged.id, card_text)
    return Outcome(design, seen, folder, charged, counts, tried, believed)


def _remarked(design: Design, bound: Problem, coded: Coded, *, accepted: bool) -> Design:
    """The design with remarks of the release, which travel beside the document that was proved."""
    remarks = [*of_one_answer(design), *design.remarks]
    if coded.from_table:
        remarks.append(
            f"the values of {', '.join(coded.from_table)} come from the table itself, so that they occur is public"
        )
    if isinstance(bound.source, TableSource) and bound.source.weights:
        remarks.append(_of_weights(bound.source.weights, kept=bound.source.weights in bound.kept))
    if accepted:
        remarks.append("combinations with fewer rows than min_cell were accepted, on record")
    # Where the values come from the table, the population may have values that it does not: nothing is estimated.
    if not coded.from_table and any(guarantee.secret for guarantee in design.problem.guarantees):
        estimates = population_words(design, coded.pmf(), coded.rows)
        remarks += [f"estimate, outside the proof: {words}" for words in estimates]
    return replace(design, remarks=tuple(remarks))


def _card(design: Design, bound: Problem, counts: BeforeAfter | None) -> dict[str, Any]:
    """What may be published of the release, beside the text that is proved."""
    card = design.card()
    if bound.preserve_marginals and not design.public_prior:
        card["marginals_preserved"] = True  # so that released shares are estimates as they stand
    least = 1
    if isinstance(bound.source, TableSource):
        card |= {k: v for k in ("title", "owner") if (v := getattr(bound.source, k)) is not None}
        least = bound.source.min_cell
    if counts is not None:
        card["changes"] = counts.public(least)
    return card


def _too_small(bound: Problem, coded: Coded, cells: Sequence[tuple[str, int]]) -> SmallCombinations:
    """What is small, why that matters, and what to do; merges are named only after they were tried."""
    from dalenius.starting.regrouping import regrouped

    least = bound.source.min_cell if isinstance(bound.source, TableSource) else 1
    have = "1 combination has" if len(cells) == 1 else f"{len(cells):,} combinations have"
    what = f"{have} fewer than {least} rows; the smallest ({cells[0][0]}) has {cells[0][1]}."
    secret = {name for guarantee in bound.guarantees for name in guarantee.secret}
    released = [n for n in bound.release or bound.observe if n in bound.observe and n not in secret]
    shown = next(mechanism.shows_cells for mechanism in takers(bound))
    way = regrouped(coded, _combined(bound, shown), bound.columns, released=released, fixed=bound.kept, least=least)
    otherwise = f"{way} Or accept it" if way else "No merge that was tried makes all of them large enough. Accept it"
    do = f"{otherwise}, on record: --accept small-combinations."
    why = "The public card could give these people away."
    return SmallCombinations(
        what, smallest=cells[0][1], why=why, do=do, state=NOTHING_DONE, combinations=cells, suggestion=way
    )


def _counted_values(coded: Coded, released: Released) -> BeforeAfter | None:
    """Rows of each value before and after, for columns that are released under their own values."""
    names = [column for column in released.columns if column in coded.alphabets and column not in released.kept]
    names = [name for name in names if set(released.columns[name][1]) <= set(coded.alphabets[name])]
    if not names:
        return None
    after = {name: released.columns[name][0] for name in names}, {name: released.columns[name][1] for name in names}
    return before_and_after(names, (coded.codes, coded.alphabets), after)


def _tried(bound: Problem, design: Design, counts: BeforeAfter, deadline: float) -> tuple[str, ...]:
    """Ways to keep groups that the release empties, each of them solved before it is named."""
    lost = any(value.flagged and value.after < value.before for value in counts.single)
    small = prod(design.channel.shape) <= FEW
    # Under public statistics they would keep the rows of others than those of the table.
    if not lost or not small or bound.preserve_marginals or design.public_prior:
        return ()
    if not isinstance(bound.objective, MinimizeDistortion):
        return ()
    ways: dict[str, dict[str, Any]] = {
        'with [[limit]] keep_rows = "3/4" every value keeps three quarters of its rows, on average': {
            "keep_rows": THREE_QUARTERS
        },
        "with preserve_marginals = true in [mechanism] every value keeps its rows, on average": {
            "preserve_marginals": True
        },
    }
    helped = []
    for words, change in ways.items():
        seconds = min(TRYING, 0.3 * (deadline - time.monotonic()))
        if seconds < 1 or ("keep_rows" in change and bound.keep_rows is not None):
            continue
        try:
            other = solve(replace(bound, **change), seconds=seconds)
        except DaleniusError:
            continue
        helped.append(f"{words}: {_compared(float(other.value), float(design.value), least=float(other.bound))}")
    return tuple(helped)


def _compared(other: float, own: float, *, least: float) -> str:
    """What another way changes beside what the release changes, in as many digits as tell them apart.

    Where the short search left it open, the figure is a ceiling, and what nobody can pass stands beside it.

    >>> _compared(0.162, 0.15, least=0.162), _compared(0.275, 0.0163, least=0.0306)
    ('the average change is then 0.162 instead of 0.15', 'the average change is then 0.0306 to 0.275 instead of 0.0163')
    """
    # The least change lies between the two: neither alone is what this way costs.
    if other - least > CLOSE * other:
        return f"the average change is then {figure(least, 'down')} to {figure(other, 'up')} instead of {own:.3g}"
    if abs(other - own) <= 1e-6 * own:
        return "the average change stays the same"
    digits = next(k for k in range(3, 9) if f"{other:.{k}g}" != f"{own:.{k}g}")
    return f"the average change is then {other:.{digits}g} instead of {own:.{digits}g}"


def _other_points(bound: Problem, design: Design, deadline: float) -> "Curve | None":
    """The curve that the statement draws: other points that could have been chosen, each proved.

    Traced only where that takes a moment; a statement without it says the same.
    """
    if by_records(bound) or prod(design.channel.shape) > FEW_POINTS or bound.robust:
        return None
    seconds = min(TRYING, 0.3 * (deadline - time.monotonic()))
    if seconds < 1:
        return None
    from dalenius.mechanisms.columns.leakage.curve import trace  # imports scipy, which takes a second

    try:
        return trace(bound, POINTS, seconds=seconds)
    except DaleniusError:
        return None


def _of_weights(name: str, *, kept: bool) -> str:
    leaves = "leaves with the release and serves estimates" if kept else "does not leave (keep it for estimates)"
    return f"the weights {name} are not used in the design, for a promise is about rows; the column {leaves}"


def _charged(book: Ledger, design: Design, coded: Coded, digest: str, key: Key, dataset: str) -> Entry:
    """Charge a release, then say that its draw begins; both are on disk when this returns."""
    source = design.problem.source
    fingerprint = key.fingerprint()
    waiting = book.waiting_for(fingerprint)
    if waiting is not None and waiting.table_digest == coded.digest(version=1):  # begun before there was a hash tree
        digest = waiting.table_digest
    entry = book.reserve(
        filed(design.dumps(), json.loads(design.about())),
        dataset=dataset,
        identity=(design.digest(), digest, fingerprint),
        rows=coded.rows,
        max_rows=(isinstance(source, TableSource) and source.max_rows) or 1,
        table_digest=digest,
        key_fingerprint=fingerprint,
    )
    book.begin(entry)
    return entry


def _name_of(problem: Problem, table: Any) -> str:
    if isinstance(table, str | Path):
        return Path(table).name
    return Path(problem.source.table).name if table is None and isinstance(problem.source, TableSource) else "table"


def stage(on_progress: Progress | None, name: str) -> Callable[[int, int | None], None] | None:
    """What a step tells its progress to: the caller, with the name of the step."""
    if on_progress is None:
        return None
    return lambda done, total: on_progress(name, done, total)
