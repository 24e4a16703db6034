"""Full disks: every command that writes, with files that may not grow beyond a limit, and on a disk that is full.

    python -m tests.torture.disk

Each ends with exit 2 and one sentence, or with exit 0 where the limit sufficed; nothing half-written is left.
"""

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.torture.kills import WHOLE, made_in, started

LIMITS = (0, 1, 100, 1_000, 3_000, 10_000, 30_000, 100_000)
WRITING: tuple[list[str], ...] = (
    ["release", "p.toml", "-o", "{}/new", *WHOLE],
    ["solve", "p.toml", "-o", "{}/new.json", *WHOLE],
    ["apply", "design.json", "t.csv", "-o", "{}/new.csv", "--force"],
    ["apply", "design.json", "t.csv", "-o", "{}/new.parquet", "--force"],
    ["apply", "design.json", "t.csv", "-o", "{}/new.arrow", "--force"],
    ["channel", "design.json", "--dense", "-o", "{}/new.json", "--force"],
    ["tradeoff", "p.toml", "--points", "3", "-o", "{}/new", *WHOLE],
)


def tried(words: list[str], folder: Path, limit: int | None) -> str | None:
    """What went wrong, if something did."""
    child = os.fork()
    if not child:
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        grandchild = started([word.format(folder) for word in words])
        os._exit(min(255, abs(os.waitstatus_to_exitcode(os.waitpid(grandchild, 0)[1]))))
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    left = sorted(entry.name for entry in folder.iterdir() if entry.name != "filler")
    for entry in folder.iterdir():
        if entry.name != "filler":
            subprocess.run(["rm", "-rf", str(entry)], check=True)
    if code not in (0, 2):
        return f"{words} with a limit of {limit} ended with {code}"
    if code == 2 and left:
        return f"{words} with a limit of {limit} left {left}"
    return None


def run() -> int:
    wrong = []
    tries = 0
    for words in WRITING:
        for limit in LIMITS:
            Path("here").mkdir(exist_ok=True)
            tries += 1
            wrong.append(tried(words, Path("here"), limit))
    full = Path("full")
    full.mkdir()
    mounted = not subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=256k", "none", str(full)], check=False, stderr=subprocess.DEVNULL
    ).returncode
    if mounted:
        try:
            for free in (0, 4_096, 16_384, 65_536):
                (full / "filler").write_bytes(bytes(256 * 1024 - free - 4_096))
                for words in WRITING:
                    tries += 1
                    wrong.append(tried(words, full, None))
        finally:
            subprocess.run(["umount", str(full)], check=True)
    failures = [line for line in wrong if line]
    told = "with a disk that was full" if mounted else "without a disk that was full, for none could be mounted"
    print(f"{tries} writes against a limit, {told}; {len(failures)} failures")
    for line in failures:
        print("wrong:", line)
    return 1 if failures else 0


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        made_in(Path(name))
        os.chdir(name)
        sys.exit(run())
