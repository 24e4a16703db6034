"""Questions on a table: the true numbers against a plain count, the intervals against a thousand draws."""

import sys
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from math import exp
from pathlib import Path

import pyarrow as pa
import pytest

from dalenius.answering import answer
from dalenius.core.channel import Channel
from dalenius.core.condition import condition
from dalenius.core.query import Interval
from dalenius.core.query_noise import kernel_on
from dalenius.core.question import Question
from dalenius.core.source import Column
from dalenius.errors import InputError, LedgerRefused, TableError, Unsupported
from dalenius.kernel.added import Gaussian, Geometric, Laplace
from dalenius.kernel.numbers import Work
from dalenius.ledger import Ledger
from dalenius.mechanisms.queries.draw import answered
from dalenius.mechanisms.queries.evaluation import evaluate
from dalenius.mechanisms.queries.intervals import shorter_by_a_step
from dalenius.mechanisms.queries.proof import proved_answer_text, reach
from dalenius.sampling import Key
from tests.effort import effort

F = Fraction
ROWS = [("a", "f", 10, 1), ("a", "f", 20, 2), ("b", "m", 30, 3), ("c", "m", 45, 4), ("d", "f", None, 5)]
TABLE = pa.table(dict(zip(("person", "sex", "income", "rank"), map(list, zip(*ROWS, strict=True)), strict=True)))
GAUSS = ("discrete-gaussian", F(25))
BOTH = {"sex": Column(values=("f", "m")), "rank": Column.cut([2, 4])}


def true(kind, columns, where=None, **more):
    return evaluate(Question(kind, columns, *GAUSS, where=where and condition(where), **more), TABLE).numbers


def test_counts():
    assert true("count", (), "sex == 'f'") == (3,)
    assert true("count", ("sex",), letter="m") == (2,)
    assert true("count", ("sex",), "rank > 3", letter="m") == (1,)
    assert true("count", (), "income is missing") == (1,)
    assert true("count", (), "income not in (10, 20)") == true("count", (), "income != 10 and income != 20") == (2,)
    assert (
        true("count", (), "not income in (10, 20)") == true("count", (), "not (income == 10 or income == 20)") == (3,)
    )


def test_sums_and_means_are_cut_off_at_their_ends():
    ends = {"between": Interval(F(0), F(25)), "grid": F(1)}
    assert true("sum", ("income",), "income is not missing", **ends) == (80,)
    assert true("mean", ("rank",), between=Interval(F(0), F(10)), grid=F(1)) == (3,)
    assert true("sum", ("rank",), declared={"rank": Column(values=("1", "2", "3", "4", "5"))}) == (15,)
    # (x - 12.5) / 12.5 of 10, 20, 25, 25, and how many they are
    assert true("mean", ("income",), "income is not missing", **ends) == (F(-1, 5) + F(3, 5) + 2, 4)
    with pytest.raises(TableError, match="a value is missing"):
        true("sum", ("income",), **ends)
    with pytest.raises(TableError, match="5 is not among the values"):
        true("sum", ("rank",), declared={"rank": Column(values=("1", "2", "3", "4"))})


def test_histograms_of_one_column_and_of_two():
    assert true("histogram", ("sex",), declared={"sex": BOTH["sex"]}) == (3, 2)
    assert true("histogram", ("sex", "rank"), declared=BOTH) == (1, 1, 1, 0, 1, 1)
    assert true("histogram", ("sex", "rank"), "rank >= 3", declared=BOTH) == (0, 0, 1, 0, 1, 1)
    assert true("histogram", ("sex",), "rank > 9", declared={"sex": BOTH["sex"]}) == (0, 0)
    with pytest.raises(TableError, match="'f' is not in its list of values"):
        true("histogram", ("sex",), declared={"sex": Column(values=("m",))})


def test_a_missing_value_that_is_a_category_has_cells_of_its_own():
    """Beside another column it must not fall into the first cell of that column's next value."""
    income = replace(Column.cut([25]), missing="category")
    asked = {"sex": BOTH["sex"], "income": income}
    assert true("histogram", ("sex", "income"), declared=asked) == (2, 0, 1, 0, 2, 0)
    assert true("histogram", ("income",), declared={"income": income}) == (2, 2, 1)
    one = Question("histogram", ("sex", "income"), *GAUSS, declared=asked)
    assert one.cells[2] == ("f", "(missing)")
    answer = answered(one, evaluate(one, TABLE), proved_answer_text(one, 5), Key.unsafe(1))
    assert [number.label for number in answer.numbers][2] == "f · (missing)"
    with pytest.raises(InputError, match="no place among the others of a quantile"):
        Question("quantile", ("income",), *GAUSS, declared={"income": income}, shares=(F(1, 2),))


