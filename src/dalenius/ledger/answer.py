"""An answer as a release of a ledger: one draw from all records together, its figures proved by the kernel's functions.

The question reads some columns of a table. Two answers that read the same columns of the same records are charged what
they tell about one record; others all that they can tell, because an adversary may tie the columns together.
"""

import json
from collections.abc import Callable
from fractions import Fraction
from functools import cached_property
from math import isqrt, prod
from typing import Any

from dalenius.core.arithmetic import exp
from dalenius.documents import ENOUGH, digest, unfiled
from dalenius.errors import InputError
from dalenius.kernel.added import Gaussian, Laplace
from dalenius.kernel.answers import (
    ANSWER,
    AnswerDocument,
    Totals,
    concentrated_of,
    excess_of,
    level_of,
    read_answer,
    told_of_independent,
    told_to_anybody,
)
from dalenius.kernel.numbers import Work
from dalenius.kernel.tabled import NoiseTable
from dalenius.ledger.query import OneDraw
from dalenius.mechanisms.charging import MOST_NATS

__all__ = ["ANSWER", "AnswerMechanism", "is_answer"]


def is_answer(text: str) -> bool:
    """Whether a document, or the one that is filed in a text, is an answer.

    Parameters
    ----------
    text : str
        A document, or one with what travels beside it.

    Returns
    -------
    bool
    """
    return unfiled(text)[0].startswith(f'{{"format":"{ANSWER}"')


class AnswerMechanism(OneDraw):
    """A question under noise on a grid, and proved upper ends of what its answer tells."""

    kind = "answer"

    def __init__(self, text: str) -> None:
        self.text, self.about = unfiled(text)
        self.answer: AnswerDocument = read_answer(self.text, ENOUGH)
        self.answer.noise.work = Work(ENOUGH)  # what the file declares is for its own proof; a ledger asks for more
        self._known: dict[tuple[str, int], Fraction] = {}
        self.document: dict[str, Any] = json.loads(self.text)
        self.asked: dict[str, Any] = dict(self.about.get("question") or {})
        self.reads: list[str] = list(self.about.get("reads") or [])
        self.digest = digest(self.text)
        self.card, self.law, self.release, self.noise, self.kept = False, None, None, None, []
        if not self.reads:
            raise InputError(
                "an answer is charged together with the file beside it, which names its columns",
                do="Keep both files in one folder.",
            )

    @property
    def totals(self) -> Totals:
        return self.answer.totals

    @property
    def source(self) -> dict[str, Any]:
        """The table and the rows of a person, as the file beside the answer says them."""
        unit = self.asked.get("unit") or "row"
        return {"table": self.about.get("table", ""), "unit": unit, "max_rows": self.asked.get("max_rows") or 1}

    @property
    def described(self) -> dict[str, Any]:
        """Columns, answer and promises, for a list of releases."""
        promises = [
            {k: v for k, v in promise.items() if k not in ("promise", "weights")} | {promise["promise"]: True}
            for promise in self.document["promises"]
        ]
        kind = self.asked.get("query", "sums")
        return {
            "reads": self.reads,
            "released": [f"{kind} under {self.document['noise']['noise']}"],
            "promises": promises,
        }

    @property
    def channel(self) -> str:
        """What was drawn from, as text to compare."""
        return json.dumps([self.document, self.asked], sort_keys=True)

    @property
    def alphabets(self) -> dict[str, list[str]]:
        """What a record is to this question, and its values: another question makes something else of a record."""
        told = [str(self.asked[k]) for k in ("where", "letter") if self.asked.get(k)]
        name = f"{' '.join([', '.join(self.reads), *told])} of {self.totals.records} records"
        return {name: list(self.document["letters"] or [])}

    def reads_alike(self, name: str, values: list[str] | None) -> bool:
        """Whether the column is all that is read, in these values; a condition may read it in any."""
        alone = self.reads == [name] and self.whole
        return name not in self.reads or (alone and self.document["letters"] == values)

    @property
    def whole(self) -> bool:
        """Whether its letters are all that it reads of a record; else it is promised about all records together."""
        told = next(promise for promise in self.document["promises"] if promise["promise"] == "dalenius")
        return bool(told["group"] < self.totals.records)

    @property
    def passed_on(self) -> int | None:
        """Nothing is kept; values that are not listed cannot be counted."""
        return 1 if self.whole and self.totals.letters is not None else None

    @cached_property
    def level(self) -> Fraction | None:
        """The level between any two tables, so that records may hang together."""
        return level_of(self.totals, self.answer.noise, self.totals.records)

    @cached_property
    def capacity_bits(self) -> Fraction:
        """About all records together: as for a record that can have any value."""
        if isinstance(self.answer.noise, NoiseTable):
            return self.answer.noise.everything
        free = Totals(self.totals.records, None, self.totals.moves, self.totals.every)
        return told_to_anybody(free, self.answer.noise, 1)

    def group_bits(self, size: int) -> Fraction:
        """About so many records of one person, to anybody; about anything where they have more values than letters."""
        if not self.whole:
            return self.capacity_bits
        return self._once("anybody", size, lambda: told_to_anybody(self.totals, self.answer.noise, size))

    def independent_bits(self, size: int) -> Fraction:
        """About so many records of one person, to somebody to whom records are independent."""
        return self._once("independent", size, lambda: told_of_independent(self.totals, self.answer.noise, size, None))

    def neighbours(self, size: int) -> Fraction | None:
        """The level of differential privacy between tables that differ in so many records; None: there is none."""
        return level_of(self.totals, self.answer.noise, size)

    def likeliest(self, size: int) -> Fraction | None:
        """One for each outcome of the records; a shift of width w under added noise, 1 + w P(N = 0) for each number.

        The largest of the shifted laws falls off on both sides like the law itself, and is P(N = 0) in between.
        """
        totals, noise = self.totals, self.answer.noise
        outcomes = None if totals.letters is None else Fraction(totals.letters**size)
        if isinstance(noise, NoiseTable):
            return outcomes
        if isinstance(noise, Gaussian):  # P(N = 0) <= 1 / sqrt(2 pi v), and pi is above 3.14
            peak = Fraction(10**6, isqrt(int(Fraction(628, 100) * noise.variance * 10**12)))
        else:
            assert isinstance(noise, Laplace)
            # P(N = 0) = (1 - a) / (1 + a) falls with a = e^(-1/scale), so that a is taken from below.
            least = 1 / exp(min(1 / noise.scale, Fraction(MOST_NATS)))[1]
            peak = (1 - least) / (1 + least)
        shifted = prod((1 + width * peak for width in totals.widths(size)), start=Fraction(1))
        return shifted if outcomes is None else min(outcomes, shifted)

    def moved(self, size: int) -> Fraction:
        """Between tables that differ in so many records: delta at a level of 0."""
        return excess_of(self.totals, self.answer.noise, size, Fraction(0))

    def concentrated(self, size: int) -> Fraction | None:
        """rho of concentrated differential privacy between such tables; None: there is none."""
        return concentrated_of(self.totals, self.answer.noise, size)

    def _once(self, what: str, size: int, found: Callable[[], Fraction]) -> Fraction:
        """A figure that is computed once: every later charge asks for it again."""
        if (what, size) not in self._known:
            self._known[what, size] = found()
        return self._known[what, size]
