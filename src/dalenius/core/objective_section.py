"""The sections `[objective]` and `[[limit]]` of a problem file: what is wanted, and what it may cost."""

from fractions import Fraction

from dalenius.core.guarantee import Names
from dalenius.core.numbers import exact
from dalenius.core.objective import (
    AtLeast,
    Distortion,
    MaximizeInformation,
    MaximizeInformationOfEach,
    MinimizeCapacity,
    MinimizeDistortion,
    MinimizeLeakage,
    MinimizeLeakageAndRate,
    MinimizeRate,
    MinimizeVariance,
    Objective,
)
from dalenius.core.section import Section
from dalenius.errors import InputError

__all__ = ["at_least_of", "distortion_of", "keep_rows_of", "objective_of"]

DISTORTIONS = ("hamming", "squared", "absolute", "erasure", "kl")


def objective_of(s: Section) -> Objective:
    """What is made as large or as small as possible."""
    senses = [k for k in ("maximize", "minimize") if k in s.values]
    s_unknown = {k: v for k, v in s.values.items() if k not in ("maximize", "minimize")}
    if s_unknown:
        Section(s_unknown, s.place, s.file, s.lines).done(("maximize", "minimize"))
    if len(senses) != 1:
        raise s.error("[objective] needs exactly one of maximize and minimize")
    goal = s.section(senses[0])
    objective: Objective
    if senses == ["maximize"]:
        each = "information_of_each" in goal.values and "information" not in goal.values
        key, kind = ("information_of_each", MaximizeInformationOfEach) if each else ("information", MaximizeInformation)
        objective = kind(goal.names(key))
        goal.done(("information", "information_of_each"))
        return objective
    kinds = [k for k in ("distortion", "sum", "leakage", "rate", "variance", "capacity") if k in goal.values]
    if kinds == ["leakage", "rate"] and "theta" in goal.values and goal.flag("rate"):
        theta = goal.number("theta")
        if theta > 1:
            raise goal.error(f"'theta' is {theta}; it is a share from 0 to 1", "theta")
        objective = MinimizeLeakageAndRate(goal.names("leakage"), theta)
        goal.done((*kinds, "theta"))
        return objective
    if len(kinds) != 1:
        raise goal.error(
            "minimize needs exactly one of distortion, sum, leakage, rate, capacity and variance, or leakage and rate "
            "= true with the share theta of the leakage"
        )
    if kinds in (["distortion"], ["sum"]):
        return MinimizeDistortion(distortion_of(goal, limit=False))
    if kinds == ["leakage"]:
        objective = MinimizeLeakage(goal.names("leakage"))
    elif kinds == ["variance"]:
        objective = MinimizeVariance(goal.names("variance"))
    else:
        if not goal.flag(kinds[0]):
            raise goal.error(f"write {kinds[0]} = true", kinds[0])
        objective = MinimizeRate() if kinds == ["rate"] else MinimizeCapacity()
    goal.done(tuple(kinds))
    return objective


def distortion_of(s: Section, *, limit: bool, weighed: bool = False) -> Distortion:
    """A distortion; with a limit where it is one, with a weight where it is a part of a sum."""
    known = ("at_most",) if limit else ("weight",) if weighed else ()
    at_most = s.number("at_most") if limit else None
    if "sum" in s.values and not weighed:
        entries = s.take("sum")
        if not isinstance(entries, list) or not entries or not all(isinstance(entry, dict) for entry in entries):
            raise s.error("sum is a list of distortions, [{ distortion = ..., of = [...], weight = ... }, ...]", "sum")
        parts = [Section(dict(entry), (*s.place, "sum"), s.file, s.lines) for entry in entries]
        s.done(("sum", *known))
        return Distortion.sum_of([distortion_of(part, limit=False, weighed=True) for part in parts], at_most)
    measure = s.take("distortion")
    if isinstance(measure, list):
        if not measure or not all(isinstance(r, list) and r and len(r) == len(measure[0]) for r in measure):
            raise s.error("a distortion matrix is a list of rows of the same length", "distortion")
        try:
            measure = tuple(tuple(exact(value, "a distortion") for value in row) for row in measure)
        except InputError as e:
            raise s.error(str(e), "distortion") from None
        if min(min(row) for row in measure) < 0:
            raise s.error("a distortion is negative", "distortion")
    elif measure == "norm":
        return _norm(s, at_most, known)
    elif measure not in DISTORTIONS and not (measure == "lost" and "keeps" in s.values):  # as designs write it
        raise s.error(f"distortion is {measure!r}; use {', '.join(DISTORTIONS)}, norm or a matrix", "distortion")
    of: Names = s.names("of")
    classes = s.take("classes", [])
    sound = isinstance(classes, list) and all(
        isinstance(c, list) and all(isinstance(value, str) for value in c) for c in classes
    )
    letters = [value for c in classes for value in c] if sound else []
    if not sound or len(set(letters)) != len(letters) or (classes and measure not in ("hamming", "lost")):
        raise s.error('classes are separate lists of values that count as one; for distortion = "hamming"', "classes")
    weight = s.number("weight", Fraction(1)) if weighed else Fraction(1)
    keeps = _kept(s) if limit else None
    s.done(("distortion", "of", "classes", *known, *(("keeps",) if limit else ())))
    return Distortion(measure, of, at_most, tuple(map(tuple, classes)), weight, keeps=keeps)


def at_least_of(s: Section) -> AtLeast:
    """So many bits that must be told about some columns."""
    least = AtLeast(s.names("information"), s.number("at_least_bits"))
    s.done(("information", "at_least_bits"))
    return least


def keep_rows_of(sections: list[Section]) -> Fraction | None:
    """The share of its rows that every value of every released column keeps."""
    if not sections:
        return None
    first, *more = sections
    if more:
        raise more[0].error("keep_rows is said once, for all released columns", "keep_rows")
    share: Fraction = first.number("keep_rows")
    first.done(("keep_rows",))
    if not 0 < share < 1:
        all_rows = (
            "; preserve_marginals = true in [mechanism] keeps all rows of every combination" if share == 1 else ""
        )
        raise first.error(f"'keep_rows' is {share}; it is a share above 0 and below 1{all_rows}", "keep_rows")
    return share


def _kept(s: Section) -> tuple[str, Fraction] | None:
    """The value and the share of its rows that it keeps, as designs write them."""
    if "keeps" not in s.values:
        return None
    told = s.section("keeps")
    kept = str(told.text("value")), told.number("share")
    told.done(("value", "share"))
    return kept


def _norm(s: Section, at_most: Fraction | None, known: tuple[str, ...]) -> Distortion:
    """The norm of noise that is added, p from 1 to infinity."""
    text = str(s.take("p"))
    of = s.names("of")
    s.done(("distortion", "of", "p", *known))
    if text != "inf" and Section({"p": text}, s.place, s.file, s.lines).number("p") < 1:
        raise s.error(f"'p' is {text}; it is a number from 1 on, or \"inf\"", "p")
    return Distortion("norm", of, at_most, p=text)
