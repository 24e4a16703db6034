"""`Wish`: what somebody says about a release, and how each promise is written in a problem file."""

import csv
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import ROUND_FLOOR, Decimal, localcontext
from fractions import Fraction

from dalenius.core import Guarantee, Guess, Independent, InformationPrivacy, Leakage, LocalDP
from dalenius.core.numbers import down, exact
from dalenius.errors import InputError
from dalenius.starting.spoken import COMMAND, Spoken
from dalenius.tables.suggesting import names_of, text_of

__all__ = [
    "DENSE",
    "EACH",
    "FLAGS",
    "PARTS",
    "PROMISES",
    "RECORDS",
    "Wish",
    "flags_of",
    "joined_names",
    "level_of",
    "logarithm",
    "names_in",
]

PROMISES = {
    "guess": "an attacker guesses the secret right at most so often",
    "reveal": "a row reveals at most so many bits about the secret, on average",
    "nothing": "a row reveals nothing about the secret",
    "deny": "every person can deny: no entry is more than so many times likelier for one than another",
    "times": "no answer about the secret gets more than so many times as likely, for any row",
}
"""The promises that a release can begin with, each in one sentence."""

FLAGS = {
    "guess": "--guess-at-most",
    "reveal": "--reveal",
    "nothing": "--nothing",
    "deny": "--deny",
    "times": "--times-at-most",
}
"""The flag of each promise."""

DENSE, RECORDS, EACH = "dense", "records", "each"
"""One recipe for all columns, an exchange of whole records, a recipe for each column."""

PARTS = ("year", "month")
"""What a column of dates can be cut by."""

GROUPS = 5
MIN_ROWS = 10
DIGITS = (
    7  # decimals of a level: the factor that the statement shows for a logarithm is then the one that was asked for
)


@dataclass(frozen=True)
class Wish:
    """What to protect, what to release, and what to promise.

    Parameters
    ----------
    protect : tuple of tuple of str
        Secrets: each is one column, or several that are protected together.
    release : tuple of str
        Columns to release with as little change as possible.
    promise : str
        A key of `PROMISES`.
    level : Fraction, optional
        Bits, a share of right guesses, or a factor, by the promise; none for "nothing".
    times : Fraction, optional
        Beside another promise: no answer becomes more than so many times as likely, nor less likely by that factor.
    keep : tuple of str
        Columns that are released as they are.
    person : str, optional
        The column that names the person, where one person has several rows.
    keep_rows : Fraction
        The share of its rows that every value keeps on average; with 1 every combination does.
    form : str, optional
        "dense", "records" or "each"; chosen by the size of the table unless said.
    groups : int
        The most groups that numbers are put into at first; 0 leaves every value as it is.
    min_rows : int
        A combination with fewer rows is small.
    cuts : dict
        For a column, the numbers at which its groups begin, as texts; for one of dates also "year" or "month" alone.
    named : dict
        For a column, its groups by name: a list of values each.
    title, owner : str, optional
        What the release is called and whose table it is, for the statements.
    spoken : Spoken
        What this is called where it was said, for whoever is refused.

    Raises
    ------
    InputError
        If the wishes contradict each other.
    """

    protect: tuple[tuple[str, ...], ...]
    release: tuple[str, ...]
    promise: str
    level: Fraction | None = None
    times: Fraction | None = None
    keep: tuple[str, ...] = ()
    person: str | None = None
    keep_rows: Fraction = Fraction(1)
    form: str | None = None
    groups: int = GROUPS
    min_rows: int = MIN_ROWS
    cuts: dict[str, tuple[str, ...]] = field(default_factory=dict)
    named: dict[str, dict[str, tuple[str, ...]]] = field(default_factory=dict)
    title: str | None = None
    owner: str | None = None
    spoken: Spoken = COMMAND

    def __post_init__(self) -> None:
        if not self.protect or not self.release:
            raise InputError("Name the column that must stay secret and the columns to release.")
        if both := [n for n in (*self.release, *self.keep) if n in self.secrets]:
            raise InputError(f'"{both[0]}" cannot be protected and released. Leave it out of one of the two.')
        if both := [n for n in self.keep if n in self.release]:
            raise InputError(f'"{both[0]}" is released as it is and released with changes. Leave it out of one.')
        if not 0 <= self.keep_rows <= 1:
            raise InputError(
                "The share of rows that a value keeps is a number from 0 to 1, such as 3/4.", do="Write such a number."
            )

    @property
    def secrets(self) -> tuple[str, ...]:
        """All columns that a promise is about, each once."""
        return tuple(dict.fromkeys(name for view in self.protect for name in view))

    @property
    def parts(self) -> dict[str, str]:
        """For a column of dates, what they are cut by."""
        return {name: cut[0] for name, cut in self.cuts.items() if len(cut) == 1 and cut[0] in PARTS}

    @property
    def ranges(self) -> dict[str, tuple[str, ...]]:
        """For a column, the numbers at which its groups begin."""
        return {name: cut for name, cut in self.cuts.items() if name not in self.parts}

    @property
    def promises(self) -> tuple[Guarantee, ...]:
        """What the problem file promises, in its order."""
        level = Fraction(0) if self.level is None else self.level
        times = self.level if self.promise == "times" else self.times
        found: list[Guarantee] = []
        if self.promise == "deny":
            found.append(LocalDP(logarithm(level), given=self.keep))
        for view in self.protect:
            if self.promise == "nothing":
                found.append(Independent(view))
            elif self.promise == "reveal":
                found.append(Leakage(view, level))
            elif self.promise == "guess":
                found.append(Guess(view, at_most=level))
            if times is not None:
                found.append(InformationPrivacy(view, logarithm(times)))
        return tuple(found)

    def guarantees(self) -> list[list[str]]:
        """The lines of each [[guarantee]] of the problem file."""
        return [[_line(key, value) for key, value in promise.to_json().items()] for promise in self.promises]


