"""Analyses of a released table with plain lists: the part of estimate.py that corrects figures for the changes.

Every figure is a smooth function of means over the original rows. Weights undo a matrix, so that such a mean is had
from the released rows, with its covariance; `dalenius.measures.moments` is the same with arrays.
"""

import sys
from collections import Counter
from collections.abc import Iterator
from itertools import product
from math import exp, inf, log, nan, prod
from operator import mul

Z = 1.959963984540054  # of a 95 % interval
SMALL = 1e-6  # smaller pivots would turn the noise of any table into estimates
MANY = 20_000  # combinations of values of an analysis
LEAST = 5  # rows that a group or a count must have at least, unless no draw can change it
FEW = 10  # values that occur in fewer released rows do not carry an interval
FEW_ROWS = "not recovered: too few released rows carry it (the full package gives exact intervals)"
UNSAID = "too uncertain to say"
HIDDEN = "not determined by what was released: the noise is larger than any share"

Part = tuple[list[str], list[str], list[list[float]]]  # columns in, columns out, and the matrix between
Triple = tuple[list[float], list[float], float]
Told = tuple[float, float, float]  # a figure with its interval; no number where the interval says all


def unbiased(matrix: list[list[float]]) -> Iterator[list[float] | None]:
    """For each original value weights a with matrix a = 1 at this value and 0 elsewhere, or None if there are none."""
    inputs, letters = len(matrix), len(matrix[0])
    left = [[*row, *(float(x == y) for y in range(inputs))] for x, row in enumerate(matrix)]
    pivots: list[int] = []
    while len(pivots) < min(inputs, letters):  # Gauss and Jordan, by the largest entry that is left
        rest = [(abs(left[i][j]), i, j) for i in range(len(pivots), inputs) for j in range(letters) if j not in pivots]
        size, i, j = max(rest)
        if size < SMALL:
            break
        k = len(pivots)
        left[k], left[i] = left[i], left[k]
        left[k] = [v / left[k][j] for v in left[k]]
        for other in range(inputs):
            if other != k and left[other][j]:
                factor = left[other][j]
                left[other] = [a - factor * b for a, b in zip(left[other], left[k], strict=True)]
        pivots.append(j)
    for x in range(letters, letters + inputs):
        if any(abs(row[x]) > 1e-9 for row in left[len(pivots) :]):
            yield None
            continue
        weights = [0.0] * letters
        for k, j in enumerate(pivots):
            weights[j] = left[k][x]
        yield weights


def inverted(matrix: list[list[float]]) -> list[list[float] | None]:
    """The weights of `unbiased`; of more released values than original ones those that vary least if all are alike."""
    mean = [sum(column) / len(matrix) for column in zip(*matrix, strict=True)]
    if len(matrix) < len(mean):
        least = [[v / m if m else 0.0 for v, m in zip(row, mean, strict=True)] for row in matrix]
        solved = list(unbiased([[sum(map(mul, one, other)) for other in matrix] for one in least]))
        if None not in solved:
            return [[sum(map(mul, a or [], column)) for column in zip(*least, strict=True)] for a in solved]
    return list(unbiased(matrix))


def along(values: list[float], matrices: list[list[list[float]]]) -> list[float]:
    """Each matrix applied along its own axis: the first axis is taken away and put last, changed."""
    for matrix in matrices:
        rest = len(values) // len(matrix)
        lines = [values[k * rest : (k + 1) * rest] for k in range(len(matrix))]
        columns = list(zip(*matrix, strict=True))
        values = [sum(map(mul, line, column)) for line in zip(*lines, strict=True) for column in columns]
    return values


def turned(matrix: list[list[float]]) -> list[list[float]]:
    """The transpose."""
    return [[*column] for column in zip(*matrix, strict=True)]


def dot(*lists: list[float]) -> float:
    """The sum of the products, entry by entry."""
    return float(sum(map(prod, zip(*lists, strict=True))))


