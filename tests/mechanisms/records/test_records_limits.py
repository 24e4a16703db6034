"""Limits, guesses, posteriors and common records beside form "records": few records exactly, many by flows."""

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from dalenius.api import load
from dalenius.core import (
    Distortion,
    Guess,
    Independent,
    InformationPrivacy,
    Leakage,
    MinimizeDistortion,
    Pmf,
    Problem,
    WorstCaseLeakage,
)
from dalenius.documents import canonical
from dalenius.errors import Infeasible, InputError, SolverFailed, Unsupported
from dalenius.kernel import check
from dalenius.mechanisms.records import design as designing
from dalenius.mechanisms.records import few_records
from dalenius.mechanisms.records.certifying import certified
from dalenius.mechanisms.records.design import _at_any_size, _Task, design
from dalenius.mechanisms.records.evidence import figures
from dalenius.mechanisms.records.few_records import listed
from dalenius.mechanisms.records.limits import _mixture
from dalenius.mechanisms.records.two_sides import bounds_by_sides
from dalenius.mechanisms.records.wide import Wide
from dalenius.mechanisms.records.words import remarks
from dalenius.solvers.flows.distances import Metric, pairwise
from dalenius.solvers.flows.transport import Spare, transport
from tests.effort import effort


def problem(seed, promise=None, classes=2, rows=70, share=0.3, **more):
    rng = np.random.default_rng(seed)
    secret = (rng.random(rows) < share).astype(int) if classes == 2 else rng.integers(0, classes, rows)
    secret[:classes] = range(classes)
    codes = np.column_stack([rng.integers(0, 3, rows), rng.integers(0, 4, rows), rng.integers(0, 3, rows), secret])
    names = ("A", "B", "C")
    variables = {name: tuple(map(str, range(k))) for name, k in zip(names, (3, 4, 3), strict=True)}
    variables["S"] = tuple(map(str, range(classes)))
    return Problem(
        observe=(*names, "S"),
        release=names,
        form="records",
        objective=MinimizeDistortion(Distortion.sum_of(Distortion("hamming", (name,)) for name in names)),
        guarantees=(promise or Independent(("S",)),),
        joint=Pmf.from_counts(variables, codes, [1] * rows),
        **more,
    )


@pytest.fixture
def many(monkeypatch):
    """Every table counts as one of many records, so that flows between records are tried where the answer is known."""
    monkeypatch.setattr(designing, "MOST_ENTRIES", 0)


def exactly(asked):
    """The best channel between records and its proof, by one program."""
    wide = Wide.of(asked)
    return certified(wide, listed(wide, 1e-9, 60.0, None))


PROMISES = [
    Guess(("S",), Fraction(4, 5)),
    Guess(("S",), times=Fraction(21, 20)),
    InformationPrivacy(("S",), Fraction(1, 5)),
    InformationPrivacy(("S",), Fraction(1, 3)),
    WorstCaseLeakage(("S",), Fraction(1, 50)),
    WorstCaseLeakage(("S",), Fraction(1, 20)),
]


@pytest.mark.long
@pytest.mark.parametrize("promise", PROMISES, ids=str)
def test_promises_about_single_records_meet_the_program_over_all_matrices(many, promise):
    for seed in range(effort(1, 2)):
        asked = problem(seed, promise, rows=40)
        found = design(asked)
        best = exactly(asked)
        assert float(found.value) == pytest.approx(float(best.value), abs=2e-6)
        assert found.gap < Fraction(1, 10**5)
        assert check(found.text).bound >= found.bound


def test_a_guess_cannot_be_worse_than_without_the_release(many):
    with pytest.raises(Infeasible, match="without the release"):
        design(problem(0, Guess(("S",), Fraction(11, 20))))


@pytest.mark.long
def test_what_one_more_column_is_worth_is_what_the_kernel_proves_of_few_rows():
    found = design(problem(1, Leakage(("S",), Fraction(1, 20))))
    proved = found.proved[0]["with_one_more_bits"]
    assert figures(found).one_more == pytest.approx({name: float(bits) for name, bits in proved.items()}, abs=1e-12)
    assert not any("no part of the proof" in remark for remark in found.remarks)
    unproved = replace(found, proved=tuple({} for _ in found.proved))
    assert any(f"beside B ({0.228} bits)" in remark for remark in remarks(unproved))


