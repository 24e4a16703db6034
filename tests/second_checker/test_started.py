"""Whatever `init` writes is proved again in the page of its statement, and a forged file is refused there."""

import json
import random
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pytest

from dalenius.api import solve
from dalenius.core import Problem
from dalenius.report.reproof import needed, script
from dalenius.starting import Wish, draft
from dalenius.tables import open_table
from tests.second_checker.test_agreement import second

pytestmark = [pytest.mark.node, pytest.mark.slow]

WISH = Wish((("health",),), ("plan", "visits"), "reveal", Fraction(1, 100))
WIDE = tuple(f"q{k}" for k in range(6))
KINDS = {
    "reveal": WISH,
    "reveal, rows kept by value": replace(WISH, keep_rows=Fraction(3, 4)),
    "reveal, no limit on losses": replace(WISH, keep_rows=Fraction(0)),
    "reveal beside times": replace(WISH, times=Fraction(2)),
    "reveal, two secrets": replace(WISH, protect=(("health",), ("sex",))),
    "reveal, two secrets together": replace(WISH, protect=(("health", "sex"),)),
    "reveal beside a kept column": replace(WISH, keep=("region",), level=Fraction(1, 10)),
    "guess": replace(WISH, promise="guess", level=Fraction(7, 10)),
    "guess beside times": replace(WISH, promise="guess", level=Fraction(7, 10), times=Fraction(2)),
    "nothing": replace(WISH, promise="nothing", level=None),
    "times": replace(WISH, promise="times", level=Fraction(2)),
    "deny": replace(WISH, promise="deny", level=Fraction(3)),
    "deny, each column": replace(WISH, promise="deny", level=Fraction(3), form="each"),
    "deny, a person with several rows": replace(WISH, promise="deny", level=Fraction(9), person="who"),
    "records, reveal": replace(WISH, release=WIDE, form="records"),
    "records, rows kept by value": replace(WISH, release=WIDE, form="records", keep_rows=Fraction(3, 4)),
    "records, guess": replace(WISH, release=WIDE, form="records", promise="guess", level=Fraction(7, 10)),
    "records, nothing": replace(WISH, release=WIDE, form="records", promise="nothing", level=None),
    "records, times": replace(WISH, release=WIDE, form="records", promise="times", level=Fraction(2)),
}


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    chance = random.Random(5)
    rows = []
    for k in range(1200):
        ill = chance.random() < 0.35
        visits = ("none", "few", "many")[min(2, int(chance.random() * 2 + ill))]
        wide = [str(int(chance.random() * 2 + 0.3 * ill)) for _ in WIDE]
        plan, region, sex = chance.choice("ab"), chance.choice(("north", "south")), chance.choice("fm")
        rows.append((f"p{k // 2}", "poor" if ill else "good", plan, visits, region, sex, *wide))
    names = ("who", "health", "plan", "visits", "region", "sex", *WIDE)
    place = tmp_path_factory.mktemp("started") / "people.csv"
    pyarrow.csv.write_csv(pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))), place)
    return place


def forged(text: str) -> str:
    """The same file with a promise that the recipe does not keep."""
    document = json.loads(text)
    promise = document["promises"][0]
    key = next((k for k in ("at_most_bits", "at_most", "epsilon", "times") if promise.get(k) is not None), None)
    if key is None:  # nothing at all: exchange two rows of the recipe
        rows = document["channel"]["rows"]
        other = next(k for k, row in enumerate(rows) if row != rows[0])
        rows[0], rows[other] = rows[other], rows[0]
    else:
        promise[key] = str(Fraction(str(promise[key])) / 50)
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"))


@pytest.mark.parametrize("wish", KINDS.values(), ids=KINDS)
def test_what_init_writes_is_proved_in_its_page(wish: Wish, table: Path, tmp_path: Path) -> None:
    written = draft(open_table(table), wish, path=str(table)).text
    (tmp_path / "problem.toml").write_text(written, encoding="utf-8")
    design = solve(Problem.from_file(tmp_path / "problem.toml"), seconds=60)
    text = design.text
    assert text
    modules = needed(json.loads(text))
    assert modules  # the page has its button
    (tmp_path / "carried.mjs").write_text(script(modules, button=False), "utf-8")
    found, lied = second([text, forged(text)], (tmp_path / "carried.mjs").as_uri())
    assert "proved" in found, found
    assert None not in found["proved"]["promises"]
    assert "refused" in lied, lied
