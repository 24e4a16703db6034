"""Perfect privacy on a real table: a released column that tells exactly nothing about health and about the plan.

    python examples/disclosure/demo.py FOLDER

The table ships inside statsmodels: 20,190 person-years of an experiment that gave families different insurance plans.
"""

import shutil
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv

from dalenius.cli import main

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from rand import rand_health  # noqa: E402


def in_groups(table: pa.Table) -> pa.Table:
    """Health, plan, and the visits in four groups."""
    often = np.array(["none", "1-2", "3-6", "7 or more"])[np.digitize(table["visits"].to_numpy(), [1, 3, 7])]
    return table.select(["health", "plan"]).append_column("visits", pa.array(often))


def demo(folder: Path) -> int:
    """Prepare the table, release it, and check the certificate as a stranger would."""
    folder.mkdir(parents=True, exist_ok=True)
    table = in_groups(rand_health())
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
