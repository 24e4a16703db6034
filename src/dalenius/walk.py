"""The walk from a table to a certified release, each step one call: solve, verify, apply, audit, release.

table -> joint pmf -> problem -> design -> certificate -> exact sampler -> released table -> audit -> report
"""

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from dalenius.convert import ENOUGH, about_of, canonical, checked, filed, proved_elsewhere
from dalenius.core import (
    MISSING,
    Certificate,
    Column,
    Design,
    Margins,
    MinimizeDistortion,
    MinimizeRate,
    Noise,
    Orbits,
    Pmf,
    Problem,
    Records,
    TableSource,
)
from dalenius.core.kernel import Kernel
from dalenius.core.pmf import outcome_words
from dalenius.designs import GAP, SECONDS
from dalenius.designs.leakage.trade import Trade
from dalenius.designs.noise import restated
from dalenius.designs.within import near_again
from dalenius.errors import DaleniusError, InputError, MismatchError, NotCertified, Unsupported
from dalenius.evidence import (
    Audit,
    Kept,
    MechanismAudit,
    attacked,
    examine,
    examine_mechanism,
    examine_noise,
    examine_orbits,
    examine_shuffled,
    examine_unlisted,
    mechanism_of,
    population_words,
    promised,
)
from dalenius.evidence.before_after import BeforeAfter, before_and_after
from dalenius.evidence.scripts import scripts
from dalenius.kernel.numbers import Refused
from dalenius.ledger import Entry, Ledger
from dalenius.mechanisms import by_records, solve
from dalenius.outputs import RELEASE, new_folder, refuse_existing, write_text
from dalenius.report import render, render_public
from dalenius.sampling import Key, Released, Stream, draw, matched, permutation
from dalenius.sampling.beside import SUFFIX
from dalenius.tables import (
    Coded,
    bind,
    encode,
    is_address,
    open_table,
    read_design,
    read_pmf,
    read_told,
    released_name,
    table_of,
    write_table,
)
from dalenius.verifying import enough_rows, recounted, verify

if TYPE_CHECKING:
    from dalenius.designs.leakage.curve import Curve
    from dalenius.designs.regions import Region

__all__ = [
    "Outcome",
    "apply",
    "apply_channel",
    "at_point",
    "audit",
    "load",
    "region",
    "release",
    "small_cells",
    "solve",
    "tradeoff",
    "verify",
]

Progress = Callable[[str, int | None, int | None], None]

THREE_QUARTERS = Fraction(3, 4)
FEW = 100_000  # entries of a matrix that is solved again for a suggestion
TRYING = 10.0  # seconds for each


@dataclass(frozen=True)
class Outcome:
    """What a release produced."""

    design: Design
    audit: Audit
    folder: Path
    charged: Entry | None = None
    counts: BeforeAfter | None = None
    tried: tuple[str, ...] = ()


def load(path: str | Path) -> Design:
    """A design from its file. Nothing in it is believed before `verify`."""
    return read_design(path)


def at_point(problem: Problem, *, leakage: Fraction | None = None, distortion: Fraction | None = None) -> Problem:
    """The same trade at another point: the least distortion at a leakage, or the least leakage at a distortion."""
    trade = Trade.of(problem)
    if (leakage is None) == (distortion is None):
        raise InputError("say either a leakage or a distortion")
    return trade.at_leakage(leakage) if leakage is not None else trade.at_distortion(distortion or Fraction(0))


def tradeoff(
    problem: Problem,
    points: int = 50,
    *,
    table: Any = None,
    prove: str = "all",
    gap: float = GAP,
    seconds: float = SECONDS,
    on_progress: Progress | None = None,
) -> "Curve":
    """The curve of least leakage against distortion, with every point proved or only the one of the problem."""
    from dalenius.designs.leakage.curve import trace  # imports scipy, which takes a second

    bound, shown = _traded(problem, table), _named(on_progress, "tracing")
    if by_records(bound):
        from dalenius.mechanisms.records.trading import traced

        return traced(bound, points, on_point=shown)
    return trace(bound, points, prove=prove, gap=gap, seconds=seconds, on_point=shown)


def region(problem: Problem, *, table: Any = None, gap: float = GAP, seconds: float = SECONDS) -> "Region":
    """The region of rate, distortion and equivocation of a problem, to be asked point by point (003, Def. 2)."""
    from dalenius.designs.regions import Region

    return Region(_traded(problem, table), gap=gap, seconds=seconds)


