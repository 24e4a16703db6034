"""Whom a promise is about, a row, a person or the whole release: the same in file, proof, card, words and ledger."""

import json
import math
import random
from fractions import Fraction

import numpy as np
import pytest

from dalenius import Problem, apply, load, solve, verify
from dalenius.core.forms import channel_of
from dalenius.documents import canonical, checked, digest
from dalenius.errors import InputError, NotCertified, ProblemFileError, Unsupported
from dalenius.tables import read_told

NOISE = """\
[source]
table = "n.csv"
[columns.x]
grid = { low = 0, high = 10, step = 1 }
[mechanism]
observe = ["x"]
release = ["x"]
form = "noise"
noise = "gaussian"
[objective]
minimize = { distortion = "squared", of = ["x"] }
[[guarantee]]
dalenius = true
at_most_bits = 0.5
"""
PERSONS = """\
[source]
table = "h.csv"
unit = "SERIALNO"
max_rows = 4
[columns.age]
values = ["young", "middle", "old"]
[mechanism]
observe = ["age"]
FORM
[objective]
GOAL
[[guarantee]]
local_dp = 4
"""
MOST = 'maximize = { information = ["age"] }'


@pytest.fixture
def place(tmp_path):
    draw = random.Random(3)
    (tmp_path / "n.csv").write_text("x\n" + "".join(f"{draw.randrange(11)}\n" for _ in range(40)))
    rows = [(h, draw.choice(["young", "middle", "old"])) for h in range(300) for _ in range(draw.randint(1, 4))]
    (tmp_path / "h.csv").write_text("SERIALNO,age\n" + "".join(f"{h},{a}\n" for h, a in rows))

    def write(text, name="p.toml"):
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return write


def one_row_bits(design):
    """The least of the information that one row tells under the best of a few laws: a lower bound of its capacity."""
    rows = np.array([[float(v) for v in row] for row in channel_of(design.channel.to_json()).rows])
    p = np.zeros(len(rows))
    p[[0, -1]] = 0.5
    out = p @ rows
    return float((p[:, None] * rows * np.log2(np.where(rows > 0, rows, 1) / np.where(out > 0, out, 1))).sum())


@pytest.mark.long
# --- any adversary ----------------------------------------------------------------------------------------------------
def test_point_01_a_group_of_records_with_noise_tells_as_much_as_its_rows_add_up_to(place):
    one = solve(Problem.from_file(place(NOISE)))
    three = solve(Problem.from_file(place(NOISE + "group = 3\n")))
    figure = Fraction(three.proved[0]["capacity_bits"])
    assert 3 * one_row_bits(three) - 1e-12 <= figure <= Fraction(1, 2)  # three independent records tell three times one
    assert 3 * one_row_bits(one) > 0.5  # which the noise for one record does not keep
    document = json.loads(one.dumps())
    document["promises"][0]["group"] = 3
    with pytest.raises(NotCertified, match="what an attacker may learn is"):
        checked(canonical(document))


@pytest.mark.long
def test_point_02_one_row_is_not_called_the_whole_release_and_the_ledger_charges_what_is_said(place, run, tmp_path):
    problem = place(NOISE)
    run("ledger", "init", tmp_path / "l", "--budget", "dalenius=9")
    code, said, err = run("release", "--details", problem, "-o", tmp_path / "out", "--ledger", tmp_path / "l")
    assert (code, err) == (0, "")
    assert "A released row by itself reveals at most 0.5 bits about its original x" in said
    assert "all 40 released rows may together reveal up to 3.46 bits about one; a ledger charges that" in said
    assert "about any one record" not in said
    spent = json.loads(run("ledger", "status", tmp_path / "l", "--json")[1])["spent"]["dalenius"]
    assert math.ceil(Fraction(spent) * 100) == 346
    public = (tmp_path / "out" / "statement-public.html").read_text()
    assert "This is no promise about the whole release" in public
    assert "up to 3.46 bits, all that x can hold" in public


@pytest.mark.long
def test_point_02_a_matrix_speaks_of_one_released_row_too(place, run, tmp_path):
    written_out = NOISE.replace('form = "noise"\nnoise = "gaussian"\n', "").replace("squared", "hamming")
    written_out = written_out.replace("[source]", "[source]\nmin_cell = 1")
    written_out = written_out.replace("high = 10", "high = 1")
    problem = place(written_out)
    (tmp_path / "n.csv").write_text("x\n" + "0\n1\n1\n0\n" * 10)
    run("ledger", "init", tmp_path / "l", "--budget", "dalenius=9")
    code, said, err = run("release", "--details", problem, "-o", tmp_path / "out", "--ledger", tmp_path / "l")
    assert (code, err) == (0, "")
    assert "A released row by itself reveals at most 0.5 bits about its original x" in said
    assert "all 40 released rows may together reveal up to 1 bit about one; a ledger charges that" in said
    spent = json.loads(run("ledger", "status", tmp_path / "l", "--json")[1])["spent"]["dalenius"]
    assert Fraction(spent) == 1


