"""The least variance of estimated frequencies under local DP (002, section 4.1): rational, but for e^epsilon.

From n released letters the most likely law, and every efficient unbiased estimate, has covariance V / n with

    V = D G^-1 D',   G = sum_y v_y v_y' / p.c_y,   v_y = D' c_y,   D' = (I | -1).

The objective is tr V = tr(K G^-1), K = D'D = I + 11'. With psi(c) = v' Q v / p.c, Q = B K B for any symmetric B, and
tau the most that psi exceeds prices z by on extreme columns, not below 0, tr V >= 2 tr(K B) - sum z - tau. These are
1 + c 1_A, c = r - 1: up to 12 letters all subsets A are visited. Of more, with M = D Q D', a 0/1 vector a has

    N = (1 + c p.a) z.(1 + c a) - c^2 a'Ma + sum_i d_i (a_i^2 - a_i) - a'Ea,   E >= 0 and empty on its diagonal,

at most (z.(1 + c a) - psi)(1 + c p.a): if N + s I is positive semidefinite, which is seen from a factorisation up to a
little more s, tau is at most (S + 1) s. Under a metric all extreme columns are found here (`metric_columns`). Under
any promise that lends something to a proof by lines, psi takes the place of what a column tells about the input; every
input must occur, because psi speaks of the rows of all of them. Proofs are in kernel-rules.md.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import ceil, gcd, isqrt, lcm
from operator import mul

from dalenius.kernel.document import Limits, Promises
from dalenius.kernel.lines import Lines
from dalenius.kernel.logs import BITS, exp
from dalenius.kernel.nouns import Setting
from dalenius.kernel.numbers import Node, Work, require
from dalenius.kernel.objective import Objective
from dalenius.kernel.posteriors import Posteriors
from dalenius.kernel.promises import LocalDP, Promise
from dalenius.kernel.rows import MOST_NATS, needed_ratio, of_one_row

Matrix = list[list[int]]
LETTERS = 12  # of which every subset is visited
MOST_ESTIMATED = 128
GRAM_BITS, FINE_BITS = 160, 320  # bits after the point of G, and of its inverse
FORM_BITS, ROOT_BITS = 80, 100  # of N, and of its factor


def total_variance(scale: int, rows: Sequence[Sequence[int]], counts: Sequence[int], work: Work) -> Fraction:
    """tr V of a channel from above: the factor of each v v' is rounded downwards, so that G gets smaller.

    `counts` has all inputs in their order, 0 for those that never occur.
    """
    n, total = len(rows) - 1, sum(counts)
    require(1 <= n < MOST_ESTIMATED, f"a variance is proved for 2 to {MOST_ESTIMATED} letters")
    G = [[0] * n for _ in range(n)]
    work.spend(200 + len(rows[0]) * n * n, GRAM_BITS + scale.bit_length() + total.bit_length())
    for column in zip(*rows, strict=True):
        v = [c - column[-1] for c in column[:-1]]
        mass, whole = sum(map(mul, counts, column)), gcd(*v)
        if not mass or not whole:
            continue
        weight = (whole * whole * total << GRAM_BITS) // (mass * scale)  # down: G gets smaller, and its inverse larger
        places = [(i, a // whole) for i, a in enumerate(v) if a]
        for i, a in places:
            for j, b in places:
                G[i][j] += weight * a * b
    return _trace_of_inverse(G, work)


def _trace_of_inverse(G: Matrix, work: Work) -> Fraction:
    """tr(K G^-1) from above, for a positive semidefinite G in units of 2^-GRAM_BITS.

    With X near G^-1 and the rows of |I - G X| summing to at most e < 1, G is regular, G^-1 = X (I - (I - G X))^-1, and
    no row of |G^-1 - X| sums to more than e / (1 - e) of the largest row of |X|.
    """
    n, one = len(G), 1 << FINE_BITS
    work.spend(4 * n**3, FINE_BITS + max(map(max, G)).bit_length())
    rows = [
        [*(v << FINE_BITS - GRAM_BITS for v in row), *(one * (i == j) for j in range(n))] for i, row in enumerate(G)
    ]
    for k in range(n):
        require(rows[k][k] > 0, "the released letters do not determine every frequency")
        rows[k] = [(v << FINE_BITS) // rows[k][k] for v in rows[k]]
        for i in range(n):
            factor = rows[i][k]
            if i != k and factor:
                rows[i] = [a - (factor * b >> FINE_BITS) for a, b in zip(rows[i], rows[k], strict=True)]
    X = [row[n:] for row in rows]
    unit, across = 1 << GRAM_BITS + FINE_BITS, list(zip(*X, strict=True))
    missed = max(
        sum(abs(unit * (i == j) - sum(map(mul, row, x))) for j, x in enumerate(across)) for i, row in enumerate(G)
    )
    # Below one the series of the inverse converges; one half keeps its rest small.
    require(2 * missed < unit, "the released letters hardly determine some frequency")
    spread = Fraction(2 * n * missed * max(sum(map(abs, row)) for row in X), (unit - missed) * one)
    # Rounded up to a common unit: variances of many strata are added up.
    return Fraction(sum(map(sum, X)) + sum(X[i][i] for i in range(n)) + ceil(spread * one), one)


def bound_of_variance(
    setting: Setting, promises: Promises, limits: Limits, objective: Objective, proof: Node
) -> Fraction:
    """2 tr(K B) - sum z - tau, with B and z in whole numbers of 1 / unit."""
    m = setting.mechanism
    own = objective.aim == "variance" and set(objective.about) == set(m.observe) == set(m.reads) and not m.beside
    require(own and type(setting) is Setting, "this proof is for the variance of all columns that are observed")
    unit, matrix, prices, form = proof.fields("rule", "unit", "matrix", "prices", "form")[1:]
    S = setting.many
    require(2 <= S <= MOST_ESTIMATED, f"a variance is proved for 2 to {MOST_ESTIMATED} letters")
    z, one = prices.wholes(), unit.whole(1)
    ratios = metric_ratios(setting, promises) if z else None  # refuses more inputs than it visits, whatever follows
    B = _square(matrix, S - 1)
    require(len(z) in (0, S), "there is not one price for each letter")
    counts = [setting.mass.get(x, 0) for x in range(S)]
    longest = max(abs(v) for row in [z, *B] for v in row).bit_length() + one.bit_length() + setting.total.bit_length()
    setting.work.spend(8 * S**3, longest)
    sums = [sum(row) for row in B]
    trace = sum(B[i][i] for i in range(S - 1)) + sum(sums)  # tr(K B), K = I + 11'
    if not z:
        form.tag("lines")
        information = replace(objective, aim="information")
        spread = Spread(setting, _weighted(B, sums), one)
        told = SpreadLines(setting, promises, limits, information, form, spread).bound()
        return max(Fraction(0), Fraction(2 * trace, one) - told)
    if ratios is not None:
        form.require(form.is_null(), "a form is for columns of two values")
        found = metric_columns(ratios, setting.work)
        setting.work.spend(40 * S * S * len(found), 20 * one.bit_length())
        scales = [lcm(*(v.denominator for v in column)) for column in found]
        columns = [([int(v * scale) for v in column], scale) for column, scale in zip(found, scales, strict=True)]
        tau = _most_of_columns(counts, columns, _weighted(B, sums), z, one)
    elif form.is_null():
        require(S <= LETTERS, f"the subsets of more than {LETTERS} letters are not visited one by one")
        setting.work.spend(S * S << S, 2 * longest)
        top, low = (needed_ratio(setting, promises) - 1).as_integer_ratio()
        subsets = (([low + top * a for a in A], low) for A in product((0, 1), repeat=S))
        tau = _most_of_columns(counts, subsets, _weighted(B, sums), z, one)
    else:
        tau = _most_of_form(counts, needed_ratio(setting, promises) - 1, B, z, one, form)
    return max(Fraction(0), Fraction(2 * trace - sum(z), one) - tau)


class Spread(Posteriors):
    """The input, and in place of what a column tells about it psi(u) = v' Q v / p.c with c(x) = u(x) / p(x)."""

    def __init__(self, setting: Setting, Q: Matrix, unit: int) -> None:
        super().__init__(setting, setting.mechanism.observe)
        require(self.tells_itself() and len(self.keys) == setting.many, "this proof is for inputs that all occur")
        self.Q = Q
        self.owner = self.owners()
        self.common = lcm(*setting.mass.values())
        self.times = {x: self.common // n for x, n in setting.mass.items()}
        self.under = self.common * self.common * unit * unit

    def phi_of(self, u: Mapping[int, int], whole: int) -> int:
        """psi from above; c is the column in units of total / (whole * common)."""
        c = [0] * self.setting.many
        for i, t in u.items():
            c[self.owner[i]] = t * self.times[self.owner[i]]
        self.setting.work.spend(4 * len(c) ** 2, 2 * (whole.bit_length() + self.under.bit_length()))
        v = [a - c[-1] for a in c[:-1]]
        square = sum(a * sum(map(mul, row, v)) for row, a in zip(self.Q, v, strict=True) if a)
        units: int = square * self.setting.total * self.setting.total << BITS
        return -(-units // (self.under * whole * whole))  # the posteriors of cells have mass one, so that p.c is one


class SpreadLines(Lines):
    """A proof by lines that bounds the sum of psi over all columns."""

    def __init__(
        self,
        setting: Setting,
        promises: Promises,
        limits: Limits,
        objective: Objective,
        proof: Node,
        spread: Spread,
    ) -> None:
        self.spread = spread
        super().__init__(setting, promises, limits, objective, proof)
        # Ranges and boxes add up what single labels tell, which psi is no sum of.
        require(self.division == "simplices", "a variance is bounded on simplices")

    def _told(self) -> Posteriors | None:
        require(not self.letters.wanted, "what is minimised and what must be told are not bounded together")
        return self.spread


def _weighted(B: Matrix, sums: list[int]) -> Matrix:
    """Q = B K B in units of 1 / unit^2."""
    return [
        [sum(map(mul, row, other)) + a * b for other, b in zip(B, sums, strict=True)]
        for row, a in zip(B, sums, strict=True)
    ]


def _most_of_columns(
    counts: list[int], columns: Iterable[tuple[list[int], int]], Q: Matrix, z: list[int], unit: int
) -> Fraction:
    """tau, from every extreme column c: c' Q c / (unit^2 p.c) - z.c / unit, divided by its least entry.

    Columns are whole numbers, each with its least entry; so its mean is not below that.
    """
    total = sum(counts)
    most, least = 0, 1  # tau as a fraction, in units of 1 / unit^2
    for column, one in columns:
        v = [c - column[-1] for c in column[:-1]]
        mass = sum(map(mul, counts, column))
        square = sum(x * sum(map(mul, row, v)) for row, x in zip(Q, v, strict=True) if x)
        # Exact: whole numbers over one unit, compared by products.
        over = square * total - unit * sum(map(mul, z, column)) * mass
        under = mass * one
        if over * least > most * under:
            most, least = over, under
    return Fraction(most, least * unit * unit)


def _square(node: Node, n: int) -> Matrix:
    found = [row.wholes() for row in node.pair(n)]
    if any(len(row) != n for row in found) or any(found[i][j] != found[j][i] for i in range(n) for j in range(i)):
        raise node.refuse("this is not a symmetric matrix")
    return found


def _most_of_form(counts: list[int], c: Fraction, B: Matrix, z: list[int], unit: int, form: Node) -> Fraction:
    """tau from the matrix N, in whole numbers of 1 / one."""
    diagonal, between, least = form.fields("diagonal", "pairs", "shift")
    S, total = len(counts), sum(counts)
    d, E, s = diagonal.wholes(), _square(between, S), least.whole(0)
    require(len(d) == S, "there is not one number for each letter")
    require(not any(E[i][i] for i in range(S)) and min(map(min, E)) >= 0, "pairs are negative, or have a diagonal")
    whole = [[*row, -sum(row)] for row in B]
    whole.append([-sum(column) for column in zip(*whole, strict=True)])  # D B D'
    top, low = c.as_integer_ratio()
    one = 2 * low**2 * unit**2 * total
    N = [[0] * (S + 1) for _ in range(S + 1)]
    N[0][0] = 2 * low**2 * unit * total * sum(z)
    for i in range(S):
        line = top * low * (total * z[i] + counts[i] * sum(z)) - low**2 * total * d[i]
        N[0][i + 1] = N[i + 1][0] = line * unit
        for j in range(i + 1):
            both = unit * (counts[i] * z[j] + counts[j] * z[i]) - 2 * total * sum(map(mul, whole[i], whole[j]))
            more = 2 * low**2 * unit * total * ((d[i] if i == j else 0) - E[i][j])
            N[i + 1][j + 1] = N[j + 1][i + 1] = top**2 * both + more
    rounded = [[(v << FORM_BITS) // one for v in row] for row in N]  # each entry loses less than one unit
    for i, row in enumerate(rounded):
        row[i] += s
    return (S + 1) * (Fraction(s + S + 1, 1 << FORM_BITS) + _lacking(rounded))


def _lacking(n: Matrix) -> Fraction:
    """How much of I a matrix in units of 2^-FORM_BITS lacks at most to be semidefinite, when it has a factor L.

    What n exceeds L L' by has no row whose absolute values sum to more.
    """
    L, left = [[0] * len(n) for _ in n], [0] * len(n)
    for j in range(len(n)):
        for i in range(j, len(n)):
            rest = (n[i][j] << 2 * ROOT_BITS - FORM_BITS) - sum(map(mul, L[i][:j], L[j][:j]))
            require(i > j or rest > 0, "the matrix of the proof is not positive semidefinite")
            L[i][j] = isqrt(rest) if i == j else rest // L[j][j]
            # What the factor leaves of an entry counts in its row and, by symmetry, in its column.
            rest -= L[i][j] * L[j][j]
            left[i] += abs(rest)
            if i > j:
                left[j] += abs(rest)
    return Fraction(max(left), 1 << 2 * ROOT_BITS)


INPUTS = 6  # of which all columns are found
PairRatios = list[list[Fraction]]
PartOfColumn = tuple[Fraction | None, ...]


def metric_ratios(setting: Setting, promises: Sequence[Promise]) -> PairRatios | None:
    """The strictest ratio of each pair that promises of local DP say, from above; None where none has a metric."""
    levels = [p for p in promises if isinstance(p, LocalDP) and not p.delta and not p.given]
    if all(promise.metric is None for promise in levels):
        return None
    many = setting.many
    require(2 <= many <= INPUTS, f"columns under a metric are found for 2 to {INPUTS} inputs")
    far = [[min(_level_between(promise, x, z) for promise in levels) for z in range(many)] for x in range(many)]
    # A pair that is farther apart has no ratio that could be written: to give it a smaller one would be false.
    require(max(map(max, far)) <= MOST_NATS, "two inputs are too far apart for a proof by columns")
    return [[exp(level)[1] for level in row] for row in far]


def _level_between(promise: LocalDP, x: int, z: int) -> Fraction:
    epsilon = of_one_row(promise)[0]
    return epsilon if promise.metric is None else epsilon * promise.metric[x][z]


def metric_columns(ratios: PairRatios, work: Work) -> list[list[Fraction]]:
    """Every extreme column, its least entry 1."""
    many = len(ratios)
    parts: set[PartOfColumn] = {(Fraction(1), *(None,) * (many - 1))}
    for size in range(1, many):
        work.spend(200 * len(parts) * size * size * many)
        parts = {grown for part in parts for grown in _grown(part, ratios)}
    found = []
    for part in parts:
        column = [value for value in part if value is not None]
        least = min(column)
        found.append([value / least for value in column])
    return found


def _grown(part: PartOfColumn, ratios: PairRatios) -> list[PartOfColumn]:
    """The part with one more input, at a ratio of its own to one that is there, if it keeps those to all others."""
    there = [(z, value) for z, value in enumerate(part) if value is not None]
    found: list[PartOfColumn] = []
    for x, here in enumerate(part):
        if here is not None:
            continue
        for z, value in there:
            # As far above or below as the ratio of the pair allows.
            for new in (value * ratios[x][z], value / ratios[z][x]):
                keeps = all(new <= ratios[x][y] * other and other <= ratios[y][x] * new for y, other in there)
                found += [(*part[:x], new, *part[x + 1 :])] if keeps else []
    return found