def _traded(problem: Problem, table: Any) -> Problem:
    """A problem whose law is known, for curves and regions."""
    if problem.robust:
        raise problem.error(
            ("robust",), "a curve is traced under the estimated law; leave [robust] out, or use release"
        )
    return problem if problem.joint is not None and table is None else bind(problem, table=table)[0]


def small_cells(problem: Problem, table: Coded) -> list[tuple[str, int]]:
    """Cells that the channel depends on and that hold fewer records than `min_cell`, smallest first."""
    source = problem.source
    if not isinstance(source, TableSource) or source.prior is not None or problem.form == "noise":
        return []  # noise depends on means and variances, not on cells
    if by_records(problem):
        return []  # a card does not show the channel, and tells shares of many rows alone
    found = []
    alone = [[n, *problem.strata] for n in problem.variables() if n not in problem.strata]
    for names in alone if problem.each else [problem.variables()]:
        codes, counts = table.counts(names)
        few = (counts > 0) & (counts < source.min_cell)
        found += [
            (outcome_words(names, [table.alphabets[n][c] for n, c in zip(names, row, strict=True)]), int(count))
            for row, count in zip(codes[few].tolist(), counts[few].tolist(), strict=True)
        ]
    return sorted(found, key=lambda cell: cell[1])


def reproved(design: Design, table: Any) -> tuple[Design, Coded]:
    """The design as it stands for a table: as proved for its own table, proved anew for another, or refused."""
    joint, coded = recounted(design, table)
    enough_rows(design, coded)
    if design.public_prior:
        return design, coded
    joint = joint if isinstance(joint, Margins) else joint.marginal(list(design.problem.law.variables))
    if joint == design.problem.law:
        return design, coded
    if isinstance(design.channel, Records):
        raise NotCertified(
            "this is another table than that of the design, and a release of records promises nothing for it: design "
            "the release of this table anew"
        )
    there = near_again(replace(design, problem=replace(design.problem, joint=joint)), coded.rows)
    try:
        if there.channel.form == "noise":
            return restated(there), coded
        figures, limits = proved_elsewhere(there.dumps(), there.to_json())
    except (NotCertified, Refused) as e:
        raise NotCertified(
            f"the promise does not hold for this table, whose counts differ from the design's: {e}"
        ) from None
    return replace(there, proved=tuple(figures), realised=tuple({"expected": d} for d in limits)), coded


def apply(
    design: Design, table: Any, *, key: Key | None = None, again: bool = False, on_progress: Progress | None = None
) -> tuple[Released, Audit]:
    """Draw a release of a table by a verified design; another table than its own is recounted and re-proved first.

    A table that was released already, as the card beside it says, is refused unless `again`.
    """
    if not again:
        _refuse_released(table)
    checked(design.dumps(), work=ENOUGH, privacy=True)
    standing, coded = reproved(design, table)
    released = draw(standing, coded, key=key, on_progress=_named(on_progress, "drawing"))
    return released, examine(
        standing, released.inputs, released.letters, kept=_left_as_they_are(standing, coded, released)
    )


def apply_channel(
    channel: Kernel,
    table: Any,
    *,
    keep: Sequence[str] = (),
    order: str = "shuffle",
    key: Key | None = None,
    again: bool = False,
    on_progress: Progress | None = None,
) -> tuple[Released, Audit, MechanismAudit]:
    """Draw a release of a table by a channel that somebody brings, after an audit that says what it promises.

    Parameters
    ----------
    channel
        p(released | original), in the letters of the table's columns.
    table
        The table, or where it is.
    keep
        Columns that leave as they are.
    order
        "shuffle", or "keep" for the order of the table.
    key
        The key of the draw; a fresh one that is then forgotten unless given.
    again
        Draw although the table is a release already.
    on_progress
        Called with the stage, rows done and rows in all.

    Returns
    -------
    tuple
        What was drawn, the tests of the draw, and the audit of the channel under the law of this table.

    Raises
    ------
    InputError
        The table lacks a column of the channel, or holds a value that the channel does not list.
    """
    if not again:
        _refuse_released(table)
    if clash := set(keep) & {*channel.inputs, *channel.output}:
        raise InputError(f"{min(clash)!r} is perturbed by the channel; it cannot be kept as it is")
    columns = {
        name: Column(
            values=tuple(v for v in letters if v != MISSING), missing="category" if MISSING in letters else "refuse"
        )
        for name, letters in channel.inputs.items()
    } | dict.fromkeys(keep, Column(missing="category"))
    opened = open_table(table)
    if absent := [name for name in columns if name not in opened.names]:
        raise InputError(f"{opened.name} has no column {absent[0]!r}; it has {', '.join(map(repr, opened.names))}")
    coded = encode(opened, columns, list(columns), on_progress=_named(on_progress, "reading"))
    names = tuple(channel.output)
    problem = Problem(
        observe=tuple(channel.inputs), release=names, objective=MinimizeRate(), keep=tuple(keep), order=order
    )
    # Nothing is claimed of it, so there is nothing to prove: it only says what to draw.
    brought = Design(problem.bound(coded.pmf()), channel, Fraction(0), Fraction(0), Certificate("none"), "as brought")
    measured = audit(channel, prior=coded.pmf().marginal(list(channel.inputs)) if channel.few else None)
    released = draw(brought, coded, key=key, on_progress=_named(on_progress, "drawing"))
    return released, examine(brought, released.inputs, released.letters), measured


