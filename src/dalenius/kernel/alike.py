r"""Samples that are alike: laws of hundreds of them, channels that read how often each letter occurs, and their bounds.

The type t of n samples says how often each letter a occurs, t_a times. If the law does not change when samples change
places, then given its type an outcome of the samples is uniform on all orders, and tells nothing more about anything
else. Two consequences:

1. A channel p(y | t) treats all samples alike, and (X_i, Y) has for every i the law of (X, Y), X a sample drawn at
   random from the n, because p(X = a | t) = t_a / n. A second one: p(X' = b | t, X = a) = (t_b - [a = b]) / (n - 1).
2. Whatever a mechanism p(y | x_1..x_n) tells about the rest and about a sample drawn at random is what its mean over
   the orders of each type tells, because the joint law is the same. So a bound over channels that read the type holds
   for every mechanism.

A law "alike" is p(w) prod_i k(x_i | w). Its variables are W, X and X' above, and the inputs of its channels are types.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import comb, factorial, lcm, prod

from dalenius.kernel.channel import ENTRIES, Channel, Rows
from dalenius.kernel.nouns import Label, Law, Mechanism, Setting, Variable
from dalenius.kernel.numbers import Node, Refused, Work

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


def count_types(node: Node, samples: int, letters: int) -> int:
    """How many types there are; a refusal where they are too many to be listed."""
    few = min(samples, letters - 1)  # C(m, few) is at least 2^few and at least m, unless few is 0
    node.require(few < 20 and (not few or samples + letters <= TYPES), f"there are more than {TYPES:,} types")
    many = comb(samples + letters - 1, few)
    node.require(many <= TYPES, f"there are more than {TYPES:,} types")
    return many


def orders(of: Type) -> int:
    """How many outcomes have this type."""
    return factorial(sum(of)) // prod(map(factorial, of))


class Alike(Law):
    """The law of the rest, of one or two samples drawn at random, and of the type, which comes last.

    Parameters
    ----------
    variables : tuple of Variable
        The rest and the samples.
    atoms : list of (outcome, count)
        An outcome has the place of the type after the letters of the variables.
    total : int
        The sum of the counts.
    samples : int
        How many samples there are.
    sample : str
        The variable that is a sample drawn at random.
    many : int
        How many types there are.
    """

    def __init__(
        self,
        variables: tuple[Variable, ...],
        atoms: list[tuple[Label, int]],
        total: int,
        samples: int,
        sample: str,
        many: int,
    ) -> None:
        read = Variable(f"all of {sample}", tuple(map(str, range(many))))
        if read.name in {variable.name for variable in variables}:
            raise Refused(f"no variable may be called {read.name}, which stands for all samples")
        super().__init__((*variables, read), tuple(atoms), total, None)
        self.samples = samples
        self.sample = sample
        self.letters = next(len(variable.letters) for variable in variables if variable.name == sample)

    def setting(self, mechanism: Mechanism, work: Work) -> Setting:
        """The setting whose input is the type."""
        return ByTypes(self, mechanism, work)


class ByTypes(Setting):
    """A setting whose input is the type of the samples: a mechanism that observes a sample observes all of them."""

    def __init__(self, law: Alike, mechanism: Mechanism, work: Work) -> None:
        alone = mechanism.reads == (law.sample,) and not mechanism.release and not mechanism.beside
        if not alone:
            raise Refused(f"samples that are alike are observed as {law.sample} alone, and a letter of its own leaves")
        super().__init__(law.variables, law, replace(mechanism, observe=(law.variables[-1].name,)), work)
        self.samples = law.samples
        self.letters = law.letters


def read_alike(node: Node, variables: tuple[Variable, ...], work: Work) -> Law:
    """`alike`: p(w) prod_i k(x_i | w), by whole numbers for the prior and for each row of the kernel."""
    _, names, many, prior, kernel = node.fields("law", "variables", "samples", "prior", "kernel")
    samples = many.place(SAMPLES, 1)
    wide = 2 + (samples > 1)
    names.require(names.texts() == tuple(variable.name for variable in variables), "these are not the variables")
    names.require(len(variables) == wide, f"the variables are the hidden one and {wide - 1} of the samples")
    hidden, sample = variables[:2]
    names.require(variables[-1].letters == sample.letters, "the second sample has other letters than the first")
    masses = prior.wholes(0)
    prior.require(len(masses) == len(hidden.letters) and any(masses), "this is not a law of the hidden variable")
    rows = [row.wholes(0) for row in kernel.pair(len(masses))]
    letters = len(sample.letters)
    count = count_types(many, samples, letters)
    kernel.require(all(len(row) == letters for row in rows), "a row has not a number for each letter of a sample")
    unit = sum(rows[0])
    kernel.require(unit > 0 and all(sum(row) == unit for row in rows), "the rows do not have one positive sum")
    longest = samples * (unit.bit_length() + 1) + sum(masses).bit_length()
    work.spend(4 * samples * len(rows) * letters + 8 * count * len(rows) * letters**2, longest)
    powers = [[_powers(value, samples) for value in row] for row in rows]
    atoms = list[tuple[Label, int]]()
    for place, t in enumerate(types(samples, letters)):
        times = orders(t)
        for w, mass in enumerate(masses):
            weight = mass * times * prod(power[k] for power, k in zip(powers[w], t, strict=True))
            if weight:
                atoms += [((w, *pair, place), weight * share) for pair, share in _drawn(t)]
    total = sum(masses) * unit**samples * samples * max(samples - 1, 1)
    return Alike(variables, atoms, total, samples, sample.name, count)


def _powers(base: int, most: int) -> list[int]:
    found = [1]
    for _ in range(most):
        found.append(found[-1] * base)
    return found


def _drawn(t: Type) -> Iterator[tuple[Label, int]]:
    """One or two samples drawn at random from a type, each with n (n - 1) times its probability; n with one sample."""
    n = sum(t)
    for a, k in enumerate(t):
        if n == 1 and k:
            yield (a,), k
        elif n > 1:
            yield from (((a, b), k * (m - (a == b))) for b, m in enumerate(t) if k and m > (a == b))


@dataclass(frozen=True)
class ByType(Channel):
    """A row for each type of n samples: whole numbers over a scale of its own.

    `which` is the type of each input where samples are columns of their own; None where inputs are types.
    """

    table: tuple[tuple[int, tuple[int, ...]], ...]
    which: tuple[int, ...] | None
    width: int
    form = "types"

    def rows(self, work: Work) -> Rows:
        scale = 1
        for one in {one for one, _ in self.table}:
            work.spend(4, scale.bit_length() + one.bit_length())
            scale = lcm(scale, one)
        work.spend(4 * len(self.table) * self.width, scale.bit_length())
        found = [[v * (scale // one) for v in row] for one, row in self.table]
        return scale, found if self.which is None else [found[k] for k in self.which]


class Unread(ByType):
    """Of a card whose one column stands for all samples: without the law nothing says what the inputs are."""

    def rows(self, work: Work) -> Rows:
        raise Refused("form types does not prove this without the law of its samples")


def read_types(node: Node, setting: Setting) -> Channel:
    """`types`: for each type a scale, and the letters of positive weight, rising."""
    _, many, width, rows = node.fields("form", "samples", "letters", "rows")
    samples = many.place(SAMPLES, 1)
    wide = width.place(ENTRIES, 1)
    width.require(setting.width in (None, wide), "the released letters are not those of the problem")
    reads = setting.mechanism.reads
    if isinstance(setting, ByTypes):
        many.require(samples == setting.samples, f"the law has {setting.samples:,} samples")
        return ByType(_read_rows(node, samples, setting.letters, wide, setting.work), None, wide)
    alphabets = {setting.alphabets[name] for name in reads}
    node.require(len(alphabets) == 1, "the samples have different letters")
    letters = len(alphabets.pop())
    if not setting.has_law and len(reads) == 1 < samples:
        return Unread(_read_rows(node, samples, letters, wide, setting.work), None, wide)
    many.require(samples == len(reads), f"{len(reads)} columns are read")
    node.require(setting.many <= ENTRIES, "there are too many inputs to be listed")
    table = _read_rows(node, samples, letters, wide, setting.work)
    setting.work.spend(8 * setting.many * samples)
    place = {t: k for k, t in enumerate(types(samples, letters))}
    return ByType(table, tuple(place[type_of(x, letters)] for x in product(range(letters), repeat=samples)), wide)


def _read_rows(
    node: Node, samples: int, letters: int, width: int, work: Work
) -> tuple[tuple[int, tuple[int, ...]], ...]:
    _, many, _, rows = node.fields("form", "samples", "letters", "rows")
    count = count_types(many, samples, letters)
    rows.require(rows.length() == count, f"there is not one row for each of the {count:,} types")
    work.spend(4 * count * width)
    return tuple(_read_row(row, width, work) for row in rows.items())


def _read_row(node: Node, width: int, work: Work) -> tuple[int, tuple[int, ...]]:
    scale, entries = node.pair()
    one = scale.whole(1)
    row = [0] * width
    last = -1
    for item in entries.items():
        letter, weight = item.pair()
        place = letter.place(width)
        if place <= last:
            raise item.refuse("the letters do not rise")
        last = place
        row[place] = weight.whole(1)
    work.spend(4 * len(row), one.bit_length())
    node.require(sum(row) == one, "the row is not a law of the letters: its numbers do not sum to the scale")
    return one, tuple(row)


def type_of(outcome: Sequence[int], letters: int) -> Type:
    """How often each letter occurs in an outcome."""
    found = [0] * letters
    for letter in outcome:
        found[letter] += 1
    return tuple(found)


def quotient(setting: Setting, about: Sequence[str]) -> ByTypes:
    """The setting of the types of all observed columns, proved to be exchangeable together with `about`.

    Parameters
    ----------
    setting : Setting
        Its law is written out; nothing is kept, and all that is read is observed.
    about : sequence of str
        What else is spoken of; none of the observed columns.

    Returns
    -------
    ByTypes
        Its variables are `about` and, under the name of the first observed column, a sample drawn at random.
    """
    m = setting.mechanism
    alphabets = [setting.alphabets[name] for name in m.reads]
    if m.reads != m.observe or m.beside or len(set(alphabets)) != 1 or set(about) & set(m.reads):
        raise Refused("these columns are not alike: one has other letters, or is spoken of, kept or a stratum")
    letters, samples, work = len(alphabets[0]), len(m.reads), setting.work
    count = count_types(Node(None, "the observed columns"), samples, letters)
    place = {t: k for k, t in enumerate(types(samples, letters))}
    work.spend(8 * len(setting.law.atoms) * samples + 8 * count * letters, setting.total.bit_length())
    seen: Counter[tuple[Label, Type, int]] = Counter()
    weights: defaultdict[tuple[Label, Type], int] = defaultdict(int)
    pairs = list(zip(setting.labels(about), setting.labels(m.reads), strict=True))
    for (rest, outcome), n in setting.weights(pairs).items():
        t = type_of(outcome, letters)
        seen[rest, t, n] += 1
        weights[rest, t] += n
    if any(many != orders(t) for (_, t, _), many in seen.items()):
        raise Refused("the observed columns are not exchangeable")
    atoms = sorted(((*rest, a, place[t]), n * k) for (rest, t), n in weights.items() for a, k in enumerate(t) if k)
    sample = m.observe[0]
    variables = tuple(Variable(name, setting.alphabets[name]) for name in (*about, sample))
    law = Alike(variables, atoms, setting.total * samples, samples, sample, count)
    free = replace(m, observe=(sample,), release=(), fresh=None, form="any", forbid=(), never=(), freeze=())
    return ByTypes(law, replace(free, preserve_marginals=False), work)
