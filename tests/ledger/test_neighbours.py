"""Lines about one person among known people: each rule against its formula, and the smallest one is chosen."""

from fractions import Fraction
from math import log, sqrt

import pytest

from dalenius.core.condition import condition
from dalenius.core.question import Question
from dalenius.documents import ABOUT, digest, filed
from dalenius.errors import InputError, LedgerRefused
from dalenius.ledger import Ledger
from dalenius.ledger.budget import Line
from dalenius.measures.deltas import gaussian_delta
from dalenius.mechanisms.queries.proof import proved_answer_text

F = Fraction


def answer(noise, parameter, where="age >= 65", max_rows=None, records=1000):
    question = Question(
        "count",
        (),
        noise,
        F(parameter),
        where=condition(where),
        where_text=where,
        unit=max_rows and "p",
        max_rows=max_rows,
    )
    text = proved_answer_text(question, records).text
    about = {"format": ABOUT, "of": digest(text), "table": "t.csv", "reads": list(question.looks_at)}
    return filed(text, about | {"question": question.to_json()})


@pytest.fixture
def book(tmp_path):
    def made(*budget, rule="joint"):
        return Ledger.create(tmp_path / "L", budget, rule=rule)

    return made


def add(ledger, document, many=1, dataset="d"):
    for _ in range(many):
        ledger.add(document, dataset=dataset, again=True)
    return ledger.status()


def test_pure_levels_add(book):
    status = add(book("differential_privacy=1", "zcdp=1"), answer("discrete-laplace", 10), 3)
    assert status["spent"] == {"differential_privacy": "0.3", "zcdp": "0.015"}
    assert status["how"]["differential_privacy"] == "levels add up"


@pytest.mark.long
def test_many_small_answers_are_charged_less_with_a_delta(book):
    status = add(
        book("differential_privacy:1/1000000=100", "differential_privacy=100"), answer("discrete-laplace", 10), 60
    )
    pure, small = (float(status["spent"][n]) for n in ("differential_privacy", "differential_privacy:1/1000000"))
    assert pure == pytest.approx(6)
    assert small < 5
    assert "Renyi" in status["how"]["differential_privacy:1/1000000"]


@pytest.mark.long
def test_gaussian_answers_add_up_as_one_gaussian_of_less_noise(book):
    many = 16
    status = add(book("differential_privacy:1/1000000=100", "zcdp=9"), answer("discrete-gaussian", 100), many)
    assert float(status["spent"]["zcdp"]) == pytest.approx(many / 200)
    found = float(status["spent"]["differential_privacy:1/1000000"])
    # No rule can be below the exact curve of Gaussian numbers, and the one of Bun and Steinke is above.
    assert gaussian_delta(sqrt(many) / 10, found) < 1e-6
    assert found < many / 200 + 2 * sqrt(many / 200 * log(1e6))
    assert gaussian_delta(sqrt(many) / 10, 0.8 * found) > 1e-6
    assert "concentrated" in status["how"]["differential_privacy:1/1000000"]


@pytest.mark.long
def test_gaussian_noise_has_no_pure_level(book):
    ledger = book("differential_privacy=10")
    with pytest.raises(LedgerRefused, match="at a delta only"):
        ledger.add(answer("discrete-gaussian", 100), dataset="d")


def test_disjoint_people_are_charged_the_largest_and_any_adversary_the_sum(book):
    ledger = book("differential_privacy=1", "independent_records=1", "dalenius=99", rule="disjoint")
    one = ledger.add(answer("discrete-laplace", 10), dataset="north")
    assert "different datasets" not in ledger.status()["how"]["dalenius"]  # of one dataset nobody else is tied to
    ledger.add(answer("discrete-laplace", 5), dataset="south")
    status = ledger.status()
    assert "people of different datasets" in status["how"]["dalenius"]
    assert one.id == 1
    assert status["spent"]["differential_privacy"] == "0.2"
    assert "largest of 2 datasets" in status["how"]["differential_privacy"]
    assert float(status["spent"]["dalenius"]) > 1
    joint = float(status["spent"]["independent_records"])
    other = Ledger.create(ledger.path.with_name("M"), ["independent_records=1"])
    other.add(answer("discrete-laplace", 10), dataset="north")
    other.add(answer("discrete-laplace", 5), dataset="south")
    assert float(other.status()["spent"]["independent_records"]) > joint


def test_rows_of_a_person_count_together(book):
    status = add(book("differential_privacy=1", "zcdp=1"), answer("discrete-laplace", 10, max_rows=3))
    assert status["spent"]["differential_privacy"] == "0.3"
    assert status["spent"]["zcdp"] == "0.045"


@pytest.mark.slow
def test_the_same_question_adds_by_record_and_another_one_by_all_it_can_tell(book):
    """Two questions about different columns are two looks at a person whose columns may be copies of each other."""
    wide = 4_000_000  # a variance against anybody, for 1,000 records
    same = add(book("dalenius=9"), answer("discrete-gaussian", wide), 2)
    assert "independent draws from the same data" in same["how"]["dalenius"]
    ledger = Ledger.create(book.__closure__[0].cell_contents / "M", ["dalenius=9"])
    ledger.add(answer("discrete-gaussian", wide), dataset="d")
    ledger.add(answer("discrete-gaussian", wide, where="age >= 30"), dataset="d")
    apart = ledger.status()
    assert "several data" in apart["how"]["dalenius"]
    assert float(apart["spent"]["dalenius"]) >= float(same["spent"]["dalenius"])


def test_a_line_with_a_delta():
    line = Line.parse("differential_privacy:1e-6=2")
    assert (line.delta, line.unit) == (F(1, 10**6), "nats")
    assert Line.parse("differential_privacy=2").delta == 0
    for wrong in ("differential_privacy:2=2", "differential_privacy:0.1,0.2=2", "differential_privacy:x=2", "zcdp:1=2"):
        with pytest.raises(InputError):
            Line.parse(wrong)
