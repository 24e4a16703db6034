"""The main job on a real table: from the RAND Health Insurance Experiment to a certified release.

    python examples/rand_health/demo.py FOLDER

The table ships inside statsmodels: 20,190 person-years of an experiment that gave families different insurance plans.
"""

import shutil
import sys
from pathlib import Path

import pyarrow.csv

from dalenius.cli import main

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from rand import rand_health  # noqa: E402


def demo(folder: Path) -> int:
    """Prepare the table, release it, check the certificate as a stranger would, and draw the curve."""
    folder.mkdir(parents=True, exist_ok=True)
    table = rand_health().select(["health", "plan", "visits", "illnesses"])
    pyarrow.csv.write_csv(table, folder / "rand.csv")
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
