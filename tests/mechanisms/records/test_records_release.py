"""A wide table through the whole walk: released, proved, drawn, audited, traded and charged."""

import csv
import json
from fractions import Fraction

import numpy as np
import pytest

from dalenius import audit, load, release, solve, stopping, tradeoff, verify
from dalenius.api import apply
from dalenius.core import Distortion, Independent, Leakage, MinimizeDistortion, Pmf, Problem, Records
from dalenius.documents import canonical, card_text
from dalenius.errors import InputError, InvalidChannel, NotCertified, Unsupported
from dalenius.kernel import Refused, check
from dalenius.ledger import Ledger
from dalenius.mechanisms.records import trading
from dalenius.mechanisms.records.evidence import figures
from dalenius.mechanisms.records.words import _share
from dalenius.sampling import Key, Sampler, Stream
from dalenius.sampling.sparse import SparseSampler
from tests.effort import effort

COLUMNS = tuple("abcdef")
LETTERS = tuple("01234")


def rows(seed=1, many=400):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 5, (many, 6))
    secret = (rng.random(many) < 0.15 + 0.7 * (codes[:, 0] + codes[:, 1] > 5)).astype(int)
    return np.column_stack([codes, secret])


@pytest.fixture
def folder(tmp_path):
    """A folder with a table of six columns and a secret, and the problem of releasing it."""
    with (tmp_path / "table.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*COLUMNS, "s"])
        writer.writerows(rows().tolist())
    return tmp_path


def written(folder, promise='independent = ["s"]', mechanism=""):
    letters = json.dumps(list(LETTERS))
    text = '[source]\ntable = "table.csv"\n'
    text += "".join(f"[columns.{name}]\nvalues = {letters}\n" for name in COLUMNS)
    text += '[columns.s]\nvalues = ["0", "1"]\n'
    text += f"[mechanism]\nobserve = {json.dumps([*COLUMNS, 's'])}\nrelease = {json.dumps(COLUMNS)}\n{mechanism}\n"
    parts = ", ".join(f'{{ distortion = "hamming", of = ["{name}"] }}' for name in COLUMNS)
    text += f"[objective]\nminimize = {{ sum = [{parts}] }}\n[[guarantee]]\n{promise}\n"
    path = folder / "problem.toml"
    path.write_text(text)
    return Problem.from_file(path)


@pytest.mark.long
def test_a_wide_table_goes_record_by_record_without_being_asked(folder):
    problem = written(folder)
    outcome = release(problem, folder / "out", key=Key.unsafe(1))
    design = outcome.design
    assert isinstance(design.channel, Records)
    assert design.value == design.bound > 0
    assert not outcome.audit.contradicts
    assert outcome.audit.paired
    (spent,) = outcome.audit.distortions
    assert spent.expected == pytest.approx(float(design.value))
    assert spent.low <= spent.seen <= spent.high
    verify(folder / "out" / "design.json", table=folder / "table.csv", problem=folder / "problem.toml")
    again = load(folder / "out" / "design.json")
    assert again.channel == design.channel
    assert again.dumps() == design.dumps()
    seen = audit(again, released=folder / "out" / "released.csv", original=folder / "table.csv", key=Key.unsafe(1))
    assert seen.paired
    assert not seen.contradicts
    shuffled = audit(again, released=folder / "out" / "released.csv", original=folder / "table.csv")
    assert not shuffled.paired
    assert not shuffled.contradicts


@pytest.mark.long
def test_the_card_shows_no_record_and_proves_nothing_by_itself(folder):
    release(written(folder), folder / "out", key=Key.unsafe(1))
    card = json.loads((folder / "out" / "card.json").read_text())
    assert card["channel"] == {"form": "withheld"}
    assert "law" not in card
    public = "".join(
        (folder / "out" / name).read_text() for name in ("card.json", "card.about.json", "statement-public.html")
    )
    assert '"rows":[[' not in public
    assert check((folder / "out" / "card.json").read_text()).kept.promises == (None,)
    with pytest.raises(Unsupported, match="does not show its recipe"):
        audit(folder / "out" / "card.json")


@pytest.mark.long
def test_a_card_without_a_recipe_takes_no_more_work_than_any_small_file(folder):
    document = json.loads(solve(written(folder)).dumps())
    card = json.loads(card_text(document | {"work": "91000000"}))
    assert card["channel"] == {"form": "withheld"}
    assert check(canonical(card)).work < int(card["work"]) <= 20_000_000


@pytest.mark.long
def test_a_design_cannot_withhold_its_channel(folder):
    document = json.loads(solve(written(folder)).dumps())
    document["channel"] = {"form": "withheld"}
    with pytest.raises(Refused, match="shows its channel"):
        check(json.dumps(document, separators=(",", ":"), ensure_ascii=False))


@pytest.mark.long
def test_another_table_is_refused_with_the_reason(folder):
    design = solve(written(folder))
    other = folder / "other.csv"
    lines = (folder / "table.csv").read_text().splitlines()
    other.write_text("\n".join(lines[:-1]) + "\n")
    with pytest.raises(NotCertified, match="design the release of this table anew"):
        apply(design, other)


@pytest.mark.long
def test_a_release_that_was_tampered_with_is_seen(folder):
    design = solve(written(folder, mechanism='form = "records"\norder = "keep"'))
    released, seen = apply(design, folder / "table.csv", key=Key.unsafe(2))
    assert not seen.contradicts
    columns = {name: [letters[k] for k in codes] for name, (codes, letters) in released.columns.items()}
    present = set(zip(*columns.values(), strict=True))
    moved = next(k for k, (places, _) in enumerate(design.channel.lines) if len(places) == 1)
    row = next(r for r, e in enumerate(released.inputs.tolist()) if e == moved)
    wrong = next(r for r in sorted(present) if r != tuple(columns[name][row] for name in COLUMNS))
    for name, letter in zip(COLUMNS, wrong, strict=True):
        columns[name][row] = letter
    with (folder / "wrong.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        writer.writerows(zip(*(columns[name] for name in COLUMNS), strict=True))
    found = audit(design, released=folder / "wrong.csv", original=folder / "table.csv")
    assert found.contradicts


@pytest.mark.long
def test_a_curve_falls_from_what_the_table_tells_to_nothing(folder):
    curve = tradeoff(written(folder, 'leakage = ["s"]\nat_most_bits = "1/10"'), effort(3, 5))
    distortions = [point.distortion for point in curve.points]
    assert distortions == sorted(distortions)
    assert distortions[0] == 0
    assert curve.points[-1].high == 0
    assert all(point.low <= point.high for point in curve.points)
    assert curve.chosen.high <= Fraction(1, 10)
    assert curve.chosen.high - curve.chosen.low < Fraction(1, 200)


def test_point_14_a_curve_of_records_has_the_end_at_which_nothing_is_told_before_others(folder, monkeypatch):
    """The first search of a curve took as long as it needed, whatever time there was."""

    def without_end(*_, **__):
        stopping.rung()
        yield pytest.fail("the time was over")

    monkeypatch.setattr(trading, "tradeoff", without_end)
    stopping.resume(clock=lambda _: None)
    try:
        curve = tradeoff(written(folder, 'leakage = ["s"]\nat_most_bits = "1/10"'), 4)
    finally:
        stopping.resume()
    (point,) = curve.points
    assert point.high == 0
    assert point.distortion == curve.ends.private
    assert curve.chosen is None
    assert curve.not_reached == 3


@pytest.mark.long
def test_a_ledger_takes_a_release_of_records(folder):
    book = Ledger.create(folder / "ledger", ["leakage:s=1"])
    problem = written(folder, 'leakage = ["s"]\nat_most_bits = "1/10"')
    outcome = release(problem, folder / "out", key=Key.unsafe(1), ledger=book)
    assert outcome.charged is not None


@pytest.mark.long
def test_figures_say_what_moves_and_what_is_unique(folder):
    least = solve(written(folder))
    kept = solve(written(folder, mechanism='form = "records"\npreserve_marginals = true'))
    first, second = figures(least), figures(kept)
    assert min(first.moved.values()) == 0 < max(first.moved.values())
    assert min(second.moved.values()) > 0
    assert sum(first.changed.values()) == least.value
    assert sum(second.changed.values()) == kept.value
    assert 0 < second.unique <= 1
    assert second.released_unique == second.unique  # the law of the records is preserved


@pytest.mark.long
def test_remarks_say_what_is_not_promised(folder):
    design = solve(written(folder, mechanism='form = "records"\npreserve_marginals = true'))
    for word in ("missing from the release", "occur", "another table", "right in expectation"):
        assert any(word in remark for remark in design.remarks)


@pytest.mark.long
def test_towards_is_read_from_the_file_and_written_back(folder):
    problem = written(folder, mechanism='form = "records"\ntowards = "1/2"')
    assert problem.towards == Fraction(1, 2)
    assert problem.to_json()["mechanism"]["towards"] == "1/2"
    shares = figures(solve(problem)).moved.values()
    assert len(set(shares)) == 1


@pytest.mark.parametrize(
    "mechanism", ['towards = "1/2"', 'form = "records"\ntowards = "2"', 'form = "records"\ntowards = "-1"']
)
def test_towards_out_of_place_is_refused(folder, mechanism):
    with pytest.raises(InputError, match="towards"):
        written(folder, mechanism=mechanism)


def test_draws_from_sparse_rows_are_those_of_the_whole_matrix():
    rng = np.random.default_rng(3)
    lines, dense = [], []
    for _ in range(40):
        places = np.sort(rng.choice(12, rng.integers(1, 6), replace=False)).tolist()
        weights = rng.integers(1, 1000, len(places)).tolist()
        row = [Fraction(0)] * 12
        for place, weight in zip(places, weights, strict=True):
            row[place] = Fraction(weight, sum(weights))
        lines.append((places, weights))
        dense.append(row)
    codes = rng.integers(0, 40, 200_000)
    stream = Stream(Key.unsafe(5).derive("test"))
    assert (SparseSampler(lines, 12).draw(codes, stream, 7) == Sampler(dense).draw(codes, stream, 7)).all()


class Words:
    """A stream whose words are given, to reach the last resort."""

    def __init__(self, words):
        self.given = words

    def words(self, start, many):
        return np.array([self.given[row][0] for row in range(start, start + many)], dtype=np.uint64)

    def word(self, row, index):
        return self.given[row][index]


def test_a_word_that_equals_a_threshold_is_decided_by_the_next_ones():
    third = (1 << 64) // 3
    sampler = SparseSampler([((4, 9), (1, 2))], 10)
    # 1/3 has the words third, third, ...: below it the first letter, from it on the second one.
    drawn = sampler.draw(np.zeros(3, dtype=int), Words([(third, third - 1), (third, third + 1), (third - 1, 0)]))
    assert drawn.tolist() == [4, 9, 4]


@pytest.mark.parametrize("line", [((), ()), ((0, 1), (1,)), ((0,), (0,))])
def test_rows_that_are_none_are_refused(line):
    with pytest.raises(InvalidChannel):
        SparseSampler([line], 3)
    with pytest.raises(InvalidChannel):
        Records({"X": ("a",)}, {"X": ("a",)}, ((0,),), ((0,),), (line,))


def test_a_record_that_the_design_does_not_know_is_refused():
    law = Records({"X": ("a", "b")}, {"X": ("a", "b")}, ((0,),), ((0,),), (((0,), (1,)),))
    with pytest.raises(Unsupported, match="X=b is not in the table"):
        law.drawn_row([1])


def test_a_table_where_nothing_tells_anything_changes_nothing():
    joint = Pmf.from_counts(
        {"X": ("a", "b"), "S": ("0", "1")}, np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), [2, 1, 4, 2]
    )
    problem = Problem(
        observe=("X", "S"),
        release=("X",),
        form="records",
        objective=MinimizeDistortion(Distortion("hamming", ("X",))),
        guarantees=(Independent(("S",)),),
        joint=joint,
    )
    assert solve(problem).value == solve(problem).bound == 0


@pytest.mark.long
def test_one_promise_has_one_meaning_at_every_size():
    """A problem that is small enough for both ways has the same optimum by records and by whole matrices."""
    problem = Problem(
        observe=("X", "Z", "S"),
        release=("X", "Z"),
        objective=MinimizeDistortion(Distortion.sum_of([Distortion("hamming", ("X",)), Distortion("hamming", ("Z",))])),
        guarantees=(Leakage(("S",), Fraction(1, 20)),),
        joint=Pmf.from_counts(
            {"X": ("a", "b", "c"), "Z": ("0", "1"), "S": ("0", "1")},
            np.array([[0, 0, 0], [0, 1, 1], [1, 0, 0], [1, 1, 0], [2, 0, 1], [2, 1, 1], [0, 0, 1]]),
            [3, 4, 5, 1, 2, 6, 1],
        ),
    )
    from dataclasses import replace

    dense = solve(problem)
    found = solve(replace(problem, form="records"))
    assert abs(float(dense.value - found.value)) < 1e-8


@pytest.mark.long
def test_intervals_of_a_preserving_release_cover_what_the_table_says(folder):
    """500 releases: counts of two-way tables, and the slope of a regression, with ordinary 95 % intervals."""
    design = solve(written(folder, mechanism='form = "records"\npreserve_marginals = true'))
    table = rows()
    channel = design.channel
    inputs = np.array([channel.place[tuple(row)] for row in table.tolist()])
    records = np.array(channel.records)
    sampler = SparseSampler(channel.lines, len(records))
    original = table[:, :6]
    n = len(table)

    def cells(rows):
        return np.bincount(rows[:, 0] * 5 + rows[:, 2], minlength=25)

    def slope(rows):
        x = rows[:, 0] - rows[:, 0].mean()
        y = rows[:, 1] + rows[:, 3]
        found = float(x @ y / (x @ x))
        left = y - y.mean() - found * x
        return found, float(np.sqrt(left @ left / (n - 2) / (x @ x)))

    truth, true_slope = cells(original), slope(original)[0]
    covered, slopes = [], []
    for k in range(500):
        drawn = records[sampler.draw(inputs, Stream(Key.unsafe(k).derive("coverage")))]
        counts = cells(drawn)
        width = 1.96 * np.sqrt(counts * (1 - counts / n))
        covered.append(np.mean(np.abs(counts - truth) <= width + 0.5))
        found, error = slope(drawn)
        slopes.append(abs(found - true_slope) <= 1.96 * error)
    assert np.mean(covered) > 0.95
    assert np.mean(slopes) > 0.95


@pytest.mark.parametrize(
    ("part", "rows", "said"),
    [
        (Fraction(0), 3, "none"),
        (Fraction(1), 3, "all"),
        (Fraction(1, 3), 3, "some"),
        (Fraction(1, 30), 90, "fewer than 10"),
        (Fraction(29, 30), 90, "all but fewer than 10"),
        (Fraction(1, 3), 90, "33 %"),
        (Fraction(1, 200), 9000, "less than 1 %"),
    ],
)
def test_shares_of_few_rows_are_neither_told_nor_called_almost_none(part: Fraction, rows: int, said: str) -> None:
    assert _share(part, rows, 10) == said
