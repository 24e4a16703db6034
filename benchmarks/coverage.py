"""How often do intervals from a released table hold the truth?

    noise            two numeric columns with Laplace noise on their grids (made up, no file): means, variances, the
                     covariance and a regression with errors in variables
    demo FOLDER      the release of the main example in FOLDER (`make demo`), drawn anew again and again: shares of all
                     32 combinations by `dalenius estimate` (also of one and two columns), by estimate.py and, where
                     R is installed, by estimate.R
    adult FILE       six columns of Adult (UCI, not shipped), each drawn by randomised response of level 2: logistic
                     regression of income on the other five, linear regression of hours, a comparison of two groups
    records FILE     eight columns of Adult by whole records with a preserved law and nothing about income: two-way
                     shares and a linear regression from the card that shows no channel

For the demo also the root of the mean squared error of the estimates, and of the shares of the released rows as they
stand. For each figure the share of releases whose 95 % interval holds what the original table says; the table shows the
lowest and the highest over all figures of a kind. With 500 releases the standard error of such a share is 1 %. A figure
that no draw can change (its rows are never changed, and no others become them) is printed as known: its interval is one
point and always right. Such figures are counted apart, and the lowest and highest are over the others.

    python benchmarks/coverage.py demo release [--releases 500]
"""

import argparse
import contextlib
import io
import re
import runpy
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
from reporting import save

from dalenius import compare, estimate, load, regress, solve
from dalenius.core import (
    Distortion,
    Independent,
    MinimizeDistortion,
    Pmf,
    Problem,
)
from dalenius.measures.contrasts import Figure
from dalenius.measures.inversion import Factor, Seen, as_it_is
from dalenius.measures.moments import Moments
from dalenius.measures.regression import regressed
from dalenius.mechanisms.numbers.estimate import estimate_covariances, estimate_numbers
from dalenius.mechanisms.numbers.regression import regress_numbers

SEED = 1
TOGETHER = 50  # tables that R reads in one process
LINE = re.compile(r"^(.*)\t(-?[\d.]+) \[(-?[\d.]+), (-?[\d.]+)\]$")
Array = npt.NDArray[Any]


class Covered:
    """Counts, figure by figure, how often an interval was given and how often it held the truth."""

    def __init__(self) -> None:
        self.given: defaultdict[str, int] = defaultdict(int)
        self.held: defaultdict[str, int] = defaultdict(int)
        self.wide: defaultdict[str, float] = defaultdict(float)
        self.outside = 0
        self.squared: list[float] = []

    def add(self, name: str, figure: tuple[float, float, float], truth: float) -> None:
        """An estimate with both ends of its interval."""
        value, low, high = figure
        self.given[name] += 1
        self.held[name] += bool(low - 1e-6 <= truth <= high + 1e-6)
        self.wide[name] = max(self.wide[name], high - low)
        if not np.isnan(value):  # an interval without an estimate is one all the same
            self.outside += not low - 1e-6 <= value <= high + 1e-6
            self.squared.append((value - truth) ** 2)

    def row(self, kind: str, releases: int) -> dict[str, Any]:
        """One line of the table."""
        drawn = [name for name in self.given if self.wide[name] > 0]
        shares = [self.held[name] / self.given[name] for name in drawn]
        known = [name for name in self.given if name not in drawn]
        return {
            "kind": kind,
            "releases": releases,
            "figures": len(self.given),
            "known exactly": len(known),
            "of these wrong": len([name for name in known if self.held[name] < self.given[name]]),
            "told": round(sum(self.given.values()) / max(1, releases * len(self.given)), 3),
            "lowest": round(min(shares), 4),
            "mean": round(float(np.mean(shares)), 4),
            "highest": round(max(shares), 4),
            "estimates outside their interval": self.outside,
            "root mean squared error": round(float(np.sqrt(np.mean(self.squared))), 6),
        }


