"""PRAM through the command line: release, transitions, a second application, one value from the card alone."""

import json
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from dalenius.core import Channel, Pram
from dalenius.errors import InputError
from dalenius.evidence.transitions import transitions
from dalenius.sampling import Key, draw_value

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


@pytest.fixture
def place(tmp_path, run):
    values = ["north"] * 300 + ["south"] * 200 + ["east"] * 100 + ["?"] * 50
    (tmp_path / "t.csv").write_text("region\n" + "\n".join(values) + "\n")
    (tmp_path / "p.toml").write_text(PROBLEM)
    code, _, err = run("release", tmp_path / "p.toml", "-o", tmp_path / "out")
    assert code == 0, err
    return tmp_path


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
    assert "records changed" in run("apply", place / "out/design.json", place / "t.csv", "-o", place / "s.csv")[1]
    assert "records changed" in (place / "out/report.html").read_text()
    assert "records changed" not in (place / "out/report-public.html").read_text()


def test_a_release_is_not_perturbed_again_by_accident(place, run):
    arguments = ["apply", place / "out/design.json", place / "out/released.csv", "-o", place / "twice.csv"]
    code, _, err = run(*arguments)
    assert code == 2
    assert "is a release already" in err
    assert not (place / "twice.csv").exists()
    assert run(*arguments, "--again")[0] == 0


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
    card["channel"]["q"][0] = "9/10"
    (place / "bad.json").write_text(json.dumps(card))
    assert run("apply", place / "bad.json", "--value", "south")[0] == 4


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
