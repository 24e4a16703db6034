"""`dalenius apply`"""

from argparse import Namespace
from pathlib import Path

from dalenius.cli.terminal import progress, say
from dalenius.errors import InputError, NotCertified
from dalenius.outputs import new_file, refuse_existing
from dalenius.report import words
from dalenius.sampling import Key
from dalenius.tables import write_table
from dalenius.walk import apply, load

FORMATS = {".csv": "csv", ".parquet": "parquet", ".arrow": "arrow", ".feather": "arrow"}


def run(arguments: Namespace) -> None:
    output = Path(arguments.output)
    kind = FORMATS.get(output.suffix.lower())
    if kind is None:
        raise InputError(f"{output.name}: released tables are written as {', '.join(FORMATS)}")
    refuse_existing(output, force=arguments.force)
    key = Key.from_file(arguments.key) if arguments.key else None
    with progress(arguments) as show:
        released, seen = apply(load(arguments.design), arguments.table, key=key, on_progress=show)
        if seen.contradicts:
            raise NotCertified("the drawn letters contradict the certified channel; nothing was written")
        with new_file(output, force=arguments.force) as place:
            write_table(place, kind, released.columns)
    lines = [*words.seen(seen), f"Written: {output} ({released.rows:,} rows: {', '.join(released.columns)})."]
    say(arguments, lines, {"rows": released.rows, "columns": list(released.columns), "seen": seen.to_json()})