def _refuse_released(table: Any) -> None:
    """A file with the very columns of the card in its folder, or with drawn columns beside its own, was perturbed."""
    if not isinstance(table, str | Path) or is_address(table):
        return
    names, where = open_table(table).names, Path(table).parent / "card.json"
    if drawn := [n for n in names if n.endswith(SUFFIX) and n.removesuffix(SUFFIX) in names]:
        raise InputError(
            f"{table} holds {drawn[0]!r} already, drawn before; apply to the original table, or say --again"
        )
    if not where.is_file():
        return
    card = read_told(where, "card")
    left = {*card["channel"]["output"], *card["kept"]} if isinstance(card, dict) and "channel" in card else set()
    if set(names) == left:
        raise InputError(
            f"{table} is a release already, by {where}; perturbed once more, neither card would fit it; apply the "
            "design to the original table, or say --again"
        )


@overload
def audit(
    mechanism: Design | str | Path, *, released: Any, original: Any, key: Key | None = None, error: float = 1e-6
) -> Audit: ...
@overload
def audit(mechanism: Design | Kernel | str | Path, *, prior: Pmf | str | Path | None = None) -> MechanismAudit: ...
def audit(
    mechanism: Design | Kernel | str | Path,
    *,
    prior: Pmf | str | Path | None = None,
    released: Any = None,
    original: Any = None,
    key: Key | None = None,
    error: float = 1e-6,
) -> Audit | MechanismAudit:
    """Audit a mechanism from its channel, or with a released and an original table the release against its design.

    A mechanism is a channel, a design or a card, or a file with one. Without `prior` a design is audited under its own
    joint pmf, anything else under none.

    >>> from dalenius.testing import xor
    >>> audit(solve(xor())).groups[2].low > 0.999
    True
    """
    if (released is None) != (original is None):
        raise InputError("an audit of a release needs both tables: the released one and the original")
    if released is None:
        own, channel, remarks = mechanism_of(mechanism)
        given = prior if isinstance(prior, Pmf) or prior is None else read_pmf(prior, "prior")
        law = own if given is None else given
        if isinstance(channel, Noise) and not channel.few:
            return examine_noise(channel, law, remarks=remarks)
        if isinstance(channel, Orbits) and not channel.few:
            return examine_orbits(channel, law, remarks=remarks)
        if not channel.few:
            if given is not None:
                raise Unsupported(f"a channel of {channel.shape[0]:,} inputs is audited by its form, without a prior")
            return examine_unlisted(channel, promised(mechanism), remarks=remarks)
        measured = examine_mechanism(channel, law, remarks=remarks)
        return measured if given is not None else replace(measured, attacks=attacked(mechanism))
    design = (
        mechanism if isinstance(mechanism, Design) else load(mechanism) if not isinstance(mechanism, Kernel) else None
    )
    if design is None:
        raise InputError("a released table is audited against its design; a channel alone does not say what was drawn")
    return _audit_release(design, released=released, original=original, key=key, error=error)


