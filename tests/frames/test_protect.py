"""`protect`: one call from a frame to a proved release, back in the caller's own kind of frame."""

import json
import random
import re
from datetime import date
from html.parser import HTMLParser

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import dalenius
from dalenius import Key, Leakage, Problem, apply, problem, protect, solve, tradeoff, verify
from dalenius.errors import InputError
from dalenius.frames.conversion import typed


def frame(rows=3000, seed=2):
    rng = random.Random(seed)
    found = {"age": [], "plan": [], "visits": [], "health": [], "patient_id": []}
    for k in range(rows):
        age = rng.randint(18, 80)
        found["age"].append(age)
        found["plan"].append(rng.choice(["free", "paid"]))
        found["visits"].append(rng.choice([0, 1, 2]))
        found["health"].append("poor" if rng.random() < age / 160 else "good")
        found["patient_id"].append(f"p{k}")
    return found


FRAME = frame()
WISH = {"secret": "health", "release": ["age", "plan", "visits"], "reveal_at_most": "0.005"}
FEW = WISH | {"release": ["plan", "visits"]}


@pytest.fixture(scope="module")
def released():
    return protect(pd.DataFrame(FRAME), **WISH)


def test_pandas_comes_back_with_ordered_categories_and_its_own_types(released):
    data = released.data
    assert isinstance(data, pd.DataFrame)
    assert list(data.columns) == ["age", "plan", "visits"]
    assert len(data) == 3000
    assert data["age"].cat.ordered
    assert data["age"].cat.categories[0].startswith("under")
    assert pd.api.types.is_integer_dtype(data["visits"])
    assert set(data["visits"]) == {0, 1, 2}


@pytest.mark.long
@pytest.mark.parametrize("make", [pl.DataFrame, pa.table])
def test_other_frames_come_back_as_they_went(make):
    given = make(FRAME)
    out = protect(given, **FEW)
    assert type(out.data) is type(given)
    assert type(out.losses) is type(given)
    assert len(out.data) == 3000


@pytest.mark.long
def test_a_file_comes_back_as_arrow(tmp_path):
    pd.DataFrame(FRAME).to_csv(tmp_path / "t.csv", sep=";", index=False)
    out = protect(tmp_path / "t.csv", **FEW)
    assert isinstance(out.data, pa.Table)
    assert out.data.num_rows == 3000


def test_the_release_is_proved_and_says_so_in_one_line(released):
    verify(released.design)
    assert repr(released).startswith(
        "Release of 3,000 rows: reveals at most 0.005 bits about health (proved); 1 row in"
    )
    assert repr(released).endswith("no group lost")
    assert "\n" not in repr(released)
    assert released.changed > 0
    assert set(released.groups) == {"age", "plan", "visits", "health"}
    assert "<html" in released.statement()


@pytest.mark.long
def test_without_a_list_all_columns_are_released_but_identifiers():
    out = protect(pd.DataFrame(FRAME), secret="health", reveal_nothing=True)
    assert list(out.data.columns) == ["age", "plan", "visits"]


def test_write_leaves_the_folder_of_a_release(released, tmp_path):
    folder = released.write(tmp_path / "release")
    names = {file.name for file in folder.iterdir()}
    assert {"design.json", "card.json", "problem.toml", "released.parquet"} <= names
    assert (folder / "design.json").stat().st_mode & 0o077 == 0
    with pytest.raises(InputError):
        released.write(tmp_path / "release")
    released.write(tmp_path / "release", force=True)
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.txt").write_text("years of work")
    with pytest.raises(InputError, match="does not hold a release of ours"):
        released.write(tmp_path / "thesis", force=True)
    assert (tmp_path / "thesis" / "chapter.txt").exists()
    again = Problem.from_file(folder / "problem.toml")
    assert again.guarantees == (Leakage("health", "1/200"),)


@pytest.mark.long
def test_the_folder_goes_with_the_object():
    out = protect(pa.table(FRAME), **FEW)
    place = out.outcome.folder
    assert place.is_dir()
    assert place.parent.stat().st_mode & 0o077 == 0
    del out
    assert not place.exists()


