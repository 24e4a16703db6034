"""`dalenius answer`"""

import sys
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path

from dalenius.answering import answer, statement_file
from dalenius.cli.terminal import dialect_of, progress, say
from dalenius.core.question import DRAWN
from dalenius.errors import InputError, LedgerRefused
from dalenius.ledger import Ledger
from dalenius.mechanisms.queries.words import answer_words
from dalenius.outputs import refuse_existing
from dalenius.sampling import Key
from dalenius.tables import open_table
from dalenius.tables.question_file import asks_a_table


def run(arguments: Namespace) -> None:
    if not asks_a_table(arguments.query):
        raise InputError(
            f"{Path(arguments.query).name} asks nothing of a table: it needs column or where, and noise that is drawn "
            f"exactly ({', '.join(DRAWN)})",
            do="Add these keys to the query file.",
        )
    if arguments.dataset and not arguments.ledger:
        raise InputError("--dataset names the data in a ledger; say --ledger too")
    book = Ledger(arguments.ledger) if arguments.ledger else None
    if arguments.output:
        for place in (Path(arguments.output), statement_file(arguments.output)):
            refuse_existing(place, force=arguments.force, inputs=map(Path, (arguments.query, arguments.table)))
    try:
        with progress(arguments) as show:
            found = answer(
                arguments.query,
                open_table(arguments.table, dialect=dialect_of(arguments)),
                key=_key(arguments),
                ledger=book,
                dataset=arguments.dataset,
                card=arguments.output,
                force=arguments.force,
                on_progress=None if show is None else lambda done, total: show("reading", done, total),
            )
    except LedgerRefused:  # nothing was drawn with the key that was made for it
        if arguments.new_key:
            Path(arguments.new_key).unlink(missing_ok=True)
        raise
    lines = answer_words(found.answer)
    if found.charged is not None:
        lines.append(f"Charged: release {found.charged.id} of {arguments.ledger}.")
    else:
        lines.append("Not charged: no ledger was named, so that nobody adds up what several answers reveal.")
    if arguments.output:
        page = statement_file(arguments.output)
        lines.append(f"Written: {arguments.output}; check it with `dalenius verify {arguments.output}`.")
        lines.append(f"To sign and to publish: {page}")
    for doubt in found.doubts:  # not among what may leave: it says what the table holds
        print(f"dalenius: {doubt} This line is confidential.", file=sys.stderr)
    say(arguments, lines, found.to_json())


def _key(arguments: Namespace) -> Key | Callable[[], Key] | None:
    """A new key is made when the answer is ready to be charged, and not before."""
    if arguments.key and arguments.new_key:
        raise InputError("--key uses a key that exists, --new-key makes one; say one of them")
    if arguments.new_key:
        return lambda: Key.write_new(arguments.new_key)
    return Key.from_file(arguments.key) if arguments.key else None
