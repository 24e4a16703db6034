"""`dalenius read`: a recipe from a file of another tool."""

import json
from argparse import Namespace
from pathlib import Path

from dalenius.cli.terminal import say
from dalenius.core.digits import many
from dalenius.errors import InputError
from dalenius.outputs import new_file, refuse_existing
from dalenius.tables.foreign import opendp_response, sdcmicro_matrix


def run(arguments: Namespace) -> None:
    """Write the recipe."""
    output = Path(arguments.output)
    refuse_existing(output, force=arguments.force, inputs=[Path(arguments.file)] if arguments.file else [])
    if arguments.tool == "sdcmicro":
        if not arguments.file:
            raise InputError("Missing: the file of the matrix. Example: dalenius read sdcmicro plan.csv --column plan")
        recipe = sdcmicro_matrix(arguments.file, arguments.column)
    else:
        if not arguments.values or arguments.probability is None:
            raise InputError("Missing: --values and --probability. Example: --values yes no --probability 3/4")
        recipe = opendp_response(arguments.values, arguments.probability, arguments.column)
    document = recipe.to_json()
    with new_file(output, force=arguments.force) as place:
        place.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    lines = [
        f"Wrote {output}: a recipe for {many(recipe.shape[0], 'value')} of {arguments.column}.",
        f"What it promises: dalenius audit {output}",
    ]
    say(arguments, lines, document)