def two_secrets(seed, *promises, **more):
    """The same table with a second secret of three values, which leans towards the released columns."""
    base = problem(seed, rows=30)
    codes = np.repeat(np.array(base.pmf.support), base.pmf.weights, axis=0)
    second = (codes[:, :1] + np.random.default_rng(seed).integers(0, 2, (len(codes), 1))) % 3
    variables = {**base.pmf.variables, "T": ("k", "l", "m")}
    joint = Pmf.from_counts(variables, np.column_stack([codes, second]), [1] * len(codes))
    return replace(base, observe=(*base.observe, "T"), guarantees=promises, joint=joint, **more)


LEVEL = Fraction(1, 20)
TOGETHER = [
    ((Leakage(("S",), LEVEL), Leakage(("T",), 2 * LEVEL)), {}),
    ((Independent(("S",)), Leakage(("T",), LEVEL)), {}),
    ((Leakage(("S",), LEVEL), Guess(("T",), Fraction(3, 5))), {"preserve_marginals": True}),
    ((InformationPrivacy(("T",), Fraction(1)),), {}),
    ((WorstCaseLeakage(("T",), Fraction(1, 5)),), {}),
    ((Guess(("T",), times=Fraction(21, 20)),), {"preserve_marginals": True}),
    ((InformationPrivacy(("S",), Fraction(2)),), {}),
    ((Guess(("S",), at_most=Fraction(17, 20), gain=((1, 0), (0, 1))),), {}),
]


@pytest.mark.long
@pytest.mark.parametrize(("promises", "more"), TOGETHER[:: effort(3, 1)])
def test_promises_without_an_exact_way_are_kept_within_an_interval(many, promises, more):
    asked = two_secrets(1, *promises, **more)
    found = design(asked)
    best = exactly(asked)
    assert found.bound <= best.value
    assert best.bound <= found.value
    assert any("no exact optimum" in remark for remark in found.remarks)
    assert check(found.text).bound >= found.bound


SIDES = [
    (InformationPrivacy(("S",), Fraction(1, 5)), 3, 0.5),
    (InformationPrivacy(("S",), Fraction(1)), 2, 0.6),  # the light value may be the likelier one: only lower ends
    (WorstCaseLeakage(("S",), Fraction(1, 20)), 4, 0.5),
    (Guess(("S",), times=Fraction(21, 20)), 3, 0.3),
    (Guess(("S",), times=Fraction(11, 10)), 4, 0.6),  # no two values alone are guessed so often
    (Guess(("S",), times=Fraction(11, 10), gain=((3, 0, 1), (0, 2, 1))), 3, 0.5),
    (WorstCaseLeakage(("S",), Fraction(1, 2)), 4, 0.2),  # a value may be ruled out: only its upper end has a price
]


@pytest.mark.long
@pytest.mark.parametrize(("promise", "classes", "share"), SIDES, ids=str)
def test_two_sides_of_the_values_bound_what_every_mechanism_changes(monkeypatch, promise, classes, share):
    rng = np.random.default_rng(0)
    first = rng.integers(0, 3, 60)
    secret = np.where(rng.random(60) < 0.7, first % classes, rng.integers(0, classes, 60))
    codes = np.column_stack([first, rng.integers(0, 2, 60), rng.integers(0, 2, 60), secret])
    variables = {name: tuple(map(str, range(k))) for name, k in zip("ABCS", (3, 2, 2, classes), strict=True)}
    asked = replace(problem(0, promise, classes), joint=Pmf.from_counts(variables, codes, [1] * 60))
    best = design(asked, seconds=20)  # over all letters, whether the table has them or not
    assert best.gap < Fraction(1, 10**5)
    monkeypatch.setattr(designing, "MOST_ENTRIES", 0)
    found = design(asked)
    assert share * float(best.value) < float(found.bound) <= float(best.value) < float(found.value)
    assert check(found.text).bound >= found.bound


