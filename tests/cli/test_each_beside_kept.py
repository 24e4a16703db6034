"""Several columns perturbed, each by a matrix of its own, and the rest of the row left (point 12)."""

import json
import random
from fractions import Fraction

import numpy as np
import pytest

from dalenius.core import LocalDP, MaximizeInformationOfEach, Pmf, Problem
from dalenius.errors import NotCertified, Unsupported
from dalenius.kernel import Refused, check
from dalenius.kernel.numbers import canonical
from dalenius.mechanisms import solve

TOML = """\
[source]
table = "t.csv"
weights = "weight"
[columns.x]
values = ["a", "b", "c"]
[columns.y]
values = ["0", "1"]
[columns.region]
values = ["n", "s"]
[columns.weight]
values = "from-table"
[mechanism]
observe = ["x", "y"]
RELEASED
keep = ["region", "weight"]
each = true
[objective]
maximize = { information_of_each = ["x", "y"] }
[[guarantee]]
local_dp = 2
given = ["region", "weight"]
"""
OWN = 'release = ["x", "y"]\nform = "pram"'
NAMES = ("x", "y")


@pytest.fixture
def table(tmp_path):
    draw = random.Random(8)
    rows = [(draw.choice("aabc"), draw.choice("001"), draw.choice("ns"), draw.randrange(10, 900)) for _ in range(400)]
    (tmp_path / "t.csv").write_text("x,y,region,weight\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))
    return tmp_path


@pytest.mark.long
@pytest.mark.parametrize("released", [OWN, OWN.replace("pram", "randomised-response"), 'output = "Z"'])
def test_point_12_columns_are_perturbed_one_by_one_and_weights_are_kept(table, run, released):
    (table / "p.toml").write_text(TOML.replace("RELEASED", released))
    code, said, err = run("release", table / "p.toml", "-o", table / "out", "--accept", "small-combinations")
    assert (code, err) == (0, "")
    assert "with the same region and weight" in said
    assert "The level is the sum of those of the columns: x 1, y 1." in said
    names = "Z_x,Z_y" if "output" in released else "x,y"
    assert (table / "out" / "released.csv").read_text().startswith(f"{names},region,weight\n")
    assert run("verify", table / "out" / "design.json", "--problem", table / "p.toml")[0] == 0
    if "randomised" not in released:  # which is designed on equal shares, not on the table
        assert run("verify", table / "out" / "design.json", "--table", table / "t.csv")[0] == 0
    code, told, err = run("estimate", table / "out" / "card.json", table / "out" / "released.csv", "--json")
    assert (code, err) == (0, "")
    figures = json.loads(told)
    assert all(a <= v <= b for a, v, b in zip(figures["low"], figures["estimate"], figures["high"], strict=True))


def joint(seed=1):
    rng = np.random.default_rng(seed)
    codes = np.column_stack([rng.integers(0, 3, 60), rng.integers(0, 2, 60), rng.integers(0, 4, 60)])
    return Pmf.from_counts({"x": ("a", "b", "c"), "y": ("0", "1"), "k": tuple("pqrs")}, codes, [1] * len(codes))


def asked(**more):
    promise = LocalDP(Fraction(2), given=("k",))
    plain = {"release": NAMES, "form": "pram", "each": True, "keep": ("k",), "joint": joint()}
    return Problem(NAMES, MaximizeInformationOfEach(NAMES), (promise,), **(plain | more))


def told_beside(law, name, matrix):
    """I(X; Y, K) of one column, from the counts and the matrix."""
    at = law.columns([name, "k"])
    table = np.zeros((len(law.variables[name]), 4))
    np.add.at(table, tuple(law.support[:, at].T), law.weights.astype(float) / law.total)
    cells = np.einsum("xk,xy->xyk", table, np.array([[float(v) for v in row] for row in matrix.rows]))
    blind = cells.sum(axis=(1, 2))[:, None, None] * cells.sum(axis=0)
    some = cells > 0
    return float((cells[some] * np.log2(cells[some] / blind[some])).sum())


@pytest.mark.long
@pytest.mark.parametrize(
    "more", [{}, {"each": {"x": Fraction(3, 2), "y": Fraction(1, 2)}}, {"release": (), "output": "Y", "form": None}]
)
def test_what_each_column_tells_beside_the_kept_ones_is_added_up_and_bounded(more):
    design = solve(asked(**more))
    told = sum(told_beside(joint(), name, part) for name, part in zip(NAMES, design.channel.windows, strict=True))
    assert abs(told - float(design.value)) < 1e-9
    assert design.value <= design.bound <= design.value + Fraction(1, 20)
    levels = [max(max(c) / min(c) for c in zip(*part.rows, strict=True)) for part in design.channel.windows]
    wanted = [1.5, 0.5] if isinstance(more.get("each"), dict) else [1, 1]
    assert all(np.log(float(r)) <= level + 1e-12 for r, level in zip(levels, wanted, strict=True))


@pytest.mark.long
def test_a_matrix_of_a_higher_level_than_its_column_may_have_is_refused():
    document = json.loads(solve(asked()).text)
    document["channel"]["windows"][1]["channel"] = {"form": "pram", "stay": ["9/10", "9/10"]}
    document["claims"] |= {"value": "0", "gap": "99"}
    document["claims"]["promises"] = [[]]
    with pytest.raises(Refused, match=r"the level of local_dp|higher level"):
        check(canonical(document))


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ({"guarantees": (LocalDP(Fraction(2)),)}, "say given = .*beside local_dp"),
        ({"each": {"x": Fraction(3, 2), "y": Fraction(3, 2)}}, "add up to 3"),
        ({"form": None}, "form = "),
    ],
)
def test_what_does_not_go_together_is_refused_with_the_way_out(more, sentence):
    plain = {"release": NAMES, "form": "pram", "each": True, "keep": ("k",), "joint": joint()}
    promises = more.pop("guarantees", (LocalDP(Fraction(2), given=("k",)),))
    with pytest.raises((Unsupported, NotCertified), match=sentence):
        solve(Problem(NAMES, MaximizeInformationOfEach(NAMES), promises, **(plain | more)))
