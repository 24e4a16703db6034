"""`dalenius init`: ask, or read from flags, what to protect and what to release, and write the problem file."""

import json
import os
import shlex
import sys
from argparse import Namespace
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import ceil
from pathlib import Path
from typing import Any

from dalenius.cli.dialogue import ask, ask_again
from dalenius.cli.terminal import dialect_of, say
from dalenius.cli.waiting import about
from dalenius.core import Guarantee
from dalenius.core.digits import bits, many
from dalenius.core.numbers import exact
from dalenius.errors import InputError
from dalenius.mechanisms.declared import SECONDS
from dalenius.outputs import new_file, refuse_existing
from dalenius.starting import DENSE, FLAGS, PARTS, PROMISES, RECORDS, Draft, Wish, disclosure, draft, level_of, roles
from dalenius.starting.columns import as_written, with_gaps
from dalenius.starting.grouping import Groups
from dalenius.starting.wishes import joined_names, names_in
from dalenius.tables import Table, open_table
from dalenius.tables.foreign import arx_groups
from dalenius.tables.profile import profile
from dalenius.wording import joined, shown, unsteered

LEVELS = {"reveal": " 0.01", "guess": " 80%", "nothing": "", "deny": " 2", "times": " 2"}  # for examples


def run(arguments: Namespace) -> None:
    """Write the problem file, or only show it."""
    output = Path(arguments.output)
    if not arguments.dry_run:
        refuse_existing(output, force=arguments.force, inputs=[Path(arguments.table)])
    dialect = dialect_of(arguments)
    table = as_written(open_table(arguments.table, dialect=dialect))
    found = profile(table)
    table = with_gaps(table, found)
    path = os.path.relpath(arguments.table, output.absolute().parent)
    if arguments.useful:
        text, lines, document = _disclosure(arguments, table, path)
    else:
        text, lines, document = _main_job(arguments, table, path, found)
    if words := found["missing_words"]:
        quoted = joined([f'"{word}"' for word in words])
        lines.insert(1, f"  {quoted} {'counts' if len(words) == 1 else 'count'} as no value, as an empty entry does.")
    if arguments.dry_run:
        say(arguments, [*lines, "Nothing was written. The file would be:", "", text], document | {"text": text})
        return
    with new_file(output, force=arguments.force) as place:
        place.write_text(text, encoding="utf-8")
    needed = 3 * document.get("seconds", 0)  # the estimate is right within a factor of three
    longer = f" --seconds {ceil(needed / 60) * 60}" if needed > SECONDS else ""
    lines.append(f"Wrote {output}. Check the groups, then run:  dalenius release {output} -o release/{longer}")
    say(arguments, lines, document | {"problem": str(output)})


def _main_job(
    arguments: Namespace, table: Table, path: str, looked: Mapping[str, Any]
) -> tuple[str, list[str], dict[str, Any]]:
    """Release columns with as little change as possible."""
    left_out, sensitive = roles(table, found=looked)
    promised = _promised(arguments)
    complete = arguments.protect and arguments.release and promised
    if not complete and (arguments.yes or not sys.stdin.isatty()):
        offered = [name for name in table.names if name not in left_out]
        raise InputError(_missing(arguments, promised, sensitive, offered))
    if not complete:
        arguments, promised = ask(arguments, table, left_out, sensitive, promised)
    assert promised is not None
    wish = _wish(arguments, [*map(_listed, arguments.protect)], _listed(arguments.release), promised)
    found = draft(table, wish, path=path, left_out=left_out)
    if not complete:
        found = _regrouped(found, table, path, left_out)
    return found.text, _words(table, found, shown=not complete), _document(found)


def _regrouped(found: Draft, table: Table, path: str, left_out: dict[str, str]) -> Draft:
    """The draft with the groups that somebody agreed to."""
    while said := ask_again(_grouped(found), _rare(found)):
        try:
            wish = replace(found.wish, cuts=found.wish.cuts | dict([_cut(said)]))
            found = draft(table, wish, path=path, left_out=left_out)
        except InputError as problem:
            print(problem, file=sys.stderr)
    return found


def _wish(
    arguments: Namespace, protect: Sequence[tuple[str, ...]], release: tuple[str, ...], promised: tuple[str, str]
) -> Wish:
    """What the flags and answers ask for."""
    return Wish(
        protect=tuple(protect),
        release=release,
        promise=promised[0],
        level=level_of(*promised),
        times=_beside(arguments, promised[0]),
        keep=_listed(arguments.keep or ""),
        person=arguments.person,
        keep_rows=exact("1" if arguments.keep_rows == "all" else arguments.keep_rows, "--keep-rows"),
        form=arguments.form,
        groups=0 if arguments.no_groups else arguments.groups,
        min_rows=arguments.min_rows,
        cuts=dict(map(_cut, arguments.cut)),
        named=dict(map(_group, arguments.group)) | dict(map(_hierarchy, arguments.hierarchy)),
        title=arguments.title,
        owner=arguments.owner,
    )