class Means:
    """Means of functions of the original columns, from released rows, with their covariance.

    `parts` are columns in, columns out, and the matrix between; `letters` the values of each column.
    """

    def __init__(
        self, parts: list[Part], letters: dict[str, list[str]], rows: list[dict[str, str]], weights: list[float],
        population: bool, preserved: bool,
    ):  # fmt: skip
        self.population, self.preserved, self.rows = population, preserved, len(rows)
        self.columns = [c for inputs, _, _ in parts for c in inputs]
        self.letters = {c: letters[c] for c in self.columns}
        self.outcomes = [dict(zip(self.columns, x, strict=True)) for x in product(*self.letters.values())]
        self.drawn = [matrix for _, _, matrix in parts]
        if len(self.outcomes) > MANY or prod(len(matrix[0]) for matrix in self.drawn) > MANY:
            sys.exit("so many combinations of values need the full package; name fewer columns")
        self.back = [[a or [0.0] * len(m[0]) for a in inverted(m)] for m in self.drawn] if not preserved else []
        seen = [tuple(row[c] for _, drawn, _ in parts for c in drawn) for row in rows]
        sums: Counter[tuple[str, ...]] = Counter()
        squares: Counter[tuple[str, ...]] = Counter()
        for cell, w in zip(seen, weights, strict=True):
            sums[cell] += w  # type: ignore[assignment]
            squares[cell] += w * w  # type: ignore[assignment]
        total, cells = sum(weights), list(product(*(letters[c] for _, drawn, _ in parts for c in drawn)))
        self.shares, self.squares = [sums[y] / total for y in cells], [squares[y] / total**2 for y in cells]
        self.counts = [p / sum(self.squares) for p in self.shares]  # rows that count alike and say as much
        self.law = self.shares if preserved else along(self.shares, [turned(a) for a in self.back])

    def which(self, **named: str) -> list[float]:
        """1 where an original outcome has these values, else 0."""
        return [float(all(x[c] == v for c, v in named.items())) for x in self.outcomes]

    def many_carry(self, function: list[float]) -> bool:
        """Whether values that occur often carry nearly all of the noise of a mean."""
        carried = [(h * h, self.counts[y]) for y, h in enumerate(along(function, self.back))]
        thin = sum(square * max(m, 3) for square, m in carried if m < FEW)
        return thin <= 0.1 * sum(square * max(m, 3) for square, m in carried)

    def counting(self, functions: list[list[float]]) -> float:
        """Rows that count alike and say as much; no end of them where no draw changes the mean of any function."""
        ways = [turned(m) for m in self.drawn] if self.preserved else self.back
        pairs = [(along([v * v for v in g], ways), along(g, ways)) for g in functions]
        moved = any(abs(a - b * b) > 1e-12 for square, own in pairs for a, b in zip(square, own, strict=True))
        return 1 / sum(self.squares) if self.population or moved else inf

    def mean(self, function: list[float]) -> float:
        """The mean of one function."""
        return float(sum(map(mul, self.law, function)))

    def covariance(self, functions: list[list[float]]) -> list[list[float]]:
        """Of the means of some functions."""
        means, n = [self.mean(g) for g in functions], self.rows
        if self.preserved:  # given the table only the draws vary: the mean over x of Cov(g(Y) | x), divided by n
            forward = along(self.shares, self.drawn)
            pairs = [
                (g, along(g, [turned(m) for m in self.drawn]), mean) for g, mean in zip(functions, means, strict=True)
            ]

            def cross(one: Triple, other: Triple) -> float:
                within = dot(forward, one[0], other[0]) - dot(self.shares, one[1], other[1])
                return (within + (dot(self.law, one[0], other[0]) - one[2] * other[2] if self.population else 0.0)) / n

            return [[cross(one, other) for other in pairs] for one in pairs]
        told = [along(g, self.back) for g in functions]
        for g, h in zip(functions, told, strict=True):
            again = along(h, [turned(m) for m in self.drawn])
            if max(abs(a - b) for a, b in zip(again, g, strict=True)) > 1e-7 * max(1.0, *map(abs, g)):
                sys.exit("not determined by what was released")
        if self.population:
            apart = [[v - mean for v in h] for h, mean in zip(told, means, strict=True)]
            return [[dot(self.squares, a, b) * n / (n - 1) for b in apart] for a in apart]
        own = along(self.squares, [turned(a) for a in self.back])
        both = list(zip(told, functions, strict=True))
        return [[dot(self.squares, h, k) - dot(own, g, f) for k, f in both] for h, g in both]


