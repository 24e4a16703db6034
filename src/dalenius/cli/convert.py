"""`dalenius convert`"""

from argparse import Namespace
from pathlib import Path

from dalenius.cli.terminal import say
from dalenius.convert import converted
from dalenius.documents import about_file, digest
from dalenius.outputs import new_file, refuse_existing
from dalenius.tables import read_json


def run(arguments: Namespace) -> None:
    output = Path(arguments.output)
    beside = about_file(output)
    refuse_existing(output, force=arguments.force, inputs=[Path(arguments.old)])
    text, about = converted(read_json(arguments.old, "design or card file"))
    private = '"format":"dalenius-design/2"' in text[:40]
    with new_file(beside, force=True, private=private) as place:
        place.write_bytes(about.encode())
        with new_file(output, force=arguments.force, private=private) as main:
            main.write_bytes(text.encode())
    lines = [f"Proved again, and written: {output} and {beside.name}.", f"SHA-256 of the new file: {digest(text)}."]
    say(arguments, lines, {"proved": True, "written": str(output), "digest": digest(text)})