def _audit_release(design: Design, *, released: Any, original: Any, key: Key | None, error: float) -> Audit:
    """Evidence from a released table against its design.

    Rows can be matched when their order was kept, or when the key undoes the shuffle; otherwise only how often each
    letter occurs can be compared.
    """
    problem, channel = design.problem, design.channel
    _, coded = recounted(design, original)
    alphabets = {n: tuple(a) for n, a in channel.output.items()} | {n: coded.alphabets[n] for n in problem.kept}
    columns = {
        name: Column(
            values=tuple(v for v in letters if v != MISSING), missing="category" if MISSING in letters else "refuse"
        )
        for name, letters in alphabets.items()
    }
    table = open_table(released)
    if set(table.names) != set(columns):
        raise MismatchError(f"the released table has the columns {list(table.names)}, not {list(columns)}")
    seen = encode(table, columns, list(columns))
    inputs, letters = matched(channel, coded, seen)
    same = _kept(problem, coded, seen)
    if problem.order == "shuffle" and key is None:
        return examine_shuffled(
            design, coded.pmf(), coded.rows, letters, inputs=inputs if same else None, kept=same, error=error
        )
    if seen.rows != coded.rows:
        raise NotCertified(f"the released table has {seen.rows} rows and the original {coded.rows}")
    if problem.order == "shuffle" and key is not None:
        order = permutation(Stream(key.derive("order", design.digest(), coded.digest(), *channel.output)), coded.rows)
        letters = _unshuffled(letters, order)
        same = replace(same, after=_unshuffled(same.after, order)) if same else None
    return examine(design, inputs, letters, kept=same, error=error)


def _unshuffled(rows: np.ndarray[Any, Any], order: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    back = np.empty_like(rows)
    back[order] = rows
    return back


def _left_as_they_are(design: Design, coded: Coded, released: Released) -> Kept | None:
    """The columns that were not drawn, as the table had them and as they leave, row by row."""
    if not design.problem.kept:
        return None
    leaving = {n: released.columns[n] for n in design.problem.kept}
    after = Coded({n: a for n, (_, a) in leaving.items()}, {n: c for n, (c, _) in leaving.items()})
    found = _kept(design.problem, coded, after)
    return (
        found
        if found is None or released.order is None
        else replace(found, after=_unshuffled(found.after, released.order))
    )


def _kept(problem: Problem, coded: Coded, seen: Coded) -> Kept | None:
    """The columns that leave as they are, in the original and in a release of it."""
    if not problem.kept:
        return None
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
    on_progress: Progress | None = None,
) -> Outcome:
    """The whole walk: design, prove, draw, audit, and a folder with everything that leaves and the proof of it.

    Refused before anything is drawn: an existing folder, a problem without a table, and a public card that would show
    cells with fewer records than `min_cell` unless that is accepted by name. With a ledger, the release is charged
    before it is drawn, or refused; `dataset` is the name of the data there, that of the table unless said.
    """
    folder, book = Path(folder), Ledger(ledger) if isinstance(ledger, str | Path) else ledger
    deadline = time.monotonic() + seconds
    refuse_existing(folder, force=force, kind=RELEASE, inputs=_files_read(problem, table))
    if table is None and not isinstance(problem.source, TableSource):
        raise InputError(
            'a release needs a table; this problem has none (use `dalenius solve`, or table = "..." in [source])'
        )
    bound, coded = bind(problem, table=table, on_progress=_named(on_progress, "reading"))
    if coded is None:
        raise InputError("a release needs a table")
    cells = small_cells(bound, coded)
    if cells and not accept_small_cells:
        raise InputError(
            f"the channel would depend on {len(cells)} {'cell' if len(cells) == 1 else 'cells'} with few records "
            f"(the fewest: {cells[0][0]}, {cells[0][1]} of them), and a public card could give them away; merge "
            "letters, design on a public prior, lower min_cell in [source], or say --accept small-cells"
        )
    told = (lambda words: on_progress(f"designing, {words}", None, None)) if on_progress else None
    # What was read took of the time already; what is drawn, tested and written takes a tenth of it at most.
    design = solve(bound, gap=gap, seconds=max(1.0, deadline - time.monotonic() - 0.1 * seconds), on_progress=told)
    remarks = list(design.remarks)
    if coded.from_table:
        remarks.append(
            f"the letters of {', '.join(coded.from_table)} come from the table itself, so that they occur is public"
        )
    if isinstance(bound.source, TableSource) and bound.source.weights:
        remarks.append(_of_weights(bound.source.weights, kept=bound.source.weights in bound.kept))
    if cells:
        remarks.append("cells with fewer records than min_cell were accepted by name")
    if not coded.from_table and any(
        g.secret for g in design.problem.guarantees
    ):  # else the population may have letters that the table does not
        told_of_population = population_words(design, coded.pmf(), coded.rows)
        remarks += [f"estimate, outside the proof: {words}" for words in told_of_population]
    design = replace(design, remarks=tuple(remarks))  # which travel beside the document that was proved
    key = key or Key.fresh()
    charged = _charged(book, design, coded, key, dataset or _name_of(bound, table)) if book else None
    released = draw(design, coded, key=key, on_progress=_named(on_progress, "drawing"))
    seen = examine(design, released.inputs, released.letters, kept=_left_as_they_are(design, coded, released))
    if seen.contradicts:
        raise NotCertified("the drawn letters contradict the certified channel; nothing was written")
    counts = _counted_values(coded, released) if design.channel.form != "noise" else None  # which changes every number
    tried = _tried(bound, design, counts, deadline) if counts is not None else ()
    card = design.card()
    if counts is not None:
        card["changes"] = counts.public(bound.source.min_cell if isinstance(bound.source, TableSource) else 1)
    card_text = design.card_text()
    with new_folder(folder, RELEASE, force=force) as place:
        write_text(place / "design.json", design.dumps(), private=True)
        write_text(place / "design.about.json", design.about(), private=True)
        write_text(place / "card.json", card_text)
        write_text(place / "card.about.json", canonical(about_of(card, card_text)) + "\n")
        write_text(place / "report.html", render(design, seen, counts=counts), private=True)
        write_text(place / "report-public.html", render_public(card))
        for name, text in scripts(design.channel, design.problem.kept).items():
            write_text(place / name, text)
        write_table(
            place / released_name(coded.format),
            coded.format,
            released.columns,
            on_progress=_named(on_progress, "writing"),
        )
    if book and charged:
        charged = book.settle(charged.id, card_text)
    return Outcome(design, seen, folder, charged, counts, tried)


