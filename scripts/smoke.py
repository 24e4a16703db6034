"""A smoke test of an installed wheel: the main walk in an empty folder, by the command line alone.

    python scripts/smoke.py DALENIUS    # the path of the installed command

Makes a small table, releases it, re-proves the design with the package and with the exported checker, and sees a
spoilt design refused. Prints one line and exits 0, or shows the command that failed.
"""

import csv
import random
import subprocess
import sys
import tempfile
from pathlib import Path

PROBLEM = """[source]
table = "people.csv"
[columns.health]
values = ["good", "poor"]
[columns.visits]
values = ["few", "some", "many"]
[mechanism]
observe = ["visits"]
release = ["visits"]
[objective]
minimize = { distortion = "hamming", of = ["visits"] }
[[guarantee]]
leakage = ["health"]
at_most_bits = "1/50"
"""


def run(*command: str, expected: int = 0, folder: Path) -> str:
    """What a command prints; its exit code must be the expected one."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != expected:
        sys.exit(f"{' '.join(command)}: exit {done.returncode} instead of {expected}\n{done.stdout}{done.stderr}")
    return done.stdout


def main(dalenius: str) -> None:
    """The walk."""
    python = sys.executable
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        chance = random.Random(1)
        with (folder / "people.csv").open("w", newline="", encoding="utf-8") as file:
            table = csv.writer(file)
            table.writerow(["health", "visits"])
            for _ in range(2000):
                poor = chance.random() < 0.3
                often = [1, 2, 4] if poor else [4, 2, 1]
                table.writerow(["poor" if poor else "good", *chance.choices(["few", "some", "many"], often)])
        (folder / "problem.toml").write_text(PROBLEM, encoding="utf-8")
        run(dalenius, "release", "problem.toml", "-o", "release", folder=folder)
        run(dalenius, "verify", "release/design.json", "--table", "people.csv", folder=folder)
        run(dalenius, "verify", "--export", "verifier.py", folder=folder)
        run(python, "-I", "-S", "verifier.py", "release/design.json", folder=folder)
        honest = (folder / "release" / "design.json").read_text(encoding="utf-8")
        (folder / "spoilt.json").write_text(honest.replace('"1/50"', '"1/5000"'), encoding="utf-8")
        run(dalenius, "verify", "spoilt.json", expected=4, folder=folder)
        run(python, "-I", "-S", "verifier.py", "spoilt.json", expected=4, folder=folder)
    print(f"smoke test passed on Python {sys.version.split()[0]}")


if __name__ == "__main__":
    main(sys.argv[1])
