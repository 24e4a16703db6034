"""`dalenius noise`"""

from argparse import Namespace
from math import inf
from typing import Any

from dalenius.cli.terminal import progress, say
from dalenius.core import Grid
from dalenius.core.numbers import down, exact, up
from dalenius.designs.noise import NoiseWanted
from dalenius.errors import InputError
from dalenius.noising import NoisyRelease, grid_of, release_numbers
from dalenius.sampling import Key


def run(arguments: Namespace) -> None:
    if len(arguments.column) != len(arguments.grid):
        raise InputError("say --grid low:high:step once for each --column, in the same order")
    if len(set(arguments.column)) != len(arguments.column):
        raise InputError("a column is named twice")
    columns = dict(zip(arguments.column, map(_grid, arguments.grid), strict=True))
    if arguments.clip and len(arguments.clip) != len(columns):
        raise InputError("say --clip low:high once for each --column, in the same order")
    clip = {name: _numbers(text, 2, "--clip low:high") for name, text in zip(columns, arguments.clip, strict=False)}
    share = arguments.distortion and arguments.distortion.endswith("%")
    number = {k: exact(v, f"--{k}") if v else None for k, v in vars(arguments).items() if k in ("epsilon", "delta")}
    wanted = NoiseWanted(
        arguments.mechanism,
        distortion=exact(arguments.distortion, "--distortion") if arguments.distortion and not share else None,
        share=exact(arguments.distortion[:-1], "--distortion") / 100 if share else None,
        leakage_bits=exact(arguments.leakage_bits, "--leakage-bits") if arguments.leakage_bits else None,
        p=inf if arguments.p == "inf" else float(exact(arguments.p, "--p")),
        clip={name: (low, high) for name, (low, high) in clip.items()} or None,
        **number,
    )
    key = Key.from_file(arguments.key) if arguments.key else Key.fresh()
    with progress(arguments) as show:
        outcome = release_numbers(
            arguments.table,
            columns,
            wanted,
            arguments.output,
            key=key,
            keep_order=arguments.order == "keep",
            force=arguments.force,
            on_progress=(lambda words: show(words, None, None)) if show else None,
        )
    tell(arguments, outcome)


def tell(arguments: Namespace, outcome: NoisyRelease) -> None:
    """The answer, in words or as JSON."""
    document = dict(outcome.design.document)
    files = sorted(f.name for f in outcome.folder.iterdir())
    lines = ["Proved:", *(f"  {line}" for line in words(document))]
    lines += [f"Note: {remark}." for remark in document["remarks"]]
    lines += [
        f"Written: {outcome.folder}/ with {', '.join(files)} ({outcome.rows:,} rows).",
        "  design.json is confidential; card.json proves what holds for every distribution.",
    ]
    kept = {k: document[k] for k in ("mechanism", "promised", "proved", "remarks")}
    kept["columns"] = {next(iter(c["channel"]["inputs"])): c["claimed"] for c in document["columns"]}
    say(arguments, lines, kept | {"folder": str(outcome.folder), "files": files, "rows": outcome.rows})


def words(document: dict[str, Any]) -> list[str]:
    """Sentences about the figures of a noise document; each is rounded against us."""
    shown, told = document["proved"], []

    def bits(key: str) -> str:
        return f"{up(exact(shown[key]), 4)} bits"

    told.append(f"{document['mechanism']}: a record of this table tells at most {bits('leakage_bits')} about itself.")
    told.append(f"Any distribution on the declared range: at most {bits('capacity_bits')} about a record.")
    told.append(f"Any distribution of the same variance, on any range: at most {bits('variance_bits')}.")
    reached, worst = (up(exact(shown[k]), 3) for k in ("distortion", "worst_distortion"))
    told.append(f"Expected squared error {reached} over the records; {worst} for the worst number of the range.")
    if shown["epsilon_nats"] is not None:
        told.append(
            f"Local differential privacy over the declared range: epsilon {up(exact(shown['epsilon_nats']), 6)}."
        )
    if "delta" in shown:
        told.append(f"At epsilon {document['epsilon']}: delta {float(exact(shown['delta'])):.3g}.")
    for entry in document["columns"]:
        channel, (name,) = entry["channel"], entry["channel"]["inputs"]
        letters = channel["output"][name]
        told.append(
            f"{name}: released on {letters[0]} to {letters[-1]} ({len(letters):,} numbers); what falls outside is "
            f"collected at the ends. Of its distance from the centre {down(100 * exact(channel['keep']), 2)} % is kept."
        )
        if "least_capacity_bits" in entry["claimed"]:
            told.append(
                f"{name}: no noise within the same limit and reach has a capacity below "
                f"{down(exact(entry['claimed']['least_capacity_bits']), 8)} bits."
            )
    return told


def _grid(text: str) -> Grid:
    return grid_of(*_numbers(text, 3, "--grid low:high:step"))


def _numbers(text: str, many: int, usage: str) -> list[Any]:
    parts = text.split(":")
    if len(parts) != many:
        raise InputError(f"{text!r} is not {usage}")
    return [exact(part, usage) for part in parts]
