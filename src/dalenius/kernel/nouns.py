"""What a file speaks of: variables and their law, and the mechanism that is asked for. Frozen, checked at the door."""

from collections import Counter
from collections.abc import Callable, Container, Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import prod
from operator import lt
from typing import TypeVar

from dalenius.kernel.logs import entropy
from dalenius.kernel.numbers import Node, Refused, Work, integers, require

Label = tuple[int, ...]  # an outcome of some variables: the place of each letter in its alphabet
Combination = tuple[tuple[str, frozenset[str]], ...]  # of some columns the letters that never leave together
Key = TypeVar("Key", bound=Hashable)
WRITTEN_OUT = 1 << 22  # inputs or letters that are ever listed
ENCODERS = ("informed", "statistically-informed", "uninformed")
RECORDS = 64  # of a group under noise
PRODUCTS = 1 << 20  # outcomes of independent groups that are ever multiplied


@dataclass(frozen=True)
class Variable:
    """A column: its name and its alphabet."""

    name: str
    letters: tuple[str, ...]


def read_variables(node: Node) -> tuple[Variable, ...]:
    """The variables of a file, each with different letters."""
    found = []
    for item in node.items():
        name, letters = item.fields("name", "letters")
        found.append(Variable(name.text(), letters.texts()))
        letters.require(letters.length() > 0, "an alphabet is empty")
    node.require(len({variable.name for variable in found}) == len(found), "a variable stands twice")
    return tuple(found)


def names_in(node: Node, known: Container[str]) -> tuple[str, ...]:
    """Different names of variables, all of them known."""
    found = node.texts()
    node.require(all(name in known for name in found), "there is no such variable")
    return found


class Law:
    """Counts of the outcomes of all variables, out of `total`.

    Laws that are not written out are subclasses, whose `atoms` are made or refused when somebody asks for them.
    """

    def __init__(
        self, variables: tuple[Variable, ...], atoms: tuple[tuple[Label, int], ...], total: int, rows: int | None
    ) -> None:
        self.variables = variables
        self._atoms = atoms
        self.total = total
        self.rows = rows

    @property
    def atoms(self) -> tuple[tuple[Label, int], ...]:
        """The outcomes that occur, rising, each with its count."""
        return self._atoms

    def labels(self, names: Sequence[str]) -> list[Label]:
        """For each atom, its outcome of the named variables."""
        if not names:
            return [()] * len(self.atoms)
        return list(zip(*(self.columns[name] for name in names), strict=True))

    @cached_property
    def columns(self) -> dict[str, tuple[int, ...]]:
        """For each variable, the place of its letter in each atom."""
        columns = zip(*(outcome for outcome, _ in self.atoms), strict=True)
        return {variable.name: column for variable, column in zip(self.variables, columns, strict=True)}

    def counts(self, names: Sequence[str], work: Work) -> Counter[Label]:
        """The count of each outcome of some variables."""
        work.spend(4 * len(self.atoms), self.total.bit_length())
        found: Counter[Label] = Counter()
        for label, (_, n) in zip(self.labels(names), self.atoms, strict=True):
            found[label] += n
        return found

    def entropy(self, names: Sequence[str], work: Work) -> tuple[Fraction, Fraction]:
        """Bounds in bits of H(names)."""
        return entropy(self.counts(names, work).values(), work)

    def likeliest(self, names: Sequence[str], work: Work) -> Fraction:
        """The chance of the likeliest outcome of some variables."""
        return Fraction(max(self.counts(names, work).values()), self.total)

    def setting(self, mechanism: "Mechanism", work: Work) -> "Setting":
        """This law under a mechanism. A law with inputs of its own brings a setting of its own."""
        return Setting(self.variables, self, mechanism, work)


LawReader = Callable[[Node, tuple[Variable, ...], Work], Law]


def read_law(node: Node, variables: tuple[Variable, ...], work: Work) -> Law:
    """The law of these variables, by the reader of its kind in `LAWS`."""
    return LAWS[node.tag(*LAWS)](node, variables, work)


def read_outcomes(node: Node, variables: tuple[Variable, ...], work: Work) -> Law:
    """`table`: counts of rows; `known`: a stated law. Outcomes rise, and each has a positive count."""
    kind = node.tag("table", "known")
    _, names, outcomes = node.fields("law", "variables", "outcomes")
    names.require(
        names.texts() == tuple(variable.name for variable in variables), "these are not the variables, in their order"
    )
    work.spend(4 * outcomes.length() * (len(variables) + 1))
    atoms = _outcomes_at_once(outcomes.value, variables)
    if atoms is None:
        raise _wrong_outcome(outcomes, variables)
    total = sum(n for _, n in atoms)
    # Only counts of a table are rows: a stated law could claim any number of them, and any confidence.
    return Law(variables, tuple(atoms), total, total if kind == "table" else None)


