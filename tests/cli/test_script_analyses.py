"""Analyses by the scripts that travel with a card say what the library says: groups, ratios, regressions."""

from fractions import Fraction

import numpy as np
import pytest

from dalenius import compare, estimate, regress, shares_within
from dalenius.core import Channel, Pram, Product, Strata
from tests.cli.script_runs import DENSE, ONE, REGION, SEX, Q, coefficient_lines, figure_words, lines
from tests.effort import effort


@pytest.mark.parametrize("whose", ["table", "population"])
def test_a_script_says_what_fits_where_draws_hide_a_group(told, whose):
    """Every kind of line: with an estimate, open above, and too uncertain to say."""
    letters = dict.fromkeys("gv", ("1", "2", "3"))
    keep = {"g": Fraction(1, 1), "v": Fraction(3, 5)}
    channel = Product(letters, tuple(Pram({n: letters[n]}, {n: letters[n]}, (keep[n],) * 3) for n in "gv"))
    counts = {"11": 60, "12": 40, "13": 40, "21": 35, "22": 50, "23": 41, "31": 3, "32": 1, "33": 0}
    table = "g,v\n" + "".join(f"{cell[0]},{cell[1]}\n" * n for cell, n in counts.items())
    files = told.folder / "card.json", told.folder / "released.csv"
    seen = set()
    for pair in ("12", "13"):
        code, out, err = told(
            {"channel": channel.to_json(), "kept": []}, table, whose, "compare", "v=1", *map("g={}".format, pair)
        )
        assert code == 0, err
        found = compare(*files, {"v": "1"}, [{"g": g} for g in pair], target=whose)
        assert out == [f"{name.replace('_', ' ')}\t{figure_words(f)}" for name, f in found.items()]
        seen |= {(bool(np.isnan(f.estimate)), f.whole) for f in found.values()}
    assert seen == {(False, False), (True, False), (True, True)}
    few = "g,v\n" + "1,1\n1,2\n" * 3
    code, out, err = told({"channel": channel.to_json(), "kept": []}, few, whose, "compare", "v=1", "g=2", "g=3")
    assert (code, out) == (1, [])
    assert "how many rows the groups had" in err


@pytest.mark.parametrize(
    "words",
    [
        ("compare", "v=1", "g=1", "g=1"),
        ("compare", "v=1", "v=2", "g=1"),
        ("within", "v", "v"),
        ("linear", "v", "g", "g:number"),
        ("logistic", "v=1", "v"),
        ("shares", "g", "g"),
    ],
)
def test_a_script_names_a_column_once_and_compares_two_groups(told, words):
    letters = {"g": ("1", "2"), "v": ("1", "2")}
    keep = (Fraction(4, 5),) * 2
    channel = Product(letters, tuple(Pram({n: letters[n]}, {n: letters[n]}, keep) for n in "gv"))
    table = "g,v\n" + "1,1\n1,2\n2,1\n2,2\n" * 50
    code, out, err = told({"channel": channel.to_json(), "kept": []}, table, "table", *words)
    assert (code, out) == (1, [])
    assert "an analysis names each column once" in err


@pytest.mark.parametrize("whose", ["table", "population"])
def test_a_script_says_which_coefficients_have_no_limit(told, whose):
    """Log odds of a share that may be 0 by what was released."""
    x = {"x": ("0", "1")}
    card = {"channel": Pram(x, x, (Fraction(3, 5),) * 2).to_json(), "kept": ["y"]}
    counts = {"0,0": 232, "0,1": 168, "1,0": 168, "1,1": 232}
    code, out, err = told(
        card, "x,y\n" + "".join(f"{row}\n" * n for row, n in counts.items()), whose, "logistic", "y=1", "x"
    )
    assert code == 0, err
    files = told.folder / "card.json", told.folder / "released.csv"
    assert out == coefficient_lines(regress(*files, "y", ["x"], value="1", target=whose))
    assert "[no limit, -" in out[0]
    assert out[1].endswith("no limit]")