def test_values_with_the_same_scores_count_as_one(many):
    asked = problem(3, InformationPrivacy(("S",), Fraction(1, 10)), classes=3)
    wide = Wide.of(asked)
    (proof, *_) = bounds_by_sides(wide, asked.guarantees[0], 0.0, None)
    found = certified(wide, replace(_at_any_size(_Task(wide, 1e-6, 60.0)), proof=proof, others=()))
    assert found.bound > 0
    document = json.loads(found.text)
    (numbers,) = document["proof"]["records"]
    place = next(y for y, both in enumerate(numbers) if both)
    low, high = numbers[place]
    numbers[place] = [[str(int(v) + 1 + k) for k, v in enumerate(low)], high]  # all three are told apart again
    document["claims"] |= {"bound": "0", "gap": "9"}
    lower = check(canonical(document)).bound
    assert float(lower) == pytest.approx(0.75 * float(found.bound), rel=1e-9)


def test_a_guess_of_three_values_cannot_be_worse_than_without_the_release(many):
    with pytest.raises(Infeasible, match="without the release"):
        design(two_secrets(1, Guess(("T",), Fraction(1, 4))))


@pytest.mark.long
def test_of_two_leakages_neither_is_wasted(many):
    found = design(two_secrets(2, Leakage(("S",), LEVEL), Leakage(("T",), LEVEL)))
    used = max(Fraction(told["leakage_bits"]) / LEVEL for told in found.proved)
    assert Fraction(9, 10) < used <= 1
    assert found.bound > 0


@pytest.mark.long
@pytest.mark.parametrize("preserve", [False, True])
def test_a_limit_for_each_column_is_met_by_prices_and_mixtures(many, preserve):
    dearer = [Distortion("hamming", (name,), weight=Fraction(1 + k)) for k, name in enumerate("ABC")]
    objective = MinimizeDistortion(Distortion.sum_of(dearer))
    asked = replace(problem(1, preserve_marginals=preserve), objective=objective)
    free = design(asked)
    first = sum((Fraction(v) for v in _changed(free)[:1]), Fraction(0))
    limit = Distortion("hamming", ("A",), first * Fraction(4, 5))
    found = design(replace(asked, limits=(limit,)))
    best = exactly(replace(asked, limits=(limit,)))
    assert found.value > free.value
    assert float(found.value) == pytest.approx(float(best.value), rel=0.01)
    assert found.gap <= found.value / 100
    assert check(found.text).kept.limits[0] <= limit.at_most


def _changed(found):
    """How often each column changes."""
    wide = Wide.of(found.problem)
    counts = wide.counts.sum(axis=1)
    changed = [Fraction(0)] * wide.records.shape[1]
    for e, (places, weights) in enumerate(found.channel.lines):
        own = wide.records[wide.record_of_input[e]]
        for y, weight in zip(places, weights, strict=True):
            for j in np.flatnonzero(own != wide.records[y]).tolist():
                changed[j] += Fraction(int(counts[e]) * weight, sum(weights) * wide.total)
    return changed


def test_a_limit_that_nothing_keeps_is_infeasible_with_what_can_be_had(many):
    limit = Distortion("hamming", ("A",), Fraction(1, 1000))
    with pytest.raises(Infeasible, match=r"no release keeps the promises with a distortion of A below .* can be had"):
        design(replace(problem(1), limits=(limit,)))


def test_point_14_the_searches_within_limits_share_the_time(many, monkeypatch):
    """Each had all of it, so that several took several times as long; none but the first begins when it is over."""
    dearer = [Distortion("hamming", (name,), weight=Fraction(1 + k)) for k, name in enumerate("ABC")]
    free = replace(problem(1), objective=MinimizeDistortion(Distortion.sum_of(dearer)))
    limit = Distortion("hamming", ("A",), Fraction(_changed(design(free))[0]) * Fraction(4, 5))
    given = []

    def searched(task, table):
        given.append(task.seconds)
        return _at_any_size(task, table)

    monkeypatch.setattr(designing, "_at_any_size", searched)
    design(replace(free, limits=(limit,)), seconds=60)
    assert len(given) > 1
    assert max(given) <= 30, "half of what is left"
    given.clear()
    with pytest.raises(Unsupported, match="raise the limit"):
        design(replace(free, limits=(limit,)), seconds=0)
    assert given == [0]


