"""Proves a design or a card again, and compares it with a table and with a problem file.

The proof needs the kernel alone, so that neither a designer nor a table engine is imported for it.
"""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dalenius.documents import checked, recognised
from dalenius.errors import InputError, MismatchError, NotCertified, ProofTooLong, advising
from dalenius.kernel.answers import ANSWER
from dalenius.wording import as_toml

if TYPE_CHECKING:
    from dalenius.core import Design, Margins, Pmf, Problem
    from dalenius.kernel.check import Verdict
    from dalenius.tables import Coded
    from dalenius.tables.workspace import Workspace

__all__ = ["enough_rows", "provable", "recounted", "verify"]


def provable(path: str | Path) -> str:
    """The text of a file that says that it is a design or a card; a damaged one is for the kernel to refuse."""
    try:
        text = Path(path).read_bytes().decode()
    except FileNotFoundError:
        raise InputError(
            f"there is no design file {Path(path).name} (looked in {Path(path).parent.absolute()})",
            do="Check the name and the folder.",
        ) from None
    except UnicodeDecodeError:
        raise InputError(
            f"{Path(path).name} is not UTF-8 text", do="Check that it is the right file: a design.json or a card.json."
        ) from None
    except OSError as e:
        raise InputError(
            f"cannot read the design file {path}: {e.strerror}", do="Check the name and your rights to the file."
        ) from None
    try:
        what = recognised(json.loads(text))
    except (ValueError, RecursionError):
        what = None
    if what is not None and what.startswith("of version 1"):
        raise InputError(f"{path} is {what}")
    if what is not None:
        raise InputError(f"{path} is {what}; there is nothing to prove in it, name a design.json or a card.json")
    return text


def verify(
    design: "Design | str | Path",
    *,
    table: Any = None,
    problem: "Problem | str | Path | None" = None,
    privacy: bool = False,
    work: int | None = None,
) -> "Verdict":
    """Re-prove a design (or card file) from itself alone; with a table recount it, with a problem compare the promises.

    Parameters
    ----------
    design : Design, str or Path
        A design, or the file of a design or a card.
    table : optional
        A table, its path or a data frame: its rows and counts must be those that the design speaks of.
    problem : Problem, str or Path, optional
        A problem or its file: every promise, limit and shape must be those of the design.
    privacy : bool
        Whether to prove promises, limits and shapes alone, without value and bound.
    work : int, optional
        The work that the file may declare; by default about two seconds, and beyond a million
        characters two for each half million.

    Returns
    -------
    Verdict
        What was proved.

    Raises
    ------
    NotCertified
        If something is not proved, or table or problem are others.
    ProofTooLong
        If the file asks for more work than is allowed, and was not checked.

    Examples
    --------
    >>> from dalenius import solve
    >>> from dalenius.testing import xor
    >>> float(verify(solve(xor())).value)
    1.0
    """
    if isinstance(design, str | Path):
        text = provable(design)
        try:
            verdict = checked(text, work=work, privacy=privacy)
        except ProofTooLong as e:
            what = f"the proof was not repeated ({e})."
            raise ProofTooLong(what, where=Path(design).name, do="Check it again with --work.") from None
        except NotCertified as e:
            what = f"the proof cannot be repeated ({e})."
            raise NotCertified(what, where=Path(design).name, do="Do not rely on this file.") from None
    else:
        text = design.dumps()
        verdict = checked(text, work=work, privacy=privacy)
    if table is None and problem is None:
        return verdict
    if json.loads(text)["format"] == ANSWER:
        raise InputError("the proof of an answer stands by itself; it holds no counts to compare with a table")
    if json.loads(text)["format"].startswith("dalenius-card"):
        raise InputError("a card can be verified by itself only; use the design for --table and --problem")
    from dalenius.core import Design  # a table engine and arrays are only needed from here on
    from dalenius.core.problem import Problem
    from dalenius.tables import read_design, with_files

    known = design if isinstance(design, Design) else read_design(design)
    asked = Problem.from_file(problem) if isinstance(problem, str | Path) else problem
    asked = None if asked is None else _with_letters(asked)
    rows = verdict.rows
    if table is not None:
        rows = _same_counts(known, table, rows, asked)
    if asked is not None:
        asked = with_files(asked, known.channel.inputs, known.problem.law.variables)
        _same_promises(text, known, asked, rows)
        _same_law(known, asked, verdict.rows)
    return verdict


def _with_letters(problem: "Problem") -> "Problem":
    """The problem with the letters of every list of values that is a file, in place of its name."""
    from dataclasses import replace

    from dalenius.tables import base_of, read_letters

    columns = dict(problem.columns)
    for name, column in columns.items():
        if column.values_file is not None:
            letters = read_letters(base_of(problem) / column.values_file, f"column {name!r}")
            columns[name] = replace(column, values=letters, values_file=None)
    return replace(problem, columns=columns)