def analyses(card, table, whose, kept):
    """Analyses of three columns: the words for a script, and what the library says in the words of the script."""
    how = {"target": whose}
    region, sex, job = "region", "sex", kept
    compared = compare(card, table, {region: "north"}, [{sex: "f"}, {sex: "?"}], **how)
    yield (
        ["compare", f"{region}=north", f"{sex}=f", f"{sex}=?"],
        [f"{name.replace('_', ' ')}\t{figure_words(f)}" for name, f in compared.items()],
    )
    groups = shares_within(card, table, [region], [sex, job], **how)
    yield (
        ["within", region, sex, job],
        [
            f"{region}={value} where {sex}={group[0]}, {job}={group[1]}\t{figure_words(f)}"
            for group, row in groups.items()
            for (value,), f in row.items()
        ],
    )
    for words, fit in (
        (["linear", job, region, sex], regress(card, table, job, [region, sex], **how)),
        (["logistic", f"{region}=north", sex, job], regress(card, table, region, [sex, job], value="north", **how)),
        (
            ["logistic", f"{sex}=f", region, f"{job}:number"],
            regress(card, table, sex, [region, job], value="f", numbers=[job], **how),
        ),
    ):
        yield words, coefficient_lines(fit)


HIGH = (Fraction(19, 20), Fraction(9, 10), Fraction(9, 10))
PAID = {"paid": ("1", "5/2", "4")}
ANALYSED = {
    "a matrix for each column": (
        Product(REGION | SEX | PAID, (Pram(REGION, REGION, HIGH), Pram(SEX, SEX, HIGH[:2]), Pram(PAID, PAID, HIGH))),
        [],
    ),
    "beside kept columns": (Product(REGION | SEX, (ONE, DENSE)), ["paid"]),
}
BOTH_PAID = REGION | PAID
ANALYSED["in strata"] = (
    Strata(
        BOTH_PAID | SEX,
        ("sex",),
        tuple(Channel(BOTH_PAID, BOTH_PAID, Pram(BOTH_PAID, BOTH_PAID, q).rows) for q in ((Q[0],) * 9, Q * 3)),
    ),
    ["sex"],
)
ANALYSED["written out"] = (
    Channel(BOTH_PAID | SEX, BOTH_PAID | SEX, Pram(BOTH_PAID | SEX, BOTH_PAID | SEX, (Fraction(9, 10), Q[0]) * 9).rows),
    [],
)


def rows_of_three(weighted):
    rng = np.random.default_rng(4)
    rows = []
    for _ in range(effort(2000, 5000)):
        sex = rng.integers(2)
        paid = rng.choice(3, p=[0.5, 0.3, 0.2] if sex else [0.2, 0.4, 0.4])
        region = rng.choice(3, p=np.array([4 - paid, 2 + paid, 2]) / 8)
        words = REGION["region"][region], SEX["sex"][sex], PAID["paid"][paid]
        rows.append(",".join(words) + (f",{1 + rng.integers(4)}.5" if weighted else ""))
    return "region,sex,paid" + (",w" if weighted else "") + "\n" + "\n".join(rows) + "\n"


@pytest.mark.long
@pytest.mark.parametrize("whose", ["table", "population"])
@pytest.mark.parametrize("which", ANALYSED)
@pytest.mark.parametrize("weighted", [False, True])
def test_point_17_a_script_analyses_as_the_command_does(told, which, whose, weighted):
    channel, kept = ANALYSED[which]
    card = {"channel": channel.to_json(), "kept": [*kept, *(["w"] if weighted else [])]}
    card |= {"weights": "w"} if weighted else {}
    table = rows_of_three(weighted)
    told(card, table)
    files = told.folder / "card.json", told.folder / "released.csv"
    for words, ours in analyses(*files, whose, "paid"):
        code, out, err = told(card, table, whose, *words)
        assert code == 0, (words, err)
        assert out == ours, words
    code, out, err = told(card, table, whose, "shares", "sex", "paid")
    assert code == 0, err
    assert out == list(lines(estimate(*files, columns=["sex", "paid"], target=whose)))
