"""The admissible columns: what every promise that is linear in a column c(x) = p(y | x) says about it.

What leaves is (Y, K), K the kept columns, and I(W; Y, K) = sum_y phi(c_y) with the convex, 1-homogeneous function

    phi(c) = sum_wk u_wk log2(u_wk / (p_w s_k)),    u_wk = sum_x p(x,w,k) c(x),    s_k = sum_w u_wk.

Letters w with proportional weights p(x, w, k) are one letter: that changes no phi. Independence is an equation for each
value a of its view and each k, information privacy two inequalities, alpha p(a,k) + beta p(a) p(k) >= 0; local DP
bounds ratios of entries. e^epsilon enters as a rational that is not below it: the bound holds for all who keep it.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import gcd
from typing import Any

from dalenius.core.arithmetic import BITS, exp, times_log2
from dalenius.core.numbers import exact
from dalenius.core.reading import Release, require

MOST = 100  # nats; what allows more is no restriction here


class Cone:
    """The admissible columns over the input outcomes x of positive probability, in counts out of `total`."""

    def __init__(self, release: Release, about: list[str], views: list[list[str]], more: Sequence[Any] = ()) -> None:
        self.release, kept, ratios = release, release.outcomes(release.kept), list[Fraction]()
        self.total, self.near, self.ratio = release.total, dict[Any, Fraction](), Fraction(0)
        bounded = list[list[str]]()
        for promise in more:
            if "information_privacy" in promise and (epsilon := exact(promise["epsilon"])) <= MOST:
                bounded.append(promise["information_privacy"])
                ratios.append(exp(epsilon)[1])
            elif "local_dp" in promise:
                self._local(exact(promise["local_dp"]), promise.get("metric"), len(release.rows))
        for pair, factor in self.near.items() if self.ratio else ():
            self.near[pair] = min(factor, self.ratio)
        self.protected, self.views = len(views), [release.outcomes(v) for v in views + bounded]
        self.about = merged(release, release.outcomes(about), kept)
        place = {x: i for i, x in enumerate(sorted(set(release.row)))}
        self.atoms = list(place)

        def by_atom(labels: list[Any]) -> list[list[tuple[Any, int]]]:
            out: list[list[tuple[Any, int]]] = [[] for _ in place]
            for (x, label), n in release.weights(release.row, labels).items():
                out[place[x]].append((label, n))
            return out

        self.mass, self.target = [n for ((_, n),) in by_atom([()] * len(kept))], by_atom(list(zip(self.about, kept)))
        self.beside, self.seen = by_atom(kept), [by_atom(list(zip(view, kept))) for view in self.views]
        self.prior, self.alone = release.weights(self.about), [release.weights(view) for view in self.views]
        rows = [(i, a, k) for i, n in enumerate(self.alone) for (a,) in sorted(n) for k in sorted(set(kept))]
        # sum_x [p(a,k|x) - p(a) p(k|x)] v(x) = 0 for each equation; each inequality as (row, alpha, beta).
        self.equations, others = ([row for row in rows if (row[0] < len(views)) is side] for side in (True, False))
        by = [ratios[row[0] - len(views)] for row in others]
        self.inequalities = [(row, *sides) for row, r in zip(others, by) for sides in ((-1, r), (r, -1))]

    def _local(self, epsilon: Fraction, metric: Any, rows: int) -> None:
        """c(x) <= ratio c(x') for all pairs, and c(x) <= near[x, x'] c(x') where a metric says so; 0: no ratio."""
        distances = [[exact(d) for d in row] for row in metric or [["1"] * rows]]
        require(not metric or [len(row) for row in distances] == [rows] * rows, "not a distance for each pair of rows")
        require(min(map(min, distances)) >= 0, "a distance is negative")
        factor = {d: exp(epsilon * d)[1] for row in distances for d in row if epsilon * d <= MOST}
        if (far := factor.get(max(map(max, distances)))) and (not self.ratio or far < self.ratio):
            self.ratio = far
        for x, row in enumerate(distances if metric else []):
            for other, d in enumerate(row):
                known = self.near.get((x, other))
                if d in factor and x != other and (known is None or factor[d] < known):
                    self.near[x, other] = factor[d]

    def phi(self, u: dict[Any, Fraction], mass: Fraction | None = None) -> Fraction:
        """An upper bound of phi for a column with the weights u[w, k]; of some of its terms, with the mass of all."""
        s: dict[Any, Fraction] = defaultdict(Fraction)
        for (_, k), t in u.items():
            s[k] = s[k] + t if mass is None else mass
        terms = ((t, t * self.total / (self.prior[(w,)] * s[k])) for (w, k), t in u.items() if t)
        return Fraction(sum(times_log2(t, q)[1] for t, q in terms), 1 << BITS)

    def joint(self, v: dict[int, Fraction]) -> dict[Any, Fraction]:
        """The weights u[w, k] = sum_x v(x) p(w, k | x) of a column."""
        u: dict[Any, Fraction] = defaultdict(Fraction)
        for x, m in v.items():
            for wk, n in self.target[x]:
                u[wk] += m * n / self.mass[x]
        return u

    def rows(self) -> Iterator[list[Fraction]]:
        """The coefficients of each equation."""
        for i, a, k in self.equations:
            share, here = Fraction(self.alone[i][(a,)], self.total), [dict(n) for n in self.seen[i]]
            beside = [dict(n).get(k, 0) for n in self.beside]
            yield [(n.get((a, k), 0) - share * b) / m for n, b, m in zip(here, beside, self.mass)]

    def tells_itself(self) -> bool:
        """Whether W is the input, up to names, and nothing is kept."""
        alone = all(len(t) == 1 for t in self.target)
        return alone and len({t[0][0] for t in self.target}) == len(self.mass) and not self.release.kept


def merged(release: Release, about: list[Any], kept: list[Any]) -> list[Any]:
    """Each letter of W under the first name among the letters whose weights are proportional to its own."""
    weights: dict[Any, dict[Any, int]] = defaultdict(dict)
    for (w, x, k), n in release.weights(about, release.row, kept).items():
        weights[w][x, k] = n
    first: dict[Any, Any] = {}
    name = {}
    for w in sorted(weights):
        common = gcd(*weights[w].values())
        shape = frozenset((xk, n // common) for xk, n in weights[w].items())
        name[w] = first.setdefault(shape, w)
    return [name[w] for w in about]
