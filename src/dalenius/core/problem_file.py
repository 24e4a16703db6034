"""The grammar of the problem file: every key is known, typed and in its place, or refused with its line."""

import hashlib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from difflib import get_close_matches
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal, TypeVar

from dalenius.core.column_section import column_of
from dalenius.core.combination import Combination
from dalenius.core.forms.windows import chain, sliding
from dalenius.core.guarantee import Guarantee, Names
from dalenius.core.guarantee_section import guarantee_of
from dalenius.core.noise_law import NOISE_LAWS, NoiseLaw
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
from dalenius.core.problem import Mismatch, Problem, SideInformation
from dalenius.core.section import Place, Section, key_lines
from dalenius.core.source import (
    ConditionallyIid,
    Dialect,
    MarkovSource,
    PmfSource,
    Source,
    TableSource,
    is_address,
)
from dalenius.errors import InputError, ProblemFileError

__all__ = ["Promised", "parse", "promised_in", "read", "read_toml"]

P = TypeVar("P", bound=Problem)

TABLES = (".csv", ".tsv", ".gz", ".zst", ".parquet", ".arrow", ".feather")
DISTORTIONS = ("hamming", "squared", "absolute", "erasure", "kl")
DIALECT = ("delimiter", "encoding", "decimal", "missing_words")
FORMS = ["pram", "randomised-response", "subset-selection", "windows", "sums", "random-columns", "noise", "records"]
"""What `form` in [mechanism] may say; a mechanism that is registered adds its own."""
ENCODERS = ("uninformed", "statistically-informed", "informed")


def read(cls: type[P], path: Path) -> P:
    """A problem from a TOML file."""
    if path.suffix.lower() in TABLES and path.is_file():
        raise InputError(f"{path} is a table, not a problem file.", do=f"Write one first: dalenius init {path}")
    if path.suffix.lower() == ".json" and path.is_file():
        raise InputError(
            f"{path} is not a problem file.",
            do="Name problem.toml, or release a table by a proof file: dalenius apply DESIGN TABLE -o RELEASED",
        )
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise InputError(
            f"there is no problem file {path}", do="Check the name, or write one with dalenius init TABLE."
        ) from None
    except IsADirectoryError:
        raise InputError(f"{path} is a folder, not a problem file") from None
    except UnicodeDecodeError:
        raise InputError(f"{path} is not UTF-8 text; save it as UTF-8") from None
    except ValueError:
        raise InputError("the name of the problem file holds a NUL character.", do="Name another file.") from None
    except OSError as e:
        raise InputError(
            f"cannot read the problem file {path}: {e.strerror}", do="Check the name and your rights to the file."
        ) from None
    document = read_toml(text, path.name)
    digest = hashlib.sha256(text.encode()).hexdigest()
    return parse(cls, document, file=path, lines=key_lines(text), digest=digest)


def read_toml(text: str, name: str) -> dict[str, Any]:
    """The values of a TOML file, with its decimals exact; `name` is that of the file, for the message.

    >>> read_toml("a = 0.1", "problem.toml")
    {'a': Decimal('0.1')}
    """
    try:
        return tomllib.loads(text, parse_float=Decimal)
    except tomllib.TOMLDecodeError as e:
        raise ProblemFileError(f"{name} is not valid TOML: {e}") from None
    except (ValueError, RecursionError):  # thousands of digits, or of brackets
        raise ProblemFileError(
            f"{name} holds a number or a nest of lists that is too long to be meant", do="Correct it."
        ) from None