def _counted_values(coded: Coded, released: Released) -> BeforeAfter | None:
    """Rows of each value before and after, for columns that are released under their own values."""
    names = [n for n in released.columns if n in coded.alphabets and n not in released.kept]
    names = [n for n in names if set(released.columns[n][1]) <= set(coded.alphabets[n])]
    if not names:
        return None
    after = {n: released.columns[n][0] for n in names}, {n: released.columns[n][1] for n in names}
    return before_and_after(names, (coded.codes, coded.alphabets), after)


def _tried(bound: Problem, design: Design, counts: BeforeAfter, deadline: float) -> tuple[str, ...]:
    """Ways to keep groups that the release empties, each of them solved before it is named."""
    lost = any(v.flagged and v.after < v.before for v in counts.single)
    small = prod(design.channel.shape) <= FEW
    if not lost or not small or not isinstance(bound.objective, MinimizeDistortion) or bound.preserve_marginals:
        return ()
    ways: dict[str, dict[str, Any]] = {
        'with [[limit]] keep_rows = "3/4" no value loses more than a quarter of its rows': {
            "keep_rows": THREE_QUARTERS
        },
        "with preserve_marginals = true in [mechanism] every value keeps its rows": {"preserve_marginals": True},
    }
    told = []
    for words, change in ways.items():
        seconds = min(TRYING, 0.3 * (deadline - time.monotonic()))
        if seconds < 1 or ("keep_rows" in change and bound.keep_rows is not None):
            continue
        try:
            other = solve(replace(bound, **change), seconds=seconds)
        except DaleniusError:
            continue
        told.append(f"{words}: the distortion is then {float(other.value):.3g} instead of {float(design.value):.3g}")
    return tuple(told)


def _of_weights(name: str, *, kept: bool) -> str:
    leaves = "leaves with the release and serves estimates" if kept else "does not leave (keep it for estimates)"
    return f"the weights {name} are not used in the design, for a promise is about rows; the column {leaves}"


def _charged(book: Ledger, design: Design, coded: Coded, key: Key, dataset: str) -> Entry:
    """Charge a release, then say that its draw begins; both are on disk when this returns."""
    source, fingerprint, digest = design.problem.source, key.fingerprint(), coded.digest()
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


def _files_read(problem: Problem, table: Any) -> list[Path]:
    """The files that a release is made from, as far as they are files."""
    source = table_of(problem, problem.source) if table is None and isinstance(problem.source, TableSource) else table
    return [Path(f) for f in (problem.file, source) if isinstance(f, str | Path) and not is_address(str(f))]


def _named(on_progress: Progress | None, stage: str) -> Callable[[int, int | None], None] | None:
    if on_progress is None:
        return None
    return lambda done, total: on_progress(stage, done, total)
