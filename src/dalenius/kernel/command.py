"""The command line of the checker: what was proved, in a few lines, or one sentence of refusal."""

import sys
from collections.abc import Sequence

from dalenius.kernel.check import Verdict, check
from dalenius.kernel.numbers import LONGEST_FILE, Refused, down, up
from dalenius.kernel.promises import LOWER

USAGE = "usage: [--privacy] [--work OPERATIONS] FILE"


def said(verdict: Verdict) -> list[str]:
    """What a verdict says, a line for each part of it."""
    found = [f"PROVED  sha256 {verdict.digest}"]
    if verdict.rows is not None:
        found.append(f"  for a table of {verdict.rows:,} rows, if that is what was counted")
    for k, figures in enumerate(verdict.kept.promises, 1):
        if figures is None:
            found.append(f"  promise {k}: needs the design, a card cannot prove it")
            continue
        found.append(f"  promise {k}: kept")
        for name, figure in figures.items():
            if figure is None:
                found.append(f"    {name} is not bounded")
            elif name in LOWER:
                found.append(f"    {name} at least {down(figure, 15)}")
            else:
                found.append(f"    {name} at most {up(figure, 15)}")
    for k, (reached, below) in enumerate(zip(verdict.kept.limits, verdict.kept.from_below, strict=True), 1):
        # Down what is at least, up what is at most: the last digit never promises more than was proved.
        shown = f"at least {down(reached, 15)} {below}" if below else f"at most {up(reached, 15)}"
        found.append(f"  limit {k}: kept, {shown}")
    if verdict.value is None or verdict.bound is None:
        found.append("  value and bound: not asked for, or not in a card")
    elif verdict.maximised:
        found.append(
            f"  value at least {down(verdict.value, 15)} bits; no mechanism has more than {up(verdict.bound, 15)}"
        )
    else:
        found.append(f"  value at most {up(verdict.value, 15)}; no mechanism has less than {down(verdict.bound, 15)}")
    return found


def on_one_line(text: str) -> str:
    """A text whose names cannot end a line or move what stands on the screen.

    >>> on_one_line("X\\nPROVED")
    'X\\\\nPROVED'
    """
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text)


def main(arguments: Sequence[str]) -> int:
    """Check a file.

    Parameters
    ----------
    arguments : sequence of str
        `--privacy` proves promises, limits and shapes alone; `--work` allows so many operations; then the file.

    Returns
    -------
    int
        0: every claim is proved. 4: a claim is refused. 2: the file or the arguments cannot be read.
    """
    *options, path = arguments or [""]
    privacy_only = "--privacy" in options
    if privacy_only:
        options.remove("--privacy")
    allowed = None
    if len(options) == 2 and options[0] == "--work" and options[1].isascii() and options[1].isdigit():
        allowed = int(options[1][:18])
        options = []
    if options or not path or path.startswith("-"):
        print(USAGE, file=sys.stderr)
        return 2
    try:
        with open(path, encoding="utf-8", newline="") as file:
            text = file.read(LONGEST_FILE + 1)
        verdict = check(text, allowed, privacy_only)
    except (OSError, UnicodeDecodeError) as error:
        print(f"cannot read {path}: {error}", file=sys.stderr)
        return 2
    except Refused as refusal:
        print(on_one_line(f"REFUSED: {refusal}"), file=sys.stderr)
        return 4
    print("\n".join(map(on_one_line, said(verdict))))
    return 0
