"""Regressions of a released table with plain lists, and what the words of an analysis ask for: a part of estimate.py.

`dalenius.measures.regression` is the same with arrays.
"""

import sys
from collections.abc import Callable
from fractions import Fraction
from math import inf, nan, tanh
from operator import mul
from typing import Any

from dalenius.evidence.travelling_means import (
    SMALL,
    Means,
    Part,
    Z,
    compared,
    dot,
    joint,
    pair,
    unbiased,
    weights_of,
    within,
)

WEAK = 0.5  # a value whose standard error is more than this share of it carries no coefficient
CLEAR = 2.0  # standard errors that the weakest direction of regressors has to be away from zero
SEPARATED = "the coefficients are not determined: a group has all of its rows with the value, or none"
FOLLOWS = "the coefficients are not determined: a regressor follows from the others, or the noise hides it"


def regressed(told: Means, outcome: str, on: list[str]) -> list[str]:
    """Coefficients of a linear regression, or of a logistic one of COLUMN=VALUE: scores corrected for the draws."""
    column, sign, value = outcome.partition("=")
    response = told.which(**{column: value}) if sign else numbers(told, column)
    names, X = regressors(told, on)
    scale = [max(sum(map(mul, map(mul, x, x), map(abs, told.law))), 1e-300) ** 0.5 for x in X]
    X = [[v / size for v in x] for x, size in zip(X, scale, strict=True)]
    beta = [0.0] * len(X)
    for law in ([max(p, 0.0) for p in told.law], told.law) if sign else (told.law,):
        beta = root(law, X, response, beta, bool(sign))
    fitted, weight = fit(X, beta, bool(sign))
    J = [[dot(told.law, weight, a, b) for b in X] for a in X]
    P = solved(J, True, FOLLOWS)
    weakest = [1.0 + k / 7 for k in range(len(X))]
    for _ in range(300):  # towards the direction in which the regressors vary least
        weakest = [sum(map(mul, row, weakest)) for row in P]
        size = sum(v * v for v in weakest) ** 0.5
        weakest = [v / size for v in weakest]
    along_it = [sum(map(mul, weakest, x)) ** 2 * w for x, w in zip(zip(*X, strict=True), weight, strict=True)]
    if not told.mean(along_it) > max(CLEAR * max(told.covariance([along_it])[0][0], 0.0) ** 0.5, 1e-7):
        sys.exit("the coefficients are not determined: the noise is as large as what these columns vary; name fewer")
    C = told.covariance([[v * (y - f) for v, y, f in zip(x, response, fitted, strict=True)] for x in X])
    C = [
        [sum(a * b * v for a, line in zip(p, C, strict=True) for b, v in zip(q, line, strict=True)) for q in P]
        for p in P
    ]
    lines = []
    for j, (name, size) in enumerate(zip(names, scale, strict=True)):
        low, high = ends(told, X, response, beta, C, j, bool(sign))
        said = f"{name}\t{beta[j] / size:.6g} [{low / size:.6g}, {high / size:.6g}]"
        lines.append(said.replace("-inf", "no limit").replace("inf", "no limit"))
    return lines


def ends(
    told: Means, X: list[list[float]], response: list[float], beta: list[float], C: list[list[float]], j: int,
    logistic: bool,
) -> list[float]:  # fmt: skip
    """The ends of the values of a coefficient that its score does not rule out, the others moved along with it."""
    half = Z * max(C[j][j], 0.0) ** 0.5

    def beyond(away: float) -> float:
        at = [b + away * row[j] / C[j][j] for b, row in zip(beta, C, strict=True)]
        fitted, weight = fit(X, at, logistic)
        a = efficient([[dot(told.law, weight, x, other) for other in X] for x in X], j)
        if a is None:
            return nan
        index = [sum(map(mul, a, x)) for x in zip(*X, strict=True)]
        score = [v * (y - f) for v, y, f in zip(index, response, fitted, strict=True)]
        error: float = max(told.covariance([score])[0][0], 0.0) ** 0.5
        return abs(told.mean(score)) - Z * error

    known = half < 1e-7  # but for rounding
    return [beta[j] + sign * (half if known else crossing(beyond, sign * half)) for sign in (-1, 1)]


def efficient(J: list[list[float]], j: int) -> list[float] | None:
    """a with a'J = 1 in the place j, else 0; None where a regressor follows from the others."""
    if not min(row[k] for k, row in enumerate(J)) > 0:
        return None
    size = [row[k] ** 0.5 for k, row in enumerate(J)]
    left = [
        [*(v / own / s for v, s in zip(row, size, strict=True)), float(k == j) / own]
        for k, (row, own) in enumerate(zip(J, size, strict=True))
    ]
    for k, row in enumerate(left):
        if not row[k] >= SMALL:
            return None
        row[:] = [v / row[k] for v in row]
        for other in left:
            if other is not row:
                other[:] = [a - other[k] * b for a, b in zip(other, row, strict=True)]
    return [row[-1] / own for row, own in zip(left, size, strict=True)]


def crossing(beyond: Callable[[float], float], start: float) -> float:
    """How far from 0, in the direction of `start`, something first is above 0; no end where it never is."""
    inside = 0.0
    out = start
    low = beyond(0.0)
    for _ in range(8):
        high = beyond(out)
        if not high < 0:
            break
        inside = out
        low = high
        out *= 1.6
    if not high >= 0:
        return inf
    for _ in range(60):  # false position, halved where an end stays
        at = (inside * high - out * low) / (high - low)
        found = beyond(at)
        if found != found:
            return inf
        if abs(found) < 1e-10 * abs(start):
            return abs(at)
        if found > 0:
            out = at
            high = found
            low /= 2
        else:
            inside = at
            low = found
            high /= 2
    return abs(out)


