"""Travelling scripts run on a card and a table: in this process, as a program, or by R where it is."""

import contextlib
import io
import json
import shutil
import subprocess
import sys
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from dalenius.core import Channel, Pram
from dalenius.evidence import travelling
from dalenius.evidence.scripts import script

RSCRIPT = shutil.which("Rscript")
REGION, SEX = {"region": ("north", "Zürich", "(missing)")}, {"sex": ("f", "?")}
Q = (Fraction(3, 4), Fraction(2, 3), Fraction(1, 2))
ROWS = {"f,north": 400, "?,Zürich": 300, "f, ?": 200, "?,": 70, "f,Zürich": 90, "?,north": 150}
TABLE = "sex,region,job\n" + "".join(
    f"{row},farm\n" * (2 * n // 3) + f"{row},shop\n" * (n // 3) for row, n in ROWS.items()
)
ONE = Pram(REGION, REGION, Q)
DENSE = Channel(SEX, SEX, ((Fraction(9, 10), Fraction(1, 10)), (Fraction(1, 3), Fraction(2, 3))))


@cache
def has_jsonlite():
    done = subprocess.run([RSCRIPT, "-e", "library(jsonlite)"], capture_output=True) if RSCRIPT else None
    return done is not None and done.returncode == 0


HERE = "the modules of estimate.py in this process"


def called(arguments):
    """What a script does as a process of its own, done by its function."""
    out, err, code = io.StringIO(), io.StringIO(), 0
    with contextlib.redirect_stdout(out):
        try:
            travelling.main(arguments)
        except SystemExit as e:
            code, _ = 1, err.write(str(e.code))
    return code, out.getvalue().splitlines(), err.getvalue()


def runner(which, tmp_path):
    name = "estimate.py" if which == HERE else which
    if name == "estimate.R" and not has_jsonlite():
        pytest.skip("the reader for R is run where Rscript and jsonlite are installed")
    (tmp_path / name).write_text(script(name), encoding="utf-8")
    start = [sys.executable, "-I", "-S"] if name == "estimate.py" else [RSCRIPT]

    def run(card, table=TABLE, *further):
        (tmp_path / "card.json").write_text(json.dumps(card))
        (tmp_path / "released.csv").write_text(table, encoding="utf-8")
        files = [str(tmp_path / file) for file in (name, "card.json", "released.csv")]
        if which == HERE:
            return called([*files[1:], *further])
        done = subprocess.run([*start, *files, *further], capture_output=True, encoding="utf-8")
        return done.returncode, done.stdout.splitlines(), done.stderr

    run.folder, run.name = tmp_path, name
    return run


def lines(found):
    """Estimates of the library in the words of the scripts."""
    for x, p, low, high in zip(found.outcomes(), found.estimate, found.low, found.high, strict=True):
        named = ", ".join(f"{n}={v}" for n, v in zip(found.columns, x, strict=True))
        yield f"{named}\t{p:.6f} [{low:.6f}, {high:.6f}]"


def figure_words(figure):
    """A share, a difference or a ratio of the library in the words of the scripts."""
    if figure.whole:
        return "too uncertain to say"
    ends = f"[{figure.low:.6f}, {figure.high:.6f}]".replace("inf", "no limit")
    return ends if np.isnan(figure.estimate) else f"{figure.estimate:.6f} {ends}"


def coefficient_lines(fit):
    """A regression of the library in the words of the scripts."""
    said = [f"{name}\t{f.estimate:.6g} [{f.low:.6g}, {f.high:.6g}]" for name, f in fit.coefficients.items()]
    return [line.replace("-inf", "no limit").replace("inf", "no limit") for line in said]