def parse(
    cls: type[P],
    document: Mapping[str, Any],
    *,
    file: Path | None = None,
    lines: Mapping[Place, int] | None = None,
    **rest: Any,
) -> P:
    """A problem from the sections of a problem file given as plain values."""
    top = Section(dict(document), (), file, lines or {})
    sections = ("source", "columns", "mechanism", "objective", "guarantee", "limit", "side_information", "robust")
    for key in top.values:
        if key not in sections:
            close = get_close_matches(key, sections, 1, 0.5)
            hint = f"; did you mean [{close[0]}]?" if close else f"; known are {', '.join(sections)}"
            raise top.error(f"unknown section {key!r}{hint}", key)
    for key in ("source", "mechanism", "objective") if file else ("mechanism", "objective"):
        if key not in top.values:
            raise top.error(f"there is no [{key}] section; `dalenius init` writes a commented file to start from")
    columns = top.section("columns") if "columns" in top.values else None
    limits = _many(top, "limit")
    return cls(
        source=_source(top.section("source")) if "source" in top.values else None,
        columns={name: column_of(columns.section(name)) for name in list(columns.values)} if columns else {},
        **_mechanism(top.section("mechanism")),
        objective=_objective(top.section("objective")),
        guarantees=tuple(guarantee_of(s) for s in _many(top, "guarantee")),
        limits=tuple(_distortion(s, limit=True) for s in limits if not {"keep_rows", "information"} & set(s.values)),
        tells=tuple(_at_least(limit) for limit in limits if "information" in limit.values),
        keep_rows=_keep_rows([limit for limit in limits if "keep_rows" in limit.values]),
        side_information=_side(top.section("side_information")) if "side_information" in top.values else None,
        robust=_robust(top.section("robust")) if "robust" in top.values else None,
        file=file,
        lines=lines or {},
        **rest,
    )


@dataclass(frozen=True)
class Promised:
    """What a card says in words of a problem file: its promises and limits in its order, and what was wanted."""

    guarantees: tuple[Guarantee, ...]
    limits: tuple[Distortion | AtLeast, ...]
    objective: Objective | None
    side_information: SideInformation | None
    robust: Mismatch | None


def promised_in(card: Mapping[str, Any]) -> Promised:
    """The promises, limits and aim of a card; a card has no problem that could be solved."""
    top = Section(dict(card), (), None, {})
    guarantees, limits = (
        [Section(dict(entry["promised"]), (key, k), None, {}) for k, entry in enumerate(card.get(key, ()))]
        for key in ("guarantees", "limits")
    )
    return Promised(
        tuple(map(guarantee_of, guarantees)),
        tuple(_at_least(s) if "information" in s.values else _distortion(s, limit=True) for s in limits),
        _objective(top.section("objective")) if "objective" in card else None,
        _side(top.section("side_information")) if "side_information" in card else None,
        _robust(top.section("robust")) if "robust" in card else None,
    )


def _many(top: Section, key: str) -> list[Section]:
    values = top.take(key, [])
    if not isinstance(values, list) or not all(isinstance(value, dict) for value in values):
        raise top.error(f"write [[{key}]] with two brackets, once for each", key)
    return [Section(dict(value), (key, k), top.file, top.lines) for k, value in enumerate(values)]


def _source(s: Section) -> Source:
    kinds = [k for k in ("table", "pmf", "conditionally_iid", "markov") if k in s.values]
    if len(kinds) != 1:
        raise s.error("[source] needs exactly one of `table`, `pmf`, `conditionally_iid` and `markov`")
    source: Source
    if kinds == ["pmf"]:
        source = PmfSource(s.text("pmf"))
        s.done(("pmf",))
    elif kinds == ["conditionally_iid"]:
        model = s.section("conditionally_iid")
        source = ConditionallyIid(model.text("hidden"), model.text("prior"), model.text("kernel"), model.integer("n"))
        model.done(("hidden", "prior", "kernel", "n"))
        s.done(("conditionally_iid",))
    elif kinds == ["markov"]:
        source = _markov(s.section("markov"))
        s.done(("markov",))
    else:
        source = TableSource(
            s.text("table"),
            unit=s.text("unit", "row"),
            max_rows=s.integer("max_rows", None),
            prior=s.text("prior", None),
            weights=s.text("weights", None),
            min_cell=s.integer("min_cell", 10),
            dialect=_dialect(s),
            query=s.text("query", None),
            title=s.text("title", None),
            owner=s.text("owner", None),
            row_number=s.text("row_number", None),
        )
        if source.query is not None and not is_address(source.table):
            raise s.error(
                "a query needs the address of a database as its table, postgresql://... or sqlite:...", "query"
            )
        if source.max_rows is not None and source.unit == "row":
            raise s.error("max_rows needs unit = the column that names the person", "max_rows")
        known = ("table", "query", "unit", "max_rows", "prior", "weights", "min_cell", "title", "owner", "row_number")
        s.done((*known, *DIALECT))
    return source


