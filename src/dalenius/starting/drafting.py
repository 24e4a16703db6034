"""`draft`: the groups, the mechanism and the problem file that fit a table and a wish."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import floor, log10, prod, sqrt

from dalenius.core import Guarantee, LocalDP
from dalenius.core.digits import many
from dalenius.core.pmf import RENAME
from dalenius.errors import InputError
from dalenius.mechanisms.columns.leakage.preflight import Size
from dalenius.mechanisms.declared import SECONDS
from dalenius.starting.choosing import LEAST_BITS, MOST_COMBINATIONS, formed, secret_groups
from dalenius.starting.columns import as_in, look_at, there, unlike
from dalenius.starting.grouping import Cells, Groups, merged, starting_groups
from dalenius.starting.ranges import written
from dalenius.starting.wishes import DENSE, EACH, RECORDS, Wish
from dalenius.starting.writing import disclosure_text, problem_text
from dalenius.tables import Table
from dalenius.tables.persons import persons
from dalenius.wording import joined

__all__ = ["Draft", "disclosure", "draft", "suggested_groups"]

START, READ = 2.0, 10e-6  # seconds: to begin, and to read, draw and write a row
RECORD = 4e-6  # seconds for a record to the power 3/2: all pairs of records are compared, a few times
SEARCHED, SEVERAL = 3e-3, 4e-3  # more seconds for a record: with a limit in bits, and with one on more than two answers
TWO_PROMISES = 0.02  # more seconds for a record where two promises are kept together
COLUMN = 0.05  # seconds for a value of a column by itself


@dataclass(frozen=True)
class Draft:
    """A problem file, and how it came about.

    Parameters
    ----------
    text : str
        The problem file.
    wish : Wish
        What was asked for.
    form : str
        "dense", "records" or "each".
    because : str
        Why this form was chosen, in one sentence.
    released, secrets, kept : tuple of Groups
        The columns with their groups.
    smallest : tuple of int
        Rows of the rarest combination before and after grouping.
    left_out : dict
        Columns that were wished for and left out, with the reason.
    rows : int
        Of the table; its persons, where one row goes out for each of them.
    max_rows : int
        The most rows of one person that go out, where the promise is about all of them.
    """

    text: str
    wish: Wish
    form: str
    because: str
    released: tuple[Groups, ...]
    secrets: tuple[Groups, ...]
    kept: tuple[Groups, ...]
    smallest: tuple[int, int]
    left_out: dict[str, str]
    rows: int
    max_rows: int = 1

    @property
    def promises(self) -> tuple[Guarantee, ...]:
        """What was asked for, about all rows of a person."""
        asked = self.wish.promises
        return tuple(replace(one, rows=self.max_rows) if isinstance(one, LocalDP) else one for one in asked)

    @property
    def combinations(self) -> int:
        """How many combinations the released columns have."""
        return prod(groups.size for groups in self.released)

    @property
    def size(self) -> str:
        """What the work grows with, in words: combinations of one recipe, or records that rows exchange."""
        if self.form == RECORDS:
            return many(len(Cells.of(self.released).rows), "different record")
        return many(self.combinations, "combination")

    @property
    def seconds(self) -> float:
        """About how long a release takes on one machine; right within a factor of three."""
        reading = START + self.rows * READ
        if self.form == DENSE:
            occurring = len(Cells.of(self.released).rows)
            secrets = prod(groups.size for groups in self.secrets)
            columns = {groups.look.name: groups.size for groups in self.released}
            size = Size(occurring, self.combinations, self.combinations, secrets, columns)
            return reading + size.search_seconds + size.proof_seconds
        if self.form == RECORDS:
            records = len(Cells.of(self.released).rows)
            return reading + min(SECONDS, RECORD * records * sqrt(records) + self._search * records)
        return reading + sum(groups.size for groups in self.released) * COLUMN

    @property
    def _search(self) -> float:
        """Seconds for each record where a limit is searched for, beside the comparison of all of them."""
        both = 0.0 if self.wish.times is None else TWO_PROMISES
        if self.wish.promise == "reveal":
            return SEARCHED + both
        answers = prod(groups.size for groups in self.secrets)
        return both + (SEVERAL if answers > 2 and self.wish.promise != "nothing" else 0.0)

    def _cells(self, view: Sequence[str]) -> Cells:
        return Cells.of([secret for secret in self.secrets if secret.look.name in view])

    def bits(self, view: Sequence[str]) -> float:
        """How many bits everything about some secrets together is."""
        return self._cells(view).bits

    def most_frequent(self, view: Sequence[str]) -> Fraction:
        """How often the best guess of some secrets together is right without any data."""
        return Fraction(int(self._cells(view).rows.max()), self.rows)

    @property
    def best_guess(self) -> Fraction:
        """How often the best guess is right without any data, of the secret that is guessed most easily."""
        return max(map(self.most_frequent, self.wish.protect))


def draft(table: Table, wish: Wish, *, path: str, left_out: dict[str, str] | None = None) -> Draft:
    """Choose groups and a mechanism for a wish, and write the problem file.

    Parameters
    ----------
    table : Table
        Opened.
    wish : Wish
        What to protect, release and promise.
    path : str
        The table as the problem file should name it.
    left_out : dict, optional
        Columns that look like identifiers, with the reason (`roles`); they are taken out of the release.

    Returns
    -------
    Draft

    Raises
    ------
    InputError
        If a column is not there, nothing is left to release, or no grouping makes the combinations large enough.
    """
    wish = _spelled(wish, table.names)
    there(table, [*wish.secrets, *wish.release, *wish.keep, *wish.cuts, *wish.named])
    by_hand = {*wish.cuts, *wish.named}
    refused = {n: why for n, why in (left_out or {}).items() if n in wish.release and n not in by_hand}
    release = tuple(name for name in wish.release if name not in refused)
    if not release:
        raise InputError(
            f"Nothing is left to release: {'; '.join(f'{n}: {why}' for n, why in refused.items())}.",
            do=wish.spoken.columns,
        )
    if "p" in (*wish.secrets, *release, *wish.keep):  # no problem is written that a release would refuse
        raise InputError('No column can be called "p": in the file formats that is a probability.', do=RENAME)
    used = [*wish.secrets, *release, *wish.keep]
    max_rows = _rows_of_one(table, wish, used)
    looks = look_at(table, used, wish.parts, person=wish.person if max_rows == 1 else None)
    secrets = [secret_groups(looks[name], wish) for name in wish.secrets]
    kept = [starting_groups(looks[name], wish) for name in wish.keep]
    first = [starting_groups(looks[name], wish) for name in release]
    before = Cells.of([*first, *secrets, *kept]).smallest()
    # Where one row goes out for each person, a promise about it is one about the person, and any form will do.
    form, because, groups = formed(
        replace(wish, form=EACH if max_rows > 1 else wish.form, person=None), first, secrets, kept
    )
    after = Cells.of([*groups, *secrets, *kept]).smallest()
    _keeps_its_promise(wish, [*kept], secrets)
    _promises_something(wish, secrets)
    text = problem_text(wish, form, because, groups, secrets, kept, path=path, dialect=table.dialect, max_rows=max_rows)
    rows = looks[release[0]].rows
    columns = tuple(groups), tuple(secrets), tuple(kept)
    found = Draft(text, wish, form, because, *columns, (before, after), refused, rows, max_rows)
    most = found.best_guess
    if wish.promise == "guess" and wish.level is not None and wish.level < most:
        raise InputError(
            f"Without any data {_in_a_thousand(most)} of 1,000 guesses are right, so nobody can promise "
            f"{_in_a_thousand(wish.level)}. Promise {float(most) * 100 + 0.05:.1f}% or more."
        )
    return found


def disclosure(
    table: Table, wish: Wish, *, observe: Sequence[str], useful: Sequence[str], path: str
) -> tuple[str, list[Groups], int]:
    """Groups and problem file of the other job: a new column that says much about a useful one and little secret.

    Parameters
    ----------
    table : Table
        Opened.
    wish : Wish
        What to protect and to promise; what it releases is the name of the new column.
    observe, useful : sequence of str
        The columns that decide the new one, and those that it should say much about.
    path : str
        The table as the problem file should name it.

    Returns
    -------
    text : str
        The problem file.
    groups : list of Groups
        Of every column that is used.
    smallest : int
        Rows of the rarest combination.

    Raises
    ------
    InputError
        If a column is not there, or cannot be grouped as it was said.
    """
    wish = _spelled(wish, table.names)
    observe, useful = ([as_in(table.names, name) for name in names] for names in (observe, useful))
    used = list(dict.fromkeys([*observe, *useful, *wish.secrets]))
    there(table, [*used, *wish.cuts, *wish.named])
    if differ := _differing(table, wish, used)[1]:
        raise InputError(
            f"One person has several rows, which differ in {joined(differ)}.",
            do=f"{wish.spoken.no_person}: the promise is then about one row, and the statement says so.",
        )
    looks = look_at(table, used, wish.parts, person=wish.person)
    secrets = {name: secret_groups(looks[name], wish) for name in wish.secrets}
    first = [starting_groups(looks[name], wish) for name in used if name not in secrets]
    by_hand = {*wish.ranges, *wish.named}
    groups, cells, _ = merged(first, [*secrets.values()], least=wish.min_rows, most=MOST_COMBINATIONS, by_hand=by_hand)
    found = secrets | {group.look.name: group for group in groups}
    columns = [found[name] for name in used]
    text = disclosure_text(wish, columns, observe, useful, path=path, dialect=table.dialect)
    return text, columns, cells.smallest()


def suggested_groups(table: Table, names: Sequence[str]) -> dict[str, Groups]:
    """The groups that `init` would begin with, for single columns.

    Parameters
    ----------
    table : Table
        Opened.
    names : sequence of str
        Columns of it.

    Returns
    -------
    dict of str to Groups

    Examples
    --------
    >>> import pyarrow as pa
    >>> from dalenius.tables import open_table
    >>> suggested_groups(open_table(pa.table({"visits": [0] * 50 + [*range(40)]})), ["visits"])["visits"].labels
    ('none', '1-14', '15-29', '30 or more')
    """
    looks = look_at(table, names)
    return {name: starting_groups(looks[name], Wish(((name,),), ("",), "nothing")) for name in names}


def _rows_of_one(table: Table, wish: Wish, used: Sequence[str]) -> int:
    """How many rows of one person go out at most: one, where rows of a person agree in the columns that are used."""
    most, differ = _differing(table, wish, used)
    if not differ:
        return 1
    if wish.promise != "deny" or wish.times is not None:
        raise InputError(
            f"One person has up to {most} rows, which differ in {joined(differ)}. "
            f"Only {wish.spoken.deny} can be promised for all of them together.",
            do=f"{wish.spoken.no_person}: the promise is then about one row, and the statement says so.",
        )
    if wish.form not in (None, EACH):
        raise InputError(
            f"One person has up to {most} rows, which differ in {joined(differ)}. So each column gets its own recipe.",
            do=f"{wish.spoken.no_form.capitalize()}.",
        )
    return most


def _differing(table: Table, wish: Wish, used: Sequence[str]) -> tuple[int, tuple[str, ...]]:
    """The most rows of one person, and the columns in which these differ."""
    most = persons(table, wish.person)[1] if wish.person else 1
    return most, unlike(table, used, wish.person) if wish.person and most > 1 else ()


def _spelled(wish: Wish, names: Sequence[str]) -> Wish:
    """The wish with its columns as the table writes them, where only capitals differ."""

    def spelled(given: Sequence[str]) -> tuple[str, ...]:
        return tuple(as_in(names, name) for name in given)

    return replace(
        wish,
        protect=tuple(map(spelled, wish.protect)),
        release=spelled(wish.release),
        keep=spelled(wish.keep),
        person=wish.person and as_in(names, wish.person),
        cuts={as_in(names, name): cuts for name, cuts in wish.cuts.items()},
        named={as_in(names, name): groups for name, groups in wish.named.items()},
    )


def _promises_something(wish: Wish, secrets: Sequence[Groups]) -> None:
    """Refuse a limit of bits that a table keeps whatever it releases."""
    if wish.promise != "reveal" or wish.level is None:
        return
    for view in wish.protect:
        there_are = Cells.of([groups for groups in secrets if groups.look.name in view]).bits
        if there_are < LEAST_BITS:
            names = ", ".join(view)
            raise InputError(
                f"{names} has the same value in every row: there is nothing to protect. Name another column."
            )
        if float(wish.level) >= there_are:
            small = written(float(f"{there_are / 100:.1g}"))
            raise InputError(
                f"Everything about {', '.join(view)} is {there_are:.3g} bits: "
                f"{float(wish.level):.3g} bits promise nothing.",
                do=f"Promise a small part of it, such as {wish.spoken.promise('reveal', small)}.",
            )


def _keeps_its_promise(wish: Wish, kept: Sequence[Groups], secrets: Sequence[Groups]) -> None:
    """Refuse a limit that the columns break which go out as they are, before a search would find it."""
    if not kept or wish.promise not in ("reveal", "nothing"):
        return
    for view in wish.protect:
        secret = [groups for groups in secrets if groups.look.name in view]
        told = Cells.of(secret).bits + Cells.of(kept).bits - Cells.of([*secret, *kept]).bits
        if told > float(wish.level or 0) + LEAST_BITS:
            names = ", ".join(g.look.name for g in kept)
            about = ", ".join(view)
            raise InputError(
                f"{names} alone, released as it is, reveals {told:.3g} bits about {about}, more than you promise. "
                f"{wish.spoken.changed.format('it')}, or promise {wish.spoken.promise('reveal', _rounded_up(told))}."
            )


def _rounded_up(bits: float) -> str:
    """Bits with two digits, never fewer than these: a little is left for the other columns."""
    step = 10.0 ** (floor(log10(bits)) - 1)
    return f"{(floor(bits / step) + 2) * step:.2g}"


def _in_a_thousand(share: Fraction) -> str:
    return f"{round(share * 1000):,}"
