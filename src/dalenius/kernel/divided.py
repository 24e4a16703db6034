"""A setting divided: into windows, into single columns, into strata. Each part is a setting of its own; no channel."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import prod

from dalenius.kernel.groups import touching
from dalenius.kernel.nouns import Label, Law, Setting
from dalenius.kernel.numbers import require
from dalenius.kernel.release import Joint, information


def window(setting: Setting, number: int, places: Sequence[int]) -> Setting:
    """The same records looked at through the observed columns at a few places, with an output for these alone.

    The output is the released column with this number, or has letters of its own where no column is released.

    What is said of the letters of all outputs together (`forbid`, `never`, `freeze`, marginals) is not handed down: it
    has to be proved for the whole, or refused.
    """
    reads = tuple(setting.mechanism.observe[i] for i in places)
    release = setting.mechanism.release[number : number + 1]
    mechanism = replace(
        setting.mechanism,
        observe=reads,
        release=release,
        fresh=None,
        each=None,
        forbid=(),
        never=(),
        freeze=(),
        preserve_marginals=False,
    )
    law = touching(setting.law, (*reads, *release, *mechanism.beside)) if setting.has_law else None
    variables = setting.variables if law is None else law.variables
    setting.work.spend(20 + 4 * len(variables))
    return Setting(variables, law, mechanism, setting.work)


def columns(setting: Setting) -> list[Setting]:
    """A setting for each observed column, where each has a matrix of its own."""
    mechanism = setting.mechanism
    require(mechanism.each is not None, "the columns have no matrix of their own")
    require(mechanism.reads == mechanism.observe, "strata have a channel each, made of columns in their turn")
    return [window(setting, k, (k,)) for k in range(len(mechanism.observe))]


def strata(setting: Setting) -> list[tuple[int, Setting]]:
    """For each outcome of the strata, last fastest, how many records have it, and the setting of these records.

    A stratum without records has no law: like a card it has levels alone.
    """
    mechanism = replace(setting.mechanism, strata=(), preserve_marginals=False)
    sizes = [len(setting.alphabets[name]) for name in setting.mechanism.strata]
    setting.work.spend(4 * prod(sizes) * (10 + len(setting.variables)))
    found: dict[Label, list[tuple[Label, int]]] = {label: [] for label in product(*map(range, sizes))}
    if setting.has_law:
        labels = setting.labels(setting.mechanism.strata)
        for label, atom in zip(labels, setting.law.atoms, strict=True):
            found[label].append(atom)
    parts = list[tuple[int, Setting]]()
    for atoms in found.values():
        many = sum(n for _, n in atoms)
        law = Law(setting.variables, tuple(atoms), many, None) if atoms else None
        parts.append((many, Setting(setting.variables, law, mechanism, setting.work)))
    return parts


def told_by_strata(setting: Setting, wanted: list[tuple[str, ...]]) -> tuple[Fraction, Fraction]:
    """Bounds in bits of the sum of I(W; S), S the strata, over some wanted W."""
    low = high = Fraction(0)
    for names in wanted:
        pairs = list(zip(setting.labels(names), setting.labels(setting.mechanism.strata), strict=True))
        joint: Joint = {(w, (), (0, s)): n for (w, s), n in setting.weights(pairs).items()}
        below, above = information(joint, setting.work)
        low += below
        high += above
    return low, high
