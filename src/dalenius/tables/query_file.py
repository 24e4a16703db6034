"""`query.toml`: a query and its noise, read as strictly as a problem file; every error names its line."""

from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from dalenius.core.channel import Channel
from dalenius.core.numbers import exact
from dalenius.core.problem_file import read_toml
from dalenius.core.query import KINDS, NOISES, Interval, Query, Value, label
from dalenius.core.section import Section, key_lines
from dalenius.errors import InputError
from dalenius.tables.documents import read_channel, read_json, read_text

__all__ = ["QueryFile", "noise_table", "query_from_json", "read_query"]

RECORDS = 1 << 21  # with letters that are listed; records of an interval may be any number
KEYS = ("records", "letters", "query", "letter", "noise", "parameter")


class QueryFile(Section):
    """The query file itself, a table without a name."""

    @property
    def title(self) -> str:
        names = [p for p in self.place if isinstance(p, str)]
        return f"[{'.'.join(names)}]" if names else "the query file"

    @classmethod
    def opened(cls, path: Path) -> "QueryFile":
        """A file of its own."""
        text = read_text(path, "query file")
        return cls(read_toml(text, path.name), (), path, key_lines(text))

    def interval(self, ends: dict[str, Any]) -> Interval:
        """The ends of numbers, as `letters` says them."""
        section = QueryFile(dict(ends), ("letters",), self.file, self.lines)
        low = section.number("low", least=None)
        high = section.number("high", least=None)
        section.done(("low", "high"))
        try:
            return Interval(low, high)
        except InputError as e:
            raise self.error(str(e), "letters") from None


def read_query(path: str | Path, *, parameter: Fraction | None = None) -> Query:
    """A query from a TOML file; the files that it names are looked for beside it.

    `parameter` stands in for one that the file leaves out, as a file to be calibrated may.
    """
    path = Path(path)
    top = QueryFile.opened(path)
    records = top.integer("records")
    letters = _letters(top, records)
    kind, table = _chosen(top, "query", KINDS)
    noise, kernel = _chosen(top, "noise", tuple(n for n in NOISES if n != "table"))
    letter = top.text("letter", None)
    given = top.number("parameter", None, least=None)
    top.done(KEYS)
    try:
        query = Query(
            records,
            letters,
            kind,
            noise,
            None if noise == "table" and given is None else parameter if given is None else given,
            letter,
            _values(path.parent / table) if table else None,
            _kernel(path.parent / kernel) if kernel else None,
        )
    except InputError as e:
        raise top.error(str(e), *_culprit(str(e))) from None
    return query if query.kernel is None else _fitted(query, path.parent / str(kernel))


def _culprit(message: str) -> tuple[str, ...]:
    """The key that a refusal of `Query` is about, for its line."""
    for word, key in (("parameter", "parameter"), ("rate", "parameter"), ("letter", "letters"), ("noise", "noise")):
        if word in message:
            return (key,)
    return ("query",)


def _letters(top: QueryFile, records: int) -> tuple[tuple[str, ...], ...] | Interval:
    value = top.take("letters")
    if isinstance(value, dict):
        return top.interval(value)
    if not isinstance(value, list) or not value:
        raise top.error("values is a list of values, a list of such lists, or { low = ..., high = ... }", "letters")
    if all(isinstance(a, list) for a in value):
        if len(value) != records:
            raise top.error(f"values has {len(value)} lists for {records} records", "letters")
        return tuple(_alphabet(top, a) for a in value)
    if records > RECORDS:
        raise top.error(f"more than {RECORDS:,} records with a list of values have too many values", "records")
    return (_alphabet(top, value),) * records


def _alphabet(top: Section, letters: list[Any]) -> tuple[str, ...]:
    if not all(isinstance(letter, str | int | Decimal) and not isinstance(letter, bool) for letter in letters):
        raise top.error("a value is a string or a number", "letters")
    words = tuple(str(letter) for letter in letters)
    if not words or len(set(words)) != len(words):
        raise top.error("values lists a value twice, or none", "letters")
    return words


def _chosen(top: Section, key: str, choices: tuple[str, ...]) -> tuple[str, str | None]:
    """One of the named kinds, or { table = "file" }."""
    if isinstance(top.values.get(key), dict):
        named = QueryFile(dict(top.take(key)), (key,), top.file, top.lines)
        file = named.text("table")
        named.done(("table",))
        return "table", file
    return top.choice(key, choices), None


def _values(path: Path) -> tuple[Value, ...]:
    """`{"values": [...]}`: a number, label or list of numbers for each outcome of the records, last record fastest."""
    document = read_json(path, "table of f")
    if not isinstance(document, dict) or set(document) != {"values"} or not isinstance(document["values"], list):
        raise InputError(
            f'{path.name}: a table of f is {{"values": [...]}}, one for each outcome, last record fastest',
            do="Write one value for each outcome.",
        )
    return tuple(_value(value, path.name) for value in document["values"])