def _promised(arguments: Namespace) -> tuple[str, str] | None:
    """The promise that the flags name, and its level."""
    said = {
        "reveal": arguments.reveal,
        "guess": arguments.guess_at_most,
        "nothing": "0" if arguments.nothing else None,
        "deny": arguments.deny,
    }
    given = [(promise, level) for promise, level in said.items() if level is not None]
    if len(given) > 1:
        flags = " and ".join(FLAGS[promise] for promise, _ in given)
        raise InputError(f"Choose one promise: you said {flags}. --times-at-most may stand beside any.")
    if not given and arguments.times_at_most:
        return "times", arguments.times_at_most
    return given[0] if given else None


def _beside(arguments: Namespace, promise: str) -> Fraction | None:
    """The factor of --times-at-most, where it stands beside another promise."""
    said = arguments.times_at_most
    return None if promise == "times" or said is None else level_of("times", said)


def _missing(
    arguments: Namespace, promised: tuple[str, str] | None, sensitive: str | None, offered: Sequence[str]
) -> str:
    """What has to be said without a terminal, with an example that names columns of the table."""
    lacking = [f"--{name}" for name in ("protect", "release") if not getattr(arguments, name)]
    person = arguments.person or ""
    taken = {person, *_listed(arguments.release or ""), *_listed(arguments.keep or "")}  # none of them can be protected
    free = [name for name in offered if name not in taken]
    likely = sensitive if sensitive in free else next(iter(free), "COLUMN")
    protect = (arguments.protect or [joined_names([likely])])[0]
    others = [name for name in offered if name not in {person, *names_in(protect)}][:2]
    release = shlex.quote(arguments.release or joined_names(others) or "COLUMN,COLUMN")
    protect = shlex.quote(protect)
    promise = "--reveal 0.01" if promised is None else f"{FLAGS[promised[0]]} {promised[1]}".removesuffix(" 0")
    example = f"dalenius init {arguments.table} --protect {protect} --release {release} {promise}"
    example += f" --person {shlex.quote(person)}" if person else ""
    if promised:
        return f"Missing: {', '.join(lacking)}. Example: {example}"
    flags = {FLAGS[key] + LEVELS[key]: words for key, words in PROMISES.items()}
    width = max(map(len, flags))
    choices = "".join(f"\n  {flag:{width}}  {words}" for flag, words in flags.items())
    return f"Missing: {', '.join([*lacking, 'a promise'])}. Choose one of these promises:{choices}\nExample: {example}"


def _listed(names: str | Sequence[str]) -> tuple[str, ...]:
    """Names that are separated by commas, each once."""
    parts = [names] if isinstance(names, str) else names
    return tuple(dict.fromkeys(name for part in parts for name in names_in(part)))


def _cut(text: str) -> tuple[str, tuple[str, ...]]:
    """A column and where its groups begin, from `visits=1,3,7`, or what its dates are cut by, from `admitted=month`."""
    name, equals, numbers = text.rpartition("=")
    cuts = tuple(part.strip() for part in numbers.split(",") if part.strip())
    if not equals or not cuts:
        raise InputError(
            f'"--cut {text}" is not COLUMN=NUMBER,NUMBER,... as in --cut visits=1,3,7, nor COLUMN=year or COLUMN=month.'
        )
    for number in () if cuts[0] in PARTS and len(cuts) == 1 else cuts:
        exact(number, "--cut")
    return name.strip(), cuts


def _group(text: str) -> tuple[str, dict[str, tuple[str, ...]]]:
    """A column and its groups by name, from `education={"school": ["9th", "10th"], "college": ["Bachelors"]}`."""
    name, equals, members = text.partition("=")
    try:
        groups = {str(label): tuple(map(str, values)) for label, values in json.loads(members or "0").items()}
    except (ValueError, AttributeError, TypeError):
        groups = {}
    if not equals or not groups:
        raise InputError(
            f'"--group {text}" is not COLUMN={{"NAME": ["value", ...], ...}}.',
            do="Write the groups as JSON in single quotes, as dalenius init --help shows.",
        )
    return name.strip(), groups


def _hierarchy(text: str) -> tuple[str, dict[str, tuple[str, ...]]]:
    """A column and its groups, from a level of a hierarchy: `education=education.csv:1`."""
    name, equals, place = text.partition("=")
    path, _, level = place.rpartition(":")
    if not equals or not path or not level.isdigit():
        raise InputError(f'"--hierarchy {text}" is not COLUMN=FILE:LEVEL, as in education=education.csv:1.')
    return name.strip(), arx_groups(path, int(level))


