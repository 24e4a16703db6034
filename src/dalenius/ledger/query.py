"""A query under noise as a release of a ledger: described in full, measured anew whenever a figure is needed.

One answer is one draw from all records together. Its figures hold under every distribution of the records, so that they
add up by `rules`: C_k for a person with k records, the capacity for all that is about other data, and the level between
any two inputs.
"""

import hashlib
import json
from fractions import Fraction
from functools import cached_property
from typing import Any

from dalenius.core.arithmetic import apart, exp
from dalenius.core.numbers import exact, strict_json
from dalenius.core.query import FINITE, Interval, Query, different
from dalenius.core.query_noise import kernel_of
from dalenius.core.reading import whole
from dalenius.documents import ENOUGH
from dalenius.errors import InputError, Unsupported
from dalenius.kernel.adversary import contraction
from dalenius.kernel.numbers import Work
from dalenius.measures.query import FEW, query_about, query_capacity, query_dp_epsilon, query_independent, query_whole
from dalenius.mechanisms.charging import MOST_NATS, SMALL, Mechanism
from dalenius.tables.query_file import query_from_json

__all__ = ["FORMAT", "QueryMechanism", "query_document"]

FORMAT = "dalenius-query/1"


def query_document(query: Query, reads: str | None = None) -> str:
    """The text under which a query is charged: the query in full and the column that it reads, if that is said."""
    return json.dumps({"format": FORMAT, "query": query.to_json(), "reads": reads}, sort_keys=True)


class OneDraw(Mechanism):
    """One draw from all records together: what it tells about one of them is proved, and rows are not counted."""

    at_once = True

    @cached_property
    def contraction(self) -> Fraction:
        """As far as laws can differ whose ratios are bounded; all of it where they are not."""
        return Fraction(1) if self.level is None or self.level > 30 else apart(self.level)

    @cached_property
    def individual_bits(self) -> Fraction | None:
        return self.group_bits(1)

    @cached_property
    def rate_bits(self) -> Fraction | None:
        return None

    def guessed(self, size: int) -> Fraction | None:
        """e^level, or less: the law of the answer sums to 1, and no other one is larger by more than that factor."""
        level = self.neighbours(size)
        found = [self.likeliest(size), None if level is None or level > MOST_NATS else exp(level)[1]]
        return min((factor for factor in found if factor is not None), default=None)

    def likeliest(self, size: int) -> Fraction | None:
        """A bound of the sum over answers of how likely so many records of one person make each of them at most.

        Parameters
        ----------
        size : int
            How many records of one person.

        Returns
        -------
        Fraction or None
        """
        raise NotImplementedError

    def moved(self, size: int) -> Fraction:
        """As far as laws can differ whose ratios are bounded."""
        level = self.neighbours(size)
        return Fraction(1) if level is None or level > MOST_NATS else apart(level)