def demo(folder: Path, releases: int) -> list[dict[str, Any]]:
    """Shares of the main example by the command and by both scripts."""
    design = load(folder / "design.json")
    names = list(design.channel.inputs)
    counts = np.array(design.problem.pmf.marginal(names).every().tolist())
    rows = np.array([[float(v) for v in row] for row in design.channel.rows])
    rows /= rows.sum(axis=1)[:, None]
    ways = ("dalenius estimate", "dalenius estimate, one and two columns", "estimate.py", "estimate.R")
    found = {way: Covered() for way in ways}
    rng = np.random.default_rng(SEED)
    raw: list[float] = []
    with tempfile.TemporaryDirectory() as made:
        place = Path(made)
        for name in ("card.json", "card.about.json", "estimate.py", "estimate.R"):
            shutil.copy(folder / name, place)
        for first in range(0, releases, TOGETHER):
            tables = []
            for k in range(first, min(first + TOGETHER, releases)):
                seen = sum(rng.multinomial(n, row) for n, row in zip(counts, rows, strict=True))
                raw.append(float(np.mean(((seen - counts) / counts.sum()) ** 2)))
                tables.append(_written(place / f"released{k - first}.csv", design, seen))
            for table in tables:
                told = estimate(place / "card.json", table)
                outcomes = [", ".join(map("{}={}".format, names, x)) for x in told.outcomes()]
                truth = dict(zip(outcomes, counts / counts.sum(), strict=True))
                ends = zip(told.estimate, told.low, told.high, strict=True)
                for outcome, figure in zip(outcomes, ends, strict=True):
                    found["dalenius estimate"].add(outcome, figure, truth[outcome])
                _add_smaller(found["dalenius estimate, one and two columns"], place, table, design)
                _read(_by_python(place, table), found["estimate.py"], truth)
            _read(_by_r(place, tables), found["estimate.R"], truth)
    as_they_stand = round(float(np.sqrt(np.mean(raw))), 6)
    rows_found = [covered.row(f"demo, {how}", releases) for how, covered in found.items() if covered.given]
    return [row | {"the same of the released shares": as_they_stand} for row in rows_found]


def _add_smaller(covered: Covered, place: Path, table: Path, design: Any) -> None:
    """Shares of every column and of every two columns, against those of the original table."""
    names = list(design.channel.inputs)
    for few in (*combinations(names, 1), *combinations(names, 2)):
        told = estimate(place / "card.json", table, columns=few)
        counts = np.array(design.problem.pmf.marginal(few).every().tolist())
        ends = zip(told.outcomes(), told.estimate, told.low, told.high, counts / counts.sum(), strict=True)
        for outcome, value, low, high, truth in ends:
            covered.add(", ".join(map("{}={}".format, few, outcome)), (value, low, high), truth)


def _by_python(place: Path, table: Path) -> str:
    """What estimate.py prints, run as a program in this process."""
    said, before = io.StringIO(), sys.argv
    sys.argv = ["estimate.py", str(place / "card.json"), str(table)]
    try:
        with contextlib.redirect_stdout(said):
            runpy.run_path(str(place / "estimate.py"), run_name="__main__")
    finally:
        sys.argv = before
    return said.getvalue()


def _by_r(place: Path, tables: list[Path]) -> str:
    """What estimate.R prints for several tables, run as a program in one process; nothing where R is not installed."""
    if shutil.which("Rscript") is None:
        return ""
    loop = 'for (table in commandArgs(TRUE)) { commandArgs <- function(...) c("card.json", table)\n'
    (place / "all.R").write_text(loop + 'source("estimate.R", local = new.env(parent = environment())) }\n')
    command = ["Rscript", "all.R", *(table.name for table in tables)]
    return subprocess.run(command, cwd=place, capture_output=True, text=True, check=True).stdout


def _read(said: str, covered: Covered, truth: dict[str, float]) -> None:
    """The lines of a script with an interval."""
    for line in said.splitlines():
        if match := LINE.match(line):
            value, low, high = map(float, match.groups()[1:])
            covered.add(match[1], (value, low, high), truth[match[1]])


def _written(path: Path, design: Any, seen: Array) -> Path:
    """A released table with so many rows of each combination."""
    letters = list(design.channel.output.values())
    codes = np.stack(np.unravel_index(np.arange(len(seen)), [len(a) for a in letters]), axis=1)
    lines = [",".join(letters[j][c] for j, c in enumerate(row)) + "\n" for row in codes.tolist()]
    body = "".join(line * int(n) for line, n in zip(lines, seen, strict=True))
    path.write_text(",".join(design.channel.output) + "\n" + body, encoding="utf-8")
    return path


def six_columns(path: str) -> pd.DataFrame:
    """Six columns of Adult in few letters."""
    raw = pd.read_csv(path, skipinitialspace=True)
    return pd.DataFrame(
        {
            "income": np.where(raw.Income.str.startswith(">"), "high", "low"),
            "sex": raw.Sex.str.lower(),
            "age": pd.cut(raw.Age, [0, 30, 45, 60, 200], labels=["25", "38", "52", "68"]).astype(str),
            "hours": pd.cut(raw.HoursPerWeek, [0, 34, 45, 200], labels=["20", "40", "55"]).astype(str),
            "school": pd.cut(raw.EducationNum, [0, 8, 10, 12, 20], labels=["6", "9", "11", "14"]).astype(str),
            "married": np.where(raw.MaritalStatus.str.startswith("Married"), "yes", "no"),
        }
    )


