"""Answers to queries in a ledger: charged what any adversary can learn, at least as much as they tell together."""

import json
import sqlite3
from fractions import Fraction
from math import log

import pytest

from dalenius import Ledger
from dalenius.core.query import Interval, Query
from dalenius.core.query_noise import channel_of_query
from dalenius.errors import DaleniusError, InputError, LedgerRefused, NotCertified
from dalenius.ledger.documents import mechanism_of
from dalenius.ledger.query import query_document
from dalenius.measures.composition import cross_capacity, general, general_bound, parallel
from dalenius.measures.query import measures_of_query, query_about, query_capacity, query_independent, query_whole
from dalenius.tables.query_file import query_from_json

F = Fraction
BITS = ("0", "1")


def count(noise="geometric", parameter="3/4", records=3):
    return Query(records, (BITS,) * records, "count", noise, F(parameter))


def book(tmp_path, *budget):
    tmp_path.mkdir(exist_ok=True)
    return Ledger.create(tmp_path / "people.ledger", budget or ["dalenius=9"])


def spent(ledger, line="dalenius"):
    return float(Fraction(ledger.status()["spent"][line]))


def test_answers_about_one_column_add_up_by_individual_capacity(tmp_path):
    ledger = book(tmp_path)
    for k, parameter in enumerate((F(3, 4), F(1, 2), F(9, 10)), 1):
        ledger.add(query_document(count(parameter=parameter), "smoker"), dataset="people")
        found = [query_capacity(count(parameter=p)) for p in (F(3, 4), F(1, 2), F(9, 10))[:k]]
        assert spent(ledger) == pytest.approx(min(sum(c.high for c in found), 1.0), abs=1e-12)
        assert spent(ledger) >= min(sum(c.low for c in found), 1.0)


@pytest.mark.long
def test_answers_about_two_columns_are_charged_by_general_composition(tmp_path):
    """Each class of a letter counts once for each letter of the other column; less than the capacity of all records."""
    one = count("randomised-response", "3/5", 5)
    channel = channel_of_query(one)
    assert general([channel_of_query(count("randomised-response", "3/5", 2))] * 2).together[0] > 0
    ledger = book(tmp_path)
    for name in ("smoker", "driver"):
        ledger.add(query_document(one, name), dataset="people")
    assert spent(ledger) == pytest.approx(general_bound([channel, channel]), abs=1e-9)
    assert spent(ledger) < 2 * query_whole(one)[1] - 1e-3
    assert spent(ledger) > 2 * query_capacity(one).high
    assert "all that is read of a person" in ledger.status()["how"]["dalenius"]


@pytest.mark.long
def test_other_people_are_charged_what_they_reveal_by_ties(tmp_path):
    """Parallel composition: the own dataset, and of each other one what it tells of a person with as many values."""
    one, many = count("randomised-response", "3/5", 2), count("randomised-response", "3/5", 5)
    ledger = Ledger.create(tmp_path / "L", ["dalenius=9"], rule="disjoint")
    ledger.add(query_document(one, "smoker"), dataset="north")
    ledger.add(query_document(many, "smoker"), dataset="south")
    cross = [cross_capacity(channel_of_query(q), 2)[1] for q in (one, many)]
    own = [query_capacity(q).high for q in (one, many)]
    expected = min(1.0, max(own[0] + cross[1], own[1] + cross[0]))
    assert spent(ledger) == pytest.approx(expected, abs=1e-9)
    exact = parallel([channel_of_query(count("randomised-response", "3/5", 2))] * 2)
    assert exact.together[0] <= own[0] + cross[0] + 1e-9
    assert "by ties to them" in ledger.status()["how"]["dalenius"] or expected == 1.0
    real = query_about(Query(40, (BITS,) * 40, "count", "gaussian", F(9)), 2, own=False)
    assert real == pytest.approx(1.0)
    wide = Query(4, Interval(F(0), F(1)), "mean", "gaussian", F(1))
    assert query_about(wide, 2, own=True) == query_whole(wide)[1] >= query_about(wide, 2, own=False)


