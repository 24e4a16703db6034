"""Paper 000 recomputed: the oracle, the printed numbers, the errata; the files, their form, and the command."""

import csv
import json
import re
import signal
import sys
import xml.etree.ElementTree as ET
from fractions import Fraction
from functools import partial
from html.parser import HTMLParser
from math import log2
from pathlib import Path

import pytest

from dalenius.cli import main
from dalenius.errors import InputError
from dalenius.papers import (
    Chart,
    Enclosure,
    Exhibit,
    Figure,
    Line,
    Table,
    draw,
    paper000,
    paper000_chains,
    render,
    write,
)
from dalenius.papers.curve import ticks
from dalenius.papers.enclosure import binary_entropy, logarithm
from dalenius.papers.exhibit import agrees
from dalenius.papers.page import csv_text
from tests.effort import EVERYTHING

ORACLE = {
    case["name"]: case
    for name in ("000_small.json", "000_asymptotics.json")
    for case in json.loads((Path(__file__).parents[1] / "oracle" / name).read_text(encoding="utf-8"))["cases"]
}
KEYS = ["example-1", "example-2", "two-bits", "table-1", "example-3", "example-4", "example-5", "figure-4", "figure-5"]


GRID = paper000_chains.GRID if EVERYTHING else paper000_chains.GRID[::5]  # the reference values are at twentieths


@pytest.fixture(scope="module", autouse=True)
def grid():
    """Figures 4 and 5 at every hundredth in the long run, at every twentieth by default."""
    curves = {"Figure 4": paper000_chains.figure_4, "Figure 5": paper000_chains.figure_5}
    assert [name for name, compute in paper000.EXHIBITS if curves.get(name) is compute] == list(curves)
    with pytest.MonkeyPatch.context() as patch:
        coarse = tuple((n, partial(curves[n], GRID) if n in curves else e) for n, e in paper000.EXHIBITS)
        patch.setattr(paper000, "EXHIBITS", coarse)
        yield


@pytest.fixture(scope="module")
def found():
    stages = []
    exhibits = paper000.exhibits(lambda stage, done, total: stages.append((stage, done, total)))
    assert [done for _, done, _ in stages] == list(range(9))
    assert stages[7] == ("computing Figure 4", 7, 9)
    return {e.key: e for e in exhibits}


@pytest.fixture(scope="module")
def folder(found, tmp_path_factory):
    place = tmp_path_factory.mktemp("figures") / "000"
    write("000", paper000.TITLE, list(found.values()), place)
    return place


def rows(exhibit, table=0):
    """Rows as dictionaries; a second column of the same name is called after its place."""
    t = exhibit.tables[table]
    head = [h if t.head.index(h) == k else f"{h}@{k}" for k, h in enumerate(t.head)]
    return [dict(zip(head, row, strict=True)) for row in t.rows]


def near(cell, expected, tolerance=1e-9):
    value = cell.value if isinstance(cell, Figure) else Fraction(cell)
    return float(value) == pytest.approx(float(expected), abs=tolerance)


def oracle(kind, q):
    """The reference value of a curve at q."""
    wanted = [c for c in ORACLE.values() if c["name"].startswith(kind) and c["name"].endswith(f"q{q}")]
    assert len(wanted) == 1, (kind, q)
    return wanted[0]["expected"]


# --- the numbers ------------------------------------------------------------------------------------------------------
def test_everything_is_there_and_nothing_differs_without_a_reason(found):
    assert list(found) == KEYS
    for exhibit in found.values():
        assert exhibit.chart or exhibit.key == "two-bits"
        for table in exhibit.tables:
            assert all(len(row) == len(table.head) for row in table.rows)
            for row in table.rows:
                assert not any(
                    word in str(row[-1]) for word in ("DIFFERS", "NOT", "CONTRADICTS", "not a letter", ": NO")
                )


def test_figure_4_equals_the_oracle(found):
    lines = {row["q"]: row for row in rows(found["figure-4"])}
    assert len(lines) == len(GRID)
    for k in range(1, 11):
        q = Fraction(k, 20)
        row = lines[f"{float(q):g}"]
        assert near(row["optimum"], oracle("fig4_opt_n4", q))
        assert near(row["partial, windows of two"], oracle("fig4_partial_n4", q))
        assert near(row["paper: preprocessing by (67)"], oracle("fig4_pre67_n4", q))
        assert near(row["ours: preprocessing, exact"], oracle("fig4_pre_exact_n4", q))
        assert ("E2" in row["note"]) is (q != Fraction(1, 2))
        for value, bound in (("optimum", "bound"), ("ours: preprocessing, exact", "bound@7")):
            assert 0 <= row[bound].value - row[value].value < Fraction(1, 10**25)


