"""The main job on a real table: from the RAND Health Insurance Experiment to a certified release.

    python examples/rand_health/demo.py FOLDER

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
    return pa.table({"health": health, "plan": plan, "visits": column["mdvis"], "illnesses": column["disea"]})


def demo(folder: Path) -> int:
    """Prepare the table, release it, check the certificate as a stranger would, and draw the curve."""
    folder.mkdir(parents=True, exist_ok=True)
    source = files("statsmodels.datasets.randhie").joinpath("randhie.csv")
    with source.open("rb") as file:
        table = readable(pa.csv.read_csv(file))
    pa.csv.write_csv(table, folder / "rand.csv")
    shutil.copy(HERE / "problem.toml", folder / "problem.toml")
    print(f"The table: {len(table):,} person-years; health, plan, visits, illnesses.")
    print("Wanted: plan, visits and illnesses of everybody, changed as little as possible, and at most 0.01 bits about")
    print("anybody's health. A promise here is about one person-year.\n")
    problem, out, curve = str(folder / "problem.toml"), folder / "release", folder / "curve"
    if code := main(["release", problem, "-o", str(out), "--force"]):
        return code
    print("\nChecked again from the files alone:")
    if code := main(["verify", str(out / "design.json"), "--table", str(folder / "rand.csv"), "--problem", problem]):
        return code
    print("\nWhat other limits would cost:")
    return main(["tradeoff", problem, "--points", "20", "-o", str(curve), "--force"])


if __name__ == "__main__":
    sys.exit(demo(Path(sys.argv[1] if len(sys.argv) > 1 else "demo")))