def flags_of(wish: Wish, table: str) -> list[str]:
    """What follows `dalenius init` on a command line to write the file of this wish.

    Parameters
    ----------
    wish : Wish
        What was asked for.
    table : str
        The table as the command should name it.

    Returns
    -------
    list of str
        Arguments, not quoted for a shell; what is the default is left out.

    Examples
    --------
    >>> flags_of(Wish((("income",),), ("age", "sex"), "reveal", Fraction(1, 100)), "adult.csv")
    ['adult.csv', '--protect', 'income', '--release', 'age,sex', '--reveal', '0.01']
    """
    flags = [table]
    for view in wish.protect:
        flags += ["--protect", joined_names(view)]
    flags += ["--release", joined_names(wish.release)]
    flags += [FLAGS[wish.promise], *([] if wish.level is None else [_short(wish.level)])]
    optional = {
        "--times-at-most": None if wish.times is None else _short(wish.times),
        "--keep": joined_names(wish.keep) or None,
        "--person": wish.person,
        "--keep-rows": None if wish.keep_rows == 1 else wish.keep_rows,
        "--form": wish.form,
        "--groups": None if wish.groups in (0, GROUPS) else wish.groups,
        "--min-rows": None if wish.min_rows == MIN_ROWS else wish.min_rows,
        "--title": wish.title,
        "--owner": wish.owner,
    }
    for name, value in optional.items():
        flags += [] if value is None else [name, str(value)]
    flags += ["--no-groups"] if wish.groups == 0 else []
    for column, cuts in wish.cuts.items():
        flags += ["--cut", f"{column}={','.join(cuts)}"]
    for column, members in wish.named.items():
        flags += ["--group", f"{column}={json.dumps(members, ensure_ascii=False)}"]
    return flags


def _line(key: str, value: str | list[str]) -> str:
    """A line of a [[guarantee]]: names, or a level."""
    if isinstance(value, str):
        return f"{key} = {text_of(_short(exact(value)))}"
    said = f"{key} = {names_of(value)}"
    # Only what a level is given needs a word: the other names are those of the secret.
    return said.ljust(34) + "# between persons who agree in what goes out as it is" if key == "given" else said


def _short(level: Fraction) -> str:
    """A level as people write it: in decimals where few of them are exact.

    >>> _short(Fraction(1, 100)), _short(Fraction(1, 3)), _short(Fraction(2))
    ('0.01', '1/3', '2')
    """
    decimals = down(level, DIGITS)
    return decimals if exact(decimals) == level else str(level)


def names_in(text: str) -> tuple[str, ...]:
    """Names that are separated by commas, each once; one with a comma of its own stands in quotes.

    >>> names_in('age, "city, state",age')
    ('age', 'city, state')
    """
    found = next(csv.reader([text], skipinitialspace=True), [])
    return tuple(dict.fromkeys(name.strip() for name in found if name.strip()))


def joined_names(names: Sequence[str]) -> str:
    """Names as `names_in` reads them.

    >>> joined_names(["age", "city, state"])
    'age,"city, state"'
    """
    doubled = [name.replace('"', '""') for name in names]
    must = ["," in name or name.startswith('"') for name in names]
    return ",".join(f'"{d}"' if m else name for name, d, m in zip(names, doubled, must, strict=True))


def logarithm(factor: Fraction) -> Fraction:
    """ln of a factor, never above it: a promise of less keeps the promise of the factor.

    >>> float(logarithm(Fraction(2)))
    0.6931471
    """
    with localcontext() as context:
        context.prec = 40
        value = (Decimal(factor.numerator) / Decimal(factor.denominator)).ln()
        return Fraction(value.quantize(Decimal(1).scaleb(-DIGITS), ROUND_FLOOR))


def level_of(promise: str, said: object) -> Fraction | None:
    """The level of a promise as somebody says it: 0.01, "1/100", "80%", "80 %" or 2.

    Parameters
    ----------
    promise : str
        A key of `PROMISES`.
    said : object
        A number, or a text with one.

    Returns
    -------
    Fraction or None
        None for "nothing".

    Raises
    ------
    InputError
        If it is no number, or no level of this promise.

    Examples
    --------
    >>> level_of("guess", "80 %")
    Fraction(4, 5)
    """
    if promise == "nothing":
        return None
    text = str(said).replace(" ", "").replace("\u202f", "").replace("\u00a0", "")
    percent = text.endswith("%")
    try:
        level = exact(text.removesuffix("%"), promise) / (100 if percent else 1)
    except InputError:
        raise InputError(f'"{said}" is not a number. Write it as 0.01, 1/100 or 80%.') from None
    if promise == "guess" and not 0 < level <= 1:
        raise InputError(f"An attacker can be right at most 100 % of the time, not {said}. Write it as 80% or 0.8.")
    if promise in ("deny", "times") and level < 1:
        raise InputError(
            f"A factor is 1 or more, and {said} is less. With 2 an entry is at most twice as likely.",
            do="Write a number of at least 1.",
        )
    if promise == "reveal" and level < 0:
        raise InputError(
            f"Bits are 0 (reveals nothing) or more, not {said}.", do="Write a number of bits, such as 0.01."
        )
    return level
