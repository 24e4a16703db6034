r"""Several mechanisms on one joint pmf: what all their letters and kept columns tell together, in whole numbers.

    p(s, y_1, ..., y_k) = sum_x p(s, x) prod_j p_j(y_j | x)

Channels are multiplied out, so that the cost is the product of their letters for each outcome of the inputs; `size`
says how much that would be.
"""

from collections import Counter
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any

from dalenius.core.numbers import exact
from dalenius.core.reading import Release, figures, margins, require
from dalenius.mechanisms.charging import Mechanism

__all__ = ["Together"]


class Together(Release):
    """Several mechanisms, drawn independently, on one joint pmf: what leaves is all their letters and kept columns.

    p(s, y_1, ..., y_k) = sum_x p(s, x) prod_j p_j(y_j | x), in whole numbers out of total * scale.
    """

    def __init__(self, host: Mechanism, members: list[Mechanism]) -> None:
        require(host.release is not None, "a card holds no distribution")
        assert host.release is not None
        self.names = host.release.names
        self.atoms = host.release.atoms
        self.total = host.release.total
        self.members = members
        self.inputs = []
        self.scale = prod(member.scale for member in members)
        places = []
        for member in members:
            row = [0] * len(self.atoms)
            for name, letters in member.inputs.items():
                place = {letter: k for k, letter in enumerate(letters)}
                read = self.outcomes([name])
                row = [entry * len(place) + place[letter] for entry, (letter,) in zip(row, read, strict=True)]
            places.append(row)
        self.places = list(zip(*places, strict=True))
        self.kept = self.leaving = list(dict.fromkeys(name for member in members for name in member.kept))
        self.width = prod(len(member.table[0]) for member in members)

    def size(self, secret: list[str]) -> int:
        """How many combinations `with_output` adds up."""
        kinds = set(zip(self.outcomes(secret), self.outcomes(self.kept), self.places, strict=True))
        possible = [[sum(map(bool, row)) for row in member.table] for member in self.members]
        return sum(prod(row[place] for row, place in zip(possible, places, strict=True)) for _, _, places in kinds)

    def with_output(self, secret: list[str], given: list[str]) -> Counter[Any]:
        """Weight of each (secret, given, (letters, kept columns)).

        Parameters
        ----------
        secret : list of str
            Columns of the law.
        given : list of str
            What the attacker knows.

        Returns
        -------
        Counter
            Whole numbers out of total * scale.
        """
        beside = self.outcomes(self.kept)
        inputs = self.weights(self.outcomes(secret), self.outcomes(given), beside, self.places)
        out: Counter[Any] = Counter()
        for (of_secret, of_given, of_kept, places), weight in inputs.items():
            rows = [
                [(letter, entry) for letter, entry in enumerate(member.table[place]) if entry]
                for member, place in zip(self.members, places, strict=True)
            ]
            for drawn in product(*rows):
                letters = tuple(letter for letter, _ in drawn)
                out[of_secret, of_given, (letters, of_kept)] += weight * prod(entry for _, entry in drawn)
        return out

    def guessed(self, secret: list[str]) -> dict[str, Fraction]:
        """The chance of the best guess, sum_y max_s p(y | s), and the total variation; all exact.

        Parameters
        ----------
        secret : list of str
            Columns of the law.

        Returns
        -------
        dict
            "guess", "factor" and "variation".
        """
        joint = self.with_output(secret, [])
        total, prior, out, _ = margins(joint)
        best: dict[Any, int] = {}
        likeliest: dict[Any, Fraction] = {}
        for (s, _, y), weight in joint.items():
            best[y] = max(best.get(y, 0), weight)
            likeliest[y] = max(likeliest.get(y, Fraction(0)), Fraction(weight, prior[s, ()]))
        apart = sum(
            abs(joint[s, (), y] * total - of_secret * of_letter)
            for (s, _), of_secret in prior.items()
            for (_, y), of_letter in out.items()
        )
        return {
            "guess": Fraction(sum(best.values()), total),
            "factor": sum(likeliest.values(), Fraction(0)),
            "variation": Fraction(apart, 2 * total * total),
        }

    def about(self, secret: list[str]) -> dict[str, Fraction | None]:
        """Bits on average and of the worst letter, and nats of odds, about a secret; exactly 0 when independent.

        Parameters
        ----------
        secret : list of str
            Columns of the law.

        Returns
        -------
        dict
            "leakage_bits", "worst_letter_bits" and "odds_nats"; rounded up, None for a value that is ruled out.
        """
        joint = self.with_output(secret, [])
        total, prior, out, _ = margins(joint)
        if all(joint[s, (), y] * total == prior[s, ()] * out[(), y] for s, _ in prior for _, y in out):
            return dict.fromkeys(("leakage_bits", "worst_letter_bits", "odds_nats"), Fraction(0))
        shown = figures(self, secret)
        wanted = ("leakage_bits", "worst_letter_bits", "odds_nats")
        return {key: None if shown[key] is None else exact(shown[key]) for key in wanted}