# --- the problem ------------------------------------------------------------------------------------------------------
def _same_promises(text: str, design: "Design", problem: "Problem", rows: int | None) -> None:
    """Every promise, limit and shape as a typed object; then what only the file beside the design says.

    `rows` are those of the table, None where nobody counted them.
    """
    from dataclasses import replace

    from dalenius.core import Dalenius
    from dalenius.core.drafting import asked_document
    from dalenius.core.held_columns import with_held_columns
    from dalenius.core.kept_rows import with_kept_rows
    from dalenius.documents import differences

    if design.channel.shows_the_table:  # columns that leave as they are stand among the released ones
        problem = replace(with_held_columns(replace(problem, joint=design.problem.law)), joint=None)
    if problem.keep_rows is not None:  # limits for single values, from the shares of the design's law
        problem = replace(with_kept_rows(replace(problem, joint=design.problem.law)), joint=None)
    known = design.problem.law.variables
    for name in (name for promise in problem.guarantees for name in promise.secret):
        if name not in known:
            raise _another(f"The file asks for a promise about {name}, and the design knows no such column.")
    promises = list(problem.guarantees)
    for k, promise in enumerate(promises):
        if isinstance(promise, Dalenius) and promise.rows == "all":
            # Never the number that the design names: it could be of fewer rows than are released.
            if rows is None:
                raise _another_table()
            promises[k] = replace(promise, rows=max(rows, promise.group))
    problem = replace(problem, guarantees=tuple(promises))
    asked = asked_document(json.loads(text), problem, design.problem.law.variables, design.channel)
    for section, place, ours, wanted in differences(text, asked):
        made = None if ours is None else _said(design.problem, section, place, ours)
        wish = None if wanted is None else _said(problem, section, place, wanted)
        if section == "promises" and made == wish:  # in words; then what a file writes sets them apart
            made, wish = (as_toml(p.guarantees[int(place)].to_json()) for p in (design.problem, problem))
            if made == wish:  # a promise within a ball of laws, and one under the counted law
                section = "robust"
                made, wish = (as_toml(_sections(p)["robust"] or {}).strip("{ }") for p in (design.problem, problem))
        elif section == "promises":
            raise _another(
                f"It promises {'nothing more' if made is None else f'that {made}'}; the file asks "
                f"{'for nothing more' if wish is None else f'that {wish}'}."
            )
        raise _another(f"It has {made or 'nothing'} where the file has {wish or 'nothing'} in [{SECTIONS[section]}].")
    _same_sections(design, problem)


SECTIONS = {
    "promises": "[guarantee]",
    "limits": "[limit]",
    "mechanism": "mechanism",
    "objective": "objective",
    "robust": "robust",
}
"""What a problem file calls the parts of a design."""


def _another(how: str) -> NotCertified:
    """A design that was made for another problem file."""
    return NotCertified(
        f"the design was made for another problem file. {how}",
        do="Ask for the design of this problem file, or make it again.",
    )


def _another_table() -> NotCertified:
    """A promise about all rows of a table, and a design that states no number of rows."""
    return NotCertified(
        'the design cannot be compared with the problem file: rows = "all" counts the rows of a table, and the design '
        "states none",
        do="Name the table with --table.",
    )


def _unsaid(what: str) -> NotCertified:
    """A design that came without the file that stands beside it."""
    return NotCertified(
        f"the design cannot be compared with the problem file: nothing beside it says {what}",
        do="Keep design.about.json beside the design, or make both again.",
    )


def _said(problem: "Problem", section: str, place: str | int, value: Any) -> str:
    """One thing that a problem says: a promise in words, anything else as a problem file writes it."""
    from dalenius.core import AtLeast, Distortion
    from dalenius.core.numbers import written

    if section == "promises":
        return problem.guarantees[int(place)].words()
    if section == "limits":
        limits: list[Distortion | AtLeast] = [*problem.limits, *problem.tells]
        asked = limits[int(place)] if int(place) < len(limits) else None
        if isinstance(asked, Distortion) and asked.keeps:
            return f"keep_rows = {as_toml(written(asked.keeps[1]))}"
        return as_toml(value if asked is None else asked.to_json())
    if section == "objective":
        return as_toml(problem.objective.to_json())
    return f"{place} = {as_toml(value)}"