def few_rows(p: float, rows: float) -> float:
    """What is added on both sides of a share that rests on a handful of rows, where no variance is to be believed."""
    return Z * Z / 2 / rows if min(p, 1 - p) * rows < 29.5 else 0.0


def in_words(figure: Told, more: float = 0.0, least: float = 0.0, most: float = 1.0) -> str:
    """A figure with its interval, wider by `more`, cut to what is possible and to hold it."""
    p, low, high = figure
    low, high = max(low - more, least), min(high + more, most)
    if p != p:
        return UNSAID if (low, high) == (least, most) else f"[{low:.6f}, {high:.6f}]".replace("inf", "no limit")
    return f"{p:.6f} [{min(low, p):.6f}, {max(high, p):.6f}]"


def quotient(
    t: float, b: float, top: list[float], bottom: list[float], C: list[list[float]], least: float, most: float
) -> Told:
    """t/b with the r that t - r b does not rule out (Fieller), from the gradients of both; without a bound all r."""

    def both(one: list[float], other: list[float]) -> float:
        return sum(v * w * C[i][j] for i, v in enumerate(one) for j, w in enumerate(other))

    of_top, of_bottom, of_both = max(both(top, top), 0.0), max(both(bottom, bottom), 0.0), both(top, bottom)
    clear = b * b - Z * Z * of_bottom
    middle = t * b - Z * Z * of_both
    less = Z * Z * max(of_top * of_bottom - of_both**2, 0.0)
    root = Z * max(b * b * of_top - 2 * t * b * of_both + t * t * of_bottom - less, 0.0) ** 0.5
    if b > 0 and clear > 0:
        return t / b, min((middle - root) / clear, t / b), max((middle + root) / clear, t / b)
    if b > 0 and clear < 0 < root:  # all r but those between the roots
        below = (middle + root) / clear
        above = (middle - root) / clear
        if below < least <= above <= most:
            return nan, above, most
        if least <= below <= most < above:
            return nan, least, below
    return nan, least, most


def few_more(found: Told, rows: float) -> float:
    """What is added on both sides of a share of so many rows."""
    return few_rows(found[0], rows) if found[0] == found[0] else 0.0


def figures(theta: list[float], C: list[list[float]], rows: float) -> list[str]:
    """Shares, difference and ratios of two groups; only what fits where the release hides a group or a count."""
    m, one, k, other = theta
    rest = one - m
    left = other - k
    least = LEAST / rows
    nothing: Told = (nan, 0.0, 1.0)
    shares = [
        quotient(m, one, [1.0, 0, 0, 0], [0, 1.0, 0, 0], C, 0.0, 1.0) if one > least else nothing,
        quotient(k, other, [0, 0, 1.0, 0], [0, 0, 0, 1.0], C, 0.0, 1.0) if other > least else nothing,
    ]
    few = [few_more(p, size * rows) for p, size in zip(shares, (one, other), strict=True)]
    said = {f"share {i}": in_words(p, more) for i, (p, more) in enumerate(zip(shares, few, strict=True), 1)}
    said |= dict.fromkeys(("difference", "risk ratio", "odds ratio"), UNSAID)
    known = all(p == p for p, _, _ in shares)  # else the gradients of products say nothing
    if known:
        apart = quotient(m * other - k * one, one * other, [other, -k, -one, m], [0, other, 0, one], C, -1.0, 1.0)
        said["difference"] = in_words(apart, sum(few), -1.0)
    if known and min(m, k) > least:
        said["risk ratio"] = ratio(m * other, k * one, [other, 0, 0, m], [0, k, one, 0], C)
    if known and min(m, k, rest, left) > least:
        said["odds ratio"] = ratio(m * left, rest * k, [left, 0, -m, m], [-k, k, rest, 0], C)
    if {*said.values()} == {UNSAID}:
        sys.exit(
            "the release does not say well enough how many rows the groups had: every share and every ratio fits it"
        )
    return [f"{name}\t{words}" for name, words in said.items()]