def _markov(s: Section) -> MarkovSource:
    """initial and transition are lists of numbers; letters are 0, 1, ... unless they are named."""

    def numbers(values: Any, key: str) -> tuple[Fraction, ...]:
        if not isinstance(values, list) or not values:
            raise s.error(f"{key!r} is a list of probabilities", key)
        try:
            return tuple(exact(value, repr(key)) for value in values)
        except InputError as e:
            raise s.error(str(e), key) from None

    initial = numbers(s.take("initial"), "initial")
    rows = s.take("transition")
    if not isinstance(rows, list) or not rows:
        raise s.error("'transition' is a list of rows, one for each value", "transition")
    letters = s.names("letters", tuple(map(str, range(len(initial)))))
    source = MarkovSource(letters, initial, tuple(numbers(row, "transition") for row in rows), s.integer("n", least=2))
    s.done(("letters", "initial", "transition", "n"))
    return source


def _dialect(s: Section) -> Dialect:
    """How a text file is written, where the file of the problem says so."""
    told = [s.text("delimiter", None), s.text("encoding", None), s.text("decimal", "."), s.texts("missing_words")]
    try:
        return Dialect(*told)
    except InputError as e:
        raise s.error(str(e), str(e).split("'")[1]) from None


def _mechanism(s: Section) -> dict[str, Any]:
    parts = {
        "observe": s.names("observe"),
        "output": s.text("output", None),
        "release": s.names("release", ()),
        "keep": s.names("keep", ()),
        "strata": s.names("strata", ()),
        "forbid": _forbid(s),
        "freeze": s.names("freeze", ()),
        "preserve_marginals": s.flag("preserve_marginals", False),
        "allow_inverted": s.flag("allow_inverted", False),
        "form": s.choice("form", FORMS, None),
        "order": s.choice("order", ("shuffle", "keep"), "shuffle"),
    }
    parts["windows"] = _windows(s, parts["observe"], parts["form"]) if "windows" in s.values else ()
    parts["modulus"] = s.integer("modulus", None, least=2)
    parts["each"] = _each(s) if "each" in s.values else False
    parts["noise"] = _noise(s) if "noise" in s.values else None
    parts["towards"] = _towards(s) if "towards" in s.values else None
    parts["min_multiplicity"] = s.integer("min_multiplicity", None, least=1)
    s.done((*parts, "clip"))
    if (parts["noise"] is None) != (parts["form"] != "noise"):
        raise s.error('form = "noise" and noise = "..." are said together in [mechanism]', "noise")
    if bool(parts["windows"]) != (parts["form"] == "windows") and not (parts["windows"] and parts["form"] == "sums"):
        raise s.error('form = "windows" and windows = ... are said together in [mechanism]', "windows")
    if (not parts["output"] and not parts["release"]) or (parts["output"] and parts["release"]):
        raise s.error('say either release = [...] (same values) or output = "Y" (a new column) in [mechanism]')
    return parts


def _towards(s: Section) -> Fraction | Literal["median"]:
    if s.values["towards"] == "median":
        s.take("towards")
        return "median"
    share: Fraction = s.number("towards")
    return share


def _forbid(s: Section) -> tuple[tuple[str, str] | Combination, ...]:
    """Transitions, ["from", "to"], and combinations that cannot be, { age = "child", marital = "married" }."""
    entries = s.take("forbid", [])
    found = list[tuple[str, str] | Combination]()
    for entry in entries if isinstance(entries, list) else [entries]:
        if isinstance(entry, dict):
            try:
                found.append(Combination.of(entry))
            except InputError as e:
                raise s.error(f"forbid: {e}", "forbid") from None
        elif isinstance(entry, list) and len(entry) == 2 and all(isinstance(value, str) for value in entry):
            found.append((entry[0], entry[1]))
        else:
            raise s.error(
                'forbid is a list of pairs of values, [["from", "to"], ...], or of combinations: '
                '[{ age = "child", marital = "married" }, ...]',
                "forbid",
            )
    return tuple(found)