def test_a_limit_between_what_is_proved_and_what_was_found_is_refused_with_the_way_out(many, monkeypatch):
    asked = problem(1)
    alone = replace(asked, objective=MinimizeDistortion(Distortion("hamming", ("A",))))
    found = design(alone)
    monkeypatch.setattr(designing, "certified", lambda *_: replace(found, bound=Fraction(0)))
    limit = Distortion("hamming", ("A",), found.value / 2)
    with pytest.raises(Unsupported, match=r"no release was found with a distortion of A below .*: raise the limit"):
        design(replace(asked, limits=(limit,)))


def test_rows_that_no_common_record_has_are_not_kept(many):
    with pytest.raises(Unsupported, match="keeps so many of its rows: let values keep fewer rows"):
        design(problem(2, rows=40, min_multiplicity=3, keep_rows=Fraction(1)))


@pytest.mark.long
@pytest.mark.parametrize("promise", [Independent(("S",)), Leakage(("S",), Fraction(1, 20))], ids=str)
def test_rows_are_kept_by_a_part_that_preserves_the_law(many, promise):
    asked = problem(3, promise, rows=30, keep_rows=Fraction(9, 10))
    found = design(asked)
    free = design(replace(asked, keep_rows=None))
    assert free.bound <= found.value
    for limit, reached in zip(found.problem.limits, check(found.text).kept.limits, strict=True):
        assert reached <= limit.at_most


@pytest.mark.long
@pytest.mark.parametrize("classes", [2, 3])
def test_common_records_alone_are_released(classes):
    asked = problem(4, classes=classes, rows=120, min_multiplicity=3)
    found = design(asked)
    wide = Wide.of(asked)
    rows = wide.by_record.sum(axis=1)
    assert min(rows[y] for places, _ in found.channel.lines for y in places) >= 3
    assert min(rows) < 3
    assert found.gap < Fraction(1, 10**8)
    assert found.value > design(replace(asked, min_multiplicity=None)).value
    assert "at least 3 rows" in found.remarks[0]


@pytest.mark.long
def test_many_records_go_to_common_ones_with_a_stated_gap(many):
    asked = problem(4, rows=120, min_multiplicity=3)
    found = design(asked)
    best = exactly(asked)
    assert found.bound <= best.value <= found.value * (1 + Fraction(1, 10**9))
    assert found.gap <= found.value / 5


AMONG_COMMON = [
    ((Leakage(("S",), Fraction(1, 50)),), 2, {}, 0.98),
    ((Leakage(("S",), Fraction(1, 20)),), 3, {}, 0.98),
    ((Independent(("S",)),), 3, {}, 0.6),
    ((Guess(("S",), times=Fraction(21, 20)),), 2, {}, 0.8),
    ((Guess(("S",), times=Fraction(21, 20), gain=((2, 1, 0), (0, 1, 1))),), 3, {}, 0.5),
    ((InformationPrivacy(("S",), Fraction(1, 3)),), 2, {}, 0.7),
    ((WorstCaseLeakage(("S",), Fraction(1, 20)),), 3, {}, 0.5),
    ((Independent(("S",)), Leakage(("A", "S"), Fraction(1))), 2, {}, 0.5),
    ((Leakage(("S",), Fraction(1, 50)),), 2, {"limits": (Distortion("hamming", ("A",), Fraction(1, 2)),)}, 0.95),
    ((Leakage(("S",), Fraction(1, 50)),), 2, {"keep_rows": Fraction(1, 2)}, 0.7),
]


@pytest.mark.long
@pytest.mark.parametrize("seen", [True, False])
@pytest.mark.parametrize(("promises", "classes", "more", "share"), AMONG_COMMON[:: effort(4, 1)], ids=str)
def test_many_records_go_to_common_ones_under_every_promise(many, promises, classes, more, share, seen):
    asked = replace(problem(4, classes=classes, rows=120, **more), guarantees=promises, min_multiplicity=3)
    if not seen:
        asked = replace(asked, observe=asked.release)
    found = design(asked)
    best = exactly(asked)
    assert best.gap < Fraction(1, 10**6)
    assert found.bound <= best.value
    assert best.bound <= found.value
    assert found.bound >= share * best.value * (1 if seen else Fraction(3, 4))
    assert check(found.text).bound >= found.bound
    often = Wide.of(asked).by_record.sum(axis=1)
    assert min(often[y] for places, _ in found.channel.lines for y in places) >= 3


