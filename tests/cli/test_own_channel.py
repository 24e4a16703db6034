"""`apply channel.json table.csv`: a matrix that somebody brings is audited, drawn from, and tested."""

import json
from collections import Counter

import pytest

from dalenius.cli import main

ROWS = [["3/4", "1/4"], ["1/10", "9/10"]]
CHANNEL = {"inputs": {"sex": ["f", "m"]}, "output": {"sex": ["f", "m"]}, "rows": ROWS}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "channel.json").write_text(json.dumps(CHANNEL))
    (tmp_path / "t.csv").write_text("sex,year,name\n" + "f,1990,x\n" * 4000 + "m,1991,y\n" * 6000)
    return tmp_path


def run(folder, *further):
    return main(["apply", str(folder / "channel.json"), str(folder / "t.csv"), "-o", str(folder / "out.csv"), *further])


@pytest.mark.long
def test_point_13_an_own_matrix_is_audited_and_drawn_from(folder, capsys):
    assert run(folder, "--keep", "year") == 0
    printed = capsys.readouterr().out
    assert "What this recipe promises, whoever made it:" in printed
    assert "differential privacy" in printed
    assert "year leaves as it is. The promises about single columns count what it reveals; all others are" in printed
    assert "whoever sees the release and guesses sex is right at most 100 % of the time" in printed, (
        "year gives it away"
    )
    assert "What the recipe lets out of one row, proved:" in printed
    assert "all records together" not in printed, "each row is drawn by itself: the whole table reveals far more"
    header, *rows = (folder / "out.csv").read_text().splitlines()
    assert sorted(header.split(",")) == ["sex", "year"], "nothing leaves that was not asked for"
    place = header.split(",").index("sex"), header.split(",").index("year")
    seen = Counter((row.split(",")[place[0]], row.split(",")[place[1]]) for row in rows)
    assert abs(seen["f", "1990"] - 3000) < 200
    assert abs(seen["f", "1991"] - 600) < 150


@pytest.mark.long
def test_a_matrix_that_does_not_fit_is_refused(folder, capsys):
    (folder / "t.csv").write_text("sex,year\nf,1\nq,2\n")
    assert run(folder) == 2
    assert "'q'" in capsys.readouterr().err
    (folder / "t.csv").write_text("gender,year\nf,1\nm,2\n")
    assert run(folder) == 2
    assert 'no column "sex"' in capsys.readouterr().err
    (folder / "channel.json").write_text(json.dumps(CHANNEL | {"rows": [["3/4", "1/2"], ["0", "1"]]}))
    assert run(folder) == 2
    assert not (folder / "out.csv").exists()


def test_a_perturbed_column_cannot_be_kept(folder, capsys):
    assert run(folder, "--keep", "sex") == 2
    assert "cannot go out" in capsys.readouterr().err


@pytest.mark.long
def test_what_leaves_beside_the_output_counts_as_an_output(folder, capsys):
    """Of a xor b beside a copy of b it was promised that a is guessed right half of the time; it is given away."""
    rows = [["1", "0"], ["0", "1"], ["0", "1"], ["1", "0"]]
    channel = {"inputs": {"a": ["0", "1"], "b": ["0", "1"]}, "output": {"Y": ["even", "odd"]}, "rows": rows}
    (folder / "channel.json").write_text(json.dumps(channel))
    (folder / "t.csv").write_text("a,b,copy\n" + "0,0,x\n0,1,y\n1,0,x\n1,1,y\n" * 100)
    assert run(folder) == 0
    assert "guesses a is right" not in capsys.readouterr().out, "by itself it is independent of a"
    assert run(folder, "--keep", "copy", "--force") == 0
    printed = capsys.readouterr().out
    assert "what is released reveals at most 1 bit about a on average" in printed
    assert "whoever sees the release and guesses a is right at most 100 % of the time" in printed
    (folder / "t.csv").write_text("a,b,copy\n" + "".join(f"{k % 2},{k // 2 % 2},{k}\n" for k in range(400)))
    assert run(folder, "--keep", "copy", "--force") == 0
    printed = capsys.readouterr().out
    assert "guesses a is right" not in printed
    assert "The promises above are between rows that agree in it; what it reveals about a column was not" in printed
