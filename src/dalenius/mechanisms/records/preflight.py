"""Before the search between many records: what it will take, and a refusal where the memory is not there.

The figures are those of tables of 19,000 to 177,000 different records: right within a factor of two.
"""

from dalenius.errors import Unsupported
from dalenius.kernel.numbers import LONGEST_FILE
from dalenius.mechanisms.columns.leakage.preflight import SHARE, free_memory, memory_words, size_words, time_words
from dalenius.mechanisms.records.wide import Wide

__all__ = [
    "finish_seconds",
    "foretold",
    "least_seconds",
    "limit_seconds",
    "refuse_too_large",
    "search_seconds",
    "whole_words",
]

PAIR = 7e-8
"""Seconds for each pair of records that is compared, all rounds together."""
BASE, RECORD = 400 << 20, 6_000
"""Bytes of memory before the search, and for each different record."""
FINISHED, AT_ONCE = 0.3, 2e-4
"""Seconds that a release takes at the least to be made whole, proved and written, and for each input of it."""
LIMITED = 2.5e-5
KEPT = 1e-6
"""Seconds of the proof for each input and limit: every exchange of a mixture counts towards each of them, but what a
value keeps is counted where records arrive."""
FIRST = 1e-4
"""Seconds for each input until there is a release to be proved."""
SEARCHED = 2e-7
"""Seconds for each pair of an input and a record, of a search that goes to its end."""
WRITTEN = 69
"""Characters of a proof file for each different record, at least: 69 to 72 in tables of 10 to 13 columns."""


def memory_needed(wide: Wide) -> int:
    """Bytes that search, proof and file take together."""
    return BASE + RECORD * len(wide.records)


def foretold(wide: Wide, pairs: int) -> str:
    """What comparing so many pairs of records takes, in words.

    Parameters
    ----------
    wide : Wide
        The table.
    pairs : int
        Of a record that has too many rows with one that has too few.

    Returns
    -------
    str
    """
    return (
        f"{pairs / 1e9:.1f} billion pairs of records; about {time_words(PAIR * pairs)} of computing and "
        f"{memory_words(memory_needed(wide))} of memory"
    )


def finish_seconds(wide: Wide) -> float:
    """What is needed after the search: the proof of one release, and the writing of it."""
    return FINISHED + AT_ONCE * len(wide.counts)


def limit_seconds(wide: Wide, limits: int, kept: int) -> float:
    """What the proof of so many limits takes, beside that of the release.

    Parameters
    ----------
    wide : Wide
        The table.
    limits : int
        Of distortions.
    kept : int
        One for each value that keeps its rows.

    Returns
    -------
    float
    """
    return (LIMITED * limits + KEPT * kept) * len(wide.counts)


def search_seconds(wide: Wide, seconds: float, share: float) -> float:
    """The time that a search may take: a share of all, and no more than leaves the time for what comes after it."""
    return max(0.0, min(share * seconds, seconds - finish_seconds(wide)))


def least_seconds(wide: Wide) -> float:
    """What a release takes that is proved and written, after hardly any search."""
    return finish_seconds(wide) + FIRST * len(wide.counts)


def whole_words(wide: Wide, seconds: float) -> str:
    """What the whole search takes, in one line of a terminal."""
    pairs = len(wide.counts) * len(wide.records)
    columns = {name: len(alphabet) for name, alphabet in wide.law.alphabets(wide.problem.release).items()}
    needed = max(least_seconds(wide), min(seconds, least_seconds(wide) + SEARCHED * pairs))
    return size_words(f"{len(wide.records):,}", needed, memory_needed(wide), columns)


def refuse_too_large(wide: Wide) -> None:
    """Refuse a table whose search does not fit the memory that is free, or whose proof no checker would read.

    Raises
    ------
    Unsupported
        With what it needs, and how to make it smaller.
    """
    most = LONGEST_FILE // WRITTEN
    if len(wide.records) > most:
        raise Unsupported(
            f"{len(wide.records):,} different records make a proof file that is longer than checkers read; {most:,} "
            "are possible: group values until there are fewer, or release fewer columns together"
        )
    free = free_memory()
    if free is not None and memory_needed(wide) > SHARE * free:
        raise Unsupported(
            f"{len(wide.records):,} different records need about {memory_words(memory_needed(wide))} of memory, and "
            f"{memory_words(free)} are free: group values until there are fewer, or release fewer columns together"
        )
