"""How much processor time does a whole release of 1,080 combinations take, against older sources in the same run?

Six ages, occupation, relationship and sex of UCI Adult as one recipe: least leakage about income with a fifth of the
rows changed, and the fewest changes with a fiftieth of a bit. The table does not come with the project. Older sources
are a folder with the package in it, as `git archive COMMIT src | tar -x -C FOLDER` leaves it in FOLDER/src.

    python benchmarks/adult.py TABLE [OLDER_SOURCES ...]
"""

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from reporting import as_installed

COLUMNS = '["Age", "Occupation", "Relationship", "Sex"]'
READ = '[source]\ntable = "{table}"\n[columns.Age]\ncuts = [25, 35, 45, 55, 65]\n' + "".join(
    f'[columns.{name}]\nvalues = "from-table"\n{more}'
    for name, more in (("Income", ""), ("Occupation", 'missing = "category"\n'), ("Relationship", ""), ("Sex", ""))
)
MECHANISM = f"[mechanism]\nobserve = {COLUMNS}\nrelease = {COLUMNS}\n"
ASKED = {
    "least leakage": '[objective]\nminimize = { leakage = ["Income"] }\n'
    f'[[limit]]\ndistortion = "hamming"\nof = {COLUMNS}\nat_most = 0.2\n',
    "fewest changes": f'[objective]\nminimize = {{ distortion = "hamming", of = {COLUMNS} }}\n'
    '[[guarantee]]\nleakage = ["Income"]\nat_most_bits = 0.02\n',
}
ACCEPTED = ("small-combinations", "small-cells")  # as it is called now, and as it was called


def released(problem: Path, folder: Path, sources: str | None) -> float | None:
    """CPU seconds of `dalenius release` as a process; None where it did not end well."""
    environment = as_installed() | ({"PYTHONPATH": sources} if sources else {})
    for accepted in ACCEPTED:
        command = [sys.executable, "-m", "dalenius", "release", str(problem), "-o", str(folder)]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(
            [*command, "--accept", accepted, "--seconds", "3000"], capture_output=True, text=True, env=environment
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if not done.returncode:
            return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(done.stderr.strip().splitlines()[-1][:200])
    return None


def main() -> None:
    if len(sys.argv) < 2:
        print(__doc__)
        return
    table, *older = (os.path.abspath(name) for name in sys.argv[1:])
    for name, asked in ASKED.items():
        for sources in (None, *older):
            with tempfile.TemporaryDirectory() as place:
                problem = Path(place) / "problem.toml"
                problem.write_text(READ.format(table=table) + MECHANISM + asked)
                spent = released(problem, Path(place) / "release", sources)
                files = sorted((Path(place) / "release").glob("*.json"))
                sizes = ", ".join(f"{file.name} {file.stat().st_size / 1e6:.1f} MB" for file in files)
                shown = "no release" if spent is None else f"{spent:.1f} s, {sizes}"
                print(f"{name}, {sources or 'now'}: {shown}", flush=True)


if __name__ == "__main__":
    main()
