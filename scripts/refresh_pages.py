"""Write what commands print now into the pages that show something else.

    python scripts/refresh_pages.py            # all pages that the tests walk
    python scripts/refresh_pages.py custodian  # one walk

Only blocks whose sentences are not printed any more are changed; read the difference before it is committed.
"""

import sys
import tempfile
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests import test_tutorials as pages  # noqa: E402

WIDTH = 118
MOST_LINES = 24


def folded(printed: str) -> str:
    """Lines of a page: long ones are folded, and a long output ends in dots."""
    lines = []
    for line in printed.rstrip("\n").split("\n"):
        lines += textwrap.wrap(line, WIDTH, subsequent_indent="    ", drop_whitespace=False) or [""]
    if len(lines) > MOST_LINES:
        lines = [*lines[: MOST_LINES - 1], "..."]
    return "".join(line.rstrip() + "\n" for line in lines)


def refreshed(page: str, folder: Path, *, numbers: bool) -> str:
    """The text of a page with what its commands print now."""
    text = (ROOT / page).read_text(encoding="utf-8")
    changes: list[tuple[str, str]] = []
    run_shell = pages.run_shell

    def noting(body: str, where: Path, *, numbers: bool) -> list[str]:
        pairs, printed = pages.outputs(body, where)
        for (command, shown), now in zip(pairs, printed, strict=True):
            wrong = not pages.DRAWN.match(command) and pages.missed(command, shown, now, numbers=numbers)
            if wrong and shown.strip():
                changes.append((shown, folded(now)))
        return []

    pages.run_shell = noting
    try:
        pages.walk(page, folder, numbers=numbers)
    finally:
        pages.run_shell = run_shell
    for old, new in changes:
        text = text.replace(old.rstrip("\n") + "\n", new, 1)
    return text


def main(chosen: list[str]) -> None:
    """Refresh the pages of the walks that are named, or of all."""
    for name, (prepare, walked) in pages.WALKS.items():
        if chosen and name not in chosen:
            continue
        with tempfile.TemporaryDirectory() as place:
            prepare(Path(place))
            for page, numbers in walked:
                (ROOT / page).write_text(refreshed(page, Path(place), numbers=numbers), encoding="utf-8")
                print("refreshed", page, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