def _outcomes_at_once(found: object, variables: tuple[Variable, ...]) -> list[tuple[Label, int]] | None:
    """The atoms, column by column in little time; None where the slow way has to say what is wrong."""
    wide = len(variables) + 1
    if not isinstance(found, list) or not found or not variables:
        return None
    if set(map(type, found)) != {list} or set(map(len, found)) != {wide}:
        return None
    *columns, last = zip(*found, strict=True)
    counts = integers(last)
    for variable, column in zip(variables, columns, strict=True):
        # {int} leaves out true and false; a place beyond the alphabet would be a letter without a name.
        if set(map(type, column)) != {int} or not 0 <= min(column) <= max(column) < len(variable.letters):
            return None
    if counts is None or min(counts) < 1:
        return None
    labels: list[Label] = list(zip(*columns, strict=True))
    # They rise strictly: an outcome that stands twice would have two counts.
    if not all(map(lt, labels, labels[1:])):
        return None
    return list(zip(labels, counts, strict=True))


def _wrong_outcome(outcomes: Node, variables: tuple[Variable, ...]) -> Refused:
    """What is wrong with outcomes that could not be read at once."""
    last: Label = ()
    for item in outcomes.items():
        *places, count = item.pair(len(variables) + 1)
        outcome = tuple(place.place(len(variable.letters)) for place, variable in zip(places, variables, strict=True))
        if not outcome > last:
            return item.refuse("the outcomes do not rise, or one stands twice")
        last = outcome
        count.whole(1)
    return outcomes.refuse("the law is empty")


LAWS: dict[str, LawReader] = {
    "table": read_outcomes,
    "known": read_outcomes,
}


@dataclass(frozen=True)
class Mechanism:
    """What may be looked at, what leaves, and which letters may be released: the mechanisms that compete.

    `form` is "any" matrix, or "pram": a letter stays with its probability, the others share the rest evenly; or
    "noise": the columns are numbers on grids, and points of the grids, continued at both ends, are released. With
    `each` every observed column has a matrix of its own, drawn by itself, whose level of local DP is at most this;
    `form` then speaks of these. `encoder` is what the mechanism does about side information. "informed": it is read
    as the last input; "statistically-informed": what is drawn is a map from it to released letters; "uninformed":
    nothing, and it is not counted beside what leaves.
    """

    observe: tuple[str, ...]  # columns that are looked at
    strata: tuple[str, ...]  # looked at, and leave as they are
    keep: tuple[str, ...]  # leave as they are, and are not looked at
    release: tuple[str, ...]  # columns whose letters are released; () for an output of its own
    fresh: tuple[str, ...] | None  # the letters of an output of its own; None: as many as one likes
    form: str
    each: tuple[Fraction, ...] | None
    forbid: frozenset[tuple[str, str]]  # changes that never happen, in any released column
    never: tuple[Combination, ...]  # combinations of letters that never leave
    freeze: frozenset[str]  # letters that never change
    preserve_marginals: bool  # the law of the released columns stays as it was
    side: str | None  # what the user has anyway
    encoder: str | None

    @property
    def reads(self) -> tuple[str, ...]:
        """The inputs of the channel, in their order."""
        return self.observe + self.strata + ((self.side,) if self.side and self.encoder == "informed" else ())

    @property
    def leaving(self) -> tuple[str, ...]:
        """The columns that leave as they are. Side information does not leave: the user has it anyway."""
        return self.keep + self.strata

    @property
    def beside(self) -> tuple[str, ...]:
        """What the user has in the end beside the released letter, as far as it is counted."""
        # An uninformed encoder is judged without what the user has: the reader then allows no promise about a secret.
        return self.keep + self.strata + ((self.side,) if self.side and self.encoder != "uninformed" else ())

    @property
    def bars(self) -> int:
        """How many letters, changes and combinations are barred."""
        return len(self.forbid) + len(self.freeze) + len(self.never)

    def changes(self, before: dict[str, str], after: dict[str, str]) -> bool:
        """Whether letters for a record that is read as `before` are a forbidden change, or one of a frozen letter."""
        moves = [(before[name], after[name]) for name in self.release if name in before]
        return any(move in self.forbid or (move[0] in self.freeze and move[0] != move[1]) for move in moves)

    def combines(self, after: dict[str, str]) -> bool:
        """Whether these letters are a combination that never leaves."""
        return any(all(after[name] in among for name, among in combination) for combination in self.never)


