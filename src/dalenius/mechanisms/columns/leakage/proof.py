r"""The multipliers of a leakage program as the terms of the kernel's rule "lines".

A leaf is a released letter, a map, or a case of the funnel; each promise gives every leaf its numbers, in the order of
the promises, and values of a secret stand in the order of `Pmf.grouped`. Multipliers are whole numbers of 2^-60 for an
objective in bits or in units of distortion, so that nats are divided by ln 2 on the way.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from math import log, prod
from typing import TYPE_CHECKING, Any

import numpy as np

from dalenius.core import (
    Certificate,
    Contraction,
    Dalenius,
    Guarantee,
    Independent,
    InformationPrivacy,
    Leakage,
    LocalDP,
    MaximalLeakage,
    Sibson,
    TotalVariation,
    WorstCaseLeakage,
)
from dalenius.documents.text import text
from dalenius.mechanisms.column_bounds import local_promises
from dalenius.mechanisms.columns.leakage.barred_pairs import NEXT_TO_ONE
from dalenius.mechanisms.columns.leakage.gauges import Weighed, whole_units
from dalenius.mechanisms.columns.leakage.local_dp_rows import worlds_of
from dalenius.mechanisms.proof_terms import ONE, by_lines, texts
from dalenius.solvers.leakage import Multipliers, Term
from dalenius.solvers.leakage.program import Floats

if TYPE_CHECKING:
    from dalenius.mechanisms.columns.leakage.model import Model

__all__ = ["LineProof", "dual_certificate", "every_map"]

STEEP = 2.0**30
"""The weight of a limit of nothing: it loses its inverse, and as much by the last of the 60 bits of a posterior."""


@dataclass(eq=False)
class LineProof:
    """The numbers of a proof by lines, before its cases are divided.

    Attributes
    ----------
    weights : list of str
        One for each promise: of what all letters use up together.
    limits, margins : list of str
        Of limits of distortion, and of margins that are preserved.
    cuts : list of dict
        Further limits that curved promises imply.
    own : list
        For each term of the objective and each leaf its posteriors.
    rows : list
        For each promise and each leaf its numbers.
    """

    many: int
    weights: list[str]
    rows: list[list[Any]]
    limits: list[str] = field(default_factory=list)
    margins: list[str] = field(default_factory=list)
    cuts: list[dict[str, Any]] = field(default_factory=list)
    own: list[list[list[str]]] = field(default_factory=list)

    @classmethod
    def of(cls, model: "Model", y: Multipliers, many: int | None = None) -> "LineProof":
        """The numbers that multipliers of the program of a model stand for; with `many`, those of so many leaves."""
        many = model.program.letters if many is None else many
        promises = model.problem.guarantees
        found = cls(many, ["0"] * len(promises), [[[] for _ in range(many)] for _ in promises])
        _Reader(model, model.near.own(y), found).read()
        return found

    def leaves(self) -> list[dict[str, Any]]:
        """For each leaf its numbers of the objective and of every promise."""
        return [
            {"objective": [columns[t] for columns in self.own], "promises": [rows[t] for rows in self.rows]}
            for t in range(self.many)
        ]


def dual_certificate(model: "Model", y: Multipliers, tree: Sequence[int] = ()) -> Certificate:
    """The proof over letters, or over maps from the side information; with a `tree` its leaves have the multipliers.

    A node of a tree is the world whose letter it divides by, or -1 for a leaf.
    """
    if not model.worlds:
        found = LineProof.of(model, y)
        division = "letters"
        trees = [[["leaf", t]] for t in range(found.many)]
    else:
        tree = tree or list(every_map(len(model.worlds), len(model.told)))
        found = LineProof.of(model, y, tree.count(-1))
        side = model.problem.side_information
        assert side is not None
        places = [place for (place,) in model.problem.pmf.grouped((side.variable,))[0]]
        leaf = iter(range(found.many))
        division = "maps"
        trees = [[["leaf", next(leaf)] if w == -1 else ["split", places[w]] for w in tree]]
    return by_lines(
        division,
        trees,
        found.leaves(),
        promises=found.weights,
        limits=found.limits,
        margins=found.margins,
        cuts=found.cuts,
    )


def every_map(worlds: int, letters: int) -> Iterator[int]:
    """The tree of all maps from values of side information to letters, in pre-order.

    Parameters
    ----------
    worlds : int
        How many values the side information has.
    letters : int
        How many letters each of them is mapped to.

    Yields
    ------
    int
        The world that a node divides by; -1 at a leaf.
    """

    def below(world: int) -> Iterator[int]:
        if world == worlds:
            yield -1
            return
        yield world
        for _ in range(letters):
            yield from below(world + 1)

    yield from below(0)


class _Reader:
    """Takes the multipliers of a program apart, promise by promise."""

    def __init__(self, model: "Model", y: Multipliers, found: LineProof) -> None:
        self.model = model
        self.y = y
        self.found = found
        self.promises = model.problem.guarantees
        self.bits = 1.0 if model.in_bits else log(2)  # what a leakage in bits weighs
        self.plain = 1 / model.unit
        self.worlds = len(model.problem.pmf.grouped(model.problem.beside)[0])

    def read(self) -> None:
        """Every number of the proof; multipliers of one kind stand in the order of their promises."""
        found, program = self.found, self.model.program
        cuts = self.model.cuts
        laws = 0 if cuts is None else sum(one.many_laws for one in cuts.limits)
        promised = [term for term, _ in program.leakages][: len(program.leakages) - laws]
        terms = [self.model.near.seen(term) for term in [*(term for _, term in program.objective), *promised]]
        posteriors = [
            self._by_leaf(_posteriors(term, logs)) for term, logs in zip(terms, self.y.posteriors, strict=False)
        ]
        many = len(program.objective)
        found.own = posteriors[:many]
        prices = _whole(self.y.distortion, self.plain)
        stated = len(prices) - len(self.model.barred)
        found.limits = texts(prices[:stated])
        for pair, price in zip(self.model.barred, prices[stated:], strict=True):
            first, second = (self.model.near.numbers[row] for row in (pair.first, pair.second))
            if price:
                self._cut(pair.promise, first, second, text(NEXT_TO_ONE), Fraction(price, ONE), pair.slopes())
        for k, weight, own in zip(
            self._having(Leakage), _whole(self.y.leakage[: len(promised)], self.bits), posteriors[many:], strict=False
        ):
            found.weights[k], found.rows[k] = str(weight), own
        self._worst()
        for k, rows in zip(self._having(InformationPrivacy), self.y.odds, strict=False):
            low, high = np.split(np.asarray(rows), 2)
            sides = [self._by_leaf(_table(side, self.plain)) for side in (low, high)]
            found.rows[k] = [[side[t] for side in sides] for t in range(found.many)]
        self._equal(self.y.equal)
        if self.model.near.metric:
            levels = [k for k, promise in enumerate(self.promises) if promise in local_promises(self.model.problem)]
            near = self.model.near.proof(self.y, found.many, self.plain)
            for k, letters in zip(levels, near, strict=True):
                found.rows[k] = [[[x, other, str(v)] for x, other, v in pairs] for pairs in letters]
        self._gauges()
        if cuts is not None:
            first = sum(len(one.gauges) for one in self.model.gauges)
            self._curved(list(self.y.gauges[first:]), len(promised), len(terms))

    def _having(self, kind: type[Guarantee]) -> list[int]:
        """The places of the promises of exactly this kind."""
        return [k for k, promise in enumerate(self.promises) if type(promise) is kind]

    def _by_leaf(self, rows: Sequence[Sequence[int]]) -> list[list[str]]:
        """A row of leaves for each value, as the numbers of all values for each leaf."""
        return [[str(row[t]) for row in rows] for t in range(self.found.many)]

    def _worst(self) -> None:
        """For each value of what leaves beside the letter a weight, and the posteriors where it is not zero."""
        singles = zip(self.model.program.worst, self.y.worst, self.y.worst_posteriors, strict=True)
        for k in self._having(WorstCaseLeakage):
            of_world = []
            for _, ((term, _), v, logs) in zip(range(self.worlds), singles, strict=False):
                here = int((term.group == 0).sum())  # all other records are one value in a group of their own
                columns = self._by_leaf(_posteriors(term, logs)[:here])
                of_world.append(
                    [[str(w), own if w else []] for w, own in zip(_whole(v, self.bits), columns, strict=True)]
                )
            self.found.rows[k] = [[own[t] for own in of_world] for t in range(self.found.many)]

    def _equal(self, equal: Floats) -> None:
        """Multipliers of independence, values before worlds, and at the end those of margins that are preserved."""
        if not len(equal):
            return
        given = iter(_table(equal, self.plain, None))
        for k in self._having(Independent):
            assert isinstance(self.promises[k], Independent)
            values = len(self.model.problem.pmf.grouped(self.promises[k].secret)[0])
            nothing = [0] * self.found.many  # the equality of the last value follows from the others
            of_world = [[*(next(given) for _ in range(values - 1)), nothing] for _ in range(self.worlds)]
            self.found.rows[k] = self._by_leaf([of_world[w][a] for a, w in product(range(values), range(self.worlds))])
        if self.model.problem.preserve_marginals:
            self.found.margins = [str(-value) for value in next(given)]

    def _gauges(self) -> None:
        """A weight for all leaves, and the multipliers of the rows; of delta a cut for each pair, with its slopes."""
        given = iter(self.y.gauges)
        for one in self.model.gauges:
            own = [next(given) for _ in one.gauges]
            k = self.promises.index(one.promise)
            if isinstance(one.promise, LocalDP):  # no pair at all where one input occurs
                for (first, second), (mu, (rho,)) in zip(one.pairs, own, strict=True):
                    if mu > 0:
                        # A share of mu: beyond its ends the kernel would refuse the whole proof, and rounding goes
                        # beyond.
                        slopes = np.clip(rho[0] / mu, 0.0, 1.0)
                        self._cut(k, first, second, "0", Fraction(mu * self.plain), slopes.tolist())
                continue
            mu, rhos = own[0]
            if isinstance(one.promise, Dalenius):
                self._same(k, rhos[0])
                continue
            parts = [[[whole_units(entry * self.plain) for entry in row] for row in rho] for rho in rhos]
            # The weight is at least what the letters need, so that nothing is shrunk where digits were lost.
            most = max((sum(column) for part in parts for column in zip(*part, strict=True)), default=0)
            self.found.weights[k] = str(max(most, whole_units(mu * self.plain)))
            self.found.rows[k] = self._of_parts(one.promise, parts)

    def _same(self, k: int, rho: Floats) -> None:
        """A capacity of 0 by one law, so steep that it says what a limit on the sum of rho(x) W(t|x) does."""
        many = len(rho)
        # What is left of mu goes to all rows alike, so that under the law of equal shares the slopes have the mean 0.
        slopes = many * rho - rho.sum(axis=0)
        weight = STEEP * float(slopes.std(axis=0).max())
        if weight > 0:
            alike = Term(np.diag([1] * many).astype(object), np.zeros(many, dtype=np.int64))
            shares = _whole([weight / many] * many, self.bits)
            self._of_law(k, shares, np.array(_posteriors(alike, slopes / weight), dtype=object).T.tolist())

    def _of_parts(self, promise: Guarantee, parts: list[list[list[int]]]) -> list[Any]:
        """For each leaf the numbers of the parts of a gauge."""
        leaves = range(self.found.many)
        if isinstance(promise, MaximalLeakage) and not promise.about:  # inputs with a weight, by their places
            rows = [row for part in parts for row in part]
            inputs = self._by_world()
            return [[[x, str(row[leaf])] for x, row in zip(inputs, rows, strict=True) if row[leaf]] for leaf in leaves]
        if isinstance(promise, TotalVariation):  # a part for each world and value; values before worlds
            values = len(parts) // self.worlds
            rows = [parts[w * values + s][0] for s, w in product(range(values), range(self.worlds))]
            return list(self._by_leaf(rows))
        return [[[str(row[leaf]) for row in part] for part in parts] for leaf in leaves]

    def _by_world(self) -> list[int]:
        """The inputs that occur, those of one stratum after the other."""
        world = worlds_of(self.model.problem)
        numbers = self.model.near.numbers
        return [numbers[e] for e in sorted(range(len(numbers)), key=lambda e: (world[numbers[e]], e))]

    def _cut(self, k: int, first: int, second: int, at: str, weight: Fraction, slopes: Sequence[Any]) -> None:
        said = {"promise": k, "first": first, "second": second, "at": at, "weight": text(weight)}
        self.found.cuts.append(said | {"slopes": [text(slope) for slope in slopes]})

    def _curved(self, gauges: list[Weighed], leakages: int, terms: int) -> None:
        """What the multipliers of the known limits of curved promises say of the promises themselves."""
        cuts = self.model.cuts
        assert cuts is not None
        own, occur = iter(gauges), self.model.near.numbers
        laws = iter(zip(self.y.leakage[leakages:], self.y.posteriors[terms:], strict=True))
        of_gauges = {k: [next(own) for _ in range(one.many_gauges)] for k, one in cuts.bent.items()}
        of_laws = {k: [next(laws) for _ in range(one.many_laws)] for k, one in cuts.bent.items()}
        for k, one in cuts.bent.items():
            if isinstance(one.promise, Sibson):
                weight, parts = one.weighed(of_gauges[k][0], self.plain)
                self.found.weights[k], self.found.rows[k] = str(weight), self._of_parts(one.promise, parts)
            elif isinstance(one.promise, Dalenius):
                for weights, columns in one.of_laws(of_laws[k], self.bits):
                    self._of_law(k, weights, columns)
        for k, near in zip(self._having(Leakage), cuts.near, strict=False):
            for weights, used, columns in near.of_laws([next(laws) for law in near.laws], self.bits):
                self._law(k, weights, used, columns)
        for k, one in cuts.bent.items():
            if isinstance(one.promise, Contraction):
                for (i, j, b), price, slopes in one.of_points(of_gauges[k], self.plain):
                    self._cut(k, occur[i], occur[j], text(b), price, slopes)

    def _of_law(self, k: int, weights: list[int], columns: list[list[int]]) -> None:
        """A law of the rows of the program, the first of which are those of the promise."""
        numbers = self.model.near.numbers[: len(weights)]
        everywhere = [0] * prod(map(len, self.model.problem.pmf.alphabets(self.model.problem.inputs).values()))
        for x, share in zip(numbers, weights, strict=True):
            everywhere[x] = share
        used = [e for e, share in enumerate(weights) if share]
        # The checker has the inputs in their order, where those that never occur are not the last.
        self._law(k, everywhere, sorted(used, key=lambda e: numbers[e]), columns)

    def _law(self, k: int, weights: list[int], used: list[int], columns: list[list[int]]) -> None:
        laws = [[str(column[e]) for e in used] for column in columns]
        self.found.cuts.append({"promise": k, "weights": texts(weights), "laws": laws})


def _whole(values: Any, factor: float, least: int | None = 0) -> list[int]:
    """Whole units from below; multipliers of inequalities are not negative."""
    # A multiplier below zero would turn an inequality round, so that rounding dust becomes nothing.
    units = [int(Fraction(float(value)) * ONE) for value in np.asarray(values, dtype=np.float64) * factor]
    return units if least is None else [max(least, unit) for unit in units]


def _table(rows: Any, factor: float, least: int | None = 0) -> list[list[int]]:
    return [_whole(row, factor, least) for row in np.asarray(rows, dtype=np.float64)]


def _posteriors(term: Term, logs: Floats) -> list[list[int]]:
    """b in units of 2^-60, at least one unit each, from log(b/c); the kernel divides by their sums."""
    weight = term.counts.sum(axis=1)
    together = np.zeros(int(term.group.max()) + 1, dtype=object)
    np.add.at(together, term.group, weight)
    exact = [Fraction(int(w), int(together[g])) for w, g in zip(weight, term.group, strict=True)]
    c = np.array([float(value) for value in exact])[:, None]
    less = c * np.expm1(logs - logs.max(axis=0))
    sums = np.zeros((len(together), less.shape[1]))
    np.add.at(sums, term.group, less)
    # Limits of next to nothing have large multipliers and posteriors next to the prior: the digits are in between.
    tilt = (less - c * sums[term.group]) / (1 + sums[term.group])
    prior = [int(value * ONE) for value in exact]
    # At least one unit: a posterior of zero would leave the letter without a finite bound.
    return [[max(1, a + int(float(entry) * ONE)) for entry in row] for a, row in zip(prior, tilt, strict=True)]
