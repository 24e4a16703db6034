"""What `init` suggests: round ranges, groups without small combinations, a mechanism, and a file that is released."""

import random
import shlex
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from dalenius.cli.grammar import parser
from dalenius.core import Problem
from dalenius.core.problem_file import read_toml
from dalenius.errors import InputError
from dalenius.starting import (
    Groups,
    Look,
    Wish,
    as_written,
    columns,
    draft,
    few_columns,
    flags_of,
    level_of,
    look_at,
    roles,
)
from dalenius.starting.grouping import Cells, merged
from dalenius.starting.ranges import labels_of, round_cuts, rounded
from dalenius.starting.wishes import joined_names, logarithm, names_in
from dalenius.tables import open_table


def people(rows=4000, seed=3):
    """A table with a number, an ordered and a rare category, a gap, an identifier and a constant."""
    rng = random.Random(seed)
    records = []
    for k in range(rows):
        age = min(90, max(17, int(rng.gauss(40, 15))))
        town = rng.choices(["north", "south", "east", "islet"], [50, 30, 19.7, 0.3])[0]
        rich = rng.random() < (0.15 + 0.4 * (age > 45))
        job = rng.choice(["clerk", "cook", None])
        records.append((f"p{k}", age, town, job, "yes" if rich else "no", "same"))
    columns = zip(*records, strict=True)
    return pa.table(dict(zip(["person", "age", "town", "job", "rich", "year"], map(list, columns), strict=True)))


TABLE = people()
WISH = Wish((("rich",),), ("age", "town"), "reveal", Fraction(1, 100))


def drafted(wish, table=TABLE, **rest):
    return draft(open_table(table), wish, path="people.csv", **rest)


# --- ranges -----------------------------------------------------------------------------------------------------------
def test_rounded_lies_in_the_interval_and_no_rounder_number_does():
    rng = random.Random(1)
    for _ in range(500):
        low = rng.uniform(-50, 1000)
        high = low + 10 ** rng.uniform(-3, 3)
        found = rounded(low, high)
        assert low < found <= high + 1e-9
        coarser = 10.0 ** np.ceil(np.log10(high - low) + 1)
        assert np.floor(high / coarser) * coarser <= low or abs(found / coarser - round(found / coarser)) < 1e-6


def test_a_heavy_smallest_number_keeps_a_group_of_its_own():
    values = np.array([0.0, *range(1, 30)])
    counts = np.array([3000, *[100] * 29])
    cuts = round_cuts(values, counts, 5)
    assert cuts[0] == 1.0
    assert cuts == sorted(set(cuts))
    assert len(cuts) <= 4
    wages = np.array([0.0, 4.0, *range(1000, 60000, 1000)])
    assert round_cuts(wages, np.array([3000, *[50] * 60]), 5)[0] == 1.0


@pytest.mark.parametrize(
    "numbers", [[0] * 60 + [1] * 40 + [2] * 4 + [5] * 30 + [8] * 3, [-1] * 40 + [3] * 2 + [10] * 40]
)
def test_a_few_numbers_are_merged_with_their_neighbours(numbers):
    table = open_table(pa.table({"visits": [*map(str, numbers)] * 2, "sick": ["yes", "no"] * len(numbers)}))
    found = draft(table, Wish((("sick",),), ("visits",), "nothing"), path="t.csv")
    (groups,) = found.released
    assert [v for group in groups.members for v in group] == sorted({*map(str, numbers)}, key=int)
    assert any(len(group) > 1 for group in groups.members)


def test_ranges_of_whole_numbers_are_named_by_their_ends():
    assert labels_of(["25", "26", "40"], whole=True, least=17) == ["under 25", "25", "26-39", "40 or more"]
    assert labels_of(["2.5", "4"], whole=False, least=0) == ["under 2.5", "2.5 to under 4", "4 or more"]


# --- roles ------------------------------------------------------------------------------------------------------------
def test_columns_that_point_at_people_or_say_nothing_are_left_out():
    left_out, sensitive = roles(open_table(TABLE))
    assert set(left_out) == {"person", "year"}
    assert sensitive is None
    named = roles(open_table(TABLE.rename_columns(["patient_id", "age", "town", "job", "health", "year"])))
    assert named[1] == "health"
    assert "patient_id" in named[0]


@pytest.mark.parametrize(
    ("name", "weighs"),
    [
        *((name, True) for name in ("fnlwgt", "PWGTP", "PWGTP12", "survey_weight", "perwt")),
        *((name, False) for name in ("weight", "wt", "birth_weight", "weighting")),
    ],
)
def test_sampling_weights_are_left_out_and_weights_of_bodies_are_not(name, weighs):
    table = pa.table({"income": ["high", "low"] * 50, name: [str(k % 40) for k in range(100)]})
    left_out, _ = roles(open_table(table))
    assert ("sampling weight" in left_out.get(name, "")) == weighs