def test_figure_5_equals_the_oracle_and_reverses_the_conclusion_of_the_paper(found):
    lines = {row["q"]: row for row in rows(found["figure-5"])}
    for k in range(1, 11):
        q = Fraction(k, 20)
        row = lines[f"{float(q):g}"]
        assert near(row["partial, windows of two"], oracle("fig5_par", q))
        assert near(row["paper: preprocessing by (67)"], oracle("fig5_pre67", q))
        assert near(row["ours: preprocessing, exact"], oracle("fig5_pre_exact", q))
        wins = row["ours: preprocessing, exact"].value > row["bound"].value
        assert wins is (q <= Fraction(1, 4))
        assert ("preprocessing wins" in row["note"]) is wins
    assert "19 times too small" in found["figure-5"].chart.caption


def test_table_1_and_its_continuation_equal_the_oracle(found):
    lines = {row["n"]: row for row in rows(found["table-1"])}
    for n in (2, 3, 4):
        assert near(lines[str(n)]["ours"], ORACLE[f"tableI_n{n}"]["expected"], 1e-15)
        assert "agrees" in lines[str(n)]["note"]
        assert lines[str(n)]["paper"] == paper000.PRINTED_TABLE_1[n]
    for n in (5, 6, 8, 10, 20, 50, 100):
        assert near(lines[str(n)]["ours"], ORACLE[f"types_TableI_n{n}"]["expected"], 1e-12)
        assert -1e-15 <= lines[str(n)]["bound"].value - lines[str(n)]["ours"].value < 1e-12
    assert "which contains it" in lines["5"]["note"]
    values = [float(lines[n]["ours"].value) for n in lines]
    assert list(lines)[-1] == "400"
    assert values[3] == max(values)  # n = 5
    assert values[3:] == sorted(values[3:], reverse=True)
    assert 400 * values[-1] == pytest.approx(200 * values[-2], rel=0.01)  # falls like 1/n


def test_example_2_reproduces_the_paper_except_for_two_entries_of_equation_20(found):
    lines = {row["quantity"]: row for row in rows(found["example-2"])}
    assert near(lines["I_s, bits"]["ours"], ORACLE["example2_alpha_2/3"]["expected"], 1e-17)
    assert near(lines["I_s with crossover 1/3"]["ours"], ORACLE["example2_alpha_1/3"]["expected"], 1e-17)
    assert [name for name, row in lines.items() if "misprint" in row["note"]] == [
        "P(W=0 | X1=0, X2=e)",
        "P(W=0 | X1=1, X2=e)",
    ]
    assert all("agrees" in lines[f"(22), letter {k}"]["note"] for k in (1, 2, 3))


def test_examples_1_and_3_are_optimal(found):
    for row in rows(found["example-1"]):
        assert near(row["ours"], float(logarithm(int(row["M"]))), 1e-15)
    for row in rows(found["example-3"]):
        expected = ORACLE[f"example3_M{row['M']}_n{row['n']}_k{row['k']}"]["expected"]
        assert near(row["ours"], expected, 1e-12)
        assert row["note"].endswith("optimal")


def test_errata_E1_E2_and_E4_are_named_with_their_numbers(found):
    leaks = [(row["sample"], row["q"], float(row["ours"].value), row["note"]) for row in rows(found["example-4"], 1)]
    assert [round(v, 4) for _, q, v, _ in leaks if q == "0.4"] == [0.1524, 0.0979, 0.0979, 0.1524]
    assert [round(v, 4) for _, q, v, _ in leaks if q == "0.2"] == [0.0387, 0.1067, 0.1067, 0.0387]
    assert all(note.startswith("E1") for *_, note in leaks)
    mended = [float(row["ours"].value) for row in rows(found["example-4"], 2)]
    assert mended == pytest.approx([1.112650780, 0.810840381, 2.794551177, 2.561456377], abs=1e-9)
    for row in rows(found["example-5"]):
        assert row["note"].startswith("E2") is (row["n"] != "2" and row["q"] != "0.5")
    bits = rows(found["two-bits"])
    assert [row["note"][:2] for row in bits[:2]] == ["E4", "E4"]
    assert bits[1]["paper"] == "-3/4"
    assert near(bits[2]["ours"], 0.279005661846098, 1e-14)
    assert near(bits[3]["ours"], bits[2]["ours"].value, 1e-25)


