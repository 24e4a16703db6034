"""Drafts of columns with an order: dates, and ranges that the table already has."""

import random
from dataclasses import replace
from datetime import date, datetime, timedelta
from fractions import Fraction

import pyarrow as pa
import pytest

from dalenius.cli.grammar import parser
from dalenius.core import Problem
from dalenius.core.problem_file import read_toml
from dalenius.errors import InputError
from dalenius.starting import Wish, draft, flags_of, look_at, roles
from dalenius.starting.ranges import in_order
from dalenius.tables import open_table


def drafted(wish, table):
    return draft(open_table(table), wish, path="people.csv")


def stays(rows=3000, seed=4):
    """Dates over nine years, times within one year, and an answer that depends on the year."""
    rng = random.Random(seed)
    first = date(2014, 1, 1)
    days = [first + timedelta(days=rng.randrange(3200)) for _ in range(rows)]
    seen = [datetime(2026, 1, 1) + timedelta(seconds=rng.randrange(360 * 86400)) for _ in range(rows)]
    sick = ["flu" if rng.random() < 0.2 + 0.3 * (day.year > 2019) else "other" for day in days]
    return pa.table({"admitted": [d.isoformat() for d in days], "seen": seen, "sick": sick})


def test_dates_are_cut_by_year_or_by_month_within_one_year():
    table = open_table(stays())
    left_out, _ = roles(table)
    assert not left_out  # 3,000 different times name nobody once they are months
    looks = look_at(table, ["admitted", "seen", "sick"])
    assert (looks["admitted"].dates, looks["seen"].dates, looks["sick"].dates) == ("year", "month", "")
    assert looks["admitted"].known == tuple(str(year) for year in range(2014, 2023))
    assert looks["admitted"].words() == "dates, by year from 2014 to 2022"
    assert looks["seen"].known[0] == "2026-01"


def test_merged_dates_are_neighbours_and_the_file_says_what_they_are_cut_by():
    wish = Wish((("sick",),), ("admitted",), "reveal", Fraction(1, 100), min_rows=80, cuts={"admitted": ("month",)})
    found = drafted(wish, stays())
    members = found.released[0].members
    assert 2 < len(members) < 97
    assert [v for group in members for v in group] == sorted(v for group in members for v in group)
    assert all(
        f"{g[0]} to {g[-1]}" == label for g, label in zip(members, found.released[0].labels, strict=True) if g[1:]
    )
    assert found.smallest[1] >= 80
    column = Problem.from_document(read_toml(found.text, "p")).columns["admitted"]
    assert column.dates == "month"
    assert parser().parse_args(["init", *flags_of(wish, "t.csv")]).cut == ["admitted=month"]


def test_years_can_be_cut_where_somebody_says_and_other_columns_cannot():
    wish = Wish((("sick",),), ("admitted",), "reveal", Fraction(1, 100), cuts={"admitted": ("2016", "2020")})
    assert drafted(wish, stays()).released[0].labels == ("under 2016", "2016-2019", "2020 or more")
    towns = pa.table({"town": ["east", "west"] * 50, "sick": ["yes", "no"] * 50})
    with pytest.raises(InputError, match='town cannot be cut by year: "east" is not a date'):
        drafted(Wish((("sick",),), ("town",), "nothing", cuts={"town": ("year",)}), towns)


# --- ranges that the table already has -----------------------------------------------------------------------------
def test_ranges_are_merged_with_their_neighbours_and_stand_in_their_order():
    rng = random.Random(7)
    ages = rng.choices(["51+", "31-50", "under 18", "18-30"], [4, 60, 20, 16], k=2000)
    sick = ["yes" if rng.random() < 0.5 else "no" for _ in ages]
    table = pa.table({"age": ages, "sick": sick})
    assert look_at(open_table(table), ["age"])["age"].known == ("under 18", "18-30", "31-50", "51+")
    wish = Wish((("sick",),), ("age",), "reveal", Fraction(1, 100), min_rows=100)
    assert drafted(wish, table).released[0].labels == ("under 18", "18-30", "31-50 or 51+")
    assert drafted(replace(wish, min_rows=220), table).released[0].labels == ("under 18 or 18-30", "31-50 or 51+")


@pytest.mark.parametrize(
    ("values", "ordered"),
    [
        (["65 or more", "0 to 17", "18 to 64"], ["0 to 17", "18 to 64", "65 or more"]),
        (["> 10", "5-10", "<5"], ["<5", "5-10", "> 10"]),
        (["1", "3+", "2"], ["1", "2", "3+"]),
        (["9-5", "10+"], None),
        (["2", "1", "10", "-3"], ["-3", "1", "2", "10"]),
        (["1-5", "3-9"], None),
        (["18-30", "unknown"], None),
    ],
)
def test_texts_are_ranges_only_where_all_are_and_none_overlap(values, ordered):
    assert in_order(values) == ordered