def adult(path: str, releases: int) -> list[dict[str, Any]]:
    """Regressions and a comparison from six columns that were each drawn by randomised response."""
    table = six_columns(path)
    letters = {name: tuple(sorted(set(column))) for name, column in table.items()}
    codes = np.stack([pd.Categorical(table[n], categories=letters[n]).codes for n in letters], axis=1).astype(int)
    shape = tuple(len(a) for a in letters.values())
    keep = {n: np.exp(2) / (np.exp(2) + len(a) - 1) for n, a in letters.items()}
    factors = []
    for n, a in letters.items():
        matrix = np.full((len(a), len(a)), (1 - keep[n]) / (len(a) - 1))
        np.fill_diagonal(matrix, keep[n])
        factors.append(Factor({n: a}, {n: a}, dense=matrix))
    rng = np.random.default_rng(SEED)
    kinds = {"logistic": Covered(), "linear": Covered()}

    def counted(rows: Array) -> Seen:
        return Seen.of(
            np.bincount(np.ravel_multi_index(tuple(rows.T), shape), minlength=int(np.prod(shape))).reshape(shape)
        )

    def fits(told: Moments) -> dict[str, Any]:
        five = ["sex", "age", "hours", "school", "married"]
        return {
            "logistic": regressed(told, "income", five, value="high", numbers=["age", "school"]),
            "linear": regressed(told, "hours", ["income", "sex", "age", "married"], numbers=["age"]),
        }

    truth = fits(Moments([as_it_is(n, a) for n, a in letters.items()], counted(codes)))
    for _ in range(releases):
        drawn = codes.copy()
        for j, (n, a) in enumerate(letters.items()):
            moved = rng.random(len(codes)) >= keep[n]
            drawn[moved, j] = (codes[moved, j] + rng.integers(1, len(a), moved.sum())) % len(a)
        for kind, fit in fits(Moments(factors, counted(drawn))).items():
            for name, figure in fit.coefficients.items():
                k = fit.names.index(name)
                kinds[kind].add(name, (figure.estimate, figure.low, figure.high), float(truth[kind].estimate[k]))
    return [covered.row(f"adult, randomised response, {kind}", releases) for kind, covered in kinds.items()]


def records(path: str, releases: int) -> list[dict[str, Any]]:
    """Shares, a comparison and a regression from whole records with a preserved law."""
    table = six_columns(path)
    raw = pd.read_csv(path, skipinitialspace=True)
    table = table.assign(race=raw.Race, relationship=raw.Relationship, workclass=raw.Workclass)
    names = [n for n in table if n != "income"]
    variables = {n: tuple(sorted(set(table[n]))) for n in table}
    codes = np.stack([pd.Categorical(table[n], categories=variables[n]).codes for n in table], axis=1).astype(int)
    problem = Problem(
        observe=(*names, "income"),
        release=tuple(names),
        form="records",
        preserve_marginals=True,
        objective=MinimizeDistortion(
            Distortion.sum_of([Distortion("hamming", (n,), weight=Fraction(1)) for n in names])
        ),
        guarantees=(Independent(("income",)),),
        joint=Pmf.from_counts(variables, codes, [1] * len(codes)),
    )
    design = solve(problem)
    channel = design.channel
    rng = np.random.default_rng(SEED)
    order = [list(variables).index(n) for n in channel.inputs]
    place = {x: k for k, x in enumerate(channel.read)}
    inputs = np.array([place[tuple(row)] for row in codes[:, order].tolist()])
    # All rows end to end, row e between e and e + 1: one search draws a whole table.
    ends = np.concatenate([e + np.cumsum(weights) / sum(weights) for e, (_, weights) in enumerate(channel.lines)])
    ends[np.cumsum([len(places) for places, _ in channel.lines]) - 1] = np.arange(1, len(channel.lines) + 1)
    becomes = np.concatenate([places for places, _ in channel.lines]).astype(int)
    out = np.array(channel.records)
    kinds = {"two-way shares": Covered(), "linear": Covered(), "comparison": Covered()}

    def told(rows: Array) -> dict[str, Any]:
        frame = pd.DataFrame({n: np.array(variables[n])[rows[:, j]] for j, n in enumerate(names)})
        released = pa.Table.from_pandas(frame, preserve_index=False)
        cells = estimate(design, released, columns=["school", "married"])
        fit = regress(design, released, "hours", ["sex", "age", "married"], numbers=["age"])
        groups = compare(design, released, {"hours": "55"}, [{"sex": "male"}, {"sex": "female"}])
        figures = {"two-way shares": {}, "linear": fit.coefficients, "comparison": groups}
        ends = zip(cells.outcomes(), cells.estimate, cells.low, cells.high, strict=True)
        figures["two-way shares"] = {" / ".join(x): (v, a, b) for x, v, a, b in ends}
        return figures

    original = codes[:, [list(variables).index(n) for n in names]]
    truth = told(original)
    for _ in range(releases):
        drawn = becomes[np.searchsorted(ends, inputs + rng.random(len(inputs)), side="right")]
        for kind, figures in told(out[drawn]).items():
            for name, figure in figures.items():
                value = figure if isinstance(figure, tuple) else (figure.estimate, figure.low, figure.high)
                exact = truth[kind][name]
                kinds[kind].add(name, value, exact[0] if isinstance(exact, tuple) else exact.estimate)
    return [covered.row(f"records, preserved law, {kind}", releases) for kind, covered in kinds.items()]