@pytest.mark.long
def test_the_same_key_gives_the_same_rows():
    one, two = (protect(pa.table(FRAME), **FEW, key=Key.unsafe(7)) for _ in range(2))
    assert one.data.equals(two.data)


@pytest.mark.long
def test_losses_are_values_that_lost_more_than_a_quarter():
    out = protect(pd.DataFrame(FRAME), **FEW, keep_rows=0)
    counts = {(v.columns[0], v.values[0]): (v.before, v.after) for v in out.outcome.counts.single}
    wanted = {key for key, (before, after) in counts.items() if 4 * after < 3 * before}
    assert {(row.column, row.value) for row in out.losses.itertuples()} == wanted


# --- what is shown ----------------------------------------------------------------------------------------------------
class Text(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags = []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        assert not any(name.startswith("on") or name in ("src", "href") for name, _ in attrs)


def test_a_notebook_shows_text_alone_in_less_than_30_kB(released):
    names = {
        "age": FRAME["age"],
        "<img src=x onerror=alert(1)>": ["<script>", "b" * 300] * 1500,
        "health": FRAME["health"],
    }
    hostile = protect(pd.DataFrame(names), secret="health", reveal_nothing=True)
    for out in (released, hostile):
        html = out._repr_html_()
        assert len(html) < 30_000
        assert "Confidential" in html
        page = Text()
        page.feed(html)
        assert not {"script", "img", "link"} & set(page.tags)
        assert "Of 1,000 guesses of health" in html
        dots = [int(w) * int(h) for w, h in re.findall(r'<rect[^>]* width="(\d+)" height="(\d+)"', html)]
        assert sum(dots) == 1000 * 100  # each stands in a square of ten by ten


@pytest.mark.long
def test_no_repr_shows_the_statistics_of_the_table():
    asked = problem(pa.table(FRAME), **WISH)
    design = solve(asked)
    promise = "leakage of health at most 1/200"
    line = rf"Problem\(release age, plan, visits from \d+ combinations; {promise}; bound to 3,000 rows\)"
    assert re.fullmatch(line, repr(asked))
    assert re.fullmatch(line.join([r"Design\(", r", [\d.]+ distortion, proved to \d+ digits\)"]), repr(design))
    assert re.fullmatch(r"Pmf\((\w+: \d, ){3}health: 2; \d+ outcomes\)", repr(asked.joint))
    assert asked.joint.total * asked.joint.common == 3000
    drawn, tests = apply(design, pa.table(FRAME))
    assert repr(drawn) == "Released(3,000 rows of age, plan, visits)"
    assert repr(tests) == "Audit(3,000 rows; 3 of 3 tests passed)"
    assert re.fullmatch(r"Channel\((\w+: \d+, ){2}\w+: \d+ -> (\w+: \d+, ){2}\w+: \d+\)", repr(design.channel))
    assert re.fullmatch(r"Certificate\(\w+\)", repr(design.certificate))


@pytest.mark.long
def test_a_curve_is_asked_drawn_and_tabulated():
    curve = tradeoff(problem(pa.table(FRAME), **WISH, keep_rows=0), 5)
    point = curve.at(bits=0.004)
    assert point.high <= 0.004
    assert point in curve.points
    with pytest.raises(InputError, match="reveals more"):
        curve.at(bits=-1)
    assert list(curve.to_frame().columns) == ["distortion", "at_least_bits", "at_most_bits", "proved"]
    assert curve._repr_html_().startswith("<svg")
    assert "\n" not in repr(curve)
    assert len(repr(point)) < 100


def test_one_name_need_not_be_a_list_and_a_factor_is_a_promise():
    both = protect(pa.table(FRAME), secret="health", release="plan", reveal_at_most="1/30", times_at_most=2)
    assert both.promise == (
        "reveals at most 0.0333334 bits about health, and makes no answer about health more than 2 times as likely"
    )
    found = protect(pa.table(FRAME), secret="health", release="plan", times_at_most=2)
    assert found.data.column_names == ["plan"]
    assert found.promise == "makes no answer about health more than 2 times as likely"


@pytest.mark.long
def test_dates_come_back_as_ordered_years():
    days = [date(2014 + k % 7, 1 + k % 12, 1 + k % 28) for k in range(len(FRAME["age"]))]
    data = protect(pd.DataFrame(FRAME | {"day": pd.to_datetime(days)}), **(FEW | {"release": "day"})).data
    assert list(data["day"].cat.categories) == [str(2014 + k) for k in range(7)]
    assert data["day"].cat.ordered


def test_a_curve_is_plotted():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("agg")
    curve = tradeoff(problem(pa.table(FRAME), **WISH, keep_rows=0), 5)
    axes = curve.plot()
    assert axes.get_ylabel() == "bits revealed about health"
    assert curve.plot(ax=axes) is axes
    pyplot.close("all")


def test_the_point_of_a_problem_lies_on_its_curve():
    """Between two solved points it was drawn below the line, as if it beat what nobody can beat."""
    curve = tradeoff(problem(pa.table(FRAME), **WISH, keep_rows=0), 5)
    here = (float(curve.chosen.distortion), float(curve.chosen.high))
    assert here in curve._places()
    assert [x for x, _ in curve._places()] == sorted(x for x, _ in curve._places())
    assert curve._repr_html_().count("your problem") == 1


# --- names and bad input ----------------------------------------------------------------------------------------------
def test_dir_shows_public_names_alone():
    assert dir(dalenius) == sorted(dalenius.__all__)
    wanted = {"MinimizeDistortion", "MinimizeLeakage", "MinimizeVariance", "MinimizeRate", "Distortion", "protect"}
    assert wanted <= set(dir(dalenius))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"deny": 2}, "may stand beside it, or alone"),
        ({"reveal_at_most": None}, "may stand beside it, or alone"),
        ({"reveal_at_most": "much"}, "not a number"),
        ({"secret": "helth"}, 'Did you mean "health"'),
        ({"release": ["age", "health"]}, "protected and released"),
        ({"groups": {"plan": [3]}}, "not a number"),
    ],
)
def test_bad_wishes_are_refused_in_one_sentence(change, says):
    with pytest.raises(InputError, match=says):
        protect(pa.table(FRAME), **(WISH | change))
    with pytest.raises(InputError, match="no wish"):
        problem(pa.table(FRAME), **WISH, colour="red")