def _noise(s: Section) -> NoiseLaw:
    """The kind of noise, and the released range of each column that declares one."""
    kind = s.choice("noise", NOISE_LAWS)
    clip = s.take("clip", {})
    if not isinstance(clip, dict):
        raise s.error('clip is { column = ["low", "high"], ... }', "clip")
    try:
        return NoiseLaw(kind, clip)
    except InputError as e:
        raise s.error(str(e), "clip") from None


def _windows(s: Section, observe: Names, form: str | None) -> tuple[Names, ...]:
    """The windows as lists of columns, or along `observe` by their size and overlap; those of sums by their size."""
    if isinstance(s.values["windows"], dict):
        shape = s.section("windows")
        if form == "sums":
            size = shape.integer("size", least=2)
            shape.done(("size",))
            if size > len(observe):
                raise s.error(
                    f"sums of {size} columns need as many of them, and {len(observe)} are observed", "windows"
                )
            return sliding(observe, size)
        size = shape.integer("size", least=2)
        overlap = shape.integer("overlap", 1, least=0)
        shape.done(("size", "overlap"))
        try:
            return chain(observe, size, overlap)
        except InputError as e:
            raise s.error(str(e), "windows") from None
    lists = s.take("windows")
    if not isinstance(lists, list) or not lists or not all(isinstance(w, list) and w for w in lists):
        raise s.error("windows is a list of lists of columns, or { size = ..., overlap = ... }", "windows")
    return tuple(Section({"windows": w}, s.place, s.file, s.lines).names("windows") for w in lists)


def _each(s: Section) -> bool | dict[str, Fraction]:
    """A mechanism of its own for each column: `true`, the level in equal parts; or the level of each column."""
    if not isinstance(s.values["each"], dict):
        return bool(s.flag("each"))
    levels = s.section("each")
    return {name: levels.number(name) for name in list(levels.values)}


def _objective(s: Section) -> Objective:
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
        return MinimizeDistortion(_distortion(goal, limit=False))
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


def _distortion(s: Section, *, limit: bool, weighed: bool = False) -> Distortion:
    known = ("at_most",) if limit else ("weight",) if weighed else ()
    at_most = s.number("at_most") if limit else None
    if "sum" in s.values and not weighed:
        entries = s.take("sum")
        if not isinstance(entries, list) or not entries or not all(isinstance(entry, dict) for entry in entries):
            raise s.error("sum is a list of distortions, [{ distortion = ..., of = [...], weight = ... }, ...]", "sum")
        parts = [Section(dict(entry), (*s.place, "sum"), s.file, s.lines) for entry in entries]
        s.done(("sum", *known))
        return Distortion.sum_of([_distortion(part, limit=False, weighed=True) for part in parts], at_most)
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


def _at_least(s: Section) -> AtLeast:
    """So many bits that must be told about some columns."""
    least = AtLeast(s.names("information"), s.number("at_least_bits"))
    s.done(("information", "at_least_bits"))
    return least


def _keep_rows(sections: list[Section]) -> Fraction | None:
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


def _robust(s: Section) -> Mismatch:
    balls = [key for key in ("total_variation", "kl_bits", "confidence") if key in s.values]
    if len(balls) != 1:
        raise s.error("[robust] needs exactly one of total_variation, kl_bits and confidence")
    radius = s.number(balls[0])
    if balls == ["total_variation"] and radius > 1:
        raise s.error("a total variation is at most 1", balls[0])
    if balls == ["confidence"]:
        if not 0 < radius < 1:
            raise s.error("a confidence lies strictly between 0 and 1, for example 0.95", "confidence")
        rows = s.integer("rows", None)
        s.done(("confidence", "rows"))
        return Mismatch("confidence", radius, rows)
    s.done(("total_variation", "kl_bits"))
    return Mismatch(balls[0], radius)


def _side(s: Section) -> SideInformation:
    side = SideInformation(s.text("variable"), s.choice("encoder", ENCODERS, "uninformed"))
    s.done(("variable", "encoder"))
    return side