def read_mechanism(node: Node, variables: tuple[Variable, ...]) -> Mechanism:
    """The mechanism of a file; every name and letter in it exists."""
    observe, strata, keep, release, fresh, form, each, forbid, never, freeze, preserve, side = node.fields(
        "observe", "strata", "keep", "release", "fresh", "form", "each", "forbid", "never", "freeze",
        "preserve_marginals", "side",
    )  # fmt: skip
    letters_of = {variable.name: variable.letters for variable in variables}
    looked, layers, kept, released = (names_in(part, letters_of) for part in (observe, strata, keep, release))
    known, encoder = _read_side(side, letters_of)
    used = looked + layers + kept + ((known,) if known else ())
    # What is looked at and also leaves, or is known beside it, would be counted once only.
    node.require(len(set(used)) == len(used), "a column is both looked at and kept, or stands twice")
    observe.require(bool(looked), "nothing is observed")
    release.require(not set(released) & set(used[len(looked) :]), "a column that leaves as it is is released again")
    alphabets = {name: letters_of[name] for name in released}
    letters = {letter for alphabet in alphabets.values() for letter in alphabet}
    frozen = frozenset(freeze.texts())
    freeze.require(frozen <= letters, "no released column has this letter")
    levels = None if each.is_null() else tuple(level.number(0) for level in each.pair(len(looked)))
    changes, zeros = _read_forbidden(forbid, letters), _read_never(never, alphabets)
    mechanism = Mechanism(
        looked, layers, kept, released, _read_fresh(fresh, released), form.text(), levels, changes, zeros, frozen,
        preserve.flag(), known, encoder,
    )  # fmt: skip
    form.require(mechanism.form in ("any", "pram", "noise"), "the form is any, pram or noise")
    own = mechanism.fresh is None and released in ((), looked)
    each.require(each.is_null() or own, "columns with a matrix each release all of themselves, or letters of their own")
    held = mechanism.forbid or mechanism.freeze or mechanism.preserve_marginals
    node.require(not held or set(released) <= set(looked), "a column is held fast that is not observed")
    node.require(bool(released) or not mechanism.preserve_marginals, "an output of its own has no marginal before")
    return mechanism


def _read_side(node: Node, names: Container[str]) -> tuple[str | None, str | None]:
    if node.is_null():
        return None, None
    variable, encoder = node.fields("variable", "encoder")
    node.require(variable.text() in names, "there is no such variable")
    encoder.require(encoder.text() in ENCODERS, f"the encoder is one of {', '.join(ENCODERS)}")
    return variable.text(), encoder.text()


def _read_fresh(node: Node, released: tuple[str, ...]) -> tuple[str, ...] | None:
    if node.is_null():
        return None
    node.require(not released, "released columns have their own letters")
    node.require(node.length() > 0, "an alphabet is empty")
    return node.texts()


def _read_forbidden(node: Node, letters: set[str]) -> frozenset[tuple[str, str]]:
    found = set[tuple[str, str]]()
    for item in node.items():
        old, new = (part.text() for part in item.pair())
        item.require({old, new} <= letters, "no released column has these letters")
        found.add((old, new))
    node.require(len(found) == node.length(), "a change stands twice")
    return frozenset(found)


def _read_never(node: Node, alphabets: dict[str, tuple[str, ...]]) -> tuple[Combination, ...]:
    found = []
    for item in node.items():
        combination = dict[str, frozenset[str]]()
        for part in item.items():
            column, letters = part.fields("column", "letters")
            name = column.text()
            column.require(name in alphabets, "this column is not released")
            column.require(name not in combination, "a column stands twice in one combination")
            combination[name] = frozenset(letters.texts())
            letters.require(bool(combination[name]), "no letter is named")
            letters.require(combination[name].issubset(alphabets[name]), "the column has no such letter")
        item.require(bool(combination), "a combination is empty")
        found.append(tuple(combination.items()))
    node.require(len(set(found)) == len(found), "a combination stands twice")
    return tuple(found)


