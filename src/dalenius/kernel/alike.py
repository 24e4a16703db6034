r"""Samples that are alike: laws of hundreds of them, channels that read how often each letter occurs, and their bounds.

The type t of n samples says how often each letter a occurs, t_a times. A channel p(y | t) treats all samples alike, and
(X_i, Y) has for every i the law of (X, Y), X a sample drawn at random: p(X = a | t) = t_a / n. A second one:
p(X' = b | t, X = a) = (t_b - [a = b]) / (n - 1). A bound over channels that read the type holds for every mechanism.
Proofs are in kernel-alike.md. A law "alike" is p(w) prod_i k(x_i | w). Its variables are W, X and X' above, and the
inputs of its channels are types.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import comb, factorial, prod

from dalenius.kernel.channel import ENTRIES, Channel, Dense, read_width
from dalenius.kernel.nouns import Label, Law, Mechanism, Setting, Variable
from dalenius.kernel.numbers import Node, Work, common_denominator, require
from dalenius.kernel.withheld import Unread

TYPES = 200_000  # types that are ever listed
SAMPLES = 1_000_001

Type = tuple[int, ...]  # how often each letter occurs


def types(samples: int, letters: int) -> Iterator[Type]:
    """Every type, first by the count of the first letter, then of the second.

    >>> list(types(2, 2)), list(types(1, 3))
    ([(0, 2), (1, 1), (2, 0)], [(0, 0, 1), (0, 1, 0), (1, 0, 0)])
    """
    if letters == 1:
        yield (samples,)
        return
    for k in range(samples + 1):
        for rest in types(samples - k, letters - 1):
            yield (k, *rest)


def count_types(samples: int, letters: int) -> int:
    """How many types there are; a refusal where they are too many to be listed."""
    few = min(samples, letters - 1)  # C(m, few) is at least 2^few and at least m, unless few is 0
    small = few < 20 and (not few or samples + letters <= TYPES)
    many = comb(samples + letters - 1, few) if small else TYPES + 1
    require(many <= TYPES, f"there are more than {TYPES:,} types of {samples:,} samples")
    return many


def orders(of: Type) -> int:
    """How many outcomes have this type."""
    return factorial(sum(of)) // prod(map(factorial, of))


def type_of(outcome: Sequence[int], letters: int) -> Type:
    """How often each letter occurs in an outcome."""
    found = Counter(outcome)
    return tuple(found[letter] for letter in range(letters))


class Alike(Law):
    """The law of the rest, of one or two samples drawn at random, and of the type, which comes last in an outcome."""

    def __init__(
        self, variables: tuple[Variable, ...], sample: str, samples: int, atoms: list[tuple[Label, int]], total: int
    ) -> None:
        self.letters = next(len(variable.letters) for variable in variables if variable.name == sample)
        read = Variable(f"all of {sample}", tuple(map(str, range(count_types(samples, self.letters)))))
        require(all(variable.name != read.name for variable in variables), f"no variable may be called {read.name}")
        super().__init__((*variables, read), tuple(atoms), total, None)
        self.samples = samples
        self.sample = sample

    def setting(self, mechanism: Mechanism, work: Work) -> Setting:
        """A mechanism that observes a sample observes all of them: its input is the type."""
        # Beside a kept column the samples would no longer be alike.
        alone = mechanism.reads == (self.sample,) and not mechanism.release and not mechanism.beside
        require(alone, f"samples that are alike are observed as {self.sample} alone, and a letter of its own leaves")
        return Setting(self.variables, self, replace(mechanism, observe=(self.variables[-1].name,)), work)


def read_alike(node: Node, variables: tuple[Variable, ...], work: Work) -> Law:
    """`alike`: p(w) prod_i k(x_i | w), by whole numbers for the prior and for each row of the kernel."""
    _, names, many, prior, kernel = node.fields("law", "variables", "samples", "prior", "kernel")
    samples = many.place(SAMPLES, 1)
    wide = 2 + (samples > 1)
    names.require(names.texts() == tuple(variable.name for variable in variables), "these are not the variables")
    names.require(len(variables) == wide, f"the variables are the hidden one and {wide - 1} of the samples")
    hidden, sample = variables[:2]
    letters = len(sample.letters)
    names.require(variables[-1].letters == sample.letters, "the second sample has other letters than the first")
    masses = prior.wholes(0)
    prior.require(len(masses) == len(hidden.letters) and any(masses), "this is not a law of the hidden variable")
    rows = [row.wholes(0) for row in kernel.pair(len(masses))]
    kernel.require(all(len(row) == letters for row in rows), "a row has not a number for each letter of a sample")
    unit = sum(rows[0])
    kernel.require(unit > 0 and all(sum(row) == unit for row in rows), "the rows do not have one positive sum")
    longest = samples * (unit.bit_length() + 1) + sum(masses).bit_length()
    work.spend(8 * count_types(samples, letters) * len(rows) * letters**2, longest)
    atoms = list[tuple[Label, int]]()
    for place, t in enumerate(types(samples, letters)):
        times = orders(t)
        for w, (mass, row) in enumerate(zip(masses, rows, strict=True)):
            weight = mass * times * prod(value**k for value, k in zip(row, t, strict=True))
            if weight:
                atoms += [((w, *drawn, place), weight * share) for drawn, share in _drawn(t)]
    total = sum(masses) * unit**samples * samples * max(samples - 1, 1)
    return Alike(variables, sample.name, samples, atoms, total)


def _drawn(t: Type) -> Iterator[tuple[Label, int]]:
    """One or two samples drawn at random from a type, each with n (n - 1) times its probability; n with one sample."""
    if sum(t) == 1:
        yield (t.index(1),), 1
        return
    for (a, k), (b, m) in product(enumerate(t), repeat=2):
        if k and m > (a == b):
            yield (a, b), k * (m - (a == b))


def read_types(node: Node, setting: Setting) -> Channel:
    """`types`: for each type a scale, and the letters of positive weight, rising. A matrix over types or outcomes."""
    _, many, width, rows = node.fields("form", "samples", "letters", "rows")
    samples = many.place(SAMPLES, 1)
    wide = read_width(width, setting)
    law = setting.law if setting.has_law else None
    alphabets = {setting.alphabets[name] for name in setting.mechanism.reads}
    node.require(len(alphabets) == 1, "the samples have different letters")
    letters = law.letters if isinstance(law, Alike) else len(alphabets.pop())
    count = count_types(samples, letters)
    rows.require(rows.length() == count, f"there is not one row for each of the {count:,} types")
    setting.work.spend(4 * count * wide)
    table = [_read_row(row, wide, setting.work) for row in rows.items()]
    scale = common_denominator((Fraction(1, one) for one, _ in table), setting.work)
    setting.work.spend(sum(1 + sum(map(bool, row)) for _, row in table), scale.bit_length())
    found = [tuple(value * (scale // one) for value in row) for one, row in table]
    if isinstance(law, Alike):
        many.require(samples == law.samples, f"the law has {law.samples:,} samples")
        return Dense(scale, tuple(found), wide)
    if law is None and len(setting.sizes) == 1 < samples:
        return Unread("types", "form types does not prove this without the law of its samples")
    # Types of other samples would be rows for other inputs.
    many.require(samples == len(setting.sizes), f"{len(setting.sizes)} columns are read")
    node.require(setting.many <= ENTRIES, "there are too many inputs to be listed")
    setting.work.spend(8 * setting.many * samples)
    place = {t: k for k, t in enumerate(types(samples, letters))}
    which = [place[type_of(x, letters)] for x in product(range(letters), repeat=samples)]
    return Dense(scale, tuple(found[k] for k in which), wide)


def _read_row(node: Node, width: int, work: Work) -> tuple[int, list[int]]:
    scale, entries = node.pair()
    one = scale.whole(1)
    row = [0] * width
    last = -1
    for item in entries.items():
        letter, weight = item.pair()
        place = letter.place(width)
        # Rising, so that no letter stands twice: the second weight would take the place of the first.
        if place <= last:
            raise item.refuse("the letters do not rise")
        last = place
        row[place] = weight.whole(1)
    work.spend(4 * width)
    node.require(sum(row) == one, "the row is not a law of the letters: its numbers do not sum to the scale")
    return one, row


def quotient(setting: Setting, about: Sequence[str]) -> Setting:
    """The setting of the types of all observed columns, proved to be exchangeable together with `about`.

    Its variables are `about`, which names none of them, and a sample drawn at random under the name of the first.
    """
    m = setting.mechanism
    alphabets = [setting.alphabets[name] for name in m.reads]
    same = m.reads == m.observe and not m.beside and len(set(alphabets)) == 1
    require(same and not set(about) & set(m.reads), "these columns are not alike, or are spoken of one by one")
    letters, samples, work = len(alphabets[0]), len(m.reads), setting.work
    work.spend(8 * len(setting.law.atoms) * samples + 8 * count_types(samples, letters), setting.total.bit_length())
    place = {t: k for k, t in enumerate(types(samples, letters))}
    seen: Counter[tuple[Label, Type, int]] = Counter()
    weights: defaultdict[tuple[Label, Type], int] = defaultdict(int)
    pairs = list(zip(setting.labels(about), setting.labels(m.reads), strict=True))
    for (rest, outcome), n in setting.weights(pairs).items():
        t = type_of(outcome, letters)
        seen[rest, t, n] += 1
        weights[rest, t] += n
    require(all(many == orders(t) for (_, t, _), many in seen.items()), "the observed columns are not exchangeable")
    atoms = sorted(((*rest, a, place[t]), n * k) for (rest, t), n in weights.items() for a, k in enumerate(t) if k)
    variables = tuple(Variable(name, setting.alphabets[name]) for name in (*about, m.reads[0]))
    free = replace(m, observe=m.reads[:1], release=(), fresh=None, form="any", each=None, forbid=frozenset())
    free = replace(free, never=(), freeze=frozenset(), preserve_marginals=False, side=None, encoder=None)
    return Alike(variables, m.reads[0], samples, atoms, setting.total * samples).setting(free, work)
