"""`dalenius profile`"""

from argparse import Namespace
from typing import Any

from dalenius.cli.terminal import dialect_of, progress, say
from dalenius.core.digits import many
from dalenius.errors import TableError
from dalenius.starting import as_written, column_lines, suggested_groups
from dalenius.tables import Table, open_table
from dalenius.tables.profile import profile

LONGEST = 60  # characters of a value that are shown
HINT = "dalenius init suggests groups"
KINDS = {"looks_like_identifier": "identifier?", "looks_numeric": "numbers", "looks_dated": "dates"}


def run(arguments: Namespace) -> None:
    with progress(arguments) as show:
        table = as_written(open_table(arguments.table, dialect=dialect_of(arguments)))
        document = profile(
            table,
            place=arguments.table,
            unit=arguments.unit,
            keys=arguments.keys,
            on_progress=(lambda done, total: show("reading", done, total)) if show else None,
        )
        document |= _with_groups(document, table)
    say(arguments, _words(document), document)


def _with_groups(document: dict[str, Any], table: Table) -> dict[str, Any]:
    """Notes and sections of columns; for rare values with the groups that `init` would begin with."""
    notes = document["notes"]
    rare = {n: note for note in notes for n in document["columns"] if note.startswith(f"{n}: ") and note.endswith(HINT)}
    try:
        groups = suggested_groups(table, list(rare)) if rare else {}
    except TableError:  # values that cannot be released, such as pages of text, can still be looked at
        return {}
    groups = {name: found for name, found in groups.items() if not found.untouched}  # a group of one value helps nobody
    better = {
        note: f"{note.removesuffix(HINT)}suggested groups: {', '.join(map(_short, groups[name].labels))}"
        if name in groups
        else note.removesuffix(f"; {HINT}")
        for name, note in rare.items()
    }
    grouped = [column_lines(found, "suggested groups") for found in groups.values()]
    sections = {lines[0].rpartition("#")[0].rstrip(): "\n".join(lines) for lines in grouped}
    told = [sections.get(section.partition("\n")[0], section) for section in document["toml"].split("\n\n")]
    return {"notes": [better.get(note, note) for note in notes], "toml": "\n\n".join(told)}


def _words(document: dict[str, Any]) -> list[str]:
    lines = [f"{document['table']}: {many(document['rows'], 'row')}, {_columns(document)}", ""]
    shown = [(_short(name), column) for name, column in document["columns"].items()]
    width = max(len(name) for name, _ in shown)
    for name, column in shown:
        kind = next((word for sign, word in KINDS.items() if column[sign]), "values")
        kind = kind.removesuffix("s") if column["distinct"] == 1 else kind
        count = f"{column['distinct']:,}" + ("" if column["distinct_is_exact"] else "+")
        top = ", ".join(f"{_short(entry['letter'])} ({entry['count']:,})" for entry in column.get("top", [])[:4])
        gaps = f"{column['missing']:,} missing" if column["missing"] else ""
        lines.append(f"  {name:<{width}}  {count:>7} {kind:<11} {'; '.join(filter(None, (top, gaps)))}")
    if keys := document.get("keys"):
        lines += [
            "",
            f"Keys {', '.join(keys['columns'])}: {keys['combinations']:,} combinations, {keys['unique_rows']:,} ",
        ]
        lines[-1] += f"rows alone with theirs, {keys['rows_in_small_cells']:,} rows in combinations of fewer than 10"
    if unit := document.get("unit"):
        lines += [
            "",
            f"Persons by {unit['column']}: {unit['persons']:,}, {unit['mean_rows']:.2f} rows each on average, ",
        ]
        lines[-1] += f"{unit['max_rows']} at most"
    if document["notes"]:
        lines += ["", *(f"- {note}" for note in document["notes"])]
    lines += ["", "To put into a problem file:", "", document["toml"]]
    return lines


def _columns(document: dict[str, Any]) -> str:
    """How many columns the table has, also those that cannot be released."""
    return many(len(document["columns"]) + len(document["unreadable"]), "column")


def _short(letter: str) -> str:
    """A value as it is shown: a text of several megabytes would hide everything else, and a control sign move it.

    >>> _short("two\\nlines")
    'two\\\\nlines'
    """
    cut = letter if len(letter) <= LONGEST else letter[: LONGEST - 3] + "..."
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in cut)
