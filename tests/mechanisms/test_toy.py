"""A mechanism from outside, a folder and one registration: solved, verified, applied, audited, charged and reported."""

import json
from pathlib import Path

import pytest

from dalenius import api
from dalenius.core import Problem
from dalenius.core.mechanism_section import FORMS
from dalenius.errors import ProblemFileError, Unsupported
from dalenius.ledger import Ledger
from dalenius.mechanisms import register, registry
from tests.mechanisms.toy.takes import SPINNER

FILE = """
[source]
table = "answers.csv"

[columns.answer]
values = ["yes", "no", "maybe"]

[mechanism]
observe = ["answer"]
release = ["answer"]
form = "spinner"

[objective]
maximize = { information = ["answer"] }

[[guarantee]]
local_dp = "1"
"""


@pytest.fixture
def registered(monkeypatch):
    """One registration; the registry is as before afterwards."""
    monkeypatch.setattr(registry, "_MECHANISMS", list(registry._MECHANISMS))
    forms = list(FORMS)
    register(SPINNER)
    yield
    FORMS[:] = forms


@pytest.fixture
def problem_file(tmp_path) -> Path:
    answers = ["yes"] * 400 + ["no"] * 300 + ["maybe"] * 300
    (tmp_path / "answers.csv").write_text("answer\n" + "\n".join(answers) + "\n", encoding="utf-8")
    file = tmp_path / "problem.toml"
    file.write_text(FILE, encoding="utf-8")
    return file


def test_before_it_is_registered_its_form_is_unknown(problem_file):
    with pytest.raises(ProblemFileError, match="spinner"):
        Problem.from_file(problem_file)


@pytest.mark.long
def test_a_toy_goes_the_whole_walk(registered, problem_file, tmp_path):
    problem = Problem.from_file(problem_file)
    book = Ledger.create(tmp_path / "book", ["local_dp=2"])
    outcome = api.release(problem, tmp_path / "out", ledger=book, dataset="survey")
    assert outcome.design.method.startswith("the truth with probability 0.364")  # (e - 1) / (e + 2)
    assert float(outcome.design.proved[0]["epsilon_nats"]) <= 1
    assert not outcome.audit.contradicts
    assert outcome.audit.rows == 1000
    (spent,) = book.status()["spent"].values()
    assert 0.99 < float(spent) <= 1
    design = api.load(tmp_path / "out" / "design.json")
    assert api.verify(design)
    assert api.audit(design).strong_dp_epsilon <= 1.0000001
    released = (tmp_path / "out" / "released.csv").read_text(encoding="utf-8").split()
    assert set(released) == {"answer", "yes", "no", "maybe"}
    card = json.loads((tmp_path / "out" / "card.json").read_text(encoding="utf-8"))
    assert card["channel"]["form"] == "dense"
    for page in (tmp_path / "out").glob("*.html"):
        assert "answer" in page.read_text(encoding="utf-8")
    assert len(list((tmp_path / "out").glob("*.html"))) == 2


def test_what_the_toy_does_not_take_is_refused_in_its_own_words(registered, problem_file):
    text = FILE.replace('observe = ["answer"]', 'observe = ["answer", "again"]').replace(
        'release = ["answer"]', 'release = ["answer", "again"]'
    )
    problem_file.write_text(text, encoding="utf-8")
    with pytest.raises(Unsupported, match="the spinner: a spinner stands beside one column"):
        api.solve(Problem.from_file(problem_file))
