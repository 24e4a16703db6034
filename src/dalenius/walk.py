"""The walk from a table to a certified release, each step one call: solve, verify, apply, audit, release.

table -> joint pmf -> problem -> design -> certificate -> exact sampler -> released table -> audit -> report
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from dalenius.certify import Verdict, check, prove_limits, prove_privacy
from dalenius.core import (
    MISSING,
    Column,
    Dalenius,
    Design,
    Margins,
    Noise,
    Orbits,
    Pmf,
    Problem,
    ProductPmf,
    Samples,
    TableSource,
)
from dalenius.core.document import laid_out
from dalenius.core.kernel import Kernel
from dalenius.core.numbers import strict_json
from dalenius.core.pmf import outcome_words
from dalenius.core.recognising import recognised
from dalenius.designs import GAP, SECONDS, solve
from dalenius.designs.leakage.trade import Trade
from dalenius.designs.noise import restated
from dalenius.designs.within import near_again
from dalenius.errors import InputError, MismatchError, NotCertified, Unsupported
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
from dalenius.evidence.scripts import scripts
from dalenius.ledger import Entry, Ledger
from dalenius.outputs import RELEASE, new_folder, refuse_existing, write_text
from dalenius.report import render, render_public
from dalenius.sampling import Key, Released, Stream, draw, matched, permutation
from dalenius.sampling.beside import SUFFIX
from dalenius.tables import (
    Coded,
    base_of,
    bind,
    encode,
    is_address,
    open_table,
    read_json,
    read_pmf,
    read_text,
    released_name,
    with_metrics,
    write_table,
)

if TYPE_CHECKING:
    from dalenius.designs.leakage.curve import Curve
    from dalenius.designs.regions import Region

__all__ = [
    "Outcome",
    "apply",
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


@dataclass(frozen=True)
class Outcome:
    """What a release produced."""

    design: Design
    audit: Audit
    folder: Path
    charged: Entry | None = None


def load(path: str | Path) -> Design:
    """A design from its file. Nothing in it is believed before `verify`."""
    document = read_json(path, "design file")
    try:
        return Design.from_json(document)
    except InputError as e:
        raise InputError(f"{path}: {e}") from None


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


def verify(design: Design | str | Path, *, table: Any = None, problem: Problem | str | Path | None = None) -> Verdict:
    """Re-prove a design (or card file) from itself alone; with a table recount it, with a problem compare the promises.

    >>> from dalenius.testing import xor
    >>> float(verify(solve(xor())).value)
    1.0
    """
    text = design.dumps() if isinstance(design, Design) else _provable(design)
    verdict = check(text)
    if table is None and problem is None:
        return verdict
    if verdict.kind == "card":
        raise InputError("a card can be verified by itself only; use the design for --table and --problem")
    known = design if isinstance(design, Design) else load(design)
    if problem is not None:
        asked = problem if isinstance(problem, Problem) else Problem.from_file(problem)
        _same_promises(known, with_metrics(asked, known.channel.inputs))
    if table is not None:
        _same_counts(known, table)
    return verdict


def _provable(path: str | Path) -> str:
    """The text of a file that says that it is a design or a card; a damaged one is for the checker to refuse."""
    text = read_text(path, "design file")
    try:
        what = recognised(strict_json(text))
    except InputError:
        what = None
    if what is not None:
        raise InputError(f"{path} is {what}; there is nothing to prove in it, name a design.json or a card.json")
    return text


def _same_promises(design: Design, problem: Problem) -> None:
    """Every section that says what is promised and wanted, to whom, and in which letters."""
    ours, asked = _promises(design.problem), _promises(problem)
    if asked["robust"] and "rows" not in asked["robust"]:  # counted when the table was read
        ours["robust"] = {k: v for k, v in (ours["robust"] or {}).items() if k != "rows"}
    for mine, theirs in zip(ours["guarantee"], asked["guarantee"], strict=False):
        if theirs.get("rows") == "all" and "dalenius" in mine:  # counted when the table was read
            mine["rows"] = "all"
    ours["columns"] = {n: c for n, c in ours["columns"].items() if n in asked["columns"]}  # only what the file declares
    for name, column in asked["columns"].items():
        if "quantiles" in column and "cuts" not in column:  # which are found when the table is read
            ours["columns"][name] = {k: v for k, v in ours["columns"][name].items() if k not in ("cuts", "labels")}
    for section, wanted in asked.items():
        if ours[section] != wanted:
            raise NotCertified(
                f"the design does not keep the problem file: [{section}] is {json.dumps(ours[section])} in the design "
                f"and {json.dumps(wanted)} in the file"
            )


def _promises(problem: Problem) -> dict[str, Any]:
    document = problem.to_json()
    source = document.get("source", {})
    columns = document.get("columns", {})
    return {
        **{k: document.get(k) for k in ("mechanism", "objective", "guarantee", "limit", "side_information", "robust")},
        "source": {k: source.get(k) for k in ("unit", "max_rows", "prior")},
        "columns": {n: c for n, c in columns.items() if isinstance(c.get("values", []), list)},
    }


def _recounted(design: Design, table: Any) -> tuple[Pmf | Margins, Coded]:
    """The law of another table in the alphabets of a design, and the coded table."""
    problem = design.problem
    if isinstance(problem.law, Samples):  # the hidden variable is nowhere in a table
        alike = {n: problem.columns.get(n, Column(values=problem.law.letters)) for n in problem.law.names}
        found = encode(open_table(table), alike, list(alike))
        return found.pmf(), found
    columns = {
        name: problem.columns.get(name, Column(values=tuple(letters)))
        for name, letters in problem.law.variables.items()
    }
    source = problem.source if isinstance(problem.source, TableSource) else TableSource("")
    declared = replace(problem, joint=None, columns=columns, source=replace(source, prior=None, weights=None))
    bound, coded = bind(declared, table=table)
    if coded is None:
        raise MismatchError("the source of this design is not a table")
    return bound.law if isinstance(bound.law, Margins) else bound.pmf, coded


def _same_counts(design: Design, table: Any) -> None:
    if design.public_prior:
        raise InputError(
            "this design was made on a public prior, not on the table's counts; there is nothing to recount"
        )
    if isinstance(design.problem.law, ProductPmf):
        raise InputError(
            "this design stands on independent groups, not on a table's counts; there is nothing to recount"
        )
    law, (theirs, coded) = design.problem.law, _recounted(design, table)
    _enough_rows(design, coded)
    if isinstance(theirs, Margins):
        if law == theirs:
            return
        known = list(law.columns) if isinstance(law, Margins) else []
        column = next(iter(next(c for c in theirs.columns if c not in known).variables))
        raise NotCertified(f"the table is not the one of the design: the frequencies of {column!r} differ")
    ours = design.problem.pmf
    if ours == theirs.marginal(list(ours.variables)):
        return
    for row in {*map(tuple, ours.support.tolist()), *map(tuple, theirs.support.tolist())}:
        outcome = {n: a[c] for (n, a), c in zip(ours.variables.items(), row, strict=True)}
        if ours.probability(**outcome) != theirs.probability(**outcome):
            words = outcome_words(list(outcome), list(outcome.values()))
            raise NotCertified(
                f"the table is not the one of the design: p({words}) is {theirs.probability(**outcome)} in the table "
                f"and {ours.probability(**outcome)} in the design"
            )
    raise NotCertified("the table is not the one of the design: its alphabets differ")


def _enough_rows(design: Design, coded: Coded) -> None:
    """A promise about so many released rows is not one about more of them."""
    for promise in design.problem.guarantees:
        if isinstance(promise, Dalenius) and promise.rows != 1 and coded.rows > promise.draws:
            raise NotCertified(
                f"the design promises what {promise.draws:,} released rows tell, and this table has {coded.rows:,}; "
                "design for this table"
            )


def small_cells(problem: Problem, table: Coded) -> list[tuple[str, int]]:
    """Cells that the channel depends on and that hold fewer records than `min_cell`, smallest first."""
    source = problem.source
    if not isinstance(source, TableSource) or source.prior is not None or problem.form == "noise":
        return []  # noise depends on means and variances, not on cells
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
    joint, coded = _recounted(design, table)
    _enough_rows(design, coded)
    if design.public_prior:
        return design, coded
    joint = joint if isinstance(joint, Margins) else joint.marginal(list(design.problem.law.variables))
    if joint == design.problem.law:
        return design, coded
    there = near_again(replace(design, problem=replace(design.problem, joint=joint)), coded.rows)
    try:
        if there.channel.form == "noise":
            return restated(there), coded
        figures, limits = prove_privacy(there.to_json()), prove_limits(there.to_json())
    except NotCertified as e:
        raise NotCertified(
            f"the promise does not hold for this table, whose counts differ from the design's: {e}"
        ) from None
    return replace(there, proved=figures, realised=limits), coded


def apply(
    design: Design, table: Any, *, key: Key | None = None, again: bool = False, on_progress: Progress | None = None
) -> tuple[Released, Audit]:
    """Draw a release of a table by a verified design; another table than its own is recounted and re-proved first.

    A table that was released already, as the card beside it says, is refused unless `again`.
    """
    if not again:
        _refuse_released(table)
    check(design.dumps())
    standing, coded = reproved(design, table)
    released = draw(standing, coded, key=key, on_progress=_named(on_progress, "drawing"))
    return released, examine(
        standing, released.inputs, released.letters, kept=_left_as_they_are(standing, coded, released)
    )


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
    card = read_json(where, "card")
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
    _, coded = _recounted(design, original)
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
    design = solve(bound, gap=gap, seconds=seconds, on_progress=told)
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
        remarks += population_words(design, coded.pmf(), coded.rows)
    design = replace(design, remarks=tuple(remarks))
    check(design.dumps())
    key = key or Key.fresh()
    charged = _charged(book, design, coded, key, dataset or _name_of(bound, table)) if book else None
    released = draw(design, coded, key=key, on_progress=_named(on_progress, "drawing"))
    seen = examine(design, released.inputs, released.letters, kept=_left_as_they_are(design, coded, released))
    if seen.contradicts:
        raise NotCertified("the drawn letters contradict the certified channel; nothing was written")
    card = design.card()
    card_text = laid_out(card)
    with new_folder(folder, RELEASE, force=force) as place:
        write_text(place / "design.json", design.dumps(), private=True)
        write_text(place / "card.json", card_text)
        write_text(place / "report.html", render(design, seen), private=True)
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
    return Outcome(design, seen, folder, charged)


def _of_weights(name: str, *, kept: bool) -> str:
    leaves = "leaves with the release and serves estimates" if kept else "does not leave (keep it for estimates)"
    return f"the weights {name} are not used in the design, for a promise is about rows; the column {leaves}"


def _charged(book: Ledger, design: Design, coded: Coded, key: Key, dataset: str) -> Entry:
    """Charge a release, then say that its draw begins; both are on disk when this returns."""
    source, fingerprint, digest = design.problem.source, key.fingerprint(), coded.digest()
    entry = book.reserve(
        design.dumps(),
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
    files = [problem.file, table]
    if table is None and isinstance(problem.source, TableSource) and not is_address(problem.source.table):
        files.append(base_of(problem) / problem.source.table)
    return [Path(f) for f in files if isinstance(f, str | Path) and not is_address(f)]


def _named(on_progress: Progress | None, stage: str) -> Callable[[int, int | None], None] | None:
    if on_progress is None:
        return None
    return lambda done, total: on_progress(stage, done, total)
