r"""A stationary Markov chain as a law, and windows over it: one output for each run of neighbours.

The chain has one law for every sample and one matrix for every step, p(x_(i+1) | x_i). It is never multiplied out: a
run of neighbours has a law of its own, the same wherever it stands.

*Windows over a chain* (proof in mechanisms/compositions.md). Let the windows be runs of neighbours without a common
sample, and let each output be independent, jointly, of the samples at those ends of its window beyond which there is
another window. Then the outputs are independent of each other and, together, of all these ends and of all samples
between windows; and together they are independent of some samples of one window as soon as its own output is. Of
samples before the first window or after the last one they are if that window's output is independent of that end too.
I(A; Y | G) = I(A; Y_e | G) for A and G in window e; and I(W; Y) >= sum_j I(W; Y_j).
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from math import prod

from dalenius.kernel.logs import entropy
from dalenius.kernel.nouns import PRODUCTS, Label, Law, Variable
from dalenius.kernel.numbers import Node, Work, require

LONGEST_RUN = 12  # samples of a run that is written out


class Markov(Law):
    """n samples that are alike: counts of the first, out of their sum, and of each step, out of `scale`."""

    def __init__(self, variables: tuple[Variable, ...], start: list[int], steps: list[list[int]], work: Work) -> None:
        self.variables = variables
        self.start = start
        self.steps = steps
        self.scale = sum(steps[0])
        self.work = work
        self.rows = None
        work.spend(1, len(variables) * self.scale.bit_length())
        self.total = sum(start) * self.scale ** (len(variables) - 1)
        self.places = {variable.name: place for place, variable in enumerate(variables)}

    @property
    def size(self) -> int:
        """How many outcomes all samples have together, at most."""
        return prod(len(variable.letters) for variable in self.variables)

    @cached_property
    def atoms(self) -> tuple[tuple[Label, int], ...]:
        """The outcomes of all samples, while they are few."""
        require(self.size <= PRODUCTS, f"a chain of {len(self.variables)} samples has too many outcomes")
        found: list[tuple[Label, int]] = [((place,), n) for place, n in enumerate(self.start) if n]
        for _ in self.variables[1:]:
            self.work.spend(8 * len(found) * len(self.start), self.scale.bit_length())
            found = [((*x, place), n * m) for x, n in found for place, m in enumerate(self.steps[x[-1]]) if m]
        return tuple(sorted(found))

    def run(self, names: Sequence[str]) -> tuple[int, int]:
        """The places of the first and the last of some samples."""
        places = [self.places[name] for name in names]
        return min(places), max(places)

    def touching(self, names: Sequence[str]) -> Law:
        """The law of the run of neighbours from the first to the last of these samples."""
        first, last = self.run(names)
        require(last - first < LONGEST_RUN, f"a run of more than {LONGEST_RUN} samples is not written out")
        part = Markov(self.variables[first : last + 1], self.start, self.steps, self.work)
        return Law(part.variables, part.atoms, part.total, None)

    def entropy(self, names: Sequence[str], work: Work) -> tuple[Fraction, Fraction]:
        """Of a run of neighbours: of its first sample, and of so many steps; of others by the run that has them."""
        if not names:
            return Fraction(0), Fraction(0)
        first, last = self.run(names)
        # With a sample missing in between, the steps do not add up.
        if last - first + 1 != len(set(names)):
            return self.touching(names).entropy(names, work)
        work.spend(10 * len(self.start))
        low, high = entropy([n for n in self.start if n], work)
        for n, row in zip(self.start, self.steps, strict=True):
            ends = entropy([m for m in row if m], work)
            share = Fraction(n * (last - first), sum(self.start))
            low, high = low + share * ends[0], high + share * ends[1]
        return low, high

    def likeliest(self, names: Sequence[str], work: Work) -> Fraction:
        """Of some samples of one run."""
        return self.touching(names).likeliest(names, work)


def read_markov(node: Node, variables: tuple[Variable, ...], work: Work) -> Law:
    """`{"law": "markov", "start": [I, ...], "steps": [[I, ...], ...]}`: one law for all samples, one for all steps."""
    _, start, steps = node.fields("law", "start", "steps")
    node.require(bool(variables), "there is no sample")
    letters = variables[0].letters
    node.require(all(variable.letters == letters for variable in variables), "the samples have different letters")
    first = start.wholes(0)
    rows = [row.wholes(0) for row in steps.pair(len(letters))]
    work.spend(20 * len(letters) * (len(letters) + 1) + 4 * len(variables), max(sum(first), 1).bit_length())
    start.require(len(first) == len(letters) and sum(first) > 0, "the law of a sample is not one of its letters")
    scale = sum(rows[0])
    whole = scale > 0 and all(len(row) == len(letters) and sum(row) == scale for row in rows)
    steps.require(whole, "the steps are not laws of the letters, out of one sum")
    # Stationary: else a run elsewhere in the chain would have another law.
    after = [sum(n * row[k] for n, row in zip(first, rows, strict=True)) for k in range(len(letters))]
    start.require(
        after == [n * scale for n in first], "the chain is not stationary: a step changes the law of a sample"
    )
    return Markov(variables, first, rows, work)
