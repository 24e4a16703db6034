"""The checker as one file for those who install nothing: its modules one after the other, and a command line."""

from importlib.resources import files

__all__ = ["standalone"]

MODULES = (
    "errors",
    "core/numbers",
    "core/arithmetic",
    "core/multinomial",
    "core/expanding",
    "core/reading",
    "core/shifting",
    "core/noisy",
    "core/reading_types",
    "core/distorting",
    "core/letters",
    "core/pivoting",
    "core/rows",
    "certify/privacy",
    "certify/local_dp",
    "certify/contraction",
    "certify/ball",
    "certify/cuts",
    "certify/capacity",
    "certify/cone",
    "certify/optimality",
    "certify/box_tree",
    "certify/boxes",
    "certify/orbits",
    "certify/universal",
    "certify/staircase",
    "certify/stairs",
    "certify/subsets",
    "certify/invariant",
    "certify/leakage",
    "certify/groups",
    "certify/composition",
    "certify/sums",
    "certify/pram",
    "certify/asked",
    "certify/filled",
    "certify/water",
    "certify/rate",
    "certify/variance",
    "certify/noise",
    "certify/parts",
    "certify/given",
    "certify/relaxed",
    "certify/card",
    "certify/checking",
)

HEADER = '''#!/usr/bin/env python3
"""Re-checks a design.json or card.json of Dalenius {version}. Needs Python 3.11 and nothing else.

    python3 verifier.py design.json

Exit 0: every claim is proved. Exit 4: a claim is refused, and the reason printed. Exit 2: the file cannot be read.
The rest of this file is the checker of the package, module after module.
"""
'''

MAIN = """

# === command line ===
import sys

if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    try:
        with open(sys.argv[1], encoding="utf-8") as file:
            verdict = check(file.read())
    except (OSError, UnicodeDecodeError) as error:
        print(f"cannot read {sys.argv[1]}: {error}", file=sys.stderr)
        sys.exit(2)
    except NotCertified as refusal:
        print(f"REFUSED: {refusal}", file=sys.stderr)
        sys.exit(4)
    print("PROVED")
    if verdict.kind != "card":
        if verdict.bound < verdict.value:
            print(f"  value at most {up(verdict.value, 15)}")
            print(f"  no mechanism of its shape has less than {down(verdict.bound, 15)}")
        else:
            print(f"  value at least {down(verdict.value, 15)} bits")
            print(f"  no mechanism of its shape exceeds {up(verdict.bound, 15)} bits")
    for k, figures in enumerate(verdict.figures, 1):
        print(f"  guarantee {k}: " + ("needs the design, a card cannot prove it" if figures is None else "kept"))
"""


def standalone(version: str) -> str:
    """The text of the file.

    >>> "import dalenius" in standalone("1.0") or "from dalenius" in standalone("1.0")
    False
    """
    parts = [HEADER.format(version=version)]
    for module in MODULES:
        source = files("dalenius").joinpath(f"{module}.py").read_text(encoding="utf-8")
        body = "\n".join(line for line in source.splitlines() if not line.startswith("from dalenius"))
        parts.append(f"\n\n# === {module} ===\n{body}\n")
    return "".join(parts) + MAIN
