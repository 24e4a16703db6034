"""The walk from a table to a certified release, each step one call: solve, verify, apply, audit, release.

table -> joint pmf -> problem -> design -> certificate -> exact sampler -> released table -> audit -> report
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any, overload

from dalenius.core import (
    MISSING,
    Certificate,
    Column,
    Design,
    Margins,
    MinimizeRate,
    Pmf,
    Problem,
)
from dalenius.core.conditional_law import Kernel
from dalenius.core.source import Dialect
from dalenius.documents import ENOUGH, checked
from dalenius.errors import DaleniusError, InputError, MismatchError, NotCertified, advising
from dalenius.evidence import (
    Audit,
    MechanismAudit,
    examine,
    examine_shuffled,
    opened,
)
from dalenius.kernel.numbers import Refused
from dalenius.mechanisms import solve
from dalenius.mechanisms.applying import Released, draw, subkeys_of
from dalenius.mechanisms.auditing import promises_beside
from dalenius.mechanisms.columns.near_proofs import near_again
from dalenius.mechanisms.forms import form_of
from dalenius.mechanisms.side_by_side import SUFFIX
from dalenius.releasing import Outcome, Progress, kept_columns, left_as_they_are, release, small_cells, stage
from dalenius.sampling import Key, Stream
from dalenius.tables import (
    Coded,
    encode,
    is_address,
    open_table,
    read_design,
    read_pmf,
    read_told,
)
from dalenius.tables.workspace import Workspace
from dalenius.trading import at_point, region, tradeoff
from dalenius.verifying import enough_rows, recounted, verify

__all__ = [
    "Outcome",
    "Progress",
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


def load(path: str | Path) -> Design:
    """A design from its file. Nothing in it is believed before `verify`.

    Parameters
    ----------
    path : str or Path
        design.json.

    Returns
    -------
    Design
        As the file says it.

    Raises
    ------
    InputError
        If the file is damaged.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from dalenius.testing import xor
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "design.json").write_text(solve(xor()).dumps())
    ...     float(load(Path(folder, "design.json")).value)
    1.0
    """
    return read_design(path)


def reproved(design: Design, table: Any, workspace: Workspace | None = None) -> tuple[Design, Coded]:
    """The design as it stands for a table: as proved for its own table, proved anew for another, or refused."""
    joint, coded = recounted(design, table, workspace)
    enough_rows(design, coded)
    if design.public_prior:
        return design, coded
    joint = joint if isinstance(joint, Margins) else joint.marginal(list(design.problem.law.variables))
    if joint == design.problem.law:
        return design, coded
    there = near_again(replace(design, problem=replace(design.problem, joint=joint)), coded.rows)
    try:
        return form_of(there.channel).for_this_table(there), coded
    except (NotCertified, Refused) as e:
        raise NotCertified(
            f"the promise does not hold for this table, whose counts differ from the design's: {e}",
            do="Make a new release of this table: dalenius release PROBLEM.",
        ) from None


def apply(
    design: Design,
    table: Any,
    *,
    key: Key | None = None,
    again: bool = False,
    workspace: Workspace | None = None,
    on_progress: Progress | None = None,
) -> tuple[Released, Audit]:
    """Draw a release of a table by a verified design; another table than its own is recounted and re-proved first.

    A table that was released already, as the card beside it says, is refused unless `again`. What exceeds the memory of
    the `workspace` lies in its folder.

    Parameters
    ----------
    design : Design
        A design that `verify` accepts.
    table : path, Table or data frame
        The records.
    key : Key, optional
        The key of the draw; without one a fresh key of the operating system is used and forgotten.
    again : bool
        Draw although the table is a release already.
    on_progress : callable, optional
        Told the stage, how much of it is done, and how much there is in all.
    workspace : Workspace, optional
        Where what exceeds its memory lies.

    Returns
    -------
    Released, Audit
        What was drawn, and the tests of it.

    Raises
    ------
    NotCertified
        If the promises do not hold for this table.
    InputError
        If the table was released before.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from dalenius import problem
    >>> table = pa.table({"town": ["a", "a", "b", "b"] * 50, "sick": ["yes", "no", "no", "no"] * 50})
    >>> wish = problem(table, secret="sick", release=["town"], reveal_at_most="0.01")
    >>> apply(solve(wish), table)
    (Released(200 rows of town), Audit(200 rows; 3 of 3 tests passed))
    """
    if not again:
        _refuse_released(table, lambda: reproved(design, table, workspace), design.problem.dialect)
    checked(design.dumps(), work=ENOUGH, privacy=True)
    standing, coded = reproved(design, table, workspace)
    released = draw(standing, coded, key=key, on_progress=stage(on_progress, "drawing"))
    return released, examine(
        standing, released.inputs, released.letters, kept=left_as_they_are(standing, coded, released)
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
    if clash := set(keep) & {*channel.inputs, *channel.output}:
        raise InputError(f"{min(clash)!r} is changed by the recipe; it cannot go out as it is")
    if not again:
        _refuse_released(table, lambda: _coded_for(channel, table, keep))
    coded = _coded_for(channel, table, keep, on_progress)
    names = tuple(channel.output)
    own_letters = set(names) <= set(channel.inputs)
    problem = Problem(
        observe=tuple(channel.inputs),
        release=names if own_letters else (),
        output=None if own_letters else names[0],
        objective=MinimizeRate(),
        keep=tuple(keep),
        order=order,
    )
    # Nothing is claimed of it, so there is nothing to prove: it only says what to draw.
    brought = Design(problem.bound(coded.pmf()), channel, Fraction(0), Fraction(0), Certificate(), "as brought")
    # What leaves as it is counts as an output of every promise about a column, and is no part of the recipe.
    law = coded.pmf() if channel.few else None
    measured = audit(channel, prior=None if keep or law is None else law.marginal(list(channel.inputs)))
    if keep and law is not None:
        measured = replace(measured, guarantees=(*measured.guarantees, *promises_beside(channel, law, keep)))
    released = draw(brought, coded, key=key, on_progress=stage(on_progress, "drawing"))
    kept = left_as_they_are(brought, coded, released)
    return released, examine(brought, released.inputs, released.letters, kept=kept), measured.about_rows()


def _coded_for(channel: Kernel, table: Any, keep: Sequence[str], on_progress: Progress | None = None) -> Coded:
    """The columns that a channel reads, and those that leave as they are."""
    columns = {
        name: Column(
            values=tuple(letter for letter in letters if letter != MISSING),
            missing="category" if MISSING in letters else "refuse",
        )
        for name, letters in channel.inputs.items()
    } | dict.fromkeys(keep, Column(missing="category"))
    opened = open_table(table)
    for name in columns:
        opened.position(name)
    with advising(
        "value-not-listed", "Add it to the values of the recipe, with a row of its own, or correct the table."
    ):
        return encode(opened, columns, list(columns), on_progress=stage(on_progress, "reading"))


def _refuse_released(table: Any, tried: Callable[[], object], dialect: Dialect | None = None) -> None:
    """A file with the very columns of the card in its folder, or with drawn columns beside its own, was perturbed.

    To change it once more is suggested only where that was tried and works.
    """
    if not isinstance(table, str | Path) or is_address(table):
        return
    names = open_table(table, dialect=dialect).names
    where = Path(table).parent / "card.json"
    if drawn := [name for name in names if name.endswith(SUFFIX) and name.removesuffix(SUFFIX) in names]:
        raise InputError(f"{table} holds {drawn[0]!r} already, drawn before.", do=_instead(tried))
    if not where.is_file():
        return
    card = read_told(where, "card")
    left = {*card["channel"]["output"], *card["kept"]} if isinstance(card, dict) and "channel" in card else set()
    if set(names) == left:
        raise InputError(
            f"{table} is a release already, by {where}; changed once more, neither card would fit it.",
            do=_instead(tried),
        )


def _instead(tried: Callable[[], object]) -> str:
    """What to do with a table that was changed before."""
    try:
        tried()
    except DaleniusError:
        return "Apply the recipe to the original table."
    return "Apply the recipe to the original table, or say --again to change this one once more."


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

    Parameters
    ----------
    mechanism : Design, Kernel, str or Path
        A channel, a design or a card, or a file with one.
    prior : Pmf, str or Path, optional
        The law under which a mechanism is audited.
    released, original : path, Table or data frame, optional
        Both tables, to audit a release against its design.
    key : Key, optional
        Undoes the shuffle, so that rows can be matched.
    error : float
        How often a release that follows its design is called a contradiction.

    Returns
    -------
    MechanismAudit or Audit
        What the mechanism lets out, or what the release shows.

    Raises
    ------
    InputError
        If only one of the two tables is given.

    Examples
    --------
    >>> from dalenius.testing import xor
    >>> audit(solve(xor())).groups[2].low > 0.999
    True
    """
    if (released is None) != (original is None):
        raise InputError(
            "an audit of a release needs both tables: the released one and the original",
            do="Name both: --released FILE --original FILE.",
        )
    if released is None:
        given = prior if isinstance(prior, Pmf) or prior is None else read_pmf(prior, "prior")
        return opened(mechanism).measured(given)
    design = (
        mechanism if isinstance(mechanism, Design) else load(mechanism) if not isinstance(mechanism, Kernel) else None
    )
    if design is None:
        raise InputError(
            "a released table is tested against its proof file; a recipe alone does not say what was drawn",
            do="Give the proof file of the release, design.json.",
        )
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
            values=tuple(letter for letter in letters if letter != MISSING),
            missing="category" if MISSING in letters else "refuse",
        )
        for name, letters in alphabets.items()
    }
    table = open_table(released)
    if set(table.names) != set(columns):
        raise MismatchError(
            f"the released table has the columns {list(table.names)}, not {list(columns)}",
            do="Give the table that was written for this proof file.",
        )
    seen = encode(table, columns, list(columns))
    inputs, letters = form_of(channel).matched(channel, coded, seen)
    same = kept_columns(problem, coded, seen)
    if problem.order == "shuffle" and key is None:
        return examine_shuffled(
            design, coded.pmf(), coded.rows, letters, inputs=inputs if same else None, kept=same, error=error
        )
    if seen.rows != coded.rows:
        raise NotCertified(
            f"the released table has {seen.rows} rows and the original {coded.rows}",
            do="Give the original table that was released, with all of its rows.",
        )
    if problem.order != "shuffle" or key is None:
        return examine(design, inputs, letters, kept=same, error=error)
    audits = []
    for version in (2, 1):  # releases that were drawn before there was a hash tree were shuffled by the older digest
        _, order = subkeys_of(key, design, coded.digest(version))
        shuffled = Released({}, inputs, letters, Stream(order), workspace=coded.workspace)
        after = replace(same, after=shuffled.unshuffled(same.after)) if same else None
        # Two tries, each with half of the allowed error: together they err at most as often as one would.
        audits.append(examine(design, inputs, shuffled.unshuffled(letters), kept=after, error=error / 2))
        if not audits[-1].contradicts:
            return audits[-1]
    return audits[0]
