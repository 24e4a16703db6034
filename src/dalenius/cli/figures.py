"""`dalenius figures`"""

import time
from argparse import Namespace
from pathlib import Path

from dalenius.cli.terminal import progress, say
from dalenius.errors import InputError
from dalenius.outputs import FIGURES, refuse_existing
from dalenius.papers import Figure, paper000, paper001, paper002, paper003, paper004, write

PAPERS = {"000": paper000, "001": paper001, "002": paper002, "003": paper003, "004": paper004}


def run(arguments: Namespace) -> None:
    there = ", ".join(PAPERS)
    if arguments.paper not in PAPERS:
        raise InputError(f"there is no paper {arguments.paper!r}; there are figures of {there}")
    paper = PAPERS[arguments.paper]
    output = Path(arguments.output)
    refuse_existing(output, force=arguments.force, kind=FIGURES)
    began = time.monotonic()
    with progress(arguments) as show:
        found = paper.exhibits(show)
        names = write(arguments.paper, paper.TITLE, found, output, force=arguments.force)
    seconds = round(time.monotonic() - began, 1)
    lines = [f"Recomputed in {seconds} seconds:"]
    lines += [f"  {exhibit.title}" for exhibit in found]
    lines += [f"Written: {output}/ with {len(names)} files; open {output / 'index.html'}."]
    document = {
        "paper": arguments.paper,
        "folder": str(output),
        "files": names,
        "seconds": seconds,
        "exhibits": [
            {
                "key": exhibit.key,
                "title": exhibit.title,
                "tables": [
                    {
                        "name": table.name,
                        "columns": list(table.head),
                        "rows": [
                            [entry.text() if isinstance(entry, Figure) else entry for entry in row]
                            for row in table.rows
                        ],
                    }
                    for table in exhibit.tables
                ],
            }
            for exhibit in found
        ],
    }
    say(arguments, lines, document)
