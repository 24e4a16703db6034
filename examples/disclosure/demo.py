"""Perfect privacy on a real table: a released column that tells exactly nothing about health and about the plan.

    python examples/disclosure/demo.py FOLDER

The table ships inside statsmodels: 20,190 person-years of an experiment that gave families different insurance plans.
"""

import shutil
import sys
from importlib.resources import files
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv

from dalenius.cli import main

HERE = Path(__file__).parent


def readable(raw: pa.Table) -> pa.Table:
    """Columns that people can read, from the coded ones of the experiment."""
    column = {name: raw[name].to_numpy() for name in raw.column_names}
    fair_or_poor = (column["hlthf"] == 1) | (column["hlthp"] == 1)
    health = np.select([fair_or_poor, column["hlthg"] == 1], ["fair or poor", "good"], "excellent")
    plan = np.where(column["lncoins"] == 0, "free care", "cost sharing")  # logarithm of the coinsurance rate plus one
    visits = np.array(["none", "1-2", "3-6", "7 or more"])[np.digitize(column["mdvis"], [1, 3, 7])]
    return pa.table({"health": health, "plan": plan, "visits": visits})


def demo(folder: Path) -> int:
    """Prepare the table, release it, and check the certificate as a stranger would."""
    folder.mkdir(parents=True, exist_ok=True)
    source = files("statsmodels.datasets.randhie").joinpath("randhie.csv")
    with source.open("rb") as file:
        table = readable(pa.csv.read_csv(file))
    pa.csv.write_csv(table, folder / "rand.csv")
    shutil.copy(HERE / "problem.toml", folder / "problem.toml")
    print(f"The table: {len(table):,} person-years; health, plan, visits. A promise here is about one person-year.\n")
    problem, out = str(folder / "problem.toml"), folder / "release"
    if code := main(["release", problem, "-o", str(out), "--force"]):
        return code
    print("\nChecked again from the files alone:")
    return main(["verify", str(out / "design.json"), "--table", str(folder / "rand.csv"), "--problem", problem])


if __name__ == "__main__":
    sys.exit(demo(Path(sys.argv[1] if len(sys.argv) > 1 else "disclosure-demo")))
