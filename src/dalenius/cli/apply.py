"""`dalenius apply`"""

from argparse import Namespace
from pathlib import Path

from dalenius.api import apply, apply_channel, load
from dalenius.cli.terminal import progress, say
from dalenius.core import Kernel, channel_of
from dalenius.core.digits import many
from dalenius.core.source import Dialect
from dalenius.documents import ENOUGH, checked
from dalenius.errors import InputError
from dalenius.evidence import Audit
from dalenius.mechanisms.applying import Released
from dalenius.mechanisms.one_value import draw_value
from dalenius.mechanisms.side_by_side import beside
from dalenius.outputs import new_file, refuse_existing
from dalenius.report import words
from dalenius.report.mechanism import audited
from dalenius.sampling import Key
from dalenius.tables import open_table, read_json, read_text, read_told, write_table
from dalenius.tables.workspace import Workspace, memory_of
from dalenius.wording import joined

FORMATS = {".csv": "csv", ".tsv": "tsv", ".parquet": "parquet", ".arrow": "arrow", ".feather": "arrow"}


def run(arguments: Namespace) -> None:
    if arguments.value:
        _one(arguments)
        return
    if not arguments.table or not arguments.output:
        raise InputError("say which table to release and where: apply DESIGN TABLE -o RELEASED; or --value VALUE")
    output = Path(arguments.output)
    kind = FORMATS.get(output.suffix.lower())
    if kind is None:
        raise InputError(
            f"{output.name}: released tables are written as {', '.join(FORMATS)}",
            do=f"Give the output another ending, such as {Path(output).stem}.csv.",
        )
    refuse_existing(output, force=arguments.force, inputs=map(Path, (arguments.design, arguments.table)))
    key = Key.from_file(arguments.key) if arguments.key else None
    document = read_json(arguments.design, "mechanism file")
    if isinstance(document, dict) and "format" not in document and "inputs" in document:
        _brought(arguments, channel_of(document), output, kind, key)
        return
    if arguments.keep:
        raise InputError(
            "--keep goes with a recipe of your own; a proof file says itself which columns go out as they are",
            do="Leave out --keep.",
        )
    with progress(arguments) as show:
        design = load(arguments.design)
        memory = memory_of(arguments.memory) if arguments.memory else Workspace.half_of_the_machine()
        space = Workspace(output.absolute().parent, memory)
        released, seen = apply(
            design, arguments.table, key=key, again=arguments.again, workspace=space, on_progress=show
        )
        columns = _written(arguments, released, seen, output, kind, design.problem.dialect)
    lines = [*words.seen(seen), f"Written: {output} ({many(released.rows, 'row')}: {', '.join(columns)})."]
    if arguments.beside:
        lines.append("  It holds the original records beside the drawn ones: as confidential as they are.")
    say(arguments, lines, {"rows": released.rows, "columns": columns, "seen": seen.to_json()})


def _written(
    arguments: Namespace, released: Released, seen: Audit, output: Path, kind: str, dialect: Dialect | None = None
) -> list[str]:
    """Write what was drawn, unless it contradicts what it was drawn from; the names of its columns."""
    seen.refuse_contradiction()
    original = open_table(arguments.table, dialect=dialect) if arguments.beside else None
    columns = released.columns if original is None else beside(original, released)
    with new_file(output, force=arguments.force, private=arguments.beside) as place:
        write_table(place, kind, columns)
    return list(columns)


def _brought(arguments: Namespace, channel: Kernel, output: Path, kind: str, key: Key | None) -> None:
    """Draw from a channel that somebody brings: first what it promises, then the table."""
    with progress(arguments) as show:
        released, seen, measured = apply_channel(
            channel, arguments.table, keep=arguments.keep, key=key, again=arguments.again, on_progress=show
        )
        columns = _written(arguments, released, seen, output, kind)
    lines = ["What this recipe promises, whoever made it:", *(f"  {line}" for line in audited(measured))]
    if arguments.keep:
        lines.append(f"  {_left(arguments.keep, counted=any(promise.secret for promise in measured.guarantees))}")
    lines += [*words.seen(seen), f"Written: {output} ({many(released.rows, 'row')}: {', '.join(columns)})."]
    say(
        arguments,
        lines,
        {"rows": released.rows, "columns": columns, "seen": seen.to_json(), "audit": measured.to_json()},
    )


def _left(kept: list[str], *, counted: bool) -> str:
    """What columns that leave as they are mean for the promises above."""
    one = len(kept) == 1
    leaves, them = ("leaves as it is", "it") if one else ("leave as they are", "them")
    what = "what it reveals" if one else "what they reveal"
    agreeing = f"between rows that agree in {them}"
    if counted:
        return f"{joined(kept)} {leaves}. The promises about single columns count {what}; all others are {agreeing}."
    return f"{joined(kept)} {leaves}. The promises above are {agreeing}; {what} about a column was not computed."


def _one(arguments: Namespace) -> None:
    """The released letters of one value. A card or a design is proved first, as far as it can be."""
    if arguments.table or arguments.output or arguments.beside:
        raise InputError("--value draws one value and prints it; it takes no table and no output")
    document = read_told(arguments.design, "mechanism file")
    if isinstance(document, dict) and "format" in document:
        checked(read_text(arguments.design, "mechanism file"), work=ENOUGH, privacy=True)
        document = document["channel"]
    channel = channel_of(document)
    if len(channel.inputs) == 1 and len(arguments.value) == 1:
        value = {next(iter(channel.inputs)): arguments.value[0]}
    else:
        pairs = [v.split("=", 1) for v in arguments.value]
        if any(len(pair) != 2 for pair in pairs) or len({pair[0] for pair in pairs}) != len(pairs):
            raise InputError(f"the recipe reads {', '.join(channel.inputs)}; say --value COLUMN=VALUE for each, once")
        value = {pair[0]: pair[1] for pair in pairs}
    key = Key.from_file(arguments.key) if arguments.key else None
    drawn = draw_value(channel, value, key=key)
    say(arguments, ["\t".join(drawn.values())], {"released": drawn})
