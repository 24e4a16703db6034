"""Cuts at the quantiles of a table: ranks, ties, missing values, and what is refused."""

import pyarrow as pa
import pytest

from dalenius.core import Column
from dalenius.errors import TableError
from dalenius.tables import encode, open_table
from dalenius.tables.quantiles import cut_at_quantiles


def cells(values, quantiles, missing="refuse"):
    table = open_table(pa.table({"x": pa.array(values)}))
    columns = cut_at_quantiles(table, {"x": Column(quantiles=quantiles, missing=missing)}, ["x"])
    return encode(table, columns, ["x"]), columns["x"]


def test_cells_of_distinct_values_hold_equally_many():
    coded, column = cells([0.1 * k for k in range(30)], 5)
    assert coded.counts(["x"])[1].tolist() == [6] * 5
    assert column.quantiles == 5


def test_missing_values_are_a_letter_of_their_own_and_no_part_of_the_cells():
    coded, _ = cells([None, 1.0, 2.0, None, 3.0, 4.0], 2, "category")
    assert coded.counts(["x"])[1].tolist() == [2, 2, 2]


def test_numbers_written_in_two_ways_stay_together():
    coded, _ = cells(["1", "1.0", "2", "3"], 2)
    assert coded.codes["x"].tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize(("values", "message"), [(["a", "1"], "not a number"), ([1, 1, 1], "one cell only")])
def test_what_has_no_quantiles_is_refused(values, message):
    with pytest.raises(TableError, match=message):
        cells(values, 2)
