r"""Optimality by lines: one sentence for minimisation and maximisation, for leakage programs, cells and boxes.

A mechanism is a set of columns c_t(x) = p(t | x) >= 0 with sum_t c_t = 1. Its gain is what is maximised, or minus what
is minimised. Divide the pairs (letter, column) into cases j. If in case j

    gain(c) + sum of multipliers times (allowed - used)(c)  <=  sum_x L_j(x) c(x)                                    (1)

then no mechanism that keeps the promises gains more than

    sum_x max_j L_j(x) + sum of multipliers times allowed,                                                           (2)

the maximum over the cases that a letter may be in (proof in kernel-rules.md). With prices z and a ratio r of local DP
between all pairs of inputs a column lies in [m, r m] everywhere, so that

    l.c <= z.c + m tau,    tau = sum_x [r (l - z)_+ - (l - z)_-],    over all inputs, also those that never occur.   (3)

The m of all columns sum up to at most one, and (2) is sum z plus the largest tau that is not negative.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from dalenius.kernel.cases import leaves
from dalenius.kernel.cuts import read_cut
from dalenius.kernel.document import Limits, Promises
from dalenius.kernel.gauges import MaximalLeakage
from dalenius.kernel.letters import Gains, Letters, Map, gains_of_maps, maps_of
from dalenius.kernel.nouns import Setting
from dalenius.kernel.numbers import Node, Refused, require
from dalenius.kernel.objective import Objective
from dalenius.kernel.posteriors import Posteriors, most_on_faces, raised_on_simplices
from dalenius.kernel.promises import Promise
from dalenius.kernel.ranges import Ranges
from dalenius.kernel.rows import (
    SCORE,
    UNIT,
    UP,
    Frame,
    Numbers,
    Scores,
    Weighed,
    allowed_by,
    gauge_limit,
    input_weights,
    needed_ratio,
    pairs,
    scores,
)

AIMS = ("information", "leakage", "distortion")
DIVISIONS = ("letters", "maps", "simplices", "faces", "ranges", "boxes")


class LineCase(NamedTuple):
    """The place of what is released (a letter or a map; one tree for all has place 0), its line, and a shift."""

    place: int
    line: int
    shift: int  # in units of 2^-SCORE, times the mass of the column


def bound_by_lines(setting: Setting, promises: Promises, limits: Limits, objective: Objective, proof: Node) -> Fraction:
    """The bound (2) of the objective for every mechanism that keeps the promises and the limits."""
    gain = Lines(setting, promises, limits, objective, proof).bound()
    return gain if objective.maximise else max(Fraction(0), -gain)


class Lines:
    """The lines of a proof: for each input a number for each of its leaves, in units of 2^-SCORE / total."""

    def __init__(self, setting: Setting, promises: Promises, limits: Limits, objective: Objective, proof: Node) -> None:
        _, division, weights, by_limit, margins, cuts, prices, trees, leaf_list, relations = proof.fields(
            "rule", "division", "promises", "limits", "margins", "cuts", "prices", "trees", "leaves", "relations"
        )
        require(objective.aim in AIMS, "lines are for information, leakage and distortion")
        self.setting = setting
        self.promises = promises
        self.objective = objective
        self.division = division.text()
        require(self.division in DIVISIONS, "there is no such division of columns")
        # A negative weight would turn an inequality round.
        self.weights = [value.whole(0) for value in weights.pair(len(promises))]
        self.letters = Letters(
            setting, limits, objective, [value.whole(0) for value in by_limit.pair(len(limits))], margins.wholes()
        )
        self.prices = prices.wholes()  # in the order of the inputs that occur
        require(len(self.prices) in (0, len(setting.mass)), "there is not one price for each input that occurs")
        self.priced = self.division == "boxes"
        require(bool(self.prices) or self.division not in ("boxes", "faces"), "boxes and faces need prices")
        self.cuts = cuts.items()
        self.trees = trees.items()
        self.relations = relations
        require(not relations.items() or self.division in ("ranges", "boxes"), "relations are for ranges and boxes")
        self.own: list[Node] = []
        self.rows: list[list[Node]] = []
        for leaf in leaf_list.items():
            own, rows = leaf.fields("objective", "promises")
            self.own.append(own)
            self.rows.append(rows.pair(len(promises)))
        require(bool(self.own), "a proof has no lines")
        setting.work.spend(len(self.own) * (40 + 20 * len(promises) + len(setting.mass)))
        self.frames: dict[tuple[str, ...], Frame] = {}
        self.times = 1 << UNIT  # the weight of what is told
        self.told = self._told()
        self.constant = self.letters.constant
        self.lines: dict[int, Numbers] = {x: [0] * len(self.own) for x in setting.mass}

    def frame(self, secret: tuple[str, ...]) -> Frame:
        """The labels of a secret, made once."""
        if secret not in self.frames:
            self.frames[secret] = Frame(self.setting, secret)
        return self.frames[secret]

    def _told(self) -> Posteriors | None:
        """What is told about, where information is maximised, or has to be told under a limit that has a weight."""
        wanted = self.letters.wanted
        if self.objective.maximise:
            # Both would need the same cells of posteriors, with two functions on them.
            require(not wanted, "what is maximised and what must be told are not bounded together")
            return Posteriors(self.setting, self.objective.about)
        if not wanted:
            return None
        require(len(wanted) == 1 and self.division == "simplices", "one limit from below is bounded, by simplices")
        ((about, self.times),) = wanted
        return Posteriors(self.setting, about)

    @property
    def posteriors(self) -> Posteriors:
        """What is told about, where information is maximised."""
        if self.told is None:
            raise Refused("cells of posteriors are for an information")
        return self.told

    def bound(self) -> Fraction:
        """The bound (2) of the gain."""
        for promise, weight in zip(self.promises, self.weights, strict=True):
            self.constant += self._allowed(promise, weight)
        self._add_promises()
        self._add_cuts()
        slopes = self._add_objective()
        if self.priced:
            slopes = self._price(slopes)
        if self.division == "maps":
            return self._over_maps()
        if self.division == "faces":
            return self._over_faces()
        by_letter = self.setting.width or 0
        # Letters that cost something, or are preserved, differ: each needs a tree of its own.
        one = len(self.trees) == 1 and not self.letters.matter
        require(one or len(self.trees) == by_letter, "there is not a tree for each letter")
        # Where the user has side information, mechanisms that release another letter for each of its values compete.
        mapped = self.setting.mechanism.encoder == "statistically-informed"
        require(one or not mapped, "letters that depend on side information are divided by maps")
        cases = [case for t, tree in enumerate(self.trees) for case in self._cases(t, tree, slopes)]
        if self.prices and not self.priced:
            require(one, "prices are for one tree")
            return self._beyond_prices(cases)
        gains = None if len(self.trees) == 1 and one else self.letters.released(self.lines)
        return self._sum(cases, gains)

    def _allowed(self, promise: Promise, weight: int) -> Fraction:
        """What a weight on the sum over all letters allows."""
        if isinstance(promise, MaximalLeakage):
            return Fraction(weight, 1 << UNIT) * gauge_limit(promise, self.setting) if weight else Fraction(0)
        if promise.about:
            return allowed_by(promise, weight, self.frame(promise.about))
        require(weight == 0, "this promise has no weight for all letters")
        return Fraction(0)

    # The lines: what promises, cuts and the objective add to them.

    def _add_promises(self) -> None:
        """Scores of promises about secrets, and inequalities between inputs: (i, j, v, r) adds v [r c(j) - c(i)]."""
        together: list[tuple[Frame, Scores]] = []
        for place, (promise, weight) in enumerate(zip(self.promises, self.weights, strict=True)):
            nodes = [rows[place] for rows in self.rows]
            if promise.about:
                frame = self.frame(promise.about)
                together.append((frame, scores(promise, frame, weight, nodes)))
                continue
            if isinstance(promise, MaximalLeakage):
                self._add_inputs(input_weights(self.setting, weight, nodes))
                continue
            for case, items in enumerate(pairs(promise, self.setting, nodes)):
                for i, j, v, r in items:
                    # -c(i) exactly, and r c(j) rounded up: a line may be too high, never too low.
                    self._line(i)[case] -= v * self.setting.total << UP
                    self._line(j)[case] -= -(v * self.setting.total * r.numerator << UP) // r.denominator
        self._add_scores([(frame, found) for frame, found in together if found])

    def _add_inputs(self, weighed: Sequence[Weighed]) -> None:
        """-w c(x) for single inputs, also those that never occur."""
        for case, items in enumerate(weighed):
            for x, w in items:
                self._line(x)[case] -= w * self.setting.total << UP

    def _line(self, x: int) -> Numbers:
        return self.lines.setdefault(x, [0] * len(self.own))

    def _add_scores(self, together: Sequence[tuple[Frame, Scores]]) -> None:
        """The sum over the records of each input of all their scores; records of one count are added up first."""
        for frame, _ in together:
            # Every label of a record of every input adds a number to every line.
            # A count times a short score takes time in proportion to its length, not to the square of it.
            self.setting.work.spend(2 * len(frame.labels) * len(self.own) * frame.length)
        for x, line in self.lines.items() if together else ():
            alike: dict[int, list[Numbers]] = {}
            for frame, found in together:
                for key, count in frame.by_input.get(x, ()):
                    alike.setdefault(count, []).append(found[key])
            for count, columns in alike.items():
                more = columns[0] if len(columns) == 1 else list(map(sum, zip(*columns, strict=True)))
                line = [a + count * value for a, value in zip(line, more, strict=True)]
            self.lines[x] = line

    def _add_cuts(self) -> None:
        """What promises about pairs of inputs, or about all of them, add with a weight of their own (see `cuts`)."""
        for cut in self.cuts:
            place = cut.first().place(len(self.promises))
            allowed, found = read_cut(cut, self.promises[place], self.setting, len(self.own))
            self.constant += allowed
            for x, numbers in found:
                # Minus what is lent from below; _line, as an input that never occurs counts too.
                self.lines[x] = [a - b for a, b in zip(self._line(x), numbers, strict=True)]

    def _add_objective(self) -> list[list[int]]:
        """What the objective adds to the lines; for information the numbers of each leaf in units of 2^-UNIT."""
        o = self.objective
        if o.maximise:
            return self._add_told(self.own)
        shares = [] if o.distortion is not None else [(o.theta, o.about), (1 - o.theta, self.setting.mechanism.observe)]
        shares = [(share, names) for share, names in shares if share]
        posteriors = [own.pair(len(shares) + bool(self.told)) for own in self.own]
        for place, (share, names) in enumerate(shares):
            frame = self.frame(names)
            laws = [found[place].wholes(1) for found in posteriors]
            # I(S; Y, K) = I(S; K) + what the letters add; a rate is I(X; Y | K), without the former.
            self._add_scores([(frame, frame.tangents(int(share * (1 << UNIT)), laws))])
        if o.distortion is None and o.theta:
            self.constant -= o.theta * self.frame(o.about).already()
        return self._add_told([found[-1] for found in posteriors]) if self.told else []

    def _add_told(self, slopes: Sequence[Node]) -> list[list[int]]:
        """The linear functions above what is told, times its weight: one number for each label."""
        told = self.posteriors
        numbers = [slope.wholes() for slope in slopes]
        many = {"boxes": 1, "faces": 0}.get(self.division, len(told.keys))
        require(all(len(found) == many for found in numbers), "a leaf has not one number for each label")
        if self.division not in ("boxes", "faces"):
            columns = zip(told.keys, zip(*numbers, strict=True), strict=True)
            self._add_scores([(told, {key: [value << UP for value in column] for key, column in columns})])
        return numbers

    def _price(self, sigmas: Sequence[Sequence[int]]) -> list[list[int]]:
        """W = X with prices z: in each leaf a = z - rows of the promises - sigma, so that every line is z - sigma.

        Returns the slopes a in units of 2^-SCORE, from below. On inputs that never occur the rows of the promises stay.
        """
        told = self.posteriors
        require(told.tells_itself(), "boxes are for W = X")
        less = [sigma << UP for (sigma,) in sigmas]
        price = dict(zip(self.setting.mass, self.prices, strict=True))
        columns = []
        self.setting.work.spend(4 * len(price) * len(less) * told.length)
        for x in told.owners():
            count, z = self.setting.mass[x], price[x] << UP
            # (-row) // count rounds down: the slopes a have to be from below.
            columns.append([z + (-row) // count - sigma for row, sigma in zip(self.lines[x], less, strict=True)])
            self.lines[x] = [(z - sigma) * count for sigma in less]
        return [list(row) for row in zip(*columns, strict=True)]

    # The cases, and the sum over inputs.

    def _cases(self, place: int, tree: Node, slopes: list[list[int]]) -> list[LineCase]:
        """The leaves of the tree of one letter, or of all of them."""
        if self.division == "letters":
            require(not self.objective.maximise, "letters alone do not divide the columns of an information")
            found = leaves(tree, None, _undivided, self.setting.work)
            return [LineCase(place, node.pair()[1].place(len(self.own)), 0) for _, node in found]
        if self.division == "simplices":
            needs = raised_on_simplices(tree, self.posteriors, slopes, self.times)
        else:
            up = 0 if self.priced else UP
            boxes = Ranges(self.posteriors, self.promises, self.relations)
            needs = boxes.raised(tree, [[value << up for value in row] for row in slopes])
        require(bool(needs), "a tree leaves no case")
        return [LineCase(place, j, need) for j, need in needs.items()]

    def _sum(self, cases: Sequence[LineCase], gains: Gains | None) -> Fraction:
        """(2): for each input the best case that it may be in, with what its letter adds."""
        total = 0
        for x, line in self.lines.items():
            n = self.setting.mass.get(x, 0)
            self.setting.work.spend(2 * len(cases))
            if gains is None:
                # The worst case for each input by itself: an input may be in every case.
                total += max([line[j] + n * shift for _, j, shift in cases])
                continue
            row = gains.get(x)
            best = [line[j] + n * shift + gain for t, j, shift in cases if (gain := row[t] if row else 0) is not None]
            # No maximum of nothing: as if it told infinitely little.
            require(bool(best), "an input has no letter that it may be released as")
            total += max(best)
        return Fraction(total, self.setting.total << SCORE) + self.constant

    def _beyond_prices(self, cases: Sequence[LineCase]) -> Fraction:
        """(3): any prices z(x) of c(x), and what the lines exceed them by."""
        setting = self.setting
        r = needed_ratio(setting, self.promises)
        price = {x: (value << UP) * setting.total for value, x in zip(self.prices, setting.mass, strict=True)}
        top, bottom = r.as_integer_ratio()
        over = [0] * len(cases)  # times the bottom of r
        for x, line in self.lines.items():
            n, z = setting.mass.get(x, 0), price.get(x, 0)
            setting.work.spend(10 * len(cases))
            for place, (_, j, shift) in enumerate(cases):
                more = line[j] + n * shift - z
                # (3): r times what is above a price, once what is below: a column may be r m here and m there.
                over[place] += (top if more > 0 else bottom) * more
        # Not below 0: the least entries of all columns add up to one at most, and may to nothing.
        tau = Fraction(max(0, *over), bottom)
        return (sum(price.values()) + tau) / (setting.total << SCORE) + self.constant

    def _over_faces(self) -> Fraction:
        """Columns of few inputs, where the promises that are used speak of secrets alone (see `faces`)."""
        setting = self.setting
        require(not self.letters.matter and not self.cuts, "faces are for promises about secrets alone")
        about: set[tuple[str, ...]] = set()
        for place, (promise, weight) in enumerate(zip(self.promises, self.weights, strict=True)):
            if weight or any(rows[place].value != [] for rows in self.rows):
                require(bool(promise.about), "faces are for promises about secrets alone")
                about.add(promise.about)
        atoms = min(len(setting.mass), 1 + sum(len(self.frame(secret).keys) - 1 for secret in about))
        setting.work.spend(4 * len(setting.mass) * len(self.own))
        over: dict[int, Numbers] = {}
        for z, (x, count) in zip(self.prices, setting.mass.items(), strict=True):
            over[x] = [-(-line // count) - (z << UP) for line in self.lines[x]]  # up: what a line exceeds its price by
        tau = most_on_faces(self.trees, atoms, self.posteriors, over)
        priced = sum(z * count for z, count in zip(self.prices, setting.mass.values(), strict=True)) << UP
        return Fraction(priced + tau * setting.total, setting.total << SCORE) + self.constant

    def _over_maps(self) -> Fraction:
        """Cases are maps from the side information of the user, which the mechanism does not see, to letters."""
        side, width = self.setting.mechanism.side, self.setting.width
        if side is None or self.setting.mechanism.encoder != "statistically-informed" or self.objective.maximise:
            raise Refused("maps are for side information that the mechanism does not see")
        require(not self.letters.margins and not self.prices, "maps have neither margins nor prices")
        require(len(self.trees) == 1, "maps need one tree")
        worlds = len(self.setting.alphabets[side])
        cases: list[LineCase] = []
        maps: list[Map] = []
        for known, node in maps_of(self.trees[0], worlds, width or 0, self.setting.work):
            cases.append(LineCase(len(maps), node.pair()[1].place(len(self.own)), 0))
            maps.append(known)
        return self._sum(cases, gains_of_maps(self.letters, maps))


def _undivided(_: None, node: Node) -> list[None]:
    raise node.refuse("letters are not divided")
