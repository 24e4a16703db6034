"""PRAM through the command line: release, transitions, a second application, one value from the card alone."""

import json
import shutil
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from dalenius.core import Channel, Pram
from dalenius.documents import canonical, digest
from dalenius.errors import InputError
from dalenius.measures.transitions import transitions
from dalenius.mechanisms.one_value import draw_value
from dalenius.sampling import Key
from dalenius.tables import read_told
from tests.cli.conftest import released_in

PROBLEM = """
[source]
table = "t.csv"
[columns.region]
values = ["north", "south", "east"]
missing = "category"
[mechanism]
observe = ["region"]
release = ["region"]
form = "pram"
[objective]
maximize = { information = ["region"] }
[[guarantee]]
local_dp = 1
"""


@pytest.fixture(scope="module")
def once(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pram")
    values = ["north"] * 300 + ["south"] * 200 + ["east"] * 100 + ["?"] * 50
    (folder / "t.csv").write_text("region\n" + "\n".join(values) + "\n")
    (folder / "p.toml").write_text(PROBLEM)
    return released_in(folder)


@pytest.fixture
def place(once, tmp_path):
    return shutil.copytree(once, tmp_path, dirs_exist_ok=True)


def test_what_changed_is_told(place, run):
    code, out, _ = run("apply", place / "out/design.json", place / "t.csv", "-o", place / "r.csv", "--json")
    assert code == 0
    (moved,) = json.loads(out)["seen"]["transitions"]
    table = np.array(moved["table"])
    assert moved["rows"] == 650 == table.sum()
    assert moved["changed"] == 650 - np.trace(table)
    assert [f["before"] for f in moved["frequencies"]] == table.sum(axis=1).tolist()
    assert [f["after"] for f in moved["frequencies"]] == table.sum(axis=0).tolist()
    assert moved["frequencies"][-1] == {"letter": "(missing)", "before": 50, "after": int(table[:, -1].sum())}
    released = (place / "r.csv").read_text().split()[1:]
    assert Counter(released)["north"] == moved["frequencies"][0]["after"]
    assert "rows changed" in run("apply", place / "out/design.json", place / "t.csv", "-o", place / "s.csv")[1]
    assert "rows changed" in (place / "out/statement.html").read_text()
    assert "to south</th>" in (place / "out/statement.html").read_text()
    public = (place / "out/statement-public.html").read_text()
    assert "rows changed" not in public
    assert "to south</th>" not in public


def test_a_release_is_not_perturbed_again_by_accident(place, run):
    arguments = ["apply", place / "out/design.json", place / "out/released.csv", "-o", place / "twice.csv"]
    code, _, err = run(*arguments)
    assert code == 2
    assert "is a release already" in err
    assert not (place / "twice.csv").exists()
    assert run(*arguments, "--again")[0] == 0


def test_a_renamed_release_is_known_by_the_card_beside_it(place, run):
    (place / "out/renamed.csv").write_text((place / "out/released.csv").read_text())
    code, _, err = run("apply", place / "out/design.json", place / "out/renamed.csv", "-o", place / "twice.csv")
    assert (code, "is a release already" in err) == (2, True)


def test_the_original_beside_what_was_drawn(place, run):
    arguments = ["apply", place / "out/design.json", place / "t.csv", "--key", place / "k", "-o"]
    Key.write_new(place / "k")
    code, out, err = run(*arguments, place / "both.csv", "--beside", "--json")
    assert code == 0, err
    assert json.loads(out)["columns"] == ["region", "region_released"]
    pairs = [line.split(",") for line in (place / "both.csv").read_text().split()[1:]]
    assert [a for a, _ in pairs] == (place / "t.csv").read_text().split()[1:]
    (moved,) = json.loads(out)["seen"]["transitions"]
    assert sum(a != b for a, b in pairs) == moved["changed"]
    assert (place / "both.csv").stat().st_mode & 0o077 == 0
    run(*arguments, place / "alone.csv")  # the same draw, shuffled
    assert Counter(b for _, b in pairs) == Counter((place / "alone.csv").read_text().split()[1:])
    code, _, err = run("apply", place / "out/design.json", place / "both.csv", "-o", place / "c.csv")
    assert (code, "holds 'region_released' already" in err) == (2, True)
    assert run("apply", place / "out/card.json", "--value", "south", "--beside")[0] == 2


@pytest.mark.long
def test_survey_weights_serve_estimates_and_risk_not_the_design(tmp_path, run):
    rows = [("north", 1)] * 300 + [("south", 3)] * 300
    (tmp_path / "t.csv").write_text("region,w\n" + "".join(f"{r},{w}\n" for r, w in rows))
    problem = PROBLEM.replace('"north", "south", "east"', '"north", "south"').replace('"category"', '"refuse"')
    problem = problem.replace('table = "t.csv"', 'table = "t.csv"\nweights = "w"')
    (tmp_path / "p.toml").write_text(problem)
    code, out, err = run("release", "--details", tmp_path / "p.toml", "-o", tmp_path / "out")
    assert code == 0, err
    assert "the weights w are not used in the design" in out
    assert "weights" not in read_told(tmp_path / "out/card.json")
    code, out, err = run("risk", tmp_path / "p.toml", "--keys", "region", "--json")
    assert (code, json.loads(out)["sampling_fraction"]) == (0, 0.5)
    assert run("risk", tmp_path / "t.csv", "--keys", "region")[0] == 2
    # A card that names kept weights is read with them.
    card = json.loads((tmp_path / "out/card.json").read_text())
    card["variables"].append({"name": "w", "letters": ["?"]})
    card["mechanism"]["keep"] = ["w"]
    card["promises"][0]["given"] = ["w"]
    (tmp_path / "card.json").write_text(canonical(card))
    about = {"format": "dalenius-about/2", "of": digest(canonical(card)), "weights": "w"}
    (tmp_path / "card.about.json").write_text(canonical(about))
    (tmp_path / "r.csv").write_text("region,w\n" + "north,1\n" * 300 + "south,3\n" * 300)
    weighted, plain = (
        json.loads(run("estimate", tmp_path / name, tmp_path / "r.csv", "--json")[1])["estimate"]
        for name in ("card.json", "out/card.json")
    )
    assert plain == pytest.approx([0.5, 0.5])
    assert weighted[0] < 0.25 < weighted[1]


def test_one_value_from_the_card_alone(place, run):
    code, out, _ = run("apply", place / "out/card.json", "--value", "south")
    assert code == 0
    assert out.strip() in {"north", "south", "east", "(missing)"}
    code, out, _ = run("apply", place / "out/card.json", "--value", "region=south", "--json")
    assert code == 2
    code, out, _ = run("apply", place / "out/card.json", "--value", "south", "--json")
    assert set(json.loads(out)["released"]) == {"region"}
    assert run("apply", place / "out/card.json", "--value", "west")[0] == 2
    assert run("apply", place / "out/card.json", place / "t.csv", "--value", "south")[0] == 2
    assert run("apply", place / "out/design.json")[0] == 2


def test_a_damaged_card_draws_nothing(place, run):
    card = json.loads((place / "out/card.json").read_text())
    card["channel"]["stay"][0] = "9/10"
    (place / "bad.json").write_text(canonical(card))
    assert run("apply", place / "bad.json", "--value", "south")[0] == 4


@pytest.mark.long
def test_one_value_has_the_law_of_its_row():
    letters = {"X": ("a", "b", "c")}
    channel = Pram(letters, letters, (Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)))
    seen = Counter(draw_value(channel, {"X": "a"}, key=Key.unsafe(k))["X"] for k in range(2000))
    assert abs(seen["a"] - 1000) < 5 * 500**0.5
    assert abs(seen["b"] - 500) < 5 * 375**0.5
    with pytest.raises(InputError, match="give one value for each"):
        draw_value(channel, {"Z": "a"})