# --- the files --------------------------------------------------------------------------------------------------------
def test_pictures_are_well_formed_and_stand_alone(found, folder):
    pictures = sorted(folder.glob("*.svg"))
    assert [p.stem for p in pictures] == sorted(k for k in KEYS if k != "two-bits")
    for picture in pictures:
        text = picture.read_text(encoding="utf-8")
        root = ET.fromstring(text)
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        assert "prefers-color-scheme: dark" in text
        assert not re.search(r"href|url\(|@import|<script", text)
        chart = found[picture.stem].chart
        words = " ".join("".join(t.itertext()) for t in root.iter("{http://www.w3.org/2000/svg}text"))
        for said in (chart.x, chart.y, chart.caption, *(line.name for line in chart.lines)):
            assert said in words
    for key in ("example-5", "figure-4", "figure-5"):
        chart = found[key].chart
        assert [line.name.split(":")[0] for line in chart.lines if line.dashed] == ["paper"]
        assert "E2" in chart.caption
        assert any(line.name.startswith("corrected") for line in chart.lines)


def test_tables_are_written_with_all_digits(folder):
    with (folder / "figure-4.csv").open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    assert len(lines) == len(GRID)
    assert lines[0]["q"] == "0.05"
    assert lines[0]["optimum"] == "0.103870271094243096"
    assert lines[0]["optimum, bound"] == "0.103870271094243097"
    assert lines[-1]["ours: preprocessing, exact"] == "3"
    for file in folder.glob("*.csv"):
        head, *body = csv.reader(file.read_text(encoding="utf-8").splitlines())
        assert len(set(head)) == len(head)
        assert all(len(row) == len(head) for row in body)