class Setting:
    """The law and the mechanism together: which input each atom is, and what leaves beside the letter. No channel.

    Lists over inputs and atoms are made when they are asked for, so that a form that needs none of them can speak of
    more inputs than could be listed.
    """

    def __init__(self, variables: tuple[Variable, ...], law: Law | None, mechanism: Mechanism, work: Work) -> None:
        self.variables = variables
        self.mechanism = mechanism
        self.work = work
        self.alphabets = {variable.name: variable.letters for variable in variables}
        self.sizes = [len(self.alphabets[name]) for name in mechanism.reads]
        self.many = prod(self.sizes)
        self.width: int | None = None  # how many letters may be released; None: as many as one likes
        if mechanism.release and mechanism.form != "noise":  # the points of its grids have no end
            self.width = prod(len(self.alphabets[name]) for name in mechanism.release)
        elif mechanism.fresh is not None:
            self.width = len(mechanism.fresh)
        self._law = law
        self.upper_ends: dict[tuple[int, Fraction], Fraction] = {}  # of binomial intervals: of a count, at a surprise

    @property
    def has_law(self) -> bool:
        """Whether the law is known: a card has none."""
        return self._law is not None

    @property
    def law(self) -> Law:
        """The law of the records."""
        if self._law is None:
            raise Refused("this needs the law of the records, which a card does not carry")
        return self._law

    @property
    def members(self) -> list[int]:
        """How many values each member has that a group may have: inputs; under noise whole records, each by itself."""
        return [self.many] * RECORDS if self.mechanism.form == "noise" else self.sizes

    @cached_property
    def released(self) -> list[tuple[str, ...]] | None:
        """The letters that compete, each a text for each released column; None: as many as one likes."""
        if self.width is None:
            return None
        require(self.width <= WRITTEN_OUT, "there are too many letters to be listed")
        self.work.spend(self.width * max(1, len(self.mechanism.release)))
        if self.mechanism.fresh is not None:
            return [(letter,) for letter in self.mechanism.fresh]
        return list(product(*(self.alphabets[name] for name in self.mechanism.release)))

    @cached_property
    def counts(self) -> list[int]:
        """The count of each atom."""
        return [n for _, n in self.law.atoms]

    @property
    def total(self) -> int:
        """The sum of all counts."""
        return self.law.total

    @cached_property
    def input(self) -> list[int]:
        """The input of each atom."""
        require(self.many <= WRITTEN_OUT, "there are too many inputs to be listed")
        self.work.spend(8 * len(self.law.atoms) * len(self.sizes))
        found = [0] * len(self.law.atoms)
        for name, size in zip(self.mechanism.reads, self.sizes, strict=True):
            found = [place * size + k for place, k in zip(found, self.law.columns[name], strict=True)]
        return found

    @cached_property
    def beside(self) -> list[Label]:
        """What leaves as it is of each atom."""
        return self.labels(self.mechanism.beside)

    @cached_property
    def mass(self) -> dict[int, int]:
        """The count of every input that occurs, in the order of the inputs."""
        found: dict[int, int] = {}
        self.work.spend(8 * len(self.counts), self.total.bit_length())
        # Sorted: prices and weights of a proof are in this order.
        for e, n in sorted(zip(self.input, self.counts, strict=True)):
            found[e] = found.get(e, 0) + n
        return found

    def number(self, label: Label) -> int:
        """The place of an input, last variable fastest."""
        place = 0
        for k, size in zip(label, self.sizes, strict=True):
            place = place * size + k
        return place

    def label(self, e: int) -> Label:
        """The outcome of the inputs with this place."""
        found = []
        for size in reversed(self.sizes):
            e, k = divmod(e, size)
            found.append(k)
        return tuple(reversed(found))

    def labels(self, names: Sequence[str]) -> list[Label]:
        """For each atom, its outcome of the named variables."""
        self.work.spend(4 * len(self.law.atoms) * (1 + len(names)))
        return self.law.labels(names)

    def worlds(self, given: Sequence[str]) -> list[Label]:
        """For each input, its letters of the given columns that are read."""
        require(self.many <= WRITTEN_OUT, "there are too many inputs to be listed")
        known = set(given)
        at = [k for k, name in enumerate(self.mechanism.reads) if name in known]
        if not at:
            return [()] * self.many
        self.work.spend(10 * self.many * len(self.sizes))
        return [tuple(label[k] for k in at) for label in product(*map(range, self.sizes))]

    def weights(self, labels: Sequence[Key]) -> Counter[Key]:
        """How many records have each label."""
        found: Counter[Key] = Counter()
        self.work.spend(4 * len(labels))
        for label, n in zip(labels, self.counts, strict=True):
            found[label] += n
        return found

    def by_input(self, labels: Sequence[Key]) -> dict[int, Counter[Key]]:
        """For each input that occurs, how many of its records have each label."""
        found: dict[int, Counter[Key]] = {e: Counter() for e in self.mass}
        self.work.spend(8 * len(labels))
        for e, label, n in zip(self.input, labels, self.counts, strict=True):
            found[e][label] += n
        return found

    def barred(self, e: int) -> set[int]:
        """The places of the letters that the mechanism may not release for this input."""
        m = self.mechanism
        if not m.bars or self.released is None:
            return set()
        before = {name: self.alphabets[name][k] for name, k in zip(m.reads, self.label(e), strict=True)}
        self.work.spend(10 * len(self.released) * (len(m.release) + m.bars))
        letters = [dict(zip(m.release, after, strict=True)) for after in self.released]
        return {t for t, after in enumerate(letters) if m.changes(before, after) or m.combines(after)}

    def marginal(self) -> list[int]:
        """The counts of the released letters before the release."""
        require(bool(self.mechanism.release), "an output of its own has no marginal before")
        require(self.width is not None and self.width <= WRITTEN_OUT, "there are too many letters to be listed")
        found = self.weights(self.labels(self.mechanism.release))
        return [found[k] for k in product(*(range(len(self.alphabets[name])) for name in self.mechanism.release))]