@pytest.mark.long
def test_a_promise_about_the_whole_release_is_proved_at_the_figure_that_the_ledger_charges(place, run, tmp_path):
    problem = place(NOISE + 'rows = "all"\n')
    run("ledger", "init", tmp_path / "l", "--budget", "dalenius=9")
    code, said, err = run("release", "--details", problem, "-o", tmp_path / "out", "--ledger", tmp_path / "l")
    assert (code, err) == (0, "")
    assert "All 40 released rows together reveal at most 0.5 bits about the x of any one row" in said
    (guarantee,) = read_told(tmp_path / "out" / "card.json")["guarantees"]
    assert guarantee["promised"]["rows"] == 40
    spent = json.loads(run("ledger", "status", tmp_path / "l", "--json")[1])["spent"]["dalenius"]
    assert guarantee["proved"]["capacity_bits"] == spent
    assert run("verify", tmp_path / "out" / "design.json", "--problem", problem)[0] == 0
    assert run("verify", tmp_path / "out" / "card.json")[0] == 0


def two_equal_rows_bits(design):
    """What two rows of one and the same record tell about it, 0 or 10 at even odds."""
    rows = np.array([[float(v) for v in row] for row in channel_of(design.channel.to_json()).rows])[[0, -1]]
    both = np.einsum("xa,xb->xab", rows, rows).reshape(2, -1)
    both, out = both[:, both.max(axis=0) > 0], both[:, both.max(axis=0) > 0].mean(axis=0)
    return float((both * np.log2(np.where(both > 0, both, 1) / out)).sum() / 2)


@pytest.mark.long
def test_point_02_equal_rows_tell_no_more_than_the_promise_about_all_of_them(place, tmp_path):
    (tmp_path / "n.csv").write_text("x\n3\n9\n")
    one = solve(Problem.from_file(place(NOISE)))
    all_ = solve(Problem.from_file(place(NOISE + 'rows = "all"\n')))
    assert 0.58 < two_equal_rows_bits(one) < 1  # a promise about one row by itself is none about both
    assert two_equal_rows_bits(all_) <= Fraction(all_.proved[0]["capacity_bits"]) <= Fraction(1, 2)


@pytest.mark.slow
def test_a_promise_about_all_rows_does_not_stretch_to_a_longer_table(place, tmp_path):
    design = solve(Problem.from_file(place(NOISE + 'rows = "all"\n')))
    longer = tmp_path / "longer.csv"
    longer.write_text((tmp_path / "n.csv").read_text() + "5\n")
    for ask in (lambda: apply(design, longer), lambda: verify(design, table=longer)):
        with pytest.raises(NotCertified, match="40 released rows reveal, and this table has 41"):
            ask()


def test_rows_are_counted_where_there_is_a_table(place):
    with pytest.raises(ProblemFileError, match='rows = "all" counts the rows of a table'):
        Problem.from_file(place((NOISE + 'rows = "all"\n').replace('table = "n.csv"', 'pmf = "p.json"')))
    with pytest.raises(ProblemFileError, match="3 records have that many rows, and rows is 2"):
        Problem.from_file(place(NOISE + "group = 3\nrows = 2\n"))


# --- persons ----------------------------------------------------------------------------------------------------------
FORMS = {
    "pram": ('release = ["age"]\nform = "pram"', MOST),
    "own values": ('release = ["age"]', MOST),
    "each": ('release = ["age"]\nform = "pram"\neach = { age = 4 }', 'maximize = { information_of_each = ["age"] }'),
    "variance": ('output = "Y"', 'minimize = { variance = ["age"] }'),
}


@pytest.mark.long
@pytest.mark.parametrize("form", FORMS)
def test_point_04_a_level_is_that_of_a_person_with_all_of_its_rows(form, place):
    mechanism, goal = FORMS[form]
    design = solve(Problem.from_file(place(PERSONS.replace("FORM", mechanism).replace("GOAL", goal))))
    rows = channel_of(design.channel.to_json()).rows
    level = math.log(max(max(c) / min(c) for c in zip(*rows, strict=True) if max(c)))
    assert 0.9 < level < 1 + 1e-9  # of one row; four of them keep level 4
    assert 4 * level <= float(design.proved[0]["epsilon_nats"]) + 1e-9 <= 4 + 2e-9
    assert design.to_json()["guarantees"][0]["promised"] == {"local_dp": "4", "rows": 4}
    verify(design)


