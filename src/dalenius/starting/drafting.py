"""`draft`: the groups, the mechanism and the problem file that fit a table and a wish."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import floor, log10, prod, sqrt

from dalenius.core import Guarantee, LocalDP
from dalenius.core.digits import many
from dalenius.core.pmf import RENAME
from dalenius.errors import InputError, SmallCombinations
from dalenius.mechanisms.columns.leakage.preflight import Size
from dalenius.mechanisms.declared import SECONDS
from dalenius.mechanisms.records.takes import MOST_CLASSES
from dalenius.starting.columns import Look, as_in, look_at, there, unlike
from dalenius.starting.grouping import Cells, Groups, merged, starting_groups
from dalenius.starting.ranges import written
from dalenius.starting.wishes import DENSE, EACH, RECORDS, Wish
from dalenius.starting.writing import disclosure_text, problem_text
from dalenius.tables import Table
from dalenius.tables.persons import persons
from dalenius.wording import joined

__all__ = ["Draft", "disclosure", "draft", "few_columns", "secret_groups", "suggested_groups"]

MOST_COMBINATIONS = 200
"""Combinations of the released columns for which one recipe is searched and proved within a minute."""

MOST_SAID = 10**9
"""Combinations that are told one by one; of more nobody reads the digits."""

EXCHANGED = "a row goes out as it is, or with all released entries of another row"
"""What `form = "records"` does, for those who never heard of it."""

MOST_DENIED = 64
"""The same for a promise that holds between any two combinations, which has many more conditions."""

HALF = 0.5
"""Grouping that loses more than this share of what the columns say is too coarse."""

START, READ = 2.0, 10e-6  # seconds: to begin, and to read, draw and write a row
RECORD = 4e-6  # seconds for a record to the power 3/2: all pairs of records are compared, a few times
SEARCHED, SEVERAL = 3e-3, 4e-3  # more seconds for a record: with a limit in bits, and with one on more than two answers
TWO_PROMISES = 0.02  # more seconds for a record where two promises are kept together
COLUMN = 0.05  # seconds for a value of a column by itself
MOST_SECRET = 4  # ranges of a secret number
MOST_RECORD = 10  # groups of a column of a wide table
LEAST_BITS = 1e-9  # less than this is the rounding of doubles
TRIES = 3  # columns that are looked at for each one that is chosen
RARE = 5  # times the least number of rows: a rarer answer of the secret is merged


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
            do="Name other columns after --release.",
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
    form, because, groups = _formed(
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
            do="Leave out --person: the promise is then about one row, and the statement says so.",
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
            f"One person has up to {most} rows, which differ in {joined(differ)}. Only --deny can be promised for all "
            "of them together. Leave out --person: the promise is then about one row, and the statement says so."
        )
    if wish.form not in (None, EACH):
        raise InputError(
            f"One person has up to {most} rows, which differ in {joined(differ)}. So each column gets its own recipe.",
            do="Leave out --form.",
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
            raise InputError(
                f"Everything about {', '.join(view)} is {there_are:.3g} bits: "
                f"{float(wish.level):.3g} bits promise nothing.",
                do=f"Promise a small part of it, such as --reveal {written(float(f'{there_are / 100:.1g}'))}.",
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
                f"{names} alone, released as it is, reveals {told:.3g} bits about {about}, more than you promise. Take "
                f"it out of --keep and into --release, or promise --reveal {_rounded_up(told)}."
            )


def _rounded_up(bits: float) -> str:
    """Bits with two digits, never fewer than these: a little is left for the other columns."""
    step = 10.0 ** (floor(log10(bits)) - 1)
    return f"{(floor(bits / step) + 2) * step:.2g}"


def _in_a_thousand(share: Fraction) -> str:
    return f"{round(share * 1000):,}"


def secret_groups(look: Look, wish: Wish) -> Groups:
    """The groups of a secret: its values; numbers in ranges, and answers that hardly anybody gave put together."""
    # Groups that somebody named, and values that are to stay as they are, are what the promise is about.
    if not wish.groups or look.name in wish.ranges or look.name in wish.named:
        return starting_groups(look, wish)
    if look.is_numeric:
        return starting_groups(look, replace(wish, groups=min(wish.groups, MOST_SECRET)))
    groups = starting_groups(look, wish)
    while not groups.cuts and len(groups.labels) > 2 and groups.counts.min() < RARE * wish.min_rows:
        groups = groups.joined(*groups.merges()[0])
    return groups


def few_columns(looks: Mapping[str, Look], wish: Wish, *, most: int) -> list[str]:
    """The first columns of a wish that one recipe changes together, within seconds and without coarse groups.

    A column that another one decides, such as a number beside its name, is not taken twice.

    Parameters
    ----------
    looks : mapping
        The columns of the table.
    wish : Wish
        What to protect and promise, and the columns to choose from.
    most : int
        How many columns are enough.

    Returns
    -------
    list of str
    """
    secrets = [secret_groups(looks[name], wish) for name in wish.secrets]
    found: list[str] = []
    for name in wish.release[: TRIES * most]:
        if len(found) == most:
            break
        *others, last = (starting_groups(looks[n], wish) for n in (*found, name))
        known = any(Cells.of([groups, last]).bits < groups.bits + LEAST_BITS for groups in others)
        if not known and _chosen(wish, [*others, last], secrets, [])[0] == DENSE:
            found.append(name)
    return found


def _formed(
    wish: Wish, first: Sequence[Groups], secrets: Sequence[Groups], kept: Sequence[Groups]
) -> tuple[str, str, list[Groups]]:
    """The form of the mechanism, why, and the groups that go with it, where the form takes the secrets."""
    form, because, groups = _chosen(wish, first, secrets, kept)
    if form == RECORDS:
        _few_answers(secrets)
    return form, because, groups


def _chosen(
    wish: Wish, first: Sequence[Groups], secrets: Sequence[Groups], kept: Sequence[Groups]
) -> tuple[str, str, list[Groups]]:
    """The form of the mechanism, why, and the groups that go with it."""
    wide = wish.promise != "deny" and not wish.keep and wish.person is None
    most = MOST_DENIED if wish.promise == "deny" else MOST_COMBINATIONS
    by_hand = {*wish.ranges, *wish.named} if wish.groups else {group.look.name for group in first}
    if wish.form == RECORDS:
        if not wide:
            raise InputError(
                "Exchanging whole records does not go with --deny, --keep or --person.",
                do="Leave these out, or leave out --form.",
            )
        return RECORDS, f"As you asked, {EXCHANGED}.", _for_records(first, wish)
    if wish.form == EACH:
        if wish.promise != "deny":
            raise InputError(
                "A recipe for each column by itself goes with --deny alone.", do="Say --deny 3, or leave out --form."
            )
        return EACH, "Each column gets a recipe of its own.", list(first)
    if wish.form is None and prod(min(g.size, 2) for g in first) > most:  # no column is merged below two groups
        if wish.promise == "deny":
            return EACH, _too_many(first, "each column gets a recipe of its own"), list(first)
        if wide:
            finer = _for_records(first, wish)
            return RECORDS, _too_many(finer, EXCHANGED), finer
    groups, cells, _ = merged(first, [*secrets, *kept], least=wish.min_rows, most=most, by_hand=by_hand)
    passes = not cells.small(wish.min_rows) and prod(group.size for group in groups) <= most
    said = sum(group.bits for group in groups) / (sum(g.bits for g in first) or 1.0)
    if passes and (said >= HALF or wish.form == DENSE or not (wide or wish.promise == "deny")):
        found = many(prod(group.size for group in groups), "combination")
        return DENSE, f"{found} are few enough for one recipe that is best for all columns together.", groups
    if wish.promise == "deny":
        return EACH, _too_many(first, "each column gets a recipe of its own"), list(first)
    if wide and wish.form is None:
        finer = _for_records(first, wish)
        if prod(g.size for g in first) <= most and not passes:
            rare = f"In every grouping that was tried some combinations have fewer than {many(wish.min_rows, 'row')}"
            return RECORDS, f"{rare}. So {EXCHANGED}.", finer
        return RECORDS, _too_many(finer, EXCHANGED), finer
    if cells.small(wish.min_rows):
        raise SmallCombinations(
            f"No grouping that was tried gives every combination {many(wish.min_rows, 'row')}: the smallest still has "
            f"{cells.smallest()}.",
            smallest=cells.smallest(),
            do=_way_out(wish, secrets, kept),
        )
    raise InputError(
        f"After grouping there are still {prod(group.size for group in groups):,} combinations, and one recipe takes "
        f"up to {most}. Release fewer columns, or group some by hand with --cut."
    )


def _few_answers(secrets: Sequence[Groups]) -> None:
    """Refuse an exchange of records for secrets with more answers than its search takes, before anything is written."""
    answers = len(Cells.of(secrets).rows)
    if answers > MOST_CLASSES:
        names = joined([secret.look.name for secret in secrets])
        raise InputError(
            f"{names} {'has' if len(secrets) == 1 else 'have'} {answers:,} answers"
            f"{'' if len(secrets) == 1 else ' together'}, and an exchange of whole records takes up to {MOST_CLASSES}.",
            do=f"Put them into fewer groups with --cut or --group, until at most {MOST_CLASSES} are left.",
        )


def _way_out(wish: Wish, secrets: Sequence[Groups], kept: Sequence[Groups]) -> str:
    """What can still make every combination large enough."""
    if kept and Cells.of([*secrets, *kept]).small(wish.min_rows):  # whatever becomes of the released columns
        return f"Leave {', '.join(wish.keep)} out of --keep: with the secret alone some combinations are small."
    if not wish.groups:
        return "Leave out --no-groups, or release fewer columns."
    return "Release fewer columns, or group some by hand with --cut or --group."


def _too_many(first: Sequence[Groups], instead: str) -> str:
    found = prod(g.size for g in first)
    counted = f"{found:,}" if found <= MOST_SAID else "billions of"
    return f"The columns have {counted} combinations, too many for one recipe without coarse groups. So {instead}."


def _for_records(first: Sequence[Groups], wish: Wish) -> list[Groups]:
    """Groups of a wide table: finer, because small combinations do not show in what is published."""
    finer = replace(wish, groups=max(wish.groups, MOST_RECORD) if wish.groups else 0)
    return [starting_groups(groups.look, finer) for groups in first]
