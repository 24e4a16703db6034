"""Independent groups of variables, and what no mechanism that looks at them can exceed; nothing is multiplied out."""

from fractions import Fraction
from itertools import pairwise
from typing import Any

from dalenius.core.arithmetic import BITS, log2
from dalenius.core.reading import Release, information, require


class Groups:
    """A joint pmf that is a product: each group proved to be a pmf of variables of its own."""

    def __init__(self, design: dict[str, Any]) -> None:
        mechanism, channel = design["mechanism"], design["channel"]
        require(
            not {"limit", "limits", "side_information"} & set(design), "limits and side information are not proved here"
        )
        require(set(design["joint"]) == {"independent"}, "the joint pmf is not a product of independent groups")
        require(not mechanism.get("keep") and not mechanism.get("strata"), "a composition keeps no column")
        require(set(channel["inputs"]) == set(mechanism["observe"]), "the channel reads other columns than said")
        self.groups = design["joint"]["independent"]
        self.place = {name: b for b, group in enumerate(self.groups) for name in group["variables"]}
        require(len(self.place) == sum(len(g["variables"]) for g in self.groups), "the groups are not disjoint")
        self.blocks = [self._looks(design, [b], None) for b in range(len(self.groups))]  # each proved to be a pmf

    def _looks(self, design: dict[str, Any], groups: list[int], window: dict[str, Any] | None) -> Release:
        """Some groups as one pmf, read by a window; without one, by a channel that says nothing about what it sees."""
        names = [n for n in design["mechanism"]["observe"] if self.place[n] in groups] if window is None else []
        alphabets = {n: a for b in groups for n, a in self.groups[b]["variables"].items()}
        nothing = {"form": "product", "inputs": {n: alphabets[n] for n in names}, "output": {}, "channels": []}
        joint = {"independent": [self.groups[b] for b in groups]} if groups else {"variables": {}, "pmf": [{"p": 1}]}
        observe = list(window["inputs"]) if window else names
        return Release({"joint": joint, "channel": window or nothing, "mechanism": {"observe": observe}})

    def within(self, names: list[str], groups: list[int]) -> list[str]:
        """Those of the names that stand in these groups."""
        return [name for name in names if self.place[name] in groups]

    def guess(self, view: list[str]) -> Fraction:
        """The chance of the likeliest outcome of a view."""
        found = Fraction(1)
        for b in {self.place[name] for name in view}:
            block = self.blocks[b]
            found *= Fraction(max(block.weights(block.outcomes(self.within(view, [b]))).values()), block.total)
        return found

    def bound(self, about: list[str], views: list[list[str]]) -> Fraction:
        """The least of I(W; X) and I(W; X | V) for each view (000, Prop. 2), sums over the groups, and `surprisal`."""

        def told(b: int, view: list[str]) -> Fraction:
            block = self.blocks[b]
            wanted, given = (block.outcomes(self.within(names, [b])) for names in (about, view))
            return information(block.weights(wanted, given, block.outcomes(block.inputs)))[1]

        plain = [told(b, []) for b in range(len(self.groups))]
        gains = [sum(plain[b] - told(b, v) for b in {self.place[n] for n in v}) for v in views]
        return min(sum(plain, Fraction(0)) - max([Fraction(0), *gains]), self.surprisal(views))

    def surprisal(self, views: list[list[str]]) -> Fraction:
        """H(X) - E[max_V log2 1/p(X_V)], V inside one group: p(x | y) <= p(x_V), so H(X | Y) is at least the mean.

        M = min_V p(X_V) is a minimum over independent groups; E[log2 1/M] is summed up over its possible values.
        """
        entropy, laws, one = Fraction(0), [], 1 << BITS
        for block in self.blocks:
            seen = block.outcomes(block.inputs)
            entropy += information(block.weights(seen, block.outcomes([]), seen))[1]
            inside = [block.outcomes(v) for v in views if set(v) <= set(block.inputs)]
            alone = [block.weights(labels) for labels in inside]
            least = [min(n[(label,)] for n, label in zip(alone, labels)) for labels in zip(*inside)]
            laws.append([(Fraction(m, block.total), w) for m, (_, w) in zip(least, block.atoms)])
        values = sorted({m for law in laws for m, _ in law})
        rare = log2(1 / values[-1])[0] if values else 0  # a lower bound of E[log2 1/M]
        for m, following in pairwise(values):
            above = one  # an upper bound of P(M > m)
            for law, block in zip(laws, self.blocks):
                above = -(-above * sum(w for t, w in law if t > m) // block.total) if law else above
            rare += max(0, log2(following / m)[0] * (one - above) >> BITS)
        return entropy - Fraction(rare, one)

    def entropy(self, about: list[str]) -> Fraction:
        """H(W), from above."""
        total = Fraction(0)
        for b, block in enumerate(self.blocks):
            wanted = block.outcomes(self.within(about, [b]))
            total += information(block.weights(wanted, block.outcomes([]), wanted))[1]
        return total