def ratio(t: float, b: float, top: list[float], bottom: list[float], C: list[list[float]]) -> str:
    """A ratio of counts above 0, with the wider of the intervals on its own scale and on that of logarithms."""
    found = quotient(t, b, top, bottom, C, 0.0, inf)
    slope = [v / t - w / b for v, w in zip(top, bottom, strict=True)]
    half = Z * max(sum(v * w * C[i][j] for i, v in enumerate(slope) for j, w in enumerate(slope)), 0.0) ** 0.5
    if found[0] == found[0]:
        low, high = (exp(min(log(t / b) + sign * half, 700.0)) for sign in (-1, 1))
        found = (found[0], min(found[1], low), max(found[2], high))
    return in_words(found, 0.0, 0.0, inf)


def compared(told: Means, words: list[str]) -> list[str]:
    """Figures from four sets of original values: group 1 with the value, group 1, group 2 with the value, group 2."""
    value, one, other = (told.which(**{column: wanted}) for column, wanted in (pair(word, told) for word in words))
    sets = [s for group in (one, other) for s in ([*map(mul, group, value)], group)]
    return figures([told.mean(s) for s in sets], told.covariance(sets), told.counting(sets))


def within(told: Means, words: list[str]) -> list[str]:
    """The shares of the values of the first column within the groups of the others."""
    lines = []
    for group in product(*(told.letters[c] for c in words[1:])):
        named = dict(zip(words[1:], group, strict=True))
        sets = [told.which(**{words[0]: value}, **named) for value in told.letters[words[0]]]
        theta, C = [told.mean(s) for s in sets], told.covariance(sets)
        size, places = sum(theta), range(len(sets))
        rows = told.counting(sets)
        for k, value in enumerate(told.letters[words[0]]):
            own = [float(j == k) for j in places]
            found = (nan, 0.0, 1.0)
            if size > LEAST / rows:
                found = quotient(theta[k], size, own, [1.0 for _ in places], C, 0.0, 1.0)
            said = in_words(found, few_more(found, size * rows))
            lines.append(f"{words[0]}={value} where {', '.join(map('{}={}'.format, named, group))}\t{said}")
    return lines


def joint(told: Means, words: list[str]) -> list[str]:
    """The shares of all combinations of some columns."""
    lines = []
    for values in product(*(told.letters[c] for c in words)):
        g = told.which(**dict(zip(words, values, strict=True)))
        p, error = told.mean(g), max(told.covariance([g])[0][0], 0.0) ** 0.5
        said = f"{p:.6f} [{p - Z * error:.6f}, {p + Z * error:.6f}]"
        if told.preserved:
            half = 2.018763 * error + few_rows(p, told.counting([g]))
            said = f"{p:.6f} [{max(p - half, 0):.6f}, {min(p + half, 1):.6f}]"
        elif told.counting([g]) < inf and not told.many_carry(g):
            said = FEW_ROWS
        elif Z * error > 0.5:
            said = HIDDEN
        lines.append(f"{', '.join(map('{}={}'.format, words, values))}\t{said}")
    return lines


def pair(word: str, told: Means) -> tuple[str, str]:
    """COLUMN=VALUE, taken apart."""
    column, _, wanted = word.partition("=")
    if wanted not in told.letters.get(column, []):
        sys.exit(f"{column}={wanted} is no column of the card with one of its values")
    return column, wanted


def understood(words: list[str]) -> bool:
    """Whether the words after the files are an analysis."""
    what, values = (words or [""])[0], ["=" in word for word in words[1:]]
    return not words or (
        (what == "compare" and values == [True] * 3)
        or (what == "shares" and len(values) >= 1 and not any(values))
        or (what in ("within", "linear") and len(values) >= 1 + (what == "within") and not any(values))
        or (what == "logistic" and len(values) >= 2 and values[0] and not any(values[1:]))
    )


def weights_of(rows: list[dict[str, str]], column: str | None) -> list[float]:
    """The weights of all rows; 1 for each where no column holds them."""
    try:
        found = [float(row[column]) if column else 1.0 for row in rows]
    except ValueError:
        found = [-1.0]
    if not all(0 <= w < inf for w in found):
        sys.exit(f"{column} has a value that is no weight: a number from 0 on")
    if not any(found):
        sys.exit(f"no row has a weight above 0 in {column}, so that nothing counts")
    return found