def _same_law(design: "Design", problem: "Problem", rows: int | None) -> None:
    """The law that a problem states by itself, in its file or beside it, or that it says is counted from a table."""
    from dalenius.core import Margins, Pmf, TableSource
    from dalenius.core.drafting.laws import law_document
    from dalenius.tables import stated_law

    if problem.source is None and problem.joint is None:
        return
    ours = design.problem.law
    stated = stated_law(problem, ours.variables) if problem.joint is None else problem.joint
    counted = isinstance(problem.source, TableSource) and problem.source.prior is None
    if counted and rows is None and not isinstance(ours, Margins):  # of margins no rows are written
        raise _another("Its statistics were not counted from a table, and the file names one.")
    if isinstance(ours, Pmf) and isinstance(stated, Pmf) and set(ours.variables) < set(stated.variables):
        stated = stated.marginal(list(ours.variables))  # a closed form needs the columns that it changes, and no more
    if stated is not None and law_document(ours) != law_document(stated):
        raise _another("It stands on other statistics than the file states.")


def _same_sections(design: "Design", problem: "Problem") -> None:
    """What the kernel does not know of: the unit, the prior, weights, declared columns and words of the search."""
    alone = design.problem.source is None and not design.problem.columns  # nothing travels beside the design
    ours = _sections(design.problem)
    asked = _sections(problem)
    if alone:
        _same_alphabets(design, problem)
        ours["mechanism"], ours["columns"] = asked["mechanism"], asked["columns"]
        ours["robust"] = asked["robust"] if _within_a_ball(design, problem) else None
    spoken_of = {*problem.variables(), *ours["columns"]}
    asked["columns"] = {name: column for name, column in asked["columns"].items() if name in spoken_of}
    for name, column in asked["columns"].items():
        # What is found when the table is read: values "from-table", and the cuts of quantiles.
        less = ["values"] if "values" not in column else []
        less += ["cuts", "labels"] if "quantiles" in column and "cuts" not in column else []
        own = ours["columns"].get(name, {})
        if column.keys() == {"missing"} and own.get("missing") == "refuse":  # values of the table, which has no gap
            own = own | column
        ours["columns"][name] = {k: v for k, v in own.items() if k not in less}
    ours["columns"] = {n: c for n, c in ours["columns"].items() if n in asked["columns"]}  # only what the file declares
    for section, wanted in asked.items():
        if ours[section] != wanted:
            key, mine, theirs = _first_difference(section, ours[section], wanted)
            raise _another(f"It has {mine} where the file has {theirs} in [{key}].")


def _first_difference(place: str, ours: Any, asked: Any) -> tuple[str, str, str]:
    """Where two sections first differ, and the lines that do, as a problem file writes them."""
    ours = ours or {}
    asked = asked or {}
    key = next(key for key in (*asked, *ours) if ours.get(key) != asked.get(key))
    mine = ours.get(key)
    theirs = asked.get(key)
    if isinstance(mine, dict) and isinstance(theirs, dict):
        return _first_difference(f"{place}.{key}", mine, theirs)
    lines = ["nothing" if value is None else f"{key} = {as_toml(value)}" for value in (mine, theirs)]
    return place, lines[0], lines[1]


def _within_a_ball(design: "Design", problem: "Problem") -> bool:
    """Whether every promise holds in the ball of [robust] by itself, or says so in the design."""
    from dalenius.core import Leakage

    return problem.robust is None or all(
        isinstance(promise, Leakage) or not promise.secret for promise in design.problem.guarantees
    )


def _sections(problem: "Problem") -> dict[str, Any]:
    document = problem.to_json()
    ball = document.get("robust")
    source = {"unit": "row"} | document.get("source", {})
    columns = document.get("columns", {})
    return {
        "mechanism": document["mechanism"],
        "robust": ball and {key: value for key, value in ball.items() if key != "rows"},  # which are counted
        "source": {k: source.get(k) for k in ("unit", "max_rows", "prior", "weights")},
        "columns": {
            name: {k: v for k, v in column.items() if k != "values" or isinstance(v, list)}
            for name, column in columns.items()
        },
    }


def _same_alphabets(design: "Design", problem: "Problem") -> None:
    """What can be seen without the file beside the design: letters that are values of the table as they stand."""
    from dalenius.core.numbers import written
    from dalenius.core.source import MISSING

    asked = problem.to_json()["mechanism"]
    ours = design.problem.to_json()["mechanism"]
    if asked.get("order", "shuffle") != "shuffle":
        raise _unsaid("how its rows are ordered")
    for key in ("form", "windows", "modulus", "noise", "clip"):
        if key in asked and asked[key] not in ("pram", design.channel.form, ours.get(key)):
            raise _unsaid(f"its {key}")
    for name, column in problem.columns.items():
        known = design.problem.law.variables.get(name)
        if known is not None and column.grid is not None and tuple(known) != tuple(map(written, column.grid.points())):
            raise _another(f"{name!r} has another grid in it.")
        if known is not None and (column.cuts or column.groups or column.quantiles or column.dates):
            raise _unsaid(f"what the values of {name!r} mean")
        if column.values is None or known is None:
            continue
        wanted = (*column.values, *([MISSING] if column.missing == "category" else []))
        if tuple(known) != wanted and tuple(known) != column.values:
            raise _another(f"{name!r} has other values in it.")