def test_a_value_that_is_not_listed_is_named_with_its_column_and_without_a_row():
    with pytest.raises(TableError, match=r"^the table, column 'sex': 'm' is not in its list of values"):
        true("histogram", ("sex",), declared={"sex": Column(values=("f",))})


def test_persons_with_one_value_or_with_a_few_rows():
    one = Question("count", (), *GAUSS, where=condition("sex == 'f'"), unit="person")
    assert evaluate(one, TABLE).numbers == (2,)
    assert evaluate(one, TABLE).records == 4
    few = Question("count", (), *GAUSS, where=condition("rank < 3"), unit="person", max_rows=2)
    assert (evaluate(few, TABLE).numbers, evaluate(few, TABLE).records) == ((2,), 5)
    with pytest.raises(TableError, match="differs from an earlier row of the same person"):
        evaluate(Question("count", (), *GAUSS, where=condition("rank == 1"), unit="person"), TABLE)
    with pytest.raises(TableError, match="have more than max_rows = 1"):
        evaluate(Question("count", (), *GAUSS, where=condition("rank == 1"), unit="person", max_rows=1), TABLE)


def test_what_a_person_with_several_rows_is_promised():
    one = Question("count", (), "discrete-laplace", F(10), where=condition("rank < 3"))
    two = Question("count", (), "discrete-laplace", F(10), where=condition("rank < 3"), unit="person", max_rows=2)
    single, double = (proved_answer_text(q, 100).figures for q in (one, two))
    assert double.epsilon_nats == 2 * single.epsilon_nats
    assert double.independent_bits > single.independent_bits
    with pytest.raises(InputError, match="max_rows is 2, and the table has 1 records"):
        proved_answer_text(two, 1)


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"kind": "median"}, "there are count, sum"),
        ({"noise": "laplace"}, "drawn exactly"),
        ({"noise": "geometric"}, "between 1/1000 and 1"),
        ({"noise": "randomised-response", "parameter": F(2)}, "a probability"),
        ({"noise": "exponential", "parameter": F(101)}, "at most 100"),
        ({"noise": "table"}, "needs its table"),
        ({"grid": F(0)}, "step above 0"),
        ({"level": F(1)}, "between 0 and 1"),
        ({"columns": ("a", "b")}, "a count is of"),
        ({"kind": "sum", "columns": ()}, "over one column"),
        ({"kind": "histogram", "columns": ()}, "name them with column"),
        ({"kind": "quantile", "columns": ("a", "b")}, "over one column"),
    ],
)
def test_questions_that_make_no_sense(wrong, why):
    asked = {"kind": "count", "columns": (), "noise": GAUSS[0], "parameter": F(1), "where": condition("a == 1")}
    with pytest.raises(InputError, match=why):
        Question(**(asked | wrong))


def test_a_histogram_has_a_bound_of_cells_and_public_values():
    wide = {"a": Column(values=tuple(map(str, range(100)))), "b": Column(values=tuple(map(str, range(100))))}
    with pytest.raises(Unsupported, match="more than 1,000 cells"):
        Question("histogram", ("a", "b"), *GAUSS, declared=wide)
    with pytest.raises(InputError, match="not public"):
        Question("histogram", ("a",), *GAUSS, declared={"a": Column()})


@pytest.mark.long
@pytest.mark.parametrize(
    ("noise", "parameter"), [("randomised-response", F(1, 3)), ("exponential", F(1, 2)), ("geometric", F(1, 2))]
)
def test_finite_noise_has_exactly_the_law_of_its_kernel(noise, parameter):
    """Five records: the shares of many draws against the row of the true count in `core.query_noise`."""
    many = effort(800, 3000)
    question = Question("count", (), noise, parameter, where=condition("sex == 'f'"))
    seen = evaluate(question, TABLE)
    proved = proved_answer_text(question, seen.records)
    kernel = kernel_on([(F(k),) for k in range(6)], noise, parameter)
    found = [answered(question, seen, proved, Key.unsafe(k)) for k in range(many)]
    drawn = Counter(answer.drawn[0] for answer in found)
    held = sum(answer.numbers[0].low <= 3 <= answer.numbers[0].high for answer in found)
    assert held >= 0.93 * many
    for value, p in enumerate(kernel.rows[3]):
        assert abs(drawn[value] / many - float(p)) < 0.04


