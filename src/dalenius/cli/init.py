"""`dalenius init`: look at a table, ask, and write a commented problem file."""

import json
import os
import sys
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from dalenius.cli.terminal import say
from dalenius.core import MISSING, Column
from dalenius.errors import InputError
from dalenius.outputs import new_file, refuse_existing
from dalenius.tables import encode, open_table

MANY = 60


def run(arguments: Namespace) -> None:
    output = Path(arguments.output)
    refuse_existing(output, force=arguments.force)
    table = open_table(arguments.table)
    observe, about, views = arguments.observe, arguments.about, arguments.independent
    if not (observe and about and views):
        if not sys.stdin.isatty():
            raise InputError("say --observe, --about and --independent; without a terminal nothing can be asked")
        print(f"{table.name} has the columns: {', '.join(table.names)}", file=sys.stderr)
        observe = observe or _ask("Which columns may the mechanism look at?", table.names)
        about = about or _ask("Which column should the release tell about (what must stay useful)?", table.names)
        views = views or [[v] for v in _ask("Which columns must stay private (each by itself)?", table.names)]
    for name in [*observe, *about, *(v for view in views for v in view)]:
        if name not in table.names:
            raise InputError(f"there is no column {name!r}; {table.name} has {', '.join(map(repr, table.names))}")
    used = list(dict.fromkeys([*observe, *about, *(v for view in views for v in view)]))
    coded = encode(table, {n: Column(missing="category") for n in used}, used)
    gaps = {n for n in used if MISSING in coded.alphabets[n]}
    letters = {n: tuple(v for v in a if v != MISSING or n in gaps) for n, a in coded.alphabets.items()}
    relative = os.path.relpath(arguments.table, output.absolute().parent)
    text = _file(relative, letters, observe, about, views, arguments.name)
    with new_file(output, force=arguments.force) as place:
        place.write_text(text, encoding="utf-8")
    lines = [
        f"Written: {output}. Read it, above all the letters of each column, then run:",
        f"  dalenius release {output} -o released/",
    ]
    say(arguments, lines, {"problem": str(output), "columns": used})


def _ask(question: str, names: Sequence[str]) -> list[str]:
    """Names until all of them are columns; an empty answer asks again, end of input gives up."""
    while True:
        print(f"{question} (names, separated by commas)", file=sys.stderr)
        try:
            answer = [name.strip() for name in input("> ").split(",") if name.strip()]
        except EOFError:
            raise InputError("no answer; nothing was written") from None
        unknown = [name for name in answer if name not in names]
        if answer and not unknown:
            return list(dict.fromkeys(answer))
        print(f"There is no column {unknown[0]!r}." if unknown else "Name at least one column.", file=sys.stderr)


def _names(names: Sequence[str]) -> str:
    return json.dumps(list(names), ensure_ascii=False)


def _file(
    table: str,
    letters: dict[str, tuple[str, ...]],
    observe: Sequence[str],
    about: Sequence[str],
    views: Sequence[Sequence[str]],
    output: str,
) -> str:
    parts = [
        "# A problem of Dalenius: what is known, what may be looked at, what is promised, what is wanted.",
        "",
        "[source]",
        f"table = {json.dumps(table)}",
        '# unit = "person_id"        # the column that names the person, if one person can have several rows',
        '# prior = "public.json"     # design on a public distribution instead of this table\'s own counts',
        "# min_cell = 10             # a public card is refused if it depends on cells with fewer records",
        "",
        "# The letters of each column. They are public: check that none is there because of one person.",
    ]
    for name, alphabet in letters.items():
        known = [v for v in alphabet if v != MISSING]
        many = f"  # {len(known)} letters: merge them into fewer classes first" if len(known) > MANY else ""
        values = '"from-table"' if len(known) > MANY else _names(known)
        parts += [f"[columns.{json.dumps(name)}]", f"values = {values}{many}"]
        if len(known) < len(alphabet):
            parts.append('missing = "category"        # a missing value is a letter of its own, inside the proof')
        parts.append("")
    parts += [
        "[mechanism]",
        f"observe = {_names(observe)}",
        f"output = {json.dumps(output)}                # a fresh column; nothing else leaves",
        '# keep = ["year"]           # columns that leave as they are; they count as released in every promise',
        '# order = "keep"            # rows are shuffled by the key unless this is said',
        "",
        "[objective]",
        f"maximize = {{ information = {_names(about)} }}",
        "",
    ]
    for view in views:
        parts += ["[[guarantee]]", f"independent = {_names(view)}", ""]
    return "\n".join(parts)