def test_no_transitions_for_another_alphabet():
    assert transitions(Channel.constant({"X": ("a", "b")}, "Y"), np.array([0]), np.array([0])) is None


def test_risk_reads_a_table_as_its_problem_says(run, tmp_path):
    """In its encoding, with its words for a missing value."""
    (tmp_path / "t.csv").write_text("town;sex\n" + "Köln;f\nKöln;m\nn. b.;m\nBonn;f\n" * 5, encoding="latin-1")
    problem = (
        '[source]\ntable = "t.csv"\ndelimiter = ";"\nencoding = "latin-1"\nmissing_words = ["n. b."]\n'
        '[columns.town]\nvalues = ["Köln", "Bonn"]\nmissing = "category"\n[columns.sex]\nvalues = ["f", "m"]\n'
        '[mechanism]\nobserve = ["town", "sex"]\nrelease = ["town"]\n'
        '[objective]\nminimize = { distortion = "hamming", of = ["town"] }\n'
        '[[guarantee]]\nleakage = ["sex"]\nat_most_bits = 0.1\n'
    )
    (tmp_path / "p.toml").write_text(problem)
    code, out, err = run("risk", tmp_path / "p.toml", "--keys", "town", "--population", "100", "--json")
    assert code == 0, err
    assert (json.loads(out)["rows"], json.loads(out)["combinations"]) == (20, 3)
