"""Laws of groups of variables: independent of each other, or columns whose joint law is not stated.

Neither is multiplied out unless somebody asks for its outcomes, so that a hundred samples are read in no time. What is
not stated is refused: the margins of two columns say nothing about the two together.
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from math import prod

from dalenius.kernel.markov import Markov
from dalenius.kernel.nouns import PRODUCTS, Label, Law, Variable, read_outcomes
from dalenius.kernel.numbers import Node, Refused, Work, require

UNSTATED = "only the law of each column is stated, not how the columns depend on each other"


class Groups(Law):
    """The laws of groups of variables, in their order; how they depend on each other is not stated, or not at all."""

    def __init__(self, groups: tuple[Law, ...], independent: bool, work: Work) -> None:
        self.groups = groups
        self.independent = independent
        self.work = work
        self.variables = tuple(variable for group in groups for variable in group.variables)
        self.place = {variable.name: b for b, group in enumerate(groups) for variable in group.variables}
        self.size = prod(len(group.atoms) for group in groups)
        self.rows = groups[0].rows
        work.spend(1, 0 if self.rows else sum(group.total.bit_length() for group in groups))
        # Margins of one table share its rows; stated laws are multiplied out.
        self.total = groups[0].total if self.rows else prod(group.total for group in groups)

    @cached_property
    def atoms(self) -> tuple[tuple[Label, int], ...]:
        """The outcomes of all groups together, while they are few."""
        # Margins say nothing of two columns together: multiplied out they would be a law that nobody stated.
        require(self.independent, UNSTATED)
        require(self.size <= PRODUCTS, f"{len(self.groups)} independent groups have too many outcomes together")
        self.work.spend(4 * self.size * len(self.variables), self.total.bit_length())
        atoms: list[tuple[Label, int]] = [((), 1)]
        for group in self.groups:
            atoms = [(a + b, count * m) for a, count in atoms for b, m in group.atoms]
        return tuple(atoms)

    def touching(self, names: Sequence[str]) -> Law:
        """The law of the groups that have any of these variables."""
        found = tuple(self.groups[b] for b in sorted({self.place[name] for name in names}))
        return found[0] if len(found) == 1 else Groups(found, self.independent, self.work)

    def divided(self, names: Sequence[str]) -> list[tuple[Law, list[str]]]:
        """The groups that have any of these variables, each with those that it has."""
        found: dict[int, list[str]] = {}
        for name in names:
            found.setdefault(self.place[name], []).append(name)
        require(self.independent or len(found) <= 1, UNSTATED)
        return [(self.groups[b], own) for b, own in found.items()]

    def entropy(self, names: Sequence[str], work: Work) -> tuple[Fraction, Fraction]:
        """A sum over independent groups."""
        ends = [group.entropy(own, work) for group, own in self.divided(names)]
        return sum((low for low, _ in ends), Fraction(0)), sum((high for _, high in ends), Fraction(0))

    def likeliest(self, names: Sequence[str], work: Work) -> Fraction:
        """A product over independent groups."""
        return prod((group.likeliest(own, work) for group, own in self.divided(names)), start=Fraction(1))


def touching(law: Law, names: Sequence[str]) -> Law:
    """The smallest part of a law that stands by itself and has all of these variables."""
    return law.touching(names) if isinstance(law, Groups | Markov) else law


def independent_groups(law: Law) -> Groups:
    """The law as one of independent groups, or a refusal."""
    if not isinstance(law, Groups) or not law.independent:
        raise Refused("the law is not made of independent groups")
    return law


def _laws(node: Node, kinds: tuple[str, ...], variables: tuple[Variable, ...], work: Work) -> tuple[Law, ...]:
    """The laws of a list, each of the variables that follow those of the law before."""
    found = list[Law]()
    begin = 0
    for item in node.items():
        item.tag(*kinds)
        many = item.fields("law", "variables", "outcomes")[1].length()
        found.append(read_outcomes(item, variables[begin : begin + many], work))
        begin += many
    # Every variable has a law, and none has two.
    node.require(begin == len(variables) > 0, "these are not the laws of all variables, in their order")
    return tuple(found)


def read_independent(node: Node, variables: tuple[Variable, ...], work: Work) -> Law:
    """`{"law": "independent", "groups": [law, ...]}`: stated laws, independent of each other."""
    _, groups = node.fields("law", "groups")
    return Groups(_laws(groups, ("known",), variables, work), True, work)


def read_margins(node: Node, variables: tuple[Variable, ...], work: Work) -> Law:
    """`{"law": "margins", "columns": [law, ...]}`: the law of each single variable; of one table, or stated."""
    _, columns = node.fields("law", "columns")
    found = _laws(columns, ("table", "known"), variables, work)
    columns.require(all(len(law.variables) == 1 for law in found), "a margin is the law of one variable")
    columns.require(len({law.rows for law in found}) == 1, "the columns of one table have the same number of rows")
    return Groups(found, False, work)
