"""Draw the picture of the README: 1,000 guesses of a secret, from the folder of a release.

python docs/pictures/guesses.py demo/release docs/pictures/guesses.svg
"""

import sys
from pathlib import Path

from dalenius import load
from dalenius.core.digits import guesses_in_thousand
from dalenius.evidence import beliefs

ACROSS, STEP = 50, 7
COLOURS = {"anyway": "#8a94a0", "more": "#c2410c", "wrong": "#e3e7ec"}


def panel(left: int, title: str, anyway: int, more: int, bound: str = "") -> list[str]:
    """A field of 1,000 dots; `bound` stands before a number of further guesses that is rounded up."""
    parts = [f'<text x="{left}" y="16" font-weight="600">{title}</text>']
    ends = {"anyway": (0, anyway), "more": (anyway, anyway + more), "wrong": (anyway + more, 1000)}
    for kind, (first, last) in ends.items():  # a dot is a line of no length with round ends
        dots = "".join(f"M{left + STEP * (k % ACROSS) + 3} {31 + STEP * (k // ACROSS)}h0" for k in range(first, last))
        parts.append(f'<path d="{dots}" stroke="{COLOURS[kind]}" stroke-width="5" stroke-linecap="round"/>')
    words = f"{anyway} right anyway, {bound}{more} more" if more else f"{anyway} right anyway, no more"
    parts.append(f'<text x="{left}" y="{28 + STEP * 20 + 16}">{words}</text>')
    return parts


def main(folder: str, output: str) -> None:
    """Write the picture."""
    design = load(Path(folder) / "design.json")
    figures = design.proved[0]
    before, gain = guesses_in_thousand(figures["guess_before"], figures["guess_after"])
    (known,) = beliefs(design)
    _, raw = guesses_in_thousand(figures["guess_before"], known.unchanged_guess)
    secret = ", ".join(known.secret)
    lines = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 740 200" width="740" role="img" '
        'font-family="system-ui,sans-serif" font-size="13" fill="#1b1f24">',
        f"<title>1,000 guesses of {secret}: with the table as it was, and with the released table</title>",
        '<rect width="740" height="200" fill="#fff"/>',
        *panel(10, f"1,000 guesses of {secret}, with the table as it was", before, raw),
        *panel(380, "with the released table", before, gain, "at most "),
        "</svg>",
    ]
    Path(output).write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:3])
