"""Demographic parity for several attributes at once, on a real table, and what it does not promise, in numbers.

    python examples/parity/demo.py FOLDER

The table is the RAND Health Insurance Experiment as it ships inside statsmodels: 20,190 person-years.
"""

import shutil
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv

from dalenius import Design, load
from dalenius.cli import main
from dalenius.measures import conditional_mutual_information, mutual_information

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from rand import rand_health  # noqa: E402

PROTECTED = ("health", "plan", "limited")


def with_outcome(table: pa.Table) -> pa.Table:
    """The protected attributes, and whether somebody went to the doctor often."""
    often = np.where(table["visits"].to_numpy() >= 3, "yes", "no")
    return table.select(PROTECTED).append_column("often", pa.array(often))


def figures(design: Design) -> dict[str, float]:
    """What the score tells in bits: about the outcome, each attribute, several, and beside another column."""
    joint = design.channel.after(design.problem.pmf)
    told = {"I(often; score)": mutual_information(joint, ["often"], ["score"])}
    for name in PROTECTED:
        told[f"I({name}; often), without any score"] = mutual_information(joint, [name], ["often"])
        told[f"I({name}; score)"] = mutual_information(joint, [name], ["score"])
    for one, two in (("health", "plan"), ("health", "limited"), ("plan", "limited")):
        told[f"I({one}, {two}; score) jointly"] = mutual_information(joint, [one, two], ["score"])
    told["I(health, plan, limited; score) jointly"] = mutual_information(joint, list(PROTECTED), ["score"])
    for name, other in (("health", "plan"), ("plan", "health"), ("limited", "health")):
        told[f"I({name}; score | {other}), knowing {other}"] = conditional_mutual_information(
            joint, [name], ["score"], [other]
        )
    for name in PROTECTED:
        told[f"I({name}; score | often), among people alike in the outcome"] = conditional_mutual_information(
            joint, [name], ["score"], ["often"]
        )
    return told


def demo(folder: Path) -> int:
    """Prepare the table, release the score, check the certificate, and print what is and what is not promised."""
    folder.mkdir(parents=True, exist_ok=True)
    pa.csv.write_csv(with_outcome(rand_health()), folder / "rand.csv")
    shutil.copy(HERE / "problem.toml", folder / "problem.toml")
    problem, out = str(folder / "problem.toml"), folder / "release"
    if code := main(["release", problem, "-o", str(out), "--force"]):
        return code
    if code := main(["verify", str(out / "design.json"), "--table", str(folder / "rand.csv"), "--problem", problem]):
        return code
    print("\nIn bits, for a row drawn at random from this table:")
    for what, bits in figures(load(out / "design.json")).items():
        print(f"  {bits:.6f}  {what}")
    return 0


if __name__ == "__main__":
    sys.exit(demo(Path(sys.argv[1] if len(sys.argv) > 1 else "parity-demo")))