def _words(table: Table, found: Draft, *, shown: bool) -> list[str]:
    """What was chosen, for the person who checks it; without the groups where they were shown before."""
    wish = found.wish
    used = len(found.released) + len(found.secrets) + len(found.kept)
    rest = len(table.names) - used
    once = f" by {unsteered(wish.person)}" if wish.person and found.max_rows == 1 else ""
    lines = [
        f"{table.name}: {many(found.rows, 'person' if once else 'row')}{once}, {many(len(table.names), 'column')}."
        + (f" {many(rest, 'column')} {'is' if rest == 1 else 'are'} left out." if rest else "")
    ]
    if not shown:
        lines += [f"  {name} is left out: {why}." for name, why in found.left_out.items()]
        lines += _grouped(found)
    lines += [_smallest(found)] if found.form == DENSE else []
    lines += ["One row goes out for each person: no column above differs between rows of one."] if once else []
    lines += [f"Promise: {_promised_of(found, promise)}." for promise in found.promises]
    if wish.promise == "guess" and wish.times is None:
        lines.append("That is about the average row. --times-at-most 2 beside it limits what any single row reveals.")
    lines.append(f"How: {found.because}")
    lines.append(f"Size: {found.size}. A release takes {about(found.seconds)}.")
    if wish.keep_rows and "\npreserve_marginals" not in found.text and "\nkeep_rows" not in found.text:
        lines.append("Not kept: the rows of each value may change in number, which this promise and form cannot fix.")
    return lines


def _grouped(found: Draft) -> list[str]:
    """What became of each column, secrets last."""
    return _each_group((*found.released, *found.kept, *found.secrets), found.wish)


def _each_group(groups: Sequence[Groups], wish: Wish) -> list[str]:
    """A line for each column: its name, whether it is secret, and its groups."""
    named = [(shown(group.look.name), group) for group in groups]
    width = max(len(name) for name, _ in named)
    role = dict.fromkeys(wish.keep, "not changed; ") | dict.fromkeys(wish.secrets, "secret; ")
    return [f"  {name:<{width}}  {role.get(group.look.name, '')}{group.words()}" for name, group in named]


def _smallest(found: Draft) -> str:
    """How many rows the rarest combination has."""
    before, after = found.smallest
    was = f" (it was {before} with finer groups)" if before != after else ""
    return f"Smallest combination: {many(after, 'row')}{was}."


def _rare(found: Draft) -> str:
    """How rare combinations are, or why it does not matter."""
    if found.form == DENSE:
        return _smallest(found)
    if found.form == RECORDS:
        return "Rare combinations do not matter here: rows exchange whole records, and the recipe is not published."
    return "Combinations do not matter here: each column has a recipe of its own."


def _promised_of(found: Draft, promise: Guarantee) -> str:
    """One promise in one sentence, with what an attacker knows anyway about its own secret."""
    words = promise.briefly(found.wish.person or "person")
    if promise.key == "leakage":
        return f"{words}; everything about it is {bits(found.bits(promise.secret), 'nearest')}"
    if promise.key == "guess":
        return f"{words} ({round(found.most_frequent(promise.secret) * 1000)} without the release)"
    return words


def _document(found: Draft) -> dict[str, Any]:
    """The same for machines."""
    columns = (*found.released, *found.secrets, *found.kept)
    return {
        "columns": {column.look.name: {"groups": list(column.labels), "cuts": list(column.cuts)} for column in columns},
        "form": found.form,
        "because": found.because,
        "smallest_combination": {"before": found.smallest[0], "after": found.smallest[1]},
        "combinations": found.combinations,
        "seconds": round(found.seconds, 1),
        "left_out": found.left_out,
    }


def _refuse_unread(arguments: Namespace) -> None:
    """Flags of the main job that the other one would not read."""
    given = {
        "--release": arguments.release if arguments.look_at else None,
        "--keep": arguments.keep,
        "--form": arguments.form,
        "--keep-rows": None if arguments.keep_rows == "all" else arguments.keep_rows,
    }
    if unread := [flag for flag, said in given.items() if said is not None]:
        raise InputError(
            f"{joined(unread)} {'goes' if len(unread) == 1 else 'go'} with the release of columns, and --useful makes "
            "one new column.",
            do=f"Leave out --useful, or {joined(unread)}.",
        )


def _disclosure(arguments: Namespace, table: Table, path: str) -> tuple[str, list[str], dict[str, Any]]:
    """One new column that says the most about a useful one and nothing about the secrets."""
    useful = _listed(arguments.useful)
    views = [_listed(view) for view in arguments.protect or []]
    observe = _listed(arguments.look_at or arguments.release or "")
    if not views or not observe:
        missing = " and ".join(flag for flag, said in (("--protect", views), ("--look-at", observe)) if not said)
        raise InputError(
            f"Missing: {missing}. Example: dalenius init patients.csv --useful outcome --protect age --look-at age,sex"
        )
    _refuse_unread(arguments)
    promised = _promised(arguments) or ("nothing", "0")
    wish = _wish(arguments, views, (arguments.name,), promised)
    text, groups, smallest = disclosure(table, wish, observe=observe, useful=useful, path=path)
    lines = [f"{table.name}: {many(len(table.names), 'column')}, {len(groups)} of them used."]
    lines += _each_group(groups, wish)
    lines.append(f"Smallest combination: {many(smallest, 'row')}.")
    if smallest < wish.min_rows:
        lines.append(
            "That is few. Look at fewer columns, group some by hand with --cut, or accept it later: "
            f"dalenius release {path} --accept small-combinations."
        )
    return (
        text,
        lines,
        {
            "columns": [group.look.name for group in groups],
            "gaps": [group.look.name for group in groups if group.look.gaps],
        },
    )