@pytest.mark.long
def test_a_gain_counts_the_values_that_nobody_has_as_well(many):
    gain = ((3, 0, 9), (0, 2, 9))  # of the third value there are no rows
    asked = problem(1, Guess(("S",), times=Fraction(11, 10), gain=gain))
    variables = {**asked.joint.variables, "S": ("0", "1", "2")}
    asked = replace(asked, joint=Pmf.from_counts(variables, asked.joint.support, asked.joint.weights.tolist()))
    found = design(asked)
    assert 0 < found.bound <= exactly(asked).value <= found.value * (1 + Fraction(1, 10**6))


@pytest.mark.long
def test_rows_are_kept_among_common_records():
    found = design(problem(4, rows=120, min_multiplicity=3, keep_rows=Fraction(1, 2)))
    assert found.gap < Fraction(1, 10**8)


def test_what_needs_no_change_is_not_changed(many):
    assert design(problem(1, Guess(("S",), Fraction(99, 100), gain=((1, 0), (0, 1))))).value == 0


def test_min_multiplicity_that_cannot_be_is_refused():
    with pytest.raises(Infeasible, match="the most common one has"):
        design(problem(4, min_multiplicity=1000))
    with pytest.raises(InputError, match="with preserve_marginals"):
        problem(4, min_multiplicity=2, preserve_marginals=True)


def test_min_multiplicity_survives_the_file_and_is_compared_with_the_problem(tmp_path):
    found = design(problem(4, rows=120, min_multiplicity=3))
    (tmp_path / "design.json").write_text(found.dumps())
    again = load(tmp_path / "design.json")
    assert again.problem.min_multiplicity == 3
    assert Problem.from_document(found.problem.to_json(), joint=found.problem.joint).min_multiplicity == 3


@pytest.mark.long
def test_a_transport_that_need_not_ship_everything_ships_the_cheapest_part():
    rng = np.random.default_rng(5)
    metric = Metric((1, 2), (False, True), (1, 5))
    rows, columns = rng.integers(0, 6, (9, 2)), rng.integers(0, 6, (7, 2))
    supply, demand = rng.integers(1, 9, 9), rng.integers(1, 9, 7)
    last = None
    for shipped in range(1, int(min(supply.sum(), demand.sum())) + 1):
        spare = Spare(int(supply.sum()) - shipped, int(demand.sum()) - shipped, np.arange(9), np.arange(7))
        plan = transport(metric, rows, columns, supply, demand, spare=spare)
        assert plan.amount.sum() == shipped
        assert plan.cost == plan.bound == plan.amount @ pairwise(metric, rows[plan.row], columns[plan.column])
        assert last is None or plan.cost >= last
        last = plan.cost


def test_what_a_search_takes_is_foretold_and_refused_where_memory_is_short(monkeypatch):
    told = []
    design(problem(0), on_progress=told.append)
    assert any("pairs of records" in line and "MiB of memory" in line for line in told)
    monkeypatch.setattr("dalenius.mechanisms.records.preflight.free_memory", lambda: 1 << 20)
    with pytest.raises(Unsupported, match="different records need about"):
        design(problem(0))


def test_a_value_of_few_rows_is_kept_at_any_price():
    figures = np.array([[1.2, 0.9999], [0.8, 1.0]])  # a release that keeps the value, and a cheaper one that loses it
    shares, _, passed = _mixture(figures, np.array([0.99991]))
    assert not passed
    assert shares @ figures[:, 1] <= 0.99991 + 1e-12


def test_point_14_flows_answer_where_the_search_of_a_matrix_has_no_time(monkeypatch):
    """A limit on the average, one on every row and kept rows together ended with nothing on 88 records."""
    asked = problem(3, Leakage(("S",), Fraction(1, 50)), keep_rows=Fraction(1, 2))

    def late(*_, **__):
        raise SolverFailed("the time ran out")

    monkeypatch.setattr(few_records, "least", late)
    found = design(asked, seconds=30.0)
    assert "matrices" not in found.method
    assert 0 <= found.bound <= found.value
    monkeypatch.setattr(designing, "_at_any_size", late)
    monkeypatch.setattr(designing, "FLOWS", ((lambda _: True, late),))
    with pytest.raises(SolverFailed, match="the time ran out"):
        design(asked, seconds=30.0)
