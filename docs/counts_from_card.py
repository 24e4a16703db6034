"""Recovers the whole contingency table of examples/disclosure from its public card, in about half a minute.

    python examples/disclosure/demo.py demo; python docs/counts_from_card.py demo/release/card.json

The released letter is independent of health and of plan, so for each letter y and each value a of a protected column

    sum over x of [1(x has a) - p(a)] p(y|x) p(x) = 0,

linear in p(x) once p(a) is known. The card prints `guess_before`, the share of the commonest value, to 30 digits, which
is enough to tell the fraction. One share remains unknown; whole-number counts leave 20,191 values for it to try.
"""

import json
import sys
from fractions import Fraction
from itertools import product
from pathlib import Path

from dalenius.solvers import null_space, rank


def main(path: str) -> None:
    card = json.loads(Path(path).read_text())
    inputs = card["channel"]["inputs"]
    outcomes = list(product(*inputs.values()))
    letters = list(zip(*([Fraction(v) for v in row] for row in card["channel"]["rows"]), strict=True))
    shares = [Fraction(g["proved"]["guess_before"]).limit_denominator(10**6) for g in card["guarantees"]]
    total = max(s.denominator for s in shares)
    print("from guess_before:", *shares)

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