@pytest.mark.long
def test_point_04_card_words_and_ledger_speak_of_the_same_person(place, run, tmp_path):
    mechanism, goal = FORMS["pram"]
    problem = place(PERSONS.replace("FORM", mechanism).replace("GOAL", goal))
    run("ledger", "init", tmp_path / "l", "--budget", "local_dp=9")
    code, said, err = run("release", "--details", problem, "-o", tmp_path / "out", "--ledger", tmp_path / "l")
    assert (code, err) == (0, "")
    assert "no set of released rows of one SERIALNO (at most 4 rows) is more than 54.6 times as likely" in said
    card = read_told(tmp_path / "out" / "card.json")
    assert (card["unit_of_privacy"], card["max_rows"]) == ("SERIALNO", 4)
    spent = Fraction(json.loads(run("ledger", "status", tmp_path / "l", "--json")[1])["spent"]["local_dp"])
    assert abs(spent - Fraction(card["guarantees"][0]["proved"]["epsilon_nats"])) < Fraction(1, 10**25)
    assert run("verify", tmp_path / "out" / "card.json")[0] == 0
    assert run("verify", tmp_path / "out" / "design.json", "--problem", problem, "--table", tmp_path / "h.csv")[0] == 0
    assert "one SERIALNO (at most 4 rows)" in (tmp_path / "out" / "statement-public.html").read_text()
    assert load(tmp_path / "out" / "design.json").problem.guarantees[0].rows == 4
    alike = "SERIALNO has up to 4 rows. Rows of one SERIALNO may be alike"
    for file in ("card.json", "design.json"):
        asked = "estimate", tmp_path / "out" / file, tmp_path / "out" / "released.csv", "--target"
        assert alike in run(*asked, "population")[1]
        assert "may be alike" not in run(*asked, "table")[1]
    (tmp_path / "out" / "card.about.json").unlink()  # the level itself says of how many rows it is
    card = tmp_path / "out" / "card.json"
    said = run("estimate", card, tmp_path / "out" / "released.csv", "--target", "population")[1]
    assert "One person has up to 4 rows. Rows of one person may be alike" in said
    assert "one person has up to 4, and their levels add up" in run("audit", card)[1]


def test_the_level_of_a_row_is_refused_as_that_of_a_person(place):
    mechanism, goal = FORMS["pram"]
    design = solve(Problem.from_file(place(PERSONS.replace("FORM", mechanism).replace("GOAL", goal))))
    document = json.loads(design.dumps())
    assert document["promises"][0]["rows"] == 4
    about = json.loads(design.about())
    for rows in (1, 2):
        document["promises"][0]["rows"] = rows
        text = canonical(document)
        with pytest.raises(InputError, match=f"the level is that of {rows} rows?, and a person has up to 4"):
            type(design).from_text(text, about | {"of": digest(text)})


def test_a_problem_file_does_not_say_the_rows_of_a_level_itself(place):
    mechanism, goal = FORMS["pram"]
    text = PERSONS.replace("FORM", mechanism).replace("GOAL", goal)
    with pytest.raises(ProblemFileError, match="rows"):
        Problem.from_file(place(text + "rows = 4\n"))


LEAST = 'minimize = { distortion = "hamming", of = ["age"] }'


@pytest.mark.parametrize("shape", ['release = ["age"]', 'release = ["age"]\npreserve_marginals = true'])
def test_the_least_change_keeps_the_level_of_a_house_with_all_of_its_rows(place, shape):
    """Refused before, with a sentence about leakage: rows of one house are changed one by one, and levels add up."""
    asked = PERSONS.replace("FORM", shape).replace("GOAL", LEAST)
    design = solve(Problem.from_file(place(asked)))
    rows = channel_of(design.channel.to_json()).rows
    ratio = max(a / b for one in rows for other in rows for a, b in zip(one, other, strict=True) if a)
    assert 2.7 < float(ratio) <= math.e  # four rows of e each make e^4
    one_row = (
        asked.replace("max_rows = 4\n", "").replace('unit = "SERIALNO"\n', "").replace("local_dp = 4", "local_dp = 1")
    )
    assert solve(Problem.from_file(place(one_row, "row.toml"))).channel.rows == design.channel.rows
    assert verify(design, problem=place(asked)).kept.promises[0]["epsilon_nats"] <= 4


def test_rows_of_a_person_are_refused_where_nothing_is_promised_about_them(place):
    """The least leakage of one row was released as if max_rows had been read."""
    limited = 'minimize = { leakage = ["age"] }\n[[limit]]\ndistortion = "hamming"\nof = ["age"]\nat_most = "1/2"'
    asked = PERSONS.replace("FORM", 'release = ["age"]').replace("GOAL", limited)
    asked = asked.replace("[[guarantee]]\nlocal_dp = 4\n", "")
    with pytest.raises(Unsupported, match="leave out max_rows, and one row is drawn for each person"):
        solve(Problem.from_file(place(asked)))


def test_rows_of_a_person_are_refused_beside_a_promise_that_does_not_add_up(place):
    asked = PERSONS.replace("FORM", 'release = ["age"]').replace("GOAL", LEAST)
    with pytest.raises(Unsupported, match="leave out max_rows, and one row is drawn for each person"):
        solve(Problem.from_file(place(asked + '[[guarantee]]\nleakage = ["age"]\nat_most_bits = 1\n')))