class QueryMechanism(OneDraw):
    """A query and proved upper ends of what it tells.

    >>> q = Query(2, (("0", "1"),) * 2, "parity", "randomised-response", Fraction(1, 4))
    >>> pad = QueryMechanism(query_document(q, "vote"))
    >>> round(float(pad.group_bits(1)), 9), pad.at_once, pad.alphabets
    (0.188721876, True, {'vote of 2 records': ['0', '1']})
    """

    kind = "query"

    def __init__(self, text: str) -> None:
        self.document: dict[str, Any] = strict_json(text)
        if set(self.document) != {"format", "query", "reads"} or self.document["format"] != FORMAT:
            raise InputError(
                f"this is no document of a query ({FORMAT})", do="Name the file that dalenius answer wrote."
            )
        self.query = query_from_json(self.document["query"], "the query")
        self.digest = hashlib.sha256(text.encode()).hexdigest()
        self.card, self.law, self.release, self.kept = False, None, None, []

    @property
    def described(self) -> dict[str, Any]:
        """Column, answer and promise, for a list of releases."""
        q = self.query
        own = f" {q.parameter}" if q.parameter is not None and len(str(q.parameter)) <= 12 else ""
        promise = {"dalenius": True, "at_most_bits": str(float(self.group_bits(1)))}
        return {"reads": list(self.alphabets), "released": [f"{q.kind} under {q.noise}{own}"], "promises": [promise]}

    @property
    def channel(self) -> str:
        return json.dumps(self.document["query"], sort_keys=True)

    @property
    def alphabets(self) -> dict[str, list[str]]:
        """One column, with the letters of a record. Two queries read the same one only if its name, its letters and the
        number of records are the same: an adversary may tie other columns, and other people, to these."""
        reads, records = self.document["reads"], self.query.records
        kinds = [()] if isinstance(self.query.letters, Interval) else sorted(different(self.query.letters), key=len)
        name = f"{reads} of {records} records" if reads and len(kinds) == 1 else f"query {self.digest[:8]}"
        return {name: list(kinds[-1])}

    def reads_alike(self, name: str, values: list[str] | None) -> bool:
        """Whether the records have these values, where it is said that they are of this column."""
        return self.document["reads"] != name or list(self.alphabets.values()) == [values]

    @property
    def passed_on(self) -> int | None:
        """Nothing is kept; the letters of an interval cannot be counted."""
        return None if isinstance(self.query.letters, Interval) else 1

    @cached_property
    def level(self) -> Fraction | None:
        """The level between any two inputs, so that records may hang together."""
        found = query_dp_epsilon(self.query, neighbours=False)
        return None if found is None else exact(found)

    @cached_property
    def contraction(self) -> Fraction:
        """eta_KL of all rows while they are few; else (e^l - 1) / (e^l + 1), as far as laws within e^l can differ."""
        if self.query.noise in FINITE:
            kernel = kernel_of(self.query)
            values, letters = kernel.places.shape
            if values * values * letters <= 10 * SMALL:
                numbers, _ = whole([entry for row in sorted(set(kernel.rows)) for entry in row])
                rows = [numbers[k : k + letters] for k in range(0, len(numbers), letters)]
                return contraction(rows, Work(ENOUGH))
        return super().contraction

    @cached_property
    def capacity_bits(self) -> Fraction:
        return exact(query_whole(self.query)[1])

    def independent_bits(self, size: int) -> Fraction:
        """What is told to somebody who knows all other records.

        Several records of one person may hang together: so many times the figure of one would be too little.
        """
        return exact(query_independent(self.query)[1]) if size == 1 else self.group_bits(size)

    def likeliest(self, size: int) -> Fraction | None:
        """One for each outcome of so many records; of an interval nothing is known."""
        q = self.query
        return None if isinstance(q.letters, Interval) else Fraction(max(map(len, q.alphabets)) ** size)

    def neighbours(self, size: int) -> Fraction | None:
        """So many times the level between tables that differ in one record."""
        found = query_dp_epsilon(self.query)
        return None if found is None else size * exact(found)

    def concentrated(self, size: int) -> Fraction | None:
        """One draw is made from all records, so that a level of so many records counts as a whole."""
        level = self.neighbours(size)
        return None if level is None else level * level / 2

    def group_bits(self, size: int) -> Fraction:
        """A proved upper end of what the answer tells about so many records of one person: C_k, searched while f takes
        few values, or the smaller of k C_1 (Theorem 4) and the capacity."""
        size = min(size, self.query.records)
        if size not in self._groups:
            searched = size == 1 or (not isinstance(self.query.letters, Interval) and len(self.query.values) <= FEW)
            try:
                found = exact(query_capacity(self.query, group=size).high) if searched else None
            except Unsupported:
                found = None
            self._groups[size] = min(size * self.group_bits(1), self.capacity_bits) if found is None else found
        return self._groups[size]

    def about_bits(self, values: int, *, own: bool) -> Fraction | None:
        """What the answer tells of something with so many values for each letter, or of somebody else's, from above.

        Parameters
        ----------
        values : int
            How many values it has.
        own : bool
            Whether each letter has one of its own.

        Returns
        -------
        Fraction or None
        """
        key = values, own
        if key not in self._abouts:
            self._abouts[key] = exact(query_about(self.query, values, own=own))
        return self._abouts[key]

    @cached_property
    def _abouts(self) -> dict[tuple[int, bool], Fraction]:
        return {}

    @cached_property
    def _groups(self) -> dict[int, Fraction]:
        return {}
