"""Queries that make no sense are refused in one sentence, and the ways to a value are counted."""

from fractions import Fraction
from itertools import product
from math import factorial

import pytest

from dalenius.core.query import Interval, Query, different
from dalenius.errors import InputError, Unsupported

F = Fraction

BITS = ("0", "1")
TWO = (BITS, BITS)
SAME = ("yes", "no", "no", "yes")
SURE = (("a", "b"), ((F(1), F(0)), (F(0), F(1))))


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ((2, TWO, "count", "salt", F(1)), "there is no noise 'salt'"),
        ((2, TWO, "median", "gaussian", F(1)), "there is no query 'median'"),
        ((2, TWO, "table", "gaussian", F(1)), "a query by table needs its table"),
        ((2, TWO, "count", "table", None), "noise by table needs its table"),
        ((2, Interval(F(0), F(1)), "count", "gaussian", F(1)), "`letters` of an interval need the query sum or mean"),
        ((2, (BITS,), "count", "gaussian", F(1)), "one list of different values"),
        ((1, (("0", "0"),), "count", "gaussian", F(1)), "one list of different values"),
        ((2, (BITS, ("0", "1", "2")), "count", "gaussian", F(1)), "over records with the same values"),
        ((2, (("a", "b"),) * 2, "sum", "gaussian", F(1)), "the value 'a' of a sum"),
        ((2, (("1/2", "1"),) * 2, "parity", "gaussian", F(1)), "values that are integers"),
        ((2, TWO, "count", "gaussian", None), "gaussian noise needs its parameter"),
        ((2, TWO, "count", "geometric", F(1)), "between 0 and 1"),
        ((2, TWO, "count", "randomised-response", F(2)), "is a probability"),
        ((2, TWO, "count", "laplace", F(0)), "is above 0"),
        ((2, TWO, "count", "exponential", F(101)), "at most 100"),
    ],
)
def test_queries_that_make_no_sense_are_refused(asked, said):
    with pytest.raises(InputError, match=said):
        Query(*asked)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"kind": "count", "letter": "7"}, "the counted value '7' is not among the values"),
        ({"kind": "sum", "letter": "1"}, "only a count has a value to be counted"),
        ({"kind": "table", "table": SAME[:3]}, "3 values for 4 outcomes"),
        ({"kind": "table", "table": ("yes", "no", "no", (F(1),))}, "all labels, all numbers"),
        ({"kind": "table", "table": SAME}, "gaussian noise is for numbers"),
        ({"kind": "count", "noise": "table", "kernel": SURE, "parameter": F(1)}, "noise by table has no parameter"),
        ({"kind": "count", "noise": "table", "kernel": SURE, "parameter": None}, "has 2 rows for 3 values of f"),
    ],
)
def test_tables_and_values_must_fit(more, said):
    with pytest.raises(InputError, match=said):
        Query(**({"records": 2, "letters": TWO, "noise": "gaussian", "parameter": F(1)} | more))


def test_point_14_a_list_that_all_records_share_is_looked_at_once():
    """A list of 100,000 values was looked at for each of a million records, and no clock could end that."""
    looks = []

    class Values(tuple):
        def __hash__(self):
            looks.append(1)
            return super().__hash__()

        def __eq__(self, other):
            return super().__eq__(other)

    one = Values(("0", "1"))
    Query(records=1000, letters=(one,) * 1000, kind="histogram", noise="geometric", parameter=Fraction(1, 2))
    assert len(looks) < 10
    assert different([("0",), ("1",), ("0",)]) == {("0",), ("1",)}


def test_an_interval_has_ends_in_order_and_no_list():
    with pytest.raises(InputError, match="low < high"):
        Interval(F(1), F(1))
    with pytest.raises(Unsupported, match="no list of values"):
        _ = Query(2, Interval(F(0), F(1)), "sum", "gaussian", F(1)).alphabets


def test_groups_are_no_larger_than_the_table():
    with pytest.raises(InputError, match="a group of 3 records"):
        Query(2, TWO, "count", "gaussian", F(1)).reaches(3)


def test_labels_have_no_coordinates():
    with pytest.raises(InputError, match="labels"):
        list(Query(2, TWO, "table", "randomised-response", F(1, 4), table=SAME).coordinate(0))


@pytest.mark.parametrize("kind", ["count", "sum", "mean", "parity", "histogram", "table"])
def test_ways_to_a_value_are_those_that_can_be_counted(kind):
    """Every value by as many outcomes of three records as there are, all of them together."""
    letters = ("0", "1", "3")
    table = tuple((F(len(set(word))),) for word in product(letters, repeat=3)) if kind == "table" else None
    query = Query(3, (letters,) * 3, kind, "gaussian", F(1), letter="1" if kind == "count" else None, table=table)
    ways = query.multiplicities()
    assert sum(ways) == 3**3
    assert len(ways) == len(query.values)
    if kind == "histogram":
        assert max(ways) == factorial(3)
    if kind == "table":
        assert dict(zip(query.values, ways, strict=True)) == {(F(1),): 3, (F(2),): 18, (F(3),): 6}