def noise(releases: int) -> list[dict[str, Any]]:
    """Means, variances, a covariance and a regression of two columns with Laplace noise."""
    rng = np.random.default_rng(SEED)
    x = rng.binomial(20, 0.4, 4000)
    y = np.clip(x // 2 + rng.integers(0, 6, x.size), 0, 15)
    letters = {"x": tuple(map(str, range(21))), "y": tuple(map(str, range(16)))}
    joint = Pmf.from_counts(letters, np.stack([x, y], axis=1), [1] * x.size)
    document = {
        "mechanism": {"observe": ["x", "y"], "release": ["x", "y"], "form": "noise", "noise": "laplace"},
        "objective": {"minimize": {"distortion": "squared", "of": ["x", "y"]}},
        "guarantee": [{"local_dp": "24"}],
    }
    design = solve(Problem.from_document(document, joint=joint))
    channel = design.channel
    spread = np.cov(x, y)
    slope = spread[0, 1] / spread[0, 0]
    truth = {"mean of x": x.mean(), "mean of y": y.mean(), "slope": slope, "start": y.mean() - slope * x.mean()}
    truth |= {"variance of x": spread[0, 0], "variance of y": spread[1, 1], "covariance": spread[0, 1]}
    found = {"means, variances and covariance": Covered(), "linear": Covered()}
    for _ in range(releases):
        released = pa.table({n: _with_noise(channel, j, v, rng) for j, (n, v) in enumerate({"x": x, "y": y}.items())})
        figures = {"covariance": estimate_covariances(channel, released)["x", "y"]}
        for told in estimate_numbers(channel, released):
            figures[f"mean of {told.column}"] = Figure(told.mean, *told.mean_interval)
            figures[f"variance of {told.column}"] = Figure(told.variance, *told.variance_interval)
        fit = regress_numbers(channel, released, "y", ["x"])
        for kind, own in (
            ("means, variances and covariance", figures),
            ("linear", dict(zip(("start", "slope"), fit.coefficients.values(), strict=True))),
        ):
            for name, figure in own.items():
                found[kind].add(name, (figure.estimate, figure.low, figure.high), float(truth[name]))
    return [covered.row(f"Laplace noise, {kind}", releases) for kind, covered in found.items()]


def _with_noise(channel: Any, column: int, places: Array, rng: np.random.Generator) -> list[str]:
    """The released numbers of one column: its place plus the noise of its axis, collected at the ends."""
    axis = channel.axes[column]
    law = np.array([*axis.weights[:0:-1], *axis.weights], dtype=float)
    steps = rng.choice(np.arange(1 - len(axis.weights), len(axis.weights)), size=len(places), p=law / law.sum())
    letters = np.array(list(channel.output.values())[column])
    return list(letters[np.clip(places + steps, axis.low, axis.high) - axis.low])


def main() -> None:
    reader = argparse.ArgumentParser(description="How often do intervals from a released table hold the truth?")
    reader.add_argument("what", choices=["demo", "adult", "records", "noise"])
    reader.add_argument("path", nargs="?", default="")
    reader.add_argument("--releases", type=int, default=500)
    asked = reader.parse_args()
    ways = {"demo": lambda: demo(Path(asked.path), asked.releases), "adult": lambda: adult(asked.path, asked.releases)}
    ways |= {"records": lambda: records(asked.path, asked.releases), "noise": lambda: noise(asked.releases)}
    rows = ways[asked.what]()
    for row in rows:
        print(" ".join(f"{key} {value};" for key, value in row.items()))
    save(f"coverage_{asked.what}", "How often do 95 % intervals from a released table hold the truth?", rows, seed=SEED)


if __name__ == "__main__":
    main()