class Page(HTMLParser):
    """Every tag with its attributes, and whether all that is opened is closed."""

    def __init__(self):
        super().__init__()
        self.tags, self.open = [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "line", "rect", "circle", "polyline", "polygon"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        if tag not in ("circle", "polygon"):
            assert self.open.pop() == tag


def test_the_page_is_self_contained(folder):
    text = (folder / "index.html").read_text(encoding="utf-8")
    page = Page()
    page.feed(text)
    assert page.open == []
    names = {tag for tag, _ in page.tags}
    assert not names & {"script", "link", "img", "iframe", "object", "image", "use"}
    here = {file.name for file in folder.iterdir()}
    for _, attributes in page.tags:
        assert not any(name.startswith("on") for name in attributes)
        if "href" in attributes:
            target = attributes["href"]
            assert target in here or f'id="{target[1:]}"' in text
    assert not re.search(r"url\(|@import", text)
    assert set(re.findall(r"https?://[^\"' ]+", text)) == {"http://www.w3.org/2000/svg"}
    assert "default-src 'none'" in text
    assert text.count("<svg") == 8
    assert "These differ from the paper" not in text


def test_words_are_escaped_and_differences_are_announced():
    evil = "<script>alert('x')</script>&"
    chart = Chart(evil, evil, evil, (Line(evil, ((0, 0), (1, 1)), 0),), evil)
    table = Table("", evil, (evil, "paper", "note"), ((evil, evil, f"DIFFERS {evil}"),))
    text = render(evil, evil, [Exhibit("k", evil, (evil,), (table,), chart)])
    assert "<script" not in text
    assert "&lt;script&gt;" in text
    assert "These differ from the paper without a known reason" in text
    assert ET.fromstring(draw(chart)).tag.endswith("svg")


# --- the parts --------------------------------------------------------------------------------------------------------
def test_figures_are_cut_to_their_side_and_printed_ones_compared():
    third = Enclosure.of(Fraction(1, 3))
    assert Figure(third.low, "down").text(3) == "0.333"
    assert Figure(Fraction(-1, 3), "down").text(3) == "-0.334"
    assert Figure(Fraction(7), "up").text() == "7"
    assert agrees("8.34e-3", Enclosure.of(Fraction("0.0083377")))
    assert not agrees("8.33e-3", Enclosure.of(Fraction("0.0083377")))
    assert csv_text(Table("", "", ("a", "b"), ((Figure(Fraction(1, 3), "up"), "x"),))).splitlines()[1].endswith("34,x")


def test_enclosures_contain_and_refuse():
    found, p = binary_entropy("1/10"), 0.1
    assert float(found) == pytest.approx(-p * log2(p) - (1 - p) * log2(1 - p), abs=1e-15)
    assert 0 < found.high - found.low < Fraction(1, 2**140)
    assert float(logarithm(3) - logarithm(3)) == pytest.approx(0)
    assert Enclosure.of(2).times(-3) == Enclosure.of(-6)
    with pytest.raises(InputError, match="nothing lies between"):
        Enclosure(Fraction(1), Fraction(0))
    with pytest.raises(InputError, match="positive denominator"):
        Enclosure.of(1).over(Enclosure.of(0))


def test_charts_refuse_what_they_cannot_draw():
    line = Line("a", ((1, 1), (2, 2)), 0)
    with pytest.raises(InputError, match="no points"):
        Line("a", (), 0)
    with pytest.raises(InputError, match="not finite"):
        Line("a", ((0, float("nan")),), 0)
    with pytest.raises(InputError, match="5 colours"):
        Line("a", ((0, 0),), 5)
    with pytest.raises(InputError, match="no lines"):
        draw(Chart("t", "x", "y", (), ""))
    with pytest.raises(InputError, match="negative"):
        draw(Chart("t", "x", "y", (Line("a", ((1, -1),), 0),), ""))
    with pytest.raises(InputError, match="log axis"):
        draw(Chart("t", "x", "y", (Line("a", ((0, 1), (1, 1)), 0),), "", log_x=True))
    assert ET.fromstring(draw(Chart("t", "x", "y", (line, Line("b", ((1, 0),), 4)), "", log_x=True))) is not None
    assert ticks(0, 0.054)[-1] == 0.05


# --- the command ------------------------------------------------------------------------------------------------------
@pytest.fixture
def run(capsys):
    hook, handler = sys.excepthook, signal.getsignal(signal.SIGTERM)

    def command(*arguments):
        try:
            code = main([str(a) for a in arguments])
        except SystemExit as e:
            code = int(e.code or 0)
        said = capsys.readouterr()
        return code, said.out, said.err

    yield command
    sys.excepthook = hook
    signal.signal(signal.SIGTERM, handler)


def test_unknown_papers_and_existing_folders_are_refused(run, tmp_path, monkeypatch):
    monkeypatch.setattr(paper000, "exhibits", lambda show: pytest.fail("nothing should be computed"))
    assert run("figures", "<b>", "-o", tmp_path / "f")[0] == 2
    assert "there is no paper '5'" in run("figures", "5", "-o", tmp_path / "f")[2]
    code, _, err = run("figures", "000", "-o", tmp_path)
    assert code == 2
    assert "exists already" in err
    assert run("figures", "000")[0] == 2


def test_the_command_writes_a_folder_and_says_so(found, run, tmp_path, monkeypatch):
    monkeypatch.setattr(paper000, "exhibits", lambda show: list(found.values()))
    code, out, _ = run("figures", "000", "-o", tmp_path / "f")
    assert code == 0
    assert "Figure 5" in out
    assert (tmp_path / "f" / "index.html").is_file()
    code, out, _ = run("figures", "000", "-o", tmp_path / "f", "--force", "--json")
    document = json.loads(out)
    assert code == 0
    assert document["files"] == sorted(file.name for file in (tmp_path / "f").iterdir())
    assert [e["key"] for e in document["exhibits"]] == KEYS
    assert document["exhibits"][3]["tables"][0]["rows"][0][1:3] == ["8.34e-3", "0.008337698267697253"]
    assert [p.name for p in tmp_path.iterdir()] == ["f"]


@pytest.mark.long
def test_a_figure_can_be_computed_on_a_coarser_grid():
    exhibit = paper000_chains.figure_4([Fraction(1, 4), Fraction(1, 2)])
    assert [row[0] for row in exhibit.tables[0].rows] == ["0.25", "0.5"]
