"""Words to put into a problem file for the columns of a table, as TOML that can be read back."""

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from dalenius.core.source import Dialect
from dalenius.tables.coding import DATE, OTHER_DATE, THOUSANDS, USUAL_GAPS, is_number, numeric_order

__all__ = [
    "Seen",
    "gap_words",
    "has_decimal_commas",
    "has_other_dates",
    "has_thousands",
    "is_measured",
    "key_of",
    "names_of",
    "spellings",
    "suggested",
    "text_of",
]

FEW = 40  # letters that are listed one by one
CELLS = 5  # groups of a column of many numbers
MISSING_WORDS = (*USUAL_GAPS, ".")
MISSING_AMONG_NUMBERS = ("na", "n.a.", "None", "none", "-", "missing")  # elsewhere a value: no insurance, a blood group
BARE = re.compile(r"[A-Za-z0-9_-]+")
DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")


@dataclass(frozen=True)
class Seen:
    """What was seen of a column: how often each text occurs, if all were followed, and how many are missing."""

    counts: Mapping[str, int]
    missing: int
    followed: bool
    identifier: bool


def suggested(table: str, columns: Mapping[str, Seen], dialect: Dialect | None = None) -> str:
    """A section [source] and one for each column, identifiers left out.

    Parameters
    ----------
    table : str
        The name of the table.
    columns : mapping of str to Seen
        In the order of the table.
    dialect : Dialect, optional
        How the table was read.

    Returns
    -------
    str

    Examples
    --------
    >>> print(suggested("t.csv", {"first name": Seen({"a": 3, "NA": 1}, 0, True, False)}))
    [source]
    table = "t.csv"
    missing_words = ["NA"]
    <BLANKLINE>
    [columns."first name"]
    values = ["a"]
    missing = "category"
    """
    absent = gap_words(columns.values())
    source = dialect or Dialect()
    comma = source.decimal == "," or any(_with_comma(seen, absent) for seen in columns.values())
    source = replace(source, decimal="," if comma else ".", missing_words=tuple(absent))
    lines = ["[source]", f"table = {text_of(table)}"]
    lines += [f"{key} = {_value(value)}" for key, value in source.to_json().items()]
    for name, seen in columns.items():
        if not seen.counts:
            lines += ["", f"# {text_of(name)} has no value in any row; it is left out"]
            continue
        if seen.identifier:
            lines += ["", f"# {text_of(name)} looks like an identifier; it is left out, or serves as unit in [source]"]
            continue
        lines += ["", f"[columns.{key_of(name)}]", *_declared(seen, absent, comma)]
        if seen.missing or any(word in seen.counts for word in absent):
            lines.append('missing = "category"')
    return "\n".join(lines)


def gap_words(columns: Collection[Seen]) -> list[str]:
    """Words that stand for a missing value wherever they occur in these columns.

    >>> gap_words([Seen({"a": 3, "NA": 1}, 0, True, False), Seen({"none": 2, "b": 1}, 0, True, False)])
    ['NA']
    """
    return [word for word in (*MISSING_WORDS, *MISSING_AMONG_NUMBERS) if _is_missing(word, columns)]


def _declared(seen: Seen, absent: list[str], comma: bool) -> list[str]:
    texts = [text for text in seen.counts if text not in absent]
    if texts and all(map(DATE.fullmatch, texts)):
        several = len({text[:4] for text in texts}) > 1
        return ['dates = "year"  # or "month"' if several else 'dates = "month"', 'values = "from-table"']
    if has_other_dates(texts):
        return ['values = "from-table"  # dates: written as 2026-03-17, they can be cut by year or month']
    thousands = "  # not numbers: write them without signs between the thousands" if has_thousands(texts) else ""
    if comma:
        texts = [text.replace(",", ".") if DECIMAL_COMMA.fullmatch(text) else text for text in texts]
    if seen.followed and len(texts) <= FEW and texts:
        return [f"values = {names_of(numeric_order(texts))}{thousands}"]
    if texts and all(map(is_number, texts)) and _spread(seen.counts, texts):
        return [f"quantiles = {CELLS}"]
    if thousands:
        return [f'values = "from-table"{thousands}']
    return ['values = "from-table"  # many: group them, with groups = { "name" = ["value", "value"] }']


def _is_missing(word: str, columns: Iterable[Seen]) -> bool:
    """Whether a word that occurs stands for a missing value wherever it occurs."""
    holding = [seen.counts for seen in columns if word in seen.counts]
    if word in MISSING_WORDS or not holding:
        return bool(holding)
    others = [
        [count for count in counts if count not in MISSING_AMONG_NUMBERS and count not in MISSING_WORDS]
        for counts in holding
    ]
    return all(texts and all(map(_is_quantity, texts)) for texts in others)