def test_what_is_no_frame_is_refused():
    with pytest.raises(InputError):
        protect([1, 2], **WISH)


def test_text_that_does_not_fit_its_type_stays_text():
    told = typed(pa.table({"a": ["1", "x"]}), pa.schema([("a", pa.int64())]), {}, [])
    assert told["a"].to_pylist() == ["1", "x"]


def test_the_outline_for_machines_is_in_the_card(released, tmp_path):
    card = json.loads((released.write(tmp_path / "r") / "card.json").read_text())
    assert "joint" not in json.dumps(card)


@pytest.mark.long
def test_a_release_of_records_says_how_much_it_changes_and_shows_none_of_them():
    made = protect(pa.table(FRAME), **WISH, form="records")
    assert re.search(r"; [\d.]+ of 300 entries in 100 rows changed; ", repr(made))
    assert re.fullmatch(r"Records\((\w+: \d+, ){3}health: 2 -> (\w+: \d+, ){2}\w+: \d+\)", repr(made.design.channel))


def test_whole_numbers_beside_missing_values_come_back_as_they_were():
    """They came back as numbers with a fraction, 1.0 for 1."""
    frame = pd.DataFrame(
        {
            "many": pd.array([1, 2, None, 2] * 60, dtype="Int64"),
            "plain": [1, 2, 1, 2] * 60,
            "sick": ["yes", "no", "no", "no"] * 60,
        }
    )
    found = protect(frame, secret="sick", release=["many", "plain"], reveal_at_most="1/10").data
    assert [str(kind) for kind in found.dtypes] == ["Int64", "int64"]
    assert found["many"].isna().any()
    assert set(found["many"].dropna()) == {1, 2}
