"""Columns divided by boxes of their posteriors: a range of u(w) for each value w."""

from collections.abc import Sequence
from fractions import Fraction

from dalenius.kernel.cases import leaves
from dalenius.kernel.logs import BITS, LOG_COST, log2
from dalenius.kernel.nouns import Setting
from dalenius.kernel.numbers import Node, require
from dalenius.kernel.posteriors import Posteriors
from dalenius.kernel.promises import Independent, Promise
from dalenius.kernel.rows import SCORE, UNIT, Frame, scores

GRID = 100  # ends of boxes are whole numbers of 2^-GRID; what is rounded there makes a box larger
WHOLE = 1 << GRID

Sides = list[tuple[int, int]]
Relation = tuple[int, list[tuple[int, int]], int, int]


class Ranges:
    """Boxes low <= u <= high of the posterior u of W, of mass one, without columns that leave beside the letter.

    u is a mean of the p(w | x), which gives the first box. On a box each phi_w(e) - a_w e, phi_w(e) = e log2(e / p_w),
    is convex in e = u_w and 0 at e = 0, so that

        phi(u)  <=  a.u + sum_w max over the two ends e of [phi_w(e) - a_w e].

    Boxes are narrowed before that by what every posterior keeps:

    Frechet. If W is the input and a view V of it is independent of the letter, the u(x) of the inputs with one value v
    add up to p(v); so u(x) is at most p(v) less the low ends of the others.

    Relations u_w = sum_j a_j u_j + rest. Rows of independent views are 0 on every column, so the rest is a mean over x
    of p(w | x) - sum_j a_j p(j | x) - rows(x), and lies between the least and the largest of these.
    In the file a relation is [w, [[j, a_j], ...], rows of each promise], with numbers in units of 2^-UNIT.
    """

    def __init__(self, told: Posteriors, promises: Sequence[Promise], relations: Node) -> None:
        require(not told.setting.mechanism.beside, "ranges are for outputs without columns beside them")
        self.told = told
        self.setting = told.setting
        self.frames = [Frame(self.setting, p.secret) if isinstance(p, Independent) else None for p in promises]
        self.itself = told.tells_itself()
        self.tops: dict[int, int] = {}
        # log2 p_w from below: phi_w(e) - a_w e = e log2 e - (a_w + log2 p_w) e.
        self.logs = [log2(count, self.setting.total)[0] >> BITS - SCORE for count in told.prior]
        self.shares = self._shares()
        self.views: list[list[int]] = []  # for each view the place of the value that each label has
        self.left: list[list[int]] = []  # and of each value p(v), rounded upwards
        if self.itself:
            self._find_views()
        self.relations = [self._relation(item, promises) for item in relations.items()]

    def _shares(self) -> list[dict[int, Fraction]]:
        """For each label w the p(w | x) of the inputs that have it."""
        found: list[dict[int, Fraction]] = [{} for _ in self.told.keys]
        place = {key: w for w, key in enumerate(self.told.keys)}
        for x, counts in self.told.by_input.items():
            for key, count in counts:
                found[place[key]][x] = Fraction(count, self.setting.mass[x])
        return found

    def _find_views(self) -> None:
        owners = self.told.owners()
        for view in self.frames:
            if view is not None and all(len(found) == 1 for found in view.by_input.values()):
                place = {key: k for k, key in enumerate(view.keys)}
                self.views.append([place[view.by_input[x][0][0]] for x in owners])
                # Up, as an upper end.
                self.left.append([-(-(view.counts[key] << GRID) // self.setting.total) for key in view.keys])

    def _root(self) -> Sides:
        many, box = len(self.setting.mass), Sides()
        for w, shares in enumerate(self.shares):
            # An input without this value sends nothing to it: the low end is 0.
            low = min(shares.values()) if len(shares) == many else Fraction(0)
            # Outwards: a box that is too small would leave out a posterior.
            ends = (_floor(low), -_floor(-max(shares.values())))
            caps = [left[view[w]] for view, left in zip(self.views, self.left, strict=True)]
            box.append((0 if self.itself else ends[0], min([ends[1], *caps])))
        return box

    def _relation(self, item: Node, promises: Sequence[Promise]) -> Relation:
        """(w, [(j, a_j)], least rest, largest rest), a_j in units of 2^-UNIT and rests of 2^-GRID, rounded outwards."""
        first, terms, rows = item.pair(3)
        many = len(self.told.keys)
        w, parts = first.place(many), list[tuple[int, int]]()
        for term in terms.items():
            other, number = term.pair()
            parts.append((other.place(many), number.whole()))
        self.setting.work.spend(40 * (4 + len(parts)) * len(self.setting.mass), self.setting.total.bit_length())
        rest = {x: self.shares[w].get(x, Fraction(0)) for x in self.setting.mass}
        for j, a in parts:
            for x, share in self.shares[j].items():
                rest[x] -= Fraction(a, 1 << UNIT) * share
        for promise, frame, node in zip(promises, self.frames, rows.pair(len(promises)), strict=True):
            if frame is None:
                require(not node.items(), "a relation uses promises of independence alone")
                continue
            _subtract(rest, frame, self.setting, scores(promise, frame, 0, [node]))
        # Scores are rounded upwards by less than 2^-SCORE for each promise, so a rest may be larger by as much.
        return w, parts, _floor(min(rest.values())), -_floor(-max(rest.values())) + len(promises)

    def raised(self, tree: Node, slopes: Sequence[Sequence[int]]) -> dict[int, int]:
        """How much the linear function of each leaf has to be raised to lie above phi on its boxes.

        A split is [w, threshold], what is below it first; the threshold is rounded to the grid, for both parts alike.
        `slopes` are the a of all lines from below; all in units of 2^-SCORE. A box without a posterior needs nothing.
        """
        work, needs, steep = self.setting.work, dict[int, int](), dict[int, list[int]]()

        def split(box: Sides, node: Node) -> list[Sides]:
            _, place, at = node.pair(3)
            w = place.place(len(box))
            work.spend(len(box))
            low, high = box[w]
            # One point for both parts: between two roundings there would be a gap.
            middle = min(max(_floor(at.number(0)), low), high)
            return [[*box[:w], half, *box[w + 1 :]] for half in ((low, middle), (middle, high))]

        steps = 12 + 4 * len(self.views) + sum(len(parts) for _, parts, _, _ in self.relations)
        for box, node in leaves(tree, self._root(), split, work):
            j = node.pair()[1].place(len(slopes))
            work.spend(steps * len(box))
            ends = self._narrowed(box)
            if ends is not None:
                if j not in steep:
                    steep[j] = [a + log for a, log in zip(slopes[j], self.logs, strict=True)]
                need = self._need(ends, steep[j])
                if need > needs.get(j, need - 1):
                    needs[j] = need
        return needs

    def _narrowed(self, box: Sides) -> Sides | None:
        """What every posterior in a box keeps; None if there is none."""
        ends = box
        if self.views:
            raised = [(w, low) for w, (low, _) in enumerate(box) if low]
            rests = []
            for view, left in zip(self.views, self.left, strict=True):
                rest = list(left)
                for w, low in raised:
                    rest[view[w]] -= low
                if min(rest) < 0:
                    return None
                rests.append([rest[v] for v in view])
            most = rests[0] if len(rests) == 1 else list(map(min, *rests))
            ends = [
                (low, high if high <= low + more else low + more) for (low, high), more in zip(box, most, strict=True)
            ]
        if self.relations:
            ends = self._related(ends)
            if any(low > high for low, high in ends):
                return None
        if sum(low for low, _ in ends) > WHOLE or sum(high for _, high in ends) < WHOLE:
            return None
        return ends

    def _related(self, box: Sides) -> Sides:
        ends = list(box)
        for w, parts, least, most in self.relations:
            # The end of each that makes the sum smallest, in the next line largest.
            low = sum(a * box[j][a < 0] for j, a in parts) >> UNIT
            high = -(-sum(a * box[j][a > 0] for j, a in parts) >> UNIT)
            ends[w] = max(ends[w][0], low + least), min(ends[w][1], high + most)
        return ends

    def _need(self, ends: Sides, slopes: Sequence[int]) -> int:
        """sum_w max over both ends of e log2 e - slope e, where the slope is a_w + log2 p_w."""
        known, total = self.tops, 0  # in units of 2^-(SCORE + GRID)
        for slope, (low, high) in zip(slopes, ends, strict=True):
            if high not in known:
                known[high] = self._top(high)
            worst = known[high] - slope * high
            if low:
                if low not in known:
                    known[low] = self._top(low)
                below = known[low] - slope * low
                total += below if below > worst else worst
            elif worst > 0:
                total += worst
        return -(-total >> GRID)

    def _top(self, end: int) -> int:
        """e log2 e at an end from above, in units of 2^-(SCORE + GRID)."""
        self.setting.work.spend(LOG_COST)
        return -(-end * log2(end, WHOLE)[1] >> BITS - SCORE) if end else 0  # up


def _floor(q: Fraction) -> int:
    """In units of 2^-GRID, rounded downwards."""
    return (q.numerator << GRID) // q.denominator


def _subtract(
    rest: dict[int, Fraction], frame: Frame, setting: Setting, rows: dict[tuple[int, ...], list[int]]
) -> None:
    """Take the mean score of its records from the rest of each input."""
    for x, counts in frame.by_input.items() if rows else ():
        rest[x] -= Fraction(sum(count * rows[key][0] for key, count in counts), setting.mass[x] << SCORE)