def _value(v: Any, where: str) -> Value:
    if isinstance(v, list) and v:
        return tuple(exact(c, f"{where}: a coordinate of f") for c in v)
    if isinstance(v, bool | list | dict) or v is None:
        raise InputError(f"{where}: {v!r} is neither a number, a label nor a list of numbers", do="Write one of these.")
    try:
        return (exact(v),)
    except InputError:
        return str(v)


def noise_table(path: Path) -> Channel:
    """A table of noise: a channel from the value of f to what is released."""
    channel = read_channel(path, "table of noise")
    if len(channel.inputs) != 1 or len(channel.output) != 1:
        raise InputError(
            f"{path.name}: a table of noise has one input, the value of f, and one output", do="Give such a table."
        )
    return channel


def _kernel(path: Path) -> tuple[tuple[str, ...], tuple[tuple[Fraction, ...], ...]]:
    channel = noise_table(path)
    ((letters),) = channel.output.values()
    return tuple(letters), channel.rows


def _fitted(query: Query, path: Path) -> Query:
    """The rows of a table of noise in the order of the values of f."""
    channel: Channel = read_channel(path, "table of noise")
    ((names),) = channel.inputs.values()
    here = [label(value) for value in query.values]
    if set(names) != set(here):
        odd = sorted(set(names) ^ set(here))[0]
        raise InputError(
            f"{path.name}: its input and the values of f differ in {odd!r}", do="Make both lists of values equal."
        )
    rows = tuple(channel.rows[list(names).index(value)] for value in here)
    ((letters),) = channel.output.values()
    return Query(
        query.records, query.letters, query.kind, "table", None, query.letter, query.table, (tuple(letters), rows)
    )


def query_from_json(document: Any, where: str) -> Query:
    """A query as `Query.to_json` writes it, in the result of an audit or a calibration."""
    needed = {"records", "letters", "query", "noise"}
    if not isinstance(document, dict) or not needed <= set(document) <= set(KEYS):
        raise InputError(
            f"{where}: a query has the keys {', '.join(KEYS)} and no others, the first three and noise always",
            do="Correct the keys of the query file.",
        )
    records, letters = document["records"], document["letters"]
    kind, noise = document["query"], document["noise"]
    if isinstance(records, bool) or not isinstance(records, int) or records < 1:
        raise InputError(
            f"{where}: records is {records!r}, not a number of records", do="Write a whole number from 1 on."
        )
    table = kernel = None
    if isinstance(kind, dict) and set(kind) == {"values"} and isinstance(kind["values"], list):
        values: list[Any] = kind["values"]
        kind, table = "table", tuple(_value(value, where) for value in values)
    if isinstance(noise, dict) and set(noise) == {"letters", "rows"}:
        rows = _lists(noise["rows"], f"{where}: the rows of the noise")
        kernel = tuple(_words(noise["letters"], where)), tuple(tuple(exact(entry) for entry in row) for row in rows)
        channel = Channel({"f": tuple(str(k) for k in range(len(rows)))}, {"Y": kernel[0]}, kernel[1])
        noise, kernel = "table", (channel.output["Y"], channel.rows)
    if not isinstance(kind, str) or not isinstance(noise, str):
        raise InputError(
            f"{where}: query and noise are named, or given by values and rows", do="Write one of the two ways."
        )
    parameter = document.get("parameter")
    letter = document.get("letter")
    return Query(
        records,
        _letters_from_json(letters, records, where),
        kind,
        noise,
        None if parameter is None else exact(parameter, f"{where}: parameter"),
        None if letter is None else str(letter),
        table,
        kernel,
    )


def _letters_from_json(letters: Any, records: int, where: str) -> tuple[tuple[str, ...], ...] | Interval:
    if isinstance(letters, dict) and set(letters) == {"low", "high"}:
        return Interval(exact(letters["low"], f"{where}: low"), exact(letters["high"], f"{where}: high"))
    if records > RECORDS:
        raise InputError(
            f"{where}: more than {RECORDS:,} records with a list of values have too many values",
            do="Ask about fewer records, or name a query such as count.",
        )
    if isinstance(letters, list) and letters and all(isinstance(letter, list) for letter in letters):
        return tuple(_words(letter, where) for letter in letters)
    return (_words(letters, where),) * records


def _words(letters: Any, where: str) -> tuple[str, ...]:
    if not isinstance(letters, list) or not letters or not all(isinstance(letter, str) for letter in letters):
        raise InputError(
            f"{where}: values are a list of strings, or one such list for each record",
            do="Write the values as texts, in quotes.",
        )
    return tuple(letters)


def _lists(rows: Any, what: str) -> list[list[Any]]:
    if not isinstance(rows, list) or not rows or not all(isinstance(row, list) for row in rows):
        raise InputError(f"{what} are a list of lists", do="Write a list of rows, each a list.")
    return rows