def test_a_few_columns_have_one_recipe_together():
    rows = 3000
    columns = {f"q{k}": [f"answer {(i * (k + 3) + i // 7) % 12}" for i in range(rows)] for k in range(6)}
    columns |= {"again": columns["q0"], "income": ["high" if (i // 3) % 4 == 0 else "low" for i in range(rows)]}
    looks = look_at(open_table(pa.table(columns)), list(columns))
    wish = Wish((("income",),), ("q0", "again", "q1", "q2", "q3"), "reveal", Fraction(1, 100))
    found = few_columns(looks, wish, most=3)
    assert found[0] == "q0"
    assert "again" not in found  # q0 says it already
    assert draft(open_table(pa.table(columns)), replace(wish, release=tuple(found)), path="t.csv").form == "dense"
    assert few_columns(looks, wish, most=1) == ["q0"]


def test_a_column_that_names_people_is_taken_out_of_the_release():
    left_out, _ = roles(open_table(TABLE))
    found = drafted(Wish((("rich",),), ("person", "town"), "nothing"), left_out=left_out)
    assert list(found.left_out) == ["person"]
    assert '"person"' not in found.text
    with pytest.raises(InputError, match="Nothing is left to release"):
        drafted(Wish((("rich",),), ("person",), "nothing"), left_out=left_out)


# --- groups -----------------------------------------------------------------------------------------------------------
def test_no_combination_is_small_after_grouping():
    looks = look_at(open_table(TABLE), ["age", "town", "rich"])
    first = [Groups.alone(looks["town"]), Groups.by_cuts(looks["age"], ["20", "25", "30", "60", "70"])]
    secret = [Groups.alone(looks["rich"])]
    assert Cells.of([*first, *secret]).smallest() < 10
    groups, cells, merges = merged(first, secret, least=10, most=200)
    assert merges > 0
    assert cells.smallest() >= 10
    assert Cells.of([*groups, *secret]).rows.tolist() == cells.rows.tolist()
    assert all(g.counts.sum() == TABLE.num_rows for g in groups)


def test_groups_by_hand_are_not_touched():
    found = drafted(Wish((("rich",),), ("age", "town"), "reveal", Fraction(1, 100), cuts={"age": ("30", "50")}))
    assert found.released[0].cuts == ("30", "50")
    members = {"main": ("north", "south"), "rest": ("east", "islet")}
    found = drafted(Wish((("rich",),), ("age", "town"), "reveal", Fraction(1, 100), named={"town": members}))
    assert found.released[1].labels == ("main", "rest")


def test_a_gap_is_a_value_of_its_own():
    found = drafted(Wish((("rich",),), ("age", "job"), "nothing"))
    assert 'missing = "category"' in found.text
    assert found.released[1].size == 3


def test_alike_groups_are_merged_first():
    rng = random.Random(4)
    rows = [(a, "x" if rng.random() < {"a": 0.9, "b": 0.9, "c": 0.1, "d": 0.1}[a] else "y") for a in "abcd" * 400]
    rows += [("a", "x"), ("c", "y")] * 30
    look = look_at(open_table(pa.table({"a": [r[0] for r in rows], "b": [r[1] for r in rows]})), ["a", "b"])
    groups, _, _ = merged([Groups.alone(look["a"])], [Groups.alone(look["b"])], least=10, most=3)
    assert any(set(group) in ({"a", "b"}, {"c", "d"}) for group in groups[0].members)


# --- the mechanism ----------------------------------------------------------------------------------------------------
def wide(columns=9, rows=3000, seed=5):
    rng = random.Random(seed)
    table = {f"c{k}": [rng.choice("abcde") for _ in range(rows)] for k in range(columns)}
    return pa.table(table | {"s": [rng.choice(["yes", "no"]) for _ in range(rows)]})


def test_groups_of_too_many_columns_are_not_merged_in_vain(monkeypatch):
    """Nine columns of two groups are more combinations than one recipe takes; minutes of merging would not help."""
    monkeypatch.setattr("dalenius.starting.drafting.merged", lambda *_, **__: pytest.fail("merged in vain"))
    names = tuple(f"c{k}" for k in range(9))
    assert drafted(Wish((("s",),), names, "nothing"), wide()).form == "records"
    assert drafted(Wish((("s",),), names, "deny", Fraction(2)), wide()).form == "each"


@pytest.mark.long
def test_a_search_is_foretold_where_there_is_one():
    """Nothing about two answers is a transport; a limit in bits, or one on more than two answers, is searched for."""
    names = tuple(f"c{k}" for k in range(9))
    rows = wide()
    three = rows.set_column(9, "s", [["yes", "no", "(other)"] * 1000])
    guess = Wish((("s",),), names, "guess", Fraction(4, 5))
    quick = [drafted(replace(guess, promise="nothing", level=None), rows), drafted(guess, rows)]
    slow = [drafted(replace(guess, promise="reveal"), rows), drafted(guess, three)]
    assert max(found.seconds for found in quick) + 8 < min(found.seconds for found in slow)


@pytest.mark.long
def test_the_mechanism_is_chosen_by_promise_and_size():
    names = tuple(f"c{k}" for k in range(9))
    assert drafted(WISH).form == "dense"
    assert drafted(Wish((("s",),), names, "nothing"), wide()).form == "records"
    denied = drafted(Wish((("s",),), names, "deny", Fraction(2)), wide())
    assert denied.form == "each"
    assert "information_of_each" in denied.text
    for promise, level in (("guess", Fraction(4, 5)), ("times", Fraction(2))):
        found = drafted(Wish((("s",),), names, promise, level), wide())
        assert found.form == "records"
        assert "preserve_marginals = true" in found.text
    two = drafted(Wish((("s",),), names, "guess", Fraction(4, 5), times=Fraction(2)), wide())
    assert two.form == "records"
    assert two.seconds > found.seconds
    kept = Wish((("s",),), names[:-1], "guess", Fraction(4, 5), keep=names[-1:])
    with pytest.raises(InputError, match="No grouping"):
        drafted(kept, wide())
    with pytest.raises(InputError, match="still 256 combinations"):
        drafted(replace(kept, min_rows=1), wide())
    with pytest.raises(InputError, match="--deny alone"):
        drafted(Wish((("rich",),), ("age",), "nothing", form="each"))


def test_several_rows_of_a_person_are_denied_together_or_refused():
    table = TABLE.set_column(0, "person", pa.array([f"p{k // 2}" for k in range(TABLE.num_rows)]))
    found = drafted(Wish((("rich",),), ("town",), "deny", Fraction(2), person="person"), table)
    assert found.form == "each"
    assert "max_rows = 2" in found.text
    with pytest.raises(InputError, match="One person has up to 2 rows"):
        drafted(Wish((("rich",),), ("town",), "nothing", person="person"), table)
    alone = drafted(Wish((("rich",),), ("town",), "nothing", person="person"))
    assert 'unit = "person"' in alone.text
    assert "max_rows" not in alone.text


def test_rows_are_kept_where_the_mechanism_can_keep_them():
    assert "preserve_marginals = true" in drafted(WISH).text
    three_quarters = drafted(Wish((("rich",),), ("age", "town"), "nothing", keep_rows=Fraction(3, 4)))
    document = read_toml(three_quarters.text, "problem.toml")
    assert document["limit"] == [{"keep_rows": "3/4"}]
    assert "preserve_marginals" not in document["mechanism"]


# --- the file ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "wish",
    [
        WISH,
        Wish((("rich",),), ("age", "town"), "reveal", Fraction(1, 100), keep=("job",)),
        Wish((("rich",),), ("age", "town"), "deny", Fraction(3), keep=("job",)),
        Wish((("rich",), ("job",)), ("age", "town"), "deny", Fraction(3)),
        Wish((("rich", "job"),), ("town",), "reveal", Fraction(1, 20), times=Fraction(2), keep_rows=Fraction(0)),
    ],
)
def test_the_file_is_a_problem(wish):
    text = drafted(wish).text
    problem = Problem.from_document(read_toml(text, "problem.toml"))
    assert set(problem.release) == set(wish.release)
    assert len(problem.guarantees) == (1 if wish.promise == "deny" else len(wish.protect)) + (wish.times is not None)
    assert text == drafted(wish).text


def test_a_column_that_goes_out_as_it_is_may_not_break_the_promise_by_itself():
    told = Wish((("rich",),), ("town",), "reveal", Fraction(1, 100), keep=("age",))
    with pytest.raises(InputError, match=r"age alone, released as it is, reveals 0\.1\d+ bits about rich") as refused:
        drafted(told)
    enough = str(refused.value).rpartition("--reveal ")[2].rstrip(".")
    assert drafted(replace(told, level=Fraction(enough))).text


def test_a_level_beside_kept_columns_is_between_those_who_agree_in_them():
    problem = Problem.from_document(
        read_toml(drafted(Wish((("rich",),), ("town",), "deny", Fraction(3), keep=("job",))).text, "problem.toml")
    )
    (level,) = problem.guarantees
    assert level.given == ("job",)


def test_hostile_names_and_values_stay_text():
    table = pa.table(
        {'a "b" = [x]': ["<img>", 'say "hi"', "back\\slash", "\u202eright"] * 50, "s": ["y", "n", "n", "y"] * 50}
    )
    found = drafted(Wish((("s",),), ('a "b" = [x]',), "nothing", min_rows=1), table)
    problem = Problem.from_document(read_toml(found.text, "problem.toml"))
    assert problem.release == ('a "b" = [x]',)
    assert set(problem.columns['a "b" = [x]'].values) == {"<img>", 'say "hi"', "back\\slash", "\u202eright"}


def test_flags_say_the_wish_again():
    wish = Wish(
        (("rich",), ("job", "year")),
        ("age", "town"),
        "deny",
        Fraction(3, 2),
        times=Fraction(2),
        keep_rows=Fraction(3, 4),
        cuts={"age": ("30", "50")},
        named={"town": {"main": ("north", "south"), "rest": ("east", "islet")}},
        groups=4,
        min_rows=20,
    )
    arguments = parser().parse_args(["init", *shlex.split(shlex.join(flags_of(wish, "people.csv")))])
    assert arguments.protect == ["rich", "job,year"]
    assert (arguments.release, arguments.deny, arguments.keep_rows) == ("age,town", "1.5", "3/4")
    assert arguments.cut == ["age=30,50"]
    assert (arguments.groups, arguments.min_rows) == (4, 20)


# --- levels -----------------------------------------------------------------------------------------------------------
def test_levels_as_people_say_them():
    assert level_of("guess", "80%") == level_of("guess", 0.8) == level_of("guess", "4/5") == Fraction(4, 5)
    assert level_of("reveal", 0.01) == Fraction(1, 100)
    assert level_of("nothing", "anything") is None
    for promise, said in (("guess", "120%"), ("deny", "1/2"), ("reveal", "-1"), ("reveal", "much")):
        with pytest.raises(InputError):
            level_of(promise, said)


def test_the_logarithm_of_a_factor_is_never_above_it():
    from math import log

    for factor in (Fraction(2), Fraction(3, 2), Fraction(10), Fraction(1)):
        assert 0 <= log(factor) - float(logarithm(factor)) < 1e-7


def test_guesses_below_what_is_right_anyway_cannot_be_promised():
    with pytest.raises(InputError, match="Without any data"):
        drafted(Wish((("rich",),), ("age", "town"), "guess", Fraction(1, 2)))


@pytest.mark.parametrize(
    ("wish", "says"),
    [
        (lambda: Wish((), ("a",), "nothing"), "Name the column"),
        (lambda: Wish((("a",),), ("a", "b"), "nothing"), "protected and released"),
        (lambda: Wish((("a",),), ("b",), "nothing", keep=("b",)), "as it is"),
        (lambda: Wish((("a",),), ("b",), "nothing", keep_rows=Fraction(2)), "from 0 to 1"),
        (lambda: drafted(Wish((("rich",),), ("town",), "nothing", cuts={"town": ("1",)})), "not a number"),
        (lambda: drafted(Wish((("rich",),), ("town",), "nothing", named={"town": {"a": ("north",)}})), "in no group"),
        (lambda: drafted(Wish((("richh",),), ("age",), "nothing")), 'Did you mean "rich"'),
    ],
)
def test_wishes_that_contradict_themselves_are_refused(wish, says):
    with pytest.raises(InputError, match=says):
        wish()


def test_a_look_says_what_a_column_holds():
    look = Look("visits", tuple(map(str, range(20))), np.arange(20))
    assert look.words() == "numbers from 0 to 19"


def test_a_value_with_a_comma_is_told_apart_from_two_values():
    table = pa.table({"rich": ["no", "yes"] * 60, "office": ["Legal, IP", "Sales", "IT"] * 40})
    (office,) = drafted(Wish((("rich",),), ("office",), "nothing"), table).released
    assert office.words() == 'as it is: IT, "Legal, IP", Sales'


# --- tables as people have them ---------------------------------------------------------------------------------------
def test_decimal_commas_are_found_and_written_into_the_file(tmp_path):
    rng = random.Random(5)
    lines = [f"{rng.randrange(150, 300) / 10};{rng.choice('ab')}".replace(".", ",") for _ in range(2000)]
    (tmp_path / "t.csv").write_text("\n".join(["bmi;sick", *lines]))
    table = as_written(open_table(tmp_path / "t.csv"))
    found = draft(table, Wish((("sick",),), ("bmi",), "reveal", Fraction(1, 100)), path="t.csv")
    assert 'decimal = ","' in found.text
    assert found.released[0].cuts  # ranges of numbers, not groups of texts
    as_texts = [f"{k},{k % 7}5" if k % 2 else "none" for k in range(50)]
    assert as_written(open_table(pa.table({"code": as_texts}))).dialect.decimal == "."


def test_many_different_texts_are_left_out_until_somebody_groups_them():
    rows = 2000
    names = [f"street {k % 300}" for k in range(rows)]
    days = [f"{k % 28 + 1:02d}.{k % 12 + 1:02d}.20{k % 5 + 19}" for k in range(rows)]
    table = open_table(pa.table({"lives": names, "came": days, "sick": ["yes", "no"] * (rows // 2)}))
    left_out, _ = roles(table)
    assert left_out["lives"] == "it has 300 different values; --group says which belong together"
    assert left_out["came"].endswith("dates are read like 2026-03-17")
    halves = {
        half: tuple(sorted({n for n in names if (int(n[7:]) < 150) == (half == "low")})) for half in ("low", "up")
    }
    wish = Wish((("sick",),), ("lives",), "nothing", named={"lives": halves})
    assert draft(table, wish, path="t.csv", left_out=left_out).released[0].labels == ("low", "up")


def test_the_name_of_a_merged_group_says_how_many_more_there_are():
    values = tuple(f"a rather long value number {k}" for k in range(6))
    groups = Groups.alone(Look("x", values, np.repeat(np.arange(6), 5)))
    for one, other in ((1, 0), (2, 1), (2, 1)):
        groups = groups.joined(one, other)
    assert groups.labels == ("other", f"{values[2]} and 2 more", values[5])


def test_a_small_table_is_not_called_too_large():
    found = drafted(
        Wish((("rich",),), ("town",), "nothing"), pa.table({"town": ["a", "b", "a"], "rich": ["y", "n", "y"]})
    )
    assert found.because.startswith("In every grouping that was tried some combinations have fewer than 10 rows")


@pytest.mark.parametrize("names", [("age", "city, state"), ('say "it"', "x"), ('"quoted"', "a,b,c"), ("a=b",)])
def test_names_with_commas_and_quotes_come_back_from_flags(names):
    assert names_in(joined_names(names)) == names
    flags = flags_of(Wish((("s",),), names, "nothing"), "t.csv")
    assert names_in(parser().parse_args(["init", *flags]).release) == names


def test_capitals_of_a_name_do_not_matter_where_one_column_is_meant():
    table = TABLE.rename_columns(["Person", "Age", "Town", "Job", "Rich", "Year"])
    found = drafted(replace(WISH, cuts={"AGE": ("30", "50")}), table)
    assert (found.wish.protect, found.wish.release) == ((("Rich",),), ("Age", "Town"))
    assert (
        found.text
        == drafted(
            Wish((("Rich",),), ("Age", "Town"), WISH.promise, WISH.level, cuts={"Age": ("30", "50")}), table
        ).text
    )


def test_bits_that_promise_nothing_are_refused_with_how_many_there_are():
    with pytest.raises(InputError, match=r"Everything about rich is 0\.\d+ bits: 5 bits promise nothing"):
        drafted(replace(WISH, level=Fraction(5)))


def test_a_number_that_fills_a_group_is_cut_off_in_the_gap_below_it():
    values = np.array([1.0, 9.967326, 10.3, 10.57626, 11.84267, 20.0])
    counts = np.array([10, 10, 10, 500, 10, 10])
    cuts = round_cuts(values, counts, 10)
    assert cuts
    assert all(len(str(cut)) <= 4 for cut in cuts)


def test_rows_are_looked_at_as_different_records(monkeypatch):
    table = open_table(pa.table({"a": ["x", "y", "x", "x"] * 50, "b": [1, 1, 1, 2] * 50}))
    looks = look_at(table, ["a", "b"])
    assert (looks["a"].rows, len(looks["a"].codes), looks["b"].counts.tolist()) == (200, 3, [150, 50])
    groups = [Groups.alone(look) for look in looks.values()]
    monkeypatch.setattr(columns, "LARGEST", 0)  # as where there are more outcomes than numbers
    by_rows = [Groups.alone(look) for look in look_at(table, ["a", "b"]).values()]
    assert len(by_rows[0].look.codes) == 200
    found, expected = Cells.of(groups), Cells.of(by_rows)
    assert found.places.tolist() == expected.places.tolist()
    assert found.rows.tolist() == expected.rows.tolist() == [100, 50, 50]
