"""Persons on a cluster: their rows, which lie on several machines, are brought together by Spark's own group-by.

A person draws by its number: its place in the order of first appearance, as on one machine. Persons are numbered block
by block of their first rows, so that no machine has to hold them all.
"""

from itertools import accumulate
from typing import Any

import numpy as np

from dalenius.engines.spark.numbering import OFFSET
from dalenius.engines.spark.session import one_sentence
from dalenius.engines.spark.tasks import NUMBER, PERSON, PLACE, Coding, plain, schema
from dalenius.errors import TableError
from dalenius.tables import Coded
from dalenius.tables.counting import BLOCK, smallest
from dalenius.tables.persons import refuse_absent, refuse_difference, refuse_many

__all__ = ["checked", "counted_persons", "numbered_persons"]

MANY = "dalenius rows"


def _grouped(frame: Any, coding: Coding) -> Any:
    """A row for each person: its first row, how many it has, and the least and the greatest code of each column."""
    from pyspark.sql import functions as f

    named = frame.mapInArrow(coding.persons, schema([PERSON], "string", [NUMBER], "long", coding.plain, "int"))
    asked = [f.count(f.lit(1)).alias(MANY), f.min(NUMBER).alias(NUMBER)]
    for least, most in zip(coding.plain, plain("most", coding.names), strict=True):
        asked += [f.min(least).alias(least), f.max(least).alias(most)]
    return named.groupBy(PERSON).agg(*asked)


def checked(frame: Any, coding: Coding, table: str, unit: str, max_rows: int | None, rows: int) -> None:
    """Refuse rows that are nobody's, persons with too many rows, and persons whose rows differ.

    Parameters
    ----------
    frame : DataFrame
        The numbered rows, with the names of their persons.
    coding : Coding
        What their codes are.
    table, unit : str
        The table and the column that names a person, for messages.
    max_rows : int, optional
        Rows that a person has at most; without it, rows of one person must not differ.
    rows : int
        How many the table has.
    """
    from pyspark.sql import functions as f

    nobody = f.col(PERSON).isNull()
    asked = [f.count(f.lit(1)), f.sum(MANY), f.max(MANY), f.min(f.when(nobody, f.col(NUMBER)))]
    asked.append(f.count(f.when(f.col(MANY) > (max_rows or 0), 1)))
    for least, most in zip(coding.plain, plain("most", coding.names), strict=True):
        asked.append(f.count(f.when(f.col(least) != f.col(most), 1)))
    with one_sentence("the table"):
        count, read, most_rows, absent, over, *differing = _grouped(frame, coding).agg(*asked).collect()[0]
    if read != rows:
        raise TableError(
            f"{table} changed while it was read; nothing was written",
            do="Wait until nobody writes to the table, or copy it, then run the command again.",
        )
    if absent is not None:
        refuse_absent(table, unit, absent)
    if max_rows is not None and over:
        refuse_many(table, unit, over=over, count=count, most=most_rows, max_rows=max_rows)
    if max_rows is None and any(differing):
        name = coding.names[int(np.argmax(differing))]
        refuse_difference(f"{table}, column {name!r}", unit)


def counted_persons(frame: Any, coding: Coding, coded: Coded) -> Coded:
    """The codes of persons, one row each, in no particular order."""
    with one_sentence("the table"):
        found = _grouped(frame, coding).groupBy(*coding.plain).count().toArrow()
    counts = found.column("count").to_numpy()
    codes = {
        name: np.repeat(found.column(column).to_numpy().astype(smallest(len(coded.alphabets[name]))), counts)
        for name, column in zip(coding.names, coding.plain, strict=True)
    }
    return Coded(coded.alphabets, codes, coded.from_table, coded.format, coded.workspace)


def numbered_persons(frame: Any, coding: Coding) -> Any:
    """The codes of persons, each with its number in the order of first appearance."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    persons = _grouped(frame, coding).withColumn(PLACE, f.floor(f.col(NUMBER) / BLOCK).cast("long"))
    with one_sentence("the table"):
        blocks = sorted((int(row[0]), int(row[1])) for row in persons.groupBy(PLACE).count().collect())
    ends = accumulate(count for _, count in blocks)
    offsets = [(place, end - count) for (place, count), end in zip(blocks, ends, strict=True)]
    beside = frame.sparkSession.createDataFrame(offsets, f"`{PLACE}` long, `{OFFSET}` long")
    place = f.row_number().over(Window.partitionBy(PLACE).orderBy(NUMBER)) - 1
    joined = persons.join(f.broadcast(beside), on=PLACE).withColumn(NUMBER, (f.col(OFFSET) + place).cast("long"))
    return joined.select(NUMBER, *coding.plain)
