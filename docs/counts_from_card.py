"""What the public card of a release tells about the counts behind it, exactly.

    make demo; python docs/counts_from_card.py demo/release/card.json

The file beside a card prints `guess_before`, the share of the commonest value of each secret, to 30 digits: enough to
tell the fraction. The value of the design is a further equation in the counts.

Where every promise is one of independence, as in `python examples/disclosure/demo.py perfect`, each letter y and each
value a of a protected column give an equation more,

    sum over x of [1(x has a) - p(a)] p(y|x) p(x) = 0,

linear in p(x) once p(a) is known. One share remains unknown there; whole-number counts leave 20,191 values for it to
try, and the whole contingency table is found in about half a minute.
"""

import sys
from fractions import Fraction
from itertools import product

from dalenius.solvers import null_space, rank
from dalenius.tables import read_told

LARGEST = 10**6
"""Fractions of larger denominators are not looked for: tables of so many rows."""


def main(path: str) -> None:
    card = read_told(path)
    secrets = [next(iter(g["promised"].items())) for g in card["guarantees"]]
    shares = [Fraction(g["proved"]["guess_before"]).limit_denominator(LARGEST) for g in card["guarantees"]]
    total = max(s.denominator for s in shares)
    for (_, names), share in zip(secrets, shares, strict=True):
        print(f"{share * total} of {total} rows (or of a multiple) have the commonest {', '.join(names)}")
    if all(kind == "independent" for kind, _ in secrets):
        table(card, shares, total)
    else:
        outcomes = len(list(product(*card["channel"]["inputs"].values())))
        print(f"the value is one equation for the {outcomes} counts of {', '.join(card['channel']['inputs'])}")


def table(card: dict, shares: list[Fraction], total: int) -> None:
    """The whole table of the example of perfect privacy."""
    inputs = card["channel"]["inputs"]
    outcomes = list(product(*inputs.values()))
    letters = list(zip(*([Fraction(v) for v in row] for row in card["channel"]["rows"]), strict=True))

    def equations(at: int, value: str, share: Fraction) -> list[list[Fraction]]:
        return [[c * ((x[at] == value) - share) for c, x in zip(column, outcomes, strict=True)] for column in letters]

    known = equations(0, "excellent", shares[0]) + equations(1, "free care", shares[1])
    basis = null_space(known)
    print(f"{len(known)} equations leave {len(basis)} dimensions of p(x)")
    for count in range(total + 1):
        third = equations(0, "good", Fraction(count, total))
        seen = [[sum(a * b for a, b in zip(row, v, strict=True) if a and b) for v in basis] for row in third]
        if rank(seen) < len(basis):
            (weights,) = null_space(seen)
            p = [sum(w * v[k] for w, v in zip(weights, basis, strict=True)) for k in range(len(outcomes))]
            for x, share in zip(outcomes, p, strict=True):
                print(f"  {', '.join(x):45} {share / sum(p) * total}")


if __name__ == "__main__":
    main(sys.argv[1])
