"""A setting divided into windows or into strata. Each part is a setting of its own; no channel."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import prod

from dalenius.kernel.groups import touching
from dalenius.kernel.nouns import Label, Law, Setting
from dalenius.kernel.numbers import Work

Names = tuple[str, ...]


def window(setting: Setting, number: int, places: Sequence[int]) -> Setting:
    """The same records looked at through the observed columns at some places, with an output for these alone.

    The output is the released column of this number, or has letters of its own where none is released. What is said of
    the letters of all outputs together is not handed down: it has to be proved for the whole, or refused.
    """
    reads = tuple(setting.mechanism.observe[i] for i in places)
    release = setting.mechanism.release[number : number + 1]
    one = replace(setting.mechanism, observe=reads, release=release, fresh=None, each=None)
    mechanism = replace(one, forbid=(), never=(), freeze=(), preserve_marginals=False)
    law = touching(setting.law, (*reads, *release, *mechanism.beside)) if setting.has_law else None
    variables = setting.variables if law is None else law.variables
    setting.work.spend(20 + 4 * len(variables))
    return Setting(variables, law, mechanism, setting.work)


def strata(setting: Setting) -> list[tuple[int, Setting]]:
    """For each outcome of the strata, last fastest, how many records have it, and the setting of these records.

    A stratum without records has no law: like a card it has levels alone.
    """
    mechanism = replace(setting.mechanism, strata=(), preserve_marginals=False)
    sizes = [len(setting.alphabets[name]) for name in setting.mechanism.strata]
    setting.work.spend(4 * prod(sizes) * (10 + len(setting.variables)))
    found: dict[Label, list[tuple[Label, int]]] = {label: [] for label in product(*map(range, sizes))}
    if setting.has_law:
        for label, atom in zip(setting.labels(setting.mechanism.strata), setting.law.atoms, strict=True):
            found[label].append(atom)
    parts = list[tuple[int, Setting]]()
    for atoms in found.values():
        many = sum(n for _, n in atoms)
        law = Law(setting.variables, tuple(atoms), many, None) if atoms else None
        parts.append((many, Setting(setting.variables, law, mechanism, setting.work)))
    return parts


def between(law: Law, first: set[str], second: set[str], given: set[str], work: Work) -> tuple[Fraction, Fraction]:
    """Bounds in bits of I(A; B | G) = H(A, G) + H(B, G) - H(A, B, G) - H(G), for those names that the law has."""
    work.spend(500 + 20 * len(law.variables))

    def entropy_of(*sets: set[str]) -> tuple[Fraction, Fraction]:
        names = (variable.name for variable in law.variables)
        return law.entropy([name for name in names if any(name in one for one in sets)], work)

    a, b, both, g = (entropy_of(*sets) for sets in ((first, given), (second, given), (first, second, given), (given,)))
    low, high = a[0] + b[0] - both[1] - g[1], a[1] + b[1] - both[0] - g[0]
    return max(Fraction(0), low), max(Fraction(0), high)


def told_by_strata(setting: Setting, wanted: list[Names]) -> tuple[Fraction, Fraction]:
    """Bounds in bits of the sum of I(W; S), S the strata, over some wanted W."""
    layers = set(setting.mechanism.strata)
    ends = [between(setting.law, set(names), layers, set(), setting.work) for names in wanted]
    return sum((low for low, _ in ends), Fraction(0)), sum((high for _, high in ends), Fraction(0))
