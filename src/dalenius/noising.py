"""Numbers released with noise, from a table to a folder: read, design, prove, draw exactly, prove again, write."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from dalenius.certify import check
from dalenius.core import (
    Column,
    Distortion,
    Grid,
    Leakage,
    LocalDP,
    MinimizeDistortion,
    MinimizeLeakage,
    Problem,
    TableSource,
)
from dalenius.designs.noise import MECHANISMS, NoiseDesign, NoiseWanted, add_noise
from dalenius.errors import InputError, TableError, Unsupported
from dalenius.outputs import new_folder, refuse_existing, write_text
from dalenius.sampling import Key, Stream, permutation
from dalenius.sampling.noise import NoiseSampler
from dalenius.tables import base_of, encode, open_table, released_name, write_table

__all__ = ["NoisyRelease", "grid_of", "noisy_problem", "release_numbers"]

FORMS = MECHANISMS[:3]  # that a problem file may name


@dataclass(frozen=True)
class NoisyRelease:
    """What a release of numbers produced."""

    design: NoiseDesign
    folder: Path
    rows: int


def grid_of(low: Fraction, high: Fraction, step: Fraction) -> Grid:
    """A grid whose last point is `high`; anything else is refused.

    >>> len(grid_of(Fraction(0), Fraction(10), Fraction(1, 2)).points())
    21
    """
    if step <= 0 or high < low:
        raise InputError("a grid needs step > 0 and high >= low")
    if ((high - low) / step).denominator != 1:
        raise InputError(f"the step {step} does not divide the range from {low} to {high}; noise needs whole steps")
    if (high - low) / step > 10**6:
        raise InputError("a grid of more than a million points; take a larger step")
    return Grid(low, high, step)


def release_numbers(
    table: Any,
    columns: Mapping[str, Grid],
    wanted: NoiseWanted,
    folder: str | Path,
    *,
    key: Key | None = None,
    keep_order: bool = False,
    force: bool = False,
    on_progress: Callable[[str], None] | None = None,
) -> NoisyRelease:
    """Draw noisy columns of a table into a folder with the design (confidential) and the card (public).

    Every figure is proved before anything is drawn, from the text that is written. The words of a draw depend on the
    key, the design, the table and the row alone; rows are shuffled by the key unless their order is kept.
    """
    folder = Path(folder)
    refuse_existing(folder, force=force)
    for name, grid in columns.items():
        try:
            grid_of(grid.low, grid.high, grid.step)
        except InputError as e:
            raise InputError(f"column {name!r}: {e}") from None
    source = open_table(table)
    try:
        coded = encode(source, {name: Column(grid=grid) for name, grid in columns.items()}, list(columns))
    except TableError as e:
        if "the value is missing" not in str(e):
            raise
        where = str(e).split(": the value is missing")[0]
        raise TableError(
            f"{where}: the value is missing; noise needs a number in every record: drop such records or fill them in"
        ) from None
    say = on_progress or (lambda _: None)
    say("designing")
    design = add_noise({name: (grid, coded.codes[name]) for name, grid in columns.items()}, wanted)
    text = json.dumps(design.document, indent=1, ensure_ascii=False) + "\n"
    say("proving")
    check(text)
    say("drawing")
    secret, parts = key or Key.fresh(), ("noise", text, coded.digest())
    drawn = {}
    for channel in design.channels:
        (name,) = channel.output
        stream = Stream(secret.derive("draw", *parts, name))
        drawn[name] = (NoiseSampler(channel).draw(coded.codes[name], stream), tuple(channel.output[name]))
    if not keep_order:
        order = permutation(Stream(secret.derive("order", *parts)), coded.rows)
        drawn = {name: (codes[order], letters) for name, (codes, letters) in drawn.items()}
    with new_folder(folder, force=force) as place:
        write_text(place / "design.json", text, private=True)
        write_text(place / "card.json", json.dumps(design.card(), indent=1, ensure_ascii=False) + "\n")
        write_table(place / released_name(source.format), source.format, drawn)
    return NoisyRelease(design, folder, coded.rows)


def noisy_problem(problem: Problem) -> tuple[Any, dict[str, Grid], NoiseWanted]:
    """Table, grids and what is asked, of a problem file whose form is a noise mechanism; what it cannot say is refused.

    Least leakage under a limit of the squared distortion, or least distortion under one promise.
    """
    if problem.form not in FORMS or problem.observe != problem.release:
        raise Unsupported('noise releases the columns that it observes, with form = "shrinkage", "gaussian", "laplace"')
    for name in ("keep", "strata", "forbid", "freeze", "preserve_marginals", "side_information"):
        if getattr(problem, name):
            raise Unsupported(f"noise on a grid does not take {name}")
    grids = {}
    for name in problem.observe:
        column = problem.columns.get(name)
        if column is None or column.grid is None or column.missing != "refuse":
            raise Unsupported(
                f"noise needs [columns.{name}] with grid = {{ low, high, step }} and without missing values"
            )
        grids[name] = column.grid
    source, goal = problem.source, problem.objective
    if not isinstance(source, TableSource) or source.unit != "row" or source.prior or source.weights:
        raise Unsupported("noise is drawn for the rows of a table, without unit, prior and weights")
    asked: dict[str, Any] = {"mechanism": problem.form}
    if isinstance(goal, MinimizeLeakage) and len(problem.limits) == 1 and not problem.guarantees:
        asked["distortion"] = _squared(problem, problem.limits[0]).at_most
    elif isinstance(goal, MinimizeDistortion) and len(problem.guarantees) == 1 and not problem.limits:
        _squared(problem, goal.measure)
        promise = problem.guarantees[0]
        if isinstance(promise, Leakage) and set(promise.secret) == set(problem.observe):
            asked["leakage_bits"] = promise.at_most_bits
        elif isinstance(promise, LocalDP) and promise.metric is None:
            asked |= {"epsilon": promise.epsilon, "delta": promise.delta or None}
        else:
            raise Unsupported("noise is calibrated to leakage about the released columns, or to local_dp")
    else:
        raise Unsupported(
            "noise minimises leakage under one limit of squared distortion, or squared distortion under one promise"
        )
    return base_of(problem) / source.table, grids, NoiseWanted(**asked)


def _squared(problem: Problem, measure: Distortion) -> Distortion:
    if measure.distortion != "squared" or set(measure.of) != set(problem.observe):
        raise Unsupported('noise is measured by distortion = "squared" of all released columns')
    return measure