def test_a_table_of_noise_may_release_words():
    rows = tuple((F(6 - k, 7), F(k + 1, 7)) for k in range(6))
    channel = Channel({"f": ("0", "1", "2", "3", "4", "5")}, {"Y": ("few", "many")}, rows)
    question = Question("count", (), "table", F(0), where=condition("sex == 'f'"), table=channel)
    found = answer(question, TABLE, key=Key.unsafe(1)).answer
    assert found.numbers[0].value in ("few", "many")
    assert found.numbers[0].low <= 3 <= found.numbers[0].high
    assert found.proved.figures.epsilon_nats > 0
    other = Channel({"f": ("0", "1")}, {"Y": ("a",)}, ((F(1),), (F(1),)))
    with pytest.raises(InputError, match="differ in '2'"):
        answer(replace(question, table=other), TABLE)
    with pytest.raises(Unsupported, match="at most 256 values"):
        proved_answer_text(replace(question, noise="exponential", parameter=F(1), table=None), 1000)
    with pytest.raises(Unsupported, match="a list of values"):
        proved_answer_text(Question("sum", ("rank",), "exponential", F(1), between=Interval(F(0), F(5)), grid=F(1)), 10)


def test_what_is_proved_to_anybody_is_about_anything_unless_all_values_are_listed():
    """Three ages, and all others tied to them: a count of those over 65 tells more than one bit about an age."""
    where = Question("count", (), "discrete-laplace", F(2), where=condition("rank > 2"))
    column = Question("count", ("sex",), "discrete-laplace", F(2), letter="f")
    listed = replace(column, declared={"sex": BOTH["sex"]})
    cut = Question("histogram", ("rank",), "discrete-laplace", F(2), declared={"rank": BOTH["rank"]})
    assert [q.whole for q in (where, column, listed, cut)] == [False, False, True, False]
    tied, alone = (proved_answer_text(q, 1000).figures for q in (where, listed))
    assert alone.anybody_bits <= 1 < 6 < tied.anybody_bits
    assert alone.independent_bits == tied.independent_bits
    assert evaluate(listed, TABLE).numbers == evaluate(column, TABLE).numbers == (3,)
    with pytest.raises(TableError, match="not in its list of values"):
        evaluate(replace(listed, declared={"sex": Column(values=("f", "x"))}), TABLE)
    with pytest.raises(InputError, match="not among the values"):
        replace(listed, letter="x")


@pytest.mark.long
def test_another_question_or_another_table_has_noise_of_its_own():
    key = Key.unsafe(3)

    def noise(where, table):
        question = Question("count", (), "discrete-gaussian", F(10**8), where=condition(where), where_text=where)
        return answer(question, table, key=key).answer.drawn[0] - evaluate(question, table).numbers[0]

    other = TABLE.slice(0, 4)
    first = noise("rank > 0", TABLE)
    assert first == noise("rank > 0", TABLE)
    assert len({first, noise("rank >= 0", TABLE), noise("rank > 0", other)}) == 3


@pytest.mark.parametrize("times", [10, pytest.param(1000, marks=pytest.mark.slow)])
def test_a_question_that_is_repeated_with_one_key_is_charged_once(tmp_path, times):
    ledger = Ledger.create(tmp_path / "L", ["differential_privacy=0.15"])
    question = Question("count", (), "discrete-laplace", F(10), where=condition("rank > 2"), where_text="rank > 2")
    found = {answer(question, TABLE, key=Key.unsafe(5), ledger=ledger).answer.drawn for _ in range(times)}
    assert len(found) == 1
    assert ledger.status()["spent"] == {"differential_privacy": "0.1"}
    with pytest.raises(LedgerRefused):
        answer(question, TABLE, key=Key.unsafe(6), ledger=ledger)


def rand():
    sys.path.insert(0, str(Path(__file__).parents[3] / "examples"))
    from rand import rand_health

    return rand_health()