@pytest.mark.long
def test_answers_about_other_columns_are_charged_their_whole_capacity(tmp_path):
    """Two columns of two people: the sum of C_1 is less than what they tell together, so it is not what is charged."""
    one = Query(2, (BITS,) * 2, "table", "table", None, table=tuple("abcd"), kernel=(tuple("abcd"), _both(F(1, 4))))
    together = general([channel_of_query(one)] * 2).together
    assert 2 * query_capacity(one).high < together[0]
    for n, (names, data) in enumerate(((("smoker", "driver"), ("people",) * 2), ((None, None), ("one", "two")))):
        ledger = book(tmp_path / str(n))
        for name, dataset in zip(names, data, strict=True):
            ledger.add(query_document(one, name), dataset=dataset)
        assert spent(ledger) >= together[1]
        assert spent(ledger) == pytest.approx(min(2 * query_whole(one)[1], 2.0), abs=1e-9)
    same = book(tmp_path / "same")
    same.add(query_document(one, "smoker"), dataset="people")
    same.add(query_document(one, "smoker"), dataset="people", again=True)
    assert spent(same) == pytest.approx(2 * query_capacity(one).high, abs=1e-12)


def _both(p):
    """Two bits, each through its own binary symmetric channel."""
    flip = ((1 - p, p), (p, 1 - p))
    return tuple(tuple(flip[a][c] * flip[b][d] for c in (0, 1) for d in (0, 1)) for a in (0, 1) for b in (0, 1))


def test_a_person_with_several_records_is_a_group(tmp_path):
    ledger = book(tmp_path)
    ledger.add(query_document(count(), "smoker"), dataset="people", max_rows=2)
    assert spent(ledger) == pytest.approx(measures_of_query(count()).groups[2].high, abs=1e-12)
    with pytest.raises(InputError, match="cannot have 4 rows in a query over 3 records"):
        ledger.add(query_document(count(), "smoker"), dataset="people", max_rows=4)
    with pytest.raises(InputError, match="one draw from all records"):
        ledger.add(query_document(count(), "smoker"), dataset="people", rows=3)


def test_records_of_one_person_may_hang_together():
    """Both records of a person who always gives the same answer twice tell more than twice what one of them tells."""
    rows = tuple(tuple(F(v, 7) for v in row) for row in ((4, 2, 1), (2, 3, 2), (1, 2, 4)))
    query = Query(2, (BITS,) * 2, "count", "table", None, kernel=(tuple("uvw"), rows))
    mechanism = mechanism_of(query_document(query, "votes"))
    assert mechanism.independent_bits(2) >= F(198, 1000)
    assert 2 * mechanism.independent_bits(1) < F(13, 100)


def test_many_values_are_bounded_by_theorem_4(tmp_path):
    ledger, query = book(tmp_path), count(records=90, parameter=F(99, 100))
    ledger.add(query_document(query, "smoker"), dataset="people", max_rows=2)
    assert spent(ledger) == pytest.approx(min(2 * query_capacity(query).high, query_whole(query)[1]), abs=1e-12)


def test_numbers_of_an_interval_have_no_letters_to_count(tmp_path):
    mean = Query(5, Interval(F(-1), F(1)), "mean", "gaussian", F(4))
    ledger = book(tmp_path, "dalenius=9", "contraction=1")
    ledger.add(query_document(mean, "income"), dataset="people")
    assert spent(ledger) == pytest.approx(query_capacity(mean).high, abs=1e-12)
    assert spent(ledger, "contraction") == 1
    with pytest.raises(LedgerRefused, match="no finite level of local_dp"):
        Ledger.create(tmp_path / "dp", ["local_dp=9"]).add(query_document(mean), dataset="people")


@pytest.mark.long
def test_levels_and_coefficients_are_those_of_all_inputs(tmp_path):
    for query in (count(), Query(3, (BITS,) * 3, "sum", "laplace", F(6))):
        ledger = Ledger.create(tmp_path / query.noise, ["local_dp=99", "contraction=1"])
        ledger.add(query_document(query, "smoker"), dataset="people", max_rows=3)
        seen = measures_of_query(query)
        assert spent(ledger, "local_dp") == pytest.approx(seen.strong_dp_epsilon, rel=1e-12)
        assert "its own line is differential_privacy" in ledger.status()["how"]["local_dp"]
        assert seen.capacity[0] / 2 < spent(ledger, "contraction") < 1


def test_what_an_answer_tells_about_a_secret_is_what_it_tells_when_all_others_are_known(tmp_path):
    """A line about a secret is about a row among others that say nothing of it; all rows together were charged."""
    ledger = book(tmp_path, "leakage:health=2", "information_privacy:health=2")
    ledger.add(query_document(count(), "smoker"), dataset="people")
    assert spent(ledger, "leakage:health") == pytest.approx(query_independent(count())[1], abs=1e-12)
    assert spent(ledger, "information_privacy:health") == pytest.approx(log(4 / 3), abs=1e-12)


