"""Recipes and groups from files of other tools, and their audits by definition."""

from fractions import Fraction
from math import log

import pytest

from dalenius import audit
from dalenius.errors import InputError, TableError
from dalenius.tables.foreign import arx_groups, opendp_response, sdcmicro_matrix


@pytest.mark.parametrize(
    "text",
    [
        '"","a","b","c"\n"a",0.8,0.1,0.1\n"b",0.2,0.7,0.1\n"c",0.05,0.05,0.9\n',
        '"a";"b";"c"\n"a";0.8;0.1;0.1\n"b";0.2;0.7;0.1\n"c";0.05;0.05;0.9\n',  # write.table leaves the corner out
        '"","c","b","a"\n"a",0.1,0.1,0.8\n"b",0.1,0.7,0.2\n"c",0.9,0.05,0.05\n',  # columns in another order
    ],
)
def test_a_matrix_of_sdcmicro_is_a_recipe(tmp_path, text):
    (tmp_path / "m.csv").write_text(text)
    recipe = sdcmicro_matrix(tmp_path / "m.csv", "plan")
    assert recipe.inputs == recipe.output == {"plan": ("a", "b", "c")}
    assert all(sum(row) == 1 for row in recipe.rows)
    assert [round(float(p), 9) for p in recipe.rows[1]] == [0.2, 0.7, 0.1]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a\n", "no matrix"),
        (",a,b\na,0.5,0.5\n", "do not name the same values"),
        (",a,b\na,0.5,0.5\nb,0.5\n", "same number of fields"),
        (",a,b\na,0.5,0.6\nb,0.5,0.5\n", "row 1"),
        (",a,b\na,x,0.6\nb,0.5,0.5\n", "an entry"),
        (f",a,b\na,1{'0' * 290}e99,0.6\nb,0.5,0.5\n", "an entry"),
        (f",a,b\na,{'9' * 200_000},0.6\nb,0.5,0.5\n", r"an entry|field larger"),
    ],
)
def test_what_is_no_matrix_is_refused(tmp_path, text, says):
    (tmp_path / "m.csv").write_text(text)
    with pytest.raises((TableError, InputError), match=says):
        sdcmicro_matrix(tmp_path / "m.csv", "plan")


def test_randomised_response_has_the_level_that_opendp_states():
    recipe = opendp_response(["yes", "no", "perhaps"], "3/4", "smoker")
    assert recipe.rows[2] == (Fraction(1, 8), Fraction(1, 8), Fraction(3, 4))
    stated = log(0.75 * 2 / 0.25)  # ln(p (k - 1) / (1 - p))
    assert float(audit(recipe).to_json()["dp_epsilon"]) == pytest.approx(stated, abs=1e-9)
    for values, probability in ((["yes"], "3/4"), (["a", "b"], "2"), (["a", "a"], "1/2")):
        with pytest.raises(InputError):
            opendp_response(values, probability, "x")


def test_a_level_of_a_hierarchy_becomes_groups(tmp_path):
    (tmp_path / "h.csv").write_text("9th;school;any\n10th;school;any\nBachelors;college;any\n")
    assert arx_groups(tmp_path / "h.csv", 1) == {"school": ("9th", "10th"), "college": ("Bachelors",)}
    assert list(arx_groups(tmp_path / "h.csv", 2)) == ["any"]
    with pytest.raises(TableError, match="no level 3"):
        arx_groups(tmp_path / "h.csv", 3)
    (tmp_path / "h.csv").write_text("a;x\na;y\n")
    with pytest.raises(TableError, match="two lines"):
        arx_groups(tmp_path / "h.csv", 1)
    with pytest.raises(TableError, match="cannot read"):
        arx_groups(tmp_path / "absent.csv", 1)
