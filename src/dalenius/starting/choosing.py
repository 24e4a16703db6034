"""The form of a recipe, and the groups that go with it: one for all columns, whole records, one for each column."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import prod

from dalenius.core.digits import many
from dalenius.errors import InputError, SmallCombinations
from dalenius.mechanisms.records.takes import MOST_CLASSES
from dalenius.starting.columns import Look
from dalenius.starting.grouping import Cells, Groups, merged, starting_groups
from dalenius.starting.wishes import DENSE, EACH, RECORDS, Wish
from dalenius.wording import joined

__all__ = ["LEAST_BITS", "MOST_COMBINATIONS", "few_columns", "formed", "secret_groups"]

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

MOST_SECRET = 4  # ranges of a secret number
MOST_RECORD = 10  # groups of a column of a wide table
LEAST_BITS = 1e-9  # less than this is the rounding of doubles
TRIES = 3  # columns that are looked at for each one that is chosen
RARE = 5  # times the least number of rows: a rarer answer of the secret is merged


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


def formed(
    wish: Wish, first: Sequence[Groups], secrets: Sequence[Groups], kept: Sequence[Groups]
) -> tuple[str, str, list[Groups]]:
    """The form of the mechanism, why, and the groups that go with it, where the form takes the secrets."""
    form, because, groups = _chosen(wish, first, secrets, kept)
    if form == RECORDS:
        _few_answers(secrets, wish)
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
                f"Exchanging whole records does not go with {wish.spoken.apart}.",
                do=f"Leave these out, or {wish.spoken.no_form}.",
            )
        return RECORDS, f"As you asked, {EXCHANGED}.", _for_records(first, wish)
    if wish.form == EACH:
        if wish.promise != "deny":
            raise InputError(
                f"A recipe for each column by itself goes with {wish.spoken.deny} alone.",
                do=f"Say {wish.spoken.promise('deny', '3')}, or {wish.spoken.no_form}.",
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
        f"up to {most}. Release fewer columns, or group some {wish.spoken.by_hand}."
    )


def _few_answers(secrets: Sequence[Groups], wish: Wish) -> None:
    """Refuse an exchange of records for secrets with more answers than its search takes, before anything is written."""
    answers = len(Cells.of(secrets).rows)
    if answers > MOST_CLASSES:
        names = joined([secret.look.name for secret in secrets])
        raise InputError(
            f"{names} {'has' if len(secrets) == 1 else 'have'} {answers:,} answers"
            f"{'' if len(secrets) == 1 else ' together'}, and an exchange of whole records takes up to {MOST_CLASSES}.",
            do=f"Put them into fewer groups {wish.spoken.by_hand}, until at most {MOST_CLASSES} are left.",
        )


def _way_out(wish: Wish, secrets: Sequence[Groups], kept: Sequence[Groups]) -> str:
    """What can still make every combination large enough."""
    if kept and Cells.of([*secrets, *kept]).small(wish.min_rows):  # whatever becomes of the released columns
        return (
            f"{wish.spoken.not_kept.format(', '.join(wish.keep))}: with the secret alone some combinations are small."
        )
    if not wish.groups:
        return wish.spoken.grouped
    return f"Release fewer columns, or group some {wish.spoken.by_hand}."


def _too_many(first: Sequence[Groups], instead: str) -> str:
    found = prod(g.size for g in first)
    counted = f"{found:,}" if found <= MOST_SAID else "billions of"
    return f"The columns have {counted} combinations, too many for one recipe without coarse groups. So {instead}."


def _for_records(first: Sequence[Groups], wish: Wish) -> list[Groups]:
    """Groups of a wide table: finer, because small combinations do not show in what is published."""
    finer = replace(wish, groups=max(wish.groups, MOST_RECORD) if wish.groups else 0)
    return [starting_groups(groups.look, finer) for groups in first]
