"""Paper 003 recomputed: reference values, the errata that the exhibits show, the files and the command."""

import json
from fractions import Fraction
from pathlib import Path

import pytest

from dalenius.cli import main
from dalenius.papers import Figure, paper003

CASES = json.loads((Path(__file__).parents[1] / "oracle" / "003_closed.json").read_text(encoding="utf-8"))["cases"]
NAMES = {
    "divided by 0.8": "renormalised",
    "with a letter of 0.2": "insert_0.20",
    "first letter 0.45": "first_plus_0.20",
}


@pytest.fixture(scope="module")
def found():
    return {e.key: e for e in paper003.exhibits()}


def value(cell):
    return float(cell.value) if isinstance(cell, Figure) else float(Fraction(cell))


def test_what_is_shown(found):
    assert list(found) == ["figure-3", "figure-4", "figure-5", "codes", "example-1-of-004"]


def test_the_printed_law_falls_short_and_every_completion_is_a_law():
    assert sum(map(Fraction, paper003.PRINTED_LAW)) == Fraction(4, 5)
    assert [sum(p) for p in paper003.completions().values()] == [1, 1, 1]


def test_figure_4_meets_the_reference_values(found):
    known = {c["name"]: c["expected"] for c in CASES if c["kind"] == "hamming_waterfill"}
    laws, kept = found["figure-4"].tables
    seen = 0
    for name, d, *cells, note in kept.rows:
        expected = known[f"ex1_{NAMES[name]}_D{float(Fraction(d)):g}"]
        assert value(cells[0]) == pytest.approx(float(expected["Gamma_bits"]), abs=1e-12)
        assert value(cells[3]) == pytest.approx(float(expected["R_bits"]), abs=1e-12)
        assert f"{float(expected['slope_bits']):.6f}" in note
        seen += 1
    assert seen == 9
    blind = [row[0] for row in kept.rows if "printed numbers give this" in row[-1]]
    assert blind == ["first letter 0.45"] * 3
    assert all("more peaked" in row[-1] and "NOT" not in row[-1] for row in laws.rows if row[1] != "0")


def test_figure_3_shows_that_the_corner_is_not_attained(found):
    region, frontier = found["figure-3"].tables
    assert all("not attained" in row[-1] for row in frontier.rows)
    half = {row[0]: row for row in frontier.rows}["1/2"]
    assert value(half[1]) == pytest.approx(0.32779, abs=1e-5)
    assert value(half[3]) == pytest.approx(0.384093, abs=1e-6)
    for column in (2, 4):
        figures = [value(row[column]) for row in region.rows]
        assert figures == sorted(figures, reverse=True)
    assert all(value(row[1]) <= value(row[2]) and value(row[3]) <= value(row[4]) for row in region.rows)


def test_figure_5_meets_the_reference_values(found):
    known = {c["name"]: c["expected"] for c in CASES if c["kind"] == "gaussian"}
    compared = 0
    for d, beside, r_i, r_ii, l_i, l_ii, ignored, seen, note in found["figure-5"].tables[0].rows:
        name = f"ex2_rxy0.7_rxz{beside}_D{d if d != '1' else '1.0'}"
        if name not in known:
            continue
        expected = {k: float(v) for k, v in known[name].items()}
        for cell, key in ((r_i, "R_U"), (r_ii, "R_SI"), (l_i, "L_U"), (l_ii, "L_SI"), (seen, "L_both")):
            assert float(cell) == pytest.approx(expected[key], abs=1e-11)
        if "L_U_code_with_Z" in expected:
            assert float(ignored) == pytest.approx(expected["L_U_code_with_Z"], abs=1e-11)
        assert note.startswith("S6") == (expected["L_SI"] > expected["L_U"] + 1e-9)
        compared += 1
    assert compared >= 10


def test_the_codes_buy_rate_and_no_privacy(found):
    quantised, binned, band = found["codes"].tables
    for _, _, _, rate, least, leaks, by_record, note in quantised.rows:
        assert float(rate) > float(least)
        assert float(leaks) > float(by_record)
        assert note == "leaks more than record by record"
    wrong = {(row[0], row[1]): float(row[4]) for row in binned.rows}
    assert wrong["40", "0.08"] < wrong["40", "0"]
    assert all((row[6] == "-") == (row[0] == "40") for row in binned.rows)
    assert [float(row[2]) - float(row[1]) for row in band.rows] == sorted(
        (float(row[2]) - float(row[1]) for row in band.rows), reverse=True
    )


def test_example_1_of_paper_004(found):
    rows = found["example-1-of-004"].tables[0].rows
    for p, d, _, _, ours, note in rows:
        assert note.startswith("agrees") == (Fraction(d) <= Fraction(1, 2))
        if Fraction(d) >= Fraction(1, 2):
            assert value(ours) <= 1e-9
        if (p, d) == ("1/10", "3/20"):
            assert value(ours) == pytest.approx(0.23983249703803440727, abs=2e-9)


def test_the_command_writes_the_folder(found, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(paper003, "exhibits", lambda show: list(found.values()))
    assert main(["figures", "003", "--output", str(tmp_path / "f"), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert {"index.html", "figure-4.svg", "figure-4-a.csv", "figure-3-frontier.csv"} <= set(document["files"])
    page = (tmp_path / "f" / "index.html").read_text(encoding="utf-8")
    assert "S12" in page
    assert "without a known reason" not in page
    assert "https://" not in page