@pytest.mark.parametrize("noise", ["geometric", "gaussian", "laplace", "randomised-response"])
def test_lines_about_guesses_take_answers(tmp_path, noise):
    """They ended in an error of ours: an answer has no inputs that could be counted."""
    ledger = book(tmp_path, "guess:health=1", "maximal_leakage=2", "total_variation:health=1")
    ledger.add(query_document(count(noise, "1/2"), "smoker"), dataset="people")
    assert 0 < spent(ledger, "maximal_leakage") <= 1  # bits: a record has two values
    assert spent(ledger, "guess:health") == 1
    assert 0 < spent(ledger, "total_variation:health") <= 1


def test_the_same_answer_is_charged_once_and_a_budget_is_kept(tmp_path):
    ledger = book(tmp_path, "dalenius=1/2")
    first = ledger.add(query_document(count(), "smoker"), dataset="people")
    assert ledger.add(query_document(count(), "smoker"), dataset="people").id == first.id
    with pytest.raises(LedgerRefused, match=r"the budget of dalenius is 0\.5 bits"):
        ledger.add(query_document(count(parameter=F(1, 10)), "smoker"), dataset="people")
    with pytest.raises(InputError, match="which data"):
        ledger.add(query_document(count(), "smoker"))
    (told,) = ledger.status()["releases"]
    assert (told["kind"], told["reads"], told["released"]) == (
        "query", ["smoker of 3 records"], ["count under geometric 3/4"],
    )  # fmt: skip
    assert ledger.check()["proved"]


def test_a_document_that_was_changed_is_found(tmp_path):
    ledger = book(tmp_path)
    ledger.add(query_document(count(), "smoker"), dataset="people")
    with sqlite3.connect(ledger.path) as c:
        c.execute("DROP TRIGGER IF EXISTS forward")
        for (name,) in c.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            c.execute(f"DROP TRIGGER {name}")
        c.execute("UPDATE releases SET document = ?", (query_document(count(parameter=F(99, 100)), "smoker"),))
    with pytest.raises(NotCertified, match="was changed after it was charged"):
        ledger.check()


QUERIES = [
    count(),
    count("exponential", F(1)),
    Query(2, (("a", "b", "c"),) * 2, "histogram", "randomised-response", F(1, 5)),
    Query(3, (BITS,) * 3, "count", "laplace", F(2), "0"),
    Query(5, Interval(F(-1), F(1, 3)), "mean", "gaussian", F(4)),
    Query(2, (BITS, ("x", "y", "z")), "table", "exponential", F(1), table=tuple((F(v, 2),) for v in range(6))),
    Query(2, (BITS,) * 2, "table", "gaussian", F(1), table=tuple((F(v), F(1, 3)) for v in range(4))),
    Query(2, (BITS,) * 2, "table", "table", None, table=tuple("abca"), kernel=(("u", "v"), ((F(1, 3), F(2, 3)),) * 3)),
]


@pytest.mark.parametrize("query", QUERIES, ids=lambda q: f"{q.kind}-{q.noise}")
def test_a_query_survives_its_document(query):
    assert query_from_json(json.loads(json.dumps(query.to_json())), "here") == query
    assert mechanism_of(query_document(query)).query == query


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"records": 0}, "not a number of records"),
        ({"records": True}, "not a number of records"),
        ({"records": 10**15}, "too many values"),
        ({"letters": []}, "list of strings"),
        ({"letters": {"low": "0"}}, "list of strings"),
        ({"letters": ["0", "0"]}, "different values"),
        ({"query": {"table": "f.json"}}, "given by values and rows"),
        ({"query": "median"}, "there is no query"),
        ({"noise": 3}, "given by values and rows"),
        ({"noise": {"letters": ["a", "b"], "rows": [["1/2", "1/3"]]}}, "sum"),
        ({"noise": {"letters": ["a", "b"], "rows": []}}, "list of lists"),
        ({"parameter": "nan"}, "write an integer, a decimal or a fraction"),
        ({"parameter": "5/4"}, "lies between 0 and 1"),
        ({"more": 1}, "has the keys"),
    ],
)
def test_damaged_queries_are_refused(change, message):
    with pytest.raises(DaleniusError, match=message):
        query_from_json(count().to_json() | change, "q.json")