HEALTH = {"health": Column(values=("excellent", "fair or poor", "good"))}
VISITS = {"between": Interval(F(0), F(30)), "grid": F(1)}
COARSE = {
    "coarse count": Question("count", (), "discrete-laplace", F(1), where=condition("visits >= 3")),
    "coarse histogram": Question("histogram", ("health",), "discrete-gaussian", F(4), declared=HEALTH),
}
ASKED = COARSE | {
    "count": Question("count", (), "discrete-gaussian", F(400), where=condition("visits >= 3")),
    "sum": Question("sum", ("visits",), "discrete-laplace", F(120), **VISITS),
    "histogram": Question("histogram", ("health",), "discrete-gaussian", F(400), declared=HEALTH),
    "mean": Question("mean", ("visits",), "discrete-gaussian", F(100), where=condition("visits > 0"), **VISITS),
    "quantile": Question(
        "quantile",
        ("visits",),
        *GAUSS,
        shares=(F(1, 2), F(9, 10)),
        declared={"visits": Column.cut([1, 2, 3, 5, 8, 13])},
    ),
}


def covered(name, draws):
    """How many of so many draws have intervals around the true numbers, number by number."""
    question, table = ASKED[name], rand()
    seen = evaluate(question, table)
    proved = proved_answer_text(question, seen.records)
    held = Counter()
    for k in range(draws):
        for j, number in enumerate(answered(question, seen, proved, Key.unsafe(k)).numbers):
            held[j] += number.low <= seen.numbers[j] <= number.high
    return [held[j] / draws for j in range(len(seen.numbers))]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["count", "sum", "histogram", *COARSE])
def test_intervals_hold_the_true_number_as_often_as_they_say(name):
    for share in covered(name, 1000):
        assert abs(share - 0.95) <= 0.015


@pytest.mark.long
def test_intervals_of_a_few_draws():
    assert all(0.8 <= share <= 1 for share in covered("histogram", 60))


@pytest.mark.parametrize(
    ("noise", "weight"),
    [
        (Laplace(F(1), Work(10**7)), lambda t: exp(-abs(t))),
        (Laplace(F(16, 7), Work(10**7)), lambda t: exp(-abs(t) * 7 / 16)),
        (Gaussian(F(4), Work(10**7)), lambda t: exp(-t * t / 8)),
        (Gaussian(F(25), Work(10**7)), lambda t: exp(-t * t / 50)),
        (Geometric(F(7, 10), Work(10**7)), lambda t: 0.7 ** abs(t)),
    ],
)
@pytest.mark.parametrize("level", [F(19, 20), F(4, 5), F(999, 1000)])
def test_an_interval_of_coarse_noise_is_shortened_as_often_as_its_level_allows(noise, weight, level):
    """(1 - w) P(|N| <= steps) + w P(|N| <= steps - 1) is the level, by adding the law up."""
    steps = reach(noise, level)
    shorter = float(shorter_by_a_step(noise, steps, level))
    whole = sum(map(weight, range(-200, 201)))
    within = [sum(weight(t) for t in range(-n, n + 1)) / whole for n in (steps - 1, steps)]
    assert within[0] < level
    assert 0 <= (1 - shorter) * within[1] + shorter * within[0] - float(level) < 2e-5


def test_noise_that_stays_at_0_keeps_its_interval():
    assert shorter_by_a_step(Laplace(F(1, 8), Work(10**7)), 0, F(19, 20)) == 0


@pytest.mark.long
def test_a_mean_of_selected_records_and_quantiles_lie_in_their_intervals():
    table = rand()
    visits = [min(v, 30) for v in table["visits"].to_pylist()]
    chosen = [v for v in visits if v > 0]
    middle, nine_tenths = (sorted(visits)[-(-int(len(visits) * q) // 10) - 1] for q in (5, 9))
    cells = [("under 1", 1), ("1 to under 2", 2), ("2 to under 3", 3), ("3 to under 5", 5), ("5 to under 8", 8)]
    names = [next((name for name, end in cells if v < end), None) for v in (middle, nine_tenths)]
    mean, quantiles = ASKED["mean"], ASKED["quantile"]
    for k in range(3):
        (number,) = answer(mean, table, key=Key.unsafe(k)).answer.numbers
        assert number.low <= F(sum(chosen), len(chosen)) <= number.high
        found = answer(quantiles, table, key=Key.unsafe(k)).answer.numbers
        order = list(quantiles.alphabet("visits"))
        for number, name in zip(found, names, strict=True):
            assert order.index(number.low) <= order.index(name) <= order.index(number.high)
