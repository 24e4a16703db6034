"""What the scripts that travel with a card say where they cannot say a figure, and of rows that count by weights."""

from fractions import Fraction

import pytest

from dalenius import estimate
from dalenius.core import Channel, Pram, Product
from tests.cli.test_scripts import HERE, ONE, SEX, TABLE, lines, runner


@pytest.fixture(params=[HERE, pytest.param("estimate.R", marks=pytest.mark.slow)])
def told(request, tmp_path):
    """Run a script on a card: its exit code, its lines, what it says when it refuses."""
    return runner(request.param, tmp_path)


@pytest.mark.parametrize("words", [[], ["shares", "region"], ["within", "region", "job"]])
def test_weights_that_are_all_zero_count_nothing(told, words):
    """Estimates divided by their sum; half of them zero is a survey like any other."""
    card = {"channel": ONE.to_json(), "kept": ["job", "w"], "weights": "w"}
    rows = [line.split(",") for line in TABLE.splitlines()[1:]]

    def weighted(weight_of):
        return "region,job,w\n" + "".join(f"{r},{j},{weight_of(k)}\n" for k, (_, r, j) in enumerate(rows))

    code, out, err = told(card, weighted(lambda _: 0), *words)
    assert (code, out) == (1, [])
    assert "no row has a weight above 0 in w" in err
    assert told(card, weighted(lambda k: "inf" if k else "1"), *words)[0] == 1
    code, out, err = told(card, weighted(lambda k: k % 2 / 2), *words)
    assert code == 0, err
    if words[:1] != ["within"]:
        found = estimate(told.folder / "card.json", told.folder / "released.csv", columns=["region"], weights="w")
        assert sorted(out) == sorted(lines(found))


@pytest.mark.parametrize("kind", ["linear", "logistic"])
def test_a_regressor_that_the_recipe_loses_is_not_called_rare(told, kind):
    """The command said that the release does not determine it, and the scripts to leave a frequent value out."""
    lost = Channel(SEX, SEX, ((Fraction(1, 2),) * 2,) * 2)
    x = {"x": ("0", "1")}
    channel = Product(x | SEX, (Pram(x, x, (Fraction(4, 5),) * 2), lost))
    table = "x,sex\n" + "".join(f"{k},{sex}\n" * 50 for sex in ("f", "?") for k in (0, 1))
    outcome = "x" if kind == "linear" else "x=1"
    code, out, err = told({"channel": channel.to_json(), "kept": []}, table, kind, outcome, "sex")
    assert (code, out) == (1, [])
    assert "not determined by what was released" in err


def test_groups_that_are_all_of_one_kind_are_said_to_be(told):
    x = {"x": ("0", "1")}
    stay = Pram(x, x, (Fraction(9, 10),) * 2)
    channel = Product(x | {"y": ("0", "1")}, (stay, Pram({"y": x["x"]}, {"y": x["x"]}, (Fraction(9, 10),) * 2)))
    table = "x,y\n" + "0,0\n" * 250 + "1,1\n" * 250 + "0,1\n" * 40 + "1,0\n" * 40
    code, out, err = told({"channel": channel.to_json(), "kept": []}, table, "logistic", "y=1", "x")
    assert (code, out) == (1, [])
    assert "a group has all of its rows with the value, or none" in err