# --- the table --------------------------------------------------------------------------------------------------------
def recounted(
    design: "Design",
    table: Any,
    workspace: "Workspace | None" = None,
    *,
    rows: bool = True,
    asked: "Problem | None" = None,
) -> "tuple[Pmf | Margins, Coded]":
    """The law of another table in the alphabets of a design, and the coded table: its rows, or their counts alone.

    Values are read as the file beside the design says; as a problem file says, where one that names a table is given.
    """
    from dataclasses import replace

    from dalenius.core import Column, Margins, Samples, TableSource
    from dalenius.tables import bind, encode, open_table

    problem = design.problem
    if isinstance(problem.law, Samples):  # the hidden variable is nowhere in a table
        alike = {n: problem.columns.get(n, Column(values=problem.law.letters)) for n in problem.law.names}
        found = encode(open_table(table, dialect=problem.dialect), alike, list(alike))
        return found.pmf(), found
    # What travels beside a design proves nothing: a word for a gap, a cut or a list of values may be another there.
    reads = asked if asked is not None and isinstance(asked.source, TableSource) else problem
    columns = {
        name: reads.columns.get(name, Column(values=tuple(letters))) for name, letters in problem.law.variables.items()
    }
    source = (
        replace(reads.source, prior=None, weights=None) if isinstance(reads.source, TableSource) else TableSource("")
    )
    declared = replace(problem, joint=None, columns=columns, source=source, file=reads.file)
    with advising("value-not-listed", "Give a table with the design's values, or release this one by a problem file."):
        bound, coded = bind(declared, table=table, workspace=workspace, rows=rows)
    if coded is None:
        raise MismatchError("the source of this design is not a table", do="Leave out --table.")
    return bound.law if isinstance(bound.law, Margins) else bound.pmf, coded


def enough_rows(design: "Design", coded: "Coded") -> None:
    """A promise about so many released rows is not one about more of them."""
    from dalenius.core import Dalenius

    for promise in design.problem.guarantees:
        if isinstance(promise, Dalenius) and promise.rows != 1 and coded.rows > promise.draws:
            raise NotCertified(
                f"the design promises what {promise.draws:,} released rows reveal, and this table has {coded.rows:,}; "
                "design for this table"
            )


def _same_counts(design: "Design", table: Any, rows: int | None, asked: "Problem | None") -> int:
    """How many rows the table has, whose counts are those of the design."""
    from dalenius.core import Dalenius, Margins, ProductPmf
    from dalenius.core.pmf import outcome_words

    all_rows = asked is not None and any(isinstance(g, Dalenius) and g.rows == "all" for g in asked.guarantees)
    if design.public_prior and all_rows:  # of such a table the number of rows counts
        return recounted(design, table, rows=False, asked=asked)[1].rows
    if design.public_prior:
        raise InputError(
            "this design was made on public statistics, not on the table's counts; there is nothing to recount.",
            do="Leave out --table.",
        )
    if isinstance(design.problem.law, ProductPmf):
        raise InputError(
            "this design stands on independent groups, not on a table's counts; there is nothing to recount.",
            do="Leave out --table.",
        )
    law, (theirs, coded) = design.problem.law, recounted(design, table, rows=False, asked=asked)
    enough_rows(design, coded)
    if isinstance(theirs, Margins):
        if law == theirs:
            return coded.rows
        known = list(law.columns) if isinstance(law, Margins) else []
        column = next(iter(next(c for c in theirs.columns if c not in known).variables))
        raise NotCertified(
            f"the table is not the one of the design: the frequencies of {column!r} differ",
            do="Give the table that was released.",
        )
    ours = design.problem.pmf
    theirs = theirs.marginal(list(ours.variables))
    if ours == theirs:
        if rows is not None and rows != coded.rows:
            raise NotCertified(
                f"the table is not the one of the design: it has {coded.rows:,} rows, and the design {rows:,}",
                do="Give the table that was released.",
            )
        return coded.rows
    alike = ours.variables == theirs.variables  # else places are other letters
    for row in {*map(tuple, ours.support.tolist()), *map(tuple, theirs.support.tolist())} if alike else ():
        outcome = {name: letters[entry] for (name, letters), entry in zip(ours.variables.items(), row, strict=True)}
        if ours.probability(**outcome) != theirs.probability(**outcome):
            words = outcome_words(list(outcome), list(outcome.values()))
            raise NotCertified(
                f"the table is not the one of the design: p({words}) is {theirs.probability(**outcome)} in the table "
                f"and {ours.probability(**outcome)} in the design",
                do="Give the table that was released.",
            )
    raise NotCertified(
        "the table is not the one of the design: its lists of values differ",
        do="Give the table that was released, and the problem file that reads it.",
    )