def regressors(told: Means, on: list[str]) -> tuple[list[str], list[list[float]]]:
    """A constant; for each column its numbers (COLUMN:number), or whether it has each value but the first."""
    names, X = ["(intercept)"], [[1.0] * len(told.outcomes)]
    for word in on:
        column, _, kind = word.partition(":")
        if kind == "number":
            names.append(column)
            X.append(numbers(told, column))
            continue
        for k, value in enumerate(told.letters[column]):
            inside = told.which(**{column: value})
            share = told.mean(inside)
            error = max(told.covariance([inside])[0][0], 0.0) ** 0.5
            if not share > 0 or error > WEAK * share:
                digits = set("".join(told.letters[column])) <= set("0123456789.-/")
                number = f"say {column}:number, or " if digits else ""
                sys.exit(f"{column} = {value} is too rare in the release for a coefficient; {number}leave {column} out")
            if k:
                names.append(f"{column} = {value}")
                X.append(inside)
    return names, X


def numbers(told: Means, column: str) -> list[float]:
    """The numbers that the values of a column are."""
    try:
        known = {value: float(Fraction(value)) for value in told.letters[column]}
    except ValueError:
        sys.exit(f"the values of {column!r} are not all numbers")
    return [known[x[column]] for x in told.outcomes]


def fit(X: list[list[float]], beta: list[float], logistic: bool) -> tuple[list[float], list[float]]:
    """What a regression expects at each outcome, and how that varies with its index."""
    index = [sum(map(mul, beta, x)) for x in zip(*X, strict=True)]
    if not logistic:
        return index, [1.0] * len(index)
    chances = [0.5 * (1 + tanh(0.5 * v)) for v in index]
    return chances, [p * (1 - p) for p in chances]


def root(
    law: list[float], X: list[list[float]], response: list[float], beta: list[float], logistic: bool
) -> list[float]:
    """Where the scores of the coefficients are zero, by Newton's steps, halved until the scores are nearer to zero."""

    def score(at: list[float]) -> list[float]:
        fitted, _ = fit(X, at, logistic)
        return [sum(p * v * (y - f) for p, v, y, f in zip(law, x, response, fitted, strict=True)) for x in X]

    now = score(beta)
    for _ in range(60):
        if max(map(abs, now)) < 1e-10 * max(1.0, *map(abs, response)):
            return beta
        _, weight = fit(X, beta, logistic)
        P = solved([[dot(law, weight, a, b) for b in X] for a in X], False, SEPARATED if logistic else FOLLOWS)
        step = [sum(map(mul, row, now)) for row in P]
        for _ in range(40):
            near = [a + b for a, b in zip(beta, step, strict=True)]
            after = score(near)
            if sum(map(abs, after)) < sum(map(abs, now)):
                break
            step = [v / 2 for v in step]
        else:
            break
        beta, now = near, after
    sys.exit(SEPARATED)


def solved(J: list[list[float]], positive: bool, otherwise: str) -> list[list[float]]:
    """The inverse of a symmetric matrix, which has to be positive if asked."""
    rows, found = [[*row] for row in J], list(unbiased(J))
    for k in range(len(rows) if positive else 0):
        if not rows[k][k] > 0:
            found = [None]
            break
        for other in rows[k + 1 :]:
            factor = other[k] / rows[k][k]
            other[:] = [a - factor * b for a, b in zip(other, rows[k], strict=True)]
    inverse = [row for row in found if row is not None]
    if len(inverse) < len(J):
        sys.exit(otherwise)
    return inverse


def analysed(
    words: list[str], card: dict[str, Any], parts: list[Part], rows: list[dict[str, str]], population: bool
) -> list[str]:
    """One of the analyses of the usage line, from all matrices that say something about its columns."""
    what, *about = words
    named = [word.partition("=")[0].partition(":")[0] for word in about]
    wanted = [*dict.fromkeys(named)]
    # The second group of a comparison may be of the first one's column.
    if len({*about}) < len(about) or len(wanted) < len(named) - (what == "compare" and named[1] == named[2]):
        sys.exit("an analysis names each column once, and compares two different groups by other columns")
    kept, letters = card.get("kept", []), dict(card["letters"])
    weigh = card["weights"] if card.get("weights") in kept else None
    parts = [part for part in parts if {*part[0]} & {*wanted}]
    there = {c for inputs, _, _ in parts for c in inputs}
    for column in wanted:
        if column in kept and column not in there and column in rows[0]:
            letters[column] = sorted({row[column] for row in rows})
            same = [[float(x == y) for y in letters[column]] for x in letters[column]]
            parts, there = [*parts, ([column], [column], same)], there | {column}
    if missing := [c for c in wanted if c not in there]:
        sys.exit(f"{missing[0]} is no column of the card")
    inputs, drawn, _ = parts[0]
    preserved = bool(card.get("marginals_preserved")) and not weigh and len(parts) == 1 and inputs == drawn and not kept
    weights = weights_of(rows, weigh)
    told = Means(parts, letters, rows, weights, population, preserved)
    for word in about:
        if "=" in word:
            pair(word, told)
    if what in ("linear", "logistic"):
        return regressed(told, about[0], about[1:])
    return {"compare": compared, "within": within, "shares": joint}[what](told, about)