def spellings(counts: Mapping[str, int]) -> list[list[str]]:
    """Texts that differ only in capitals and blanks: several of them at a time, the most frequent first.

    Parameters
    ----------
    counts : mapping of str to int
        How often each text occurs.

    Returns
    -------
    list of list of str

    Examples
    --------
    >>> spellings({"yes": 1, "no": 5, "Yes ": 4, "not so": 1})
    [['Yes ', 'yes']]
    """
    alike: dict[str, list[str]] = {}
    for text in sorted(counts, key=lambda text: (-counts[text], text)):
        alike.setdefault(" ".join(text.split()).casefold(), []).append(text)
    return [texts for texts in alike.values() if len(texts) > 1]


def is_measured(texts: Collection[str]) -> bool:
    """Whether these are quantities with decimals, or dates: however many they are, they name nobody.

    >>> is_measured(["1.5", "2"]), is_measured(["2026-03-17"]), is_measured(["17.3.2026"]), is_measured(["1", "2"])
    (True, True, True, False)
    """
    return all(map(_is_quantity, texts)) and any(re.search(r"[.,/]|.-", text) for text in texts)


def _is_quantity(text: str) -> bool:
    return is_number(text) or any(kind.fullmatch(text) for kind in (DATE, OTHER_DATE, DECIMAL_COMMA, THOUSANDS))


def has_other_dates(texts: Collection[str]) -> bool:
    """Whether these are dates that are not written as 2026-03-17, and nothing else.

    >>> has_other_dates(["17.3.2026"]), has_other_dates(["3/17/26"]), has_other_dates(["2026-03-17"])
    (True, True, False)
    """
    return bool(texts) and all(map(OTHER_DATE.fullmatch, texts))


def _spread(counts: Mapping[str, int], numbers: list[str]) -> bool:
    """Whether quantiles part the numbers: not if the largest one takes nearly all rows."""
    rows = [counts.get(text, 0) for text in numeric_order(numbers)]
    return rows[-1] * CELLS <= sum(rows) * (CELLS - 1)


def _with_comma(seen: Seen, absent: list[str]) -> bool:
    return has_decimal_commas([text for text in seen.counts if text not in absent])


def has_decimal_commas(texts: Collection[str]) -> bool:
    """Whether these are numbers, some of them with a decimal comma, and nothing else.

    >>> has_decimal_commas(["21,5", "20"]), has_decimal_commas(["1,234"]), has_decimal_commas(["21,5", "x"])
    (True, False, False)
    """
    # "1,234" alone may be a thousand and more: some number must have another count of digits after its comma.
    some = any(DECIMAL_COMMA.fullmatch(text) and not THOUSANDS.fullmatch(text) for text in texts)
    return some and all(is_number(text) or DECIMAL_COMMA.fullmatch(text) for text in texts)


def has_thousands(texts: Collection[str]) -> bool:
    """Whether these are numbers, some of them with signs between their thousands, and nothing else.

    >>> has_thousands(["1.000.000", "999"]), has_thousands(["1,234.50"]), has_thousands(["1234"])
    (True, True, False)
    >>> has_thousands(["1.234,50", "900,10"]), has_thousands(["1,234", "2,5"])  # the latter has a decimal comma
    (True, False)
    """
    others = [text for text in texts if not is_number(text)]
    signs = [text for text in others if THOUSANDS.fullmatch(text)]
    if any(not DECIMAL_COMMA.fullmatch(text) for text in signs):
        return all(THOUSANDS.fullmatch(text) or DECIMAL_COMMA.fullmatch(text) for text in others)
    return bool(signs) and len(signs) == len(others)


def _value(value: str | list[str]) -> str:
    return text_of(value) if isinstance(value, str) else names_of(value)


def names_of(names: Sequence[str]) -> str:
    """A list of names as TOML writes it."""
    return "[" + ", ".join(map(text_of, names)) + "]"


def key_of(name: str) -> str:
    """A name as the key of a TOML section, quoted only where it must be.

    >>> key_of("age"), key_of("age (years)")
    ('age', '"age (years)"')
    """
    return name if BARE.fullmatch(name) else text_of(name)


def text_of(text: str) -> str:
    r"""A text as TOML writes it: as JSON does, but for the one sign that TOML refuses and JSON does not.

    >>> print(text_of('say "a"'))
    "say \"a\""
    """
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
