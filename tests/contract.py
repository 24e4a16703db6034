"""What every mechanism family must do. A family inherits `DesignContract`, names its problems, and gets every test.

Promises and values are recomputed here from the rows of the channel and the joint pmf, by definition and without any
code of the package beyond its nouns.
"""

import json
import random
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product
from math import exp, log2, prod

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dalenius.core import (
    Channel,
    Contraction,
    Design,
    Independent,
    InformationPrivacy,
    Leakage,
    LocalDP,
    MaximizeInformation,
    MaximizeInformationOfEach,
    MinimizeDistortion,
    MinimizeLeakage,
    MinimizeLeakageAndRate,
    MinimizeRate,
    MinimizeVariance,
    Pmf,
    Problem,
    WorstCaseLeakage,
)
from dalenius.core.numbers import exact
from dalenius.documents import canonical, checked
from dalenius.errors import Infeasible, NotCertified
from dalenius.mechanisms import solve
from tests.effort import effort

SOLVED: dict[str, Design] = {}
STATED: dict[tuple[type, str], dict[str, Problem]] = {}
SOLVED_AGAIN = {
    "test_two_solves_write_the_same_file": 0,
    "test_relabelling_letters_does_not_change_the_figures": 1,
}
"""Tests that solve a problem once more: by default each takes one of four, in the long run both take every problem."""
SLACK = 1e-12  # of floats that are compared here; exact promises are compared exactly


# --- by definition ---------------------------------------------------------------------------------------------------
def released(problem, rows):
    """{(atom of the joint, released letter, kept letters): probability}, exact."""
    joint, out = problem.pmf, Counter()
    names = list(joint.variables)
    at, kept = [names.index(n) for n in problem.inputs], [names.index(n) for n in problem.beside]
    sizes = [len(joint.variables[n]) for n in problem.inputs]
    for atom, weight in zip(joint.support.tolist(), joint.weights.tolist(), strict=True):
        row = 0
        for i, size in zip(at, sizes, strict=True):
            row = row * size + atom[i]
        for y, v in enumerate(rows[row]):
            if v:
                out[tuple(atom), y, tuple(atom[i] for i in kept)] += Fraction(weight, joint.total) * v
    return out


def table(problem, rows, names):
    """{(letters of the named variables, everything that leaves): probability} and both margins."""
    at = [list(problem.pmf.variables).index(n) for n in names]
    joint, left, right = Counter(), Counter(), Counter()
    for (atom, y, kept), p in released(problem, rows).items():
        s = tuple(atom[i] for i in at)
        joint[s, (y, kept)] += p
        left[s] += p
        right[y, kept] += p
    return joint, left, right


def information(problem, rows, names):
    """I(names; everything that leaves) in bits."""
    joint, left, right = table(problem, rows, names)
    return sum(float(p) * log2(p / (left[s] * right[y])) for (s, y), p in joint.items())


def rate(problem, rows):
    """I(X; Y) for what the mechanism observes, given Z where the design counts it, in bits."""
    side = [n for n in problem.beside if n not in problem.kept]
    seen = [n for n in problem.inputs if n not in side]
    return (
        information(problem, rows, seen + side) - information(problem, rows, side)
        if side
        else information(problem, rows, seen)
    )


def distance(measure, x, y):
    """One distortion of a tuple of letters and a released tuple, by name."""
    if measure.distortion == "hamming":
        of = {a: k for k, group in enumerate(measure.classes) for a in group}
        return int([of.get(v, v) for v in x] != [of.get(v, v) for v in y])
    power = {"absolute": 1, "squared": 2}[measure.distortion]
    return sum(abs(Fraction(a) - Fraction(b)) ** power for a, b in zip(x, y, strict=True))


def expected_distortion(design, measure):
    """E d(X, what a user takes the released letter for), exactly."""
    problem, joint = design.problem, design.problem.pmf
    names, letters = list(joint.variables), design.channel.letters()
    total = Fraction(0)
    for part in measure.parts or (measure,):
        at = [names.index(n) for n in part.of]
        place = {x: k for k, x in enumerate(product(*(joint.variables[n] for n in part.of)))}
        columns = list(product(*(joint.variables[n] for n in problem.release))) if problem.release else None
        for (atom, y, _), p in released(problem, design.channel.rows).items():
            outcome = [joint.variables[n][c] for n, c in zip(names, atom, strict=True)]
            x, told = tuple(outcome[i] for i in at), letters[y]
            if design.decoder:
                told = (design.decoder[told[0]][outcome[names.index(problem.side_information.variable)]],)
            if isinstance(part.distortion, str):
                d = distance(part, x, [told[problem.release.index(n)] for n in part.of])
            else:
                d = part.distortion[place[x]][columns.index(told) if columns else int(told[0])]
            total += p * part.weight * d
    return total


def reached(design, problem=None):
    """The objective by its definition: exact for a distortion, a float in bits otherwise."""
    problem, goal, rows = problem or design.problem, design.problem.objective, design.channel.rows
    if isinstance(goal, MinimizeDistortion):
        return expected_distortion(design, goal.measure)
    if isinstance(goal, MinimizeLeakageAndRate):
        return float(goal.theta) * information(problem, rows, goal.about) + float(1 - goal.theta) * rate(problem, rows)
    if isinstance(goal, MinimizeRate):
        return rate(problem, rows)
    if isinstance(goal, MinimizeVariance):
        return total_variance(problem, rows)
    if isinstance(goal, MaximizeInformationOfEach):
        return sum(information(problem, rows, [n]) for n, rows in column_by_column(design))
    assert isinstance(goal, MaximizeInformation | MinimizeLeakage)
    return information(problem, rows, goal.about)


def total_variance(problem, rows):
    """tr of the covariance of the efficient estimate of p from one released letter, by generalised least squares."""
    law = problem.pmf.marginal(problem.observe)
    counts = dict(zip(map(tuple, law.support.tolist()), law.weights.tolist(), strict=True))
    sizes = [len(problem.pmf.variables[n]) for n in problem.observe]
    p = np.array([counts.get(x, 0) for x in product(*map(range, sizes))], dtype=float) / sum(counts.values())
    M = np.array([[float(v) for v in row] for row in rows])
    M = M[:, M.max(axis=0) > 0]
    m = p @ M
    D = np.vstack([np.eye(len(p) - 1), -np.ones(len(p) - 1)])
    return float(np.trace(D @ np.linalg.inv(D.T @ (M / m) @ M.T @ D) @ D.T))


def column_by_column(design):
    """(column, rows of the channel that show the letter released for that column alone)."""
    sizes = [len(a) for a in design.channel.output.values()]
    for j, name in enumerate(design.problem.observe):
        rows = []
        for row in design.channel.rows:
            shown = [Fraction(0)] * sizes[j]
            for y, v in enumerate(row):
                shown[y // prod(sizes[j + 1 :]) % sizes[j]] += v
            rows.append(tuple(shown))
        yield name, rows


def worst_letter(problem, rows, names):
    joint, left, right = table(problem, rows, names)
    told = Counter()
    for (s, y), p in joint.items():
        told[y] += float(p / right[y]) * log2(p / (left[s] * right[y]))
    return max(told.values())


def assert_refused(design, plant, message):
    """The kernel refuses a design whose document was changed by `plant`."""
    document = json.loads(design.dumps())
    plant(document)
    with pytest.raises(NotCertified, match=message):
        checked(canonical(document))


def reread(design):
    """The design as its files give it back."""
    return Design.from_text(design.dumps(), json.loads(design.about()))


FINE = 10**15


def finer(document):
    """The rows of a dense channel in finer units, and how many of them are a probability of 1e-15."""
    channel = document["channel"]
    step = int(channel["scale"])
    channel["scale"] = str(step * FINE)
    channel["rows"] = [[str(int(v) * FINE) for v in row] for row in channel["rows"]]
    return channel["rows"], step


def assert_kept(problem, rows, guarantee):
    """The promise holds, by its definition."""
    if isinstance(guarantee, Independent):
        joint, left, right = table(problem, rows, guarantee.view)
        for s in left:
            for y in right:
                assert joint[s, y] == left[s] * right[y]
    elif isinstance(guarantee, LocalDP):
        assert set(problem.kept) == set(guarantee.given)
        outcomes = list(product(*(problem.pmf.variables[n] for n in problem.inputs)))
        at = [problem.inputs.index(n) for n in guarantee.given if n in problem.inputs]
        world = [tuple(x[i] for i in at) for x in outcomes]
        if guarantee.delta:
            for p in rows:
                for q in rows:
                    over = sum(max(a - b * Fraction(exp(guarantee.epsilon)), 0) for a, b in zip(p, q, strict=True))
                    assert over <= guarantee.delta * (1 + Fraction(SLACK))
            return
        for column in zip(*rows, strict=True):
            for x, a in enumerate(column):
                for other, b in enumerate(column):
                    if world[x] != world[other]:
                        continue
                    apart = 1 if guarantee.metric is None else guarantee.metric[x][other]
                    assert a <= b * Fraction(exp(guarantee.epsilon * apart)) * (1 + Fraction(SLACK))
    elif isinstance(guarantee, InformationPrivacy):
        joint, left, right = table(problem, rows, guarantee.about)
        for s in left:
            for y in right:
                ratio = float(joint[s, y] / (left[s] * right[y]))
                assert exp(-guarantee.epsilon) - SLACK <= ratio <= exp(guarantee.epsilon) + SLACK
    elif isinstance(guarantee, WorstCaseLeakage):
        assert worst_letter(problem, rows, guarantee.about) <= guarantee.at_most_bits + SLACK
    elif isinstance(guarantee, Leakage):
        assert information(problem, rows, guarantee.about) <= guarantee.at_most_bits + SLACK
    elif isinstance(guarantee, Contraction):
        assert not problem.kept
        grid = np.linspace(0, 1, 65)[:, None]
        for p, q in combinations(np.array([[float(v) for v in row] for row in rows]), 2):  # the two-point formula
            used = (p * q) > 0
            mixed = grid * p[used] + (1 - grid) * q[used]
            assert 1 - (p[used] * q[used] / mixed).sum(axis=1).min() <= guarantee.at_most + SLACK
    else:
        raise NotImplementedError(f"write down here what {guarantee.key} means before you promise it")


def relabelled(problem, order):
    """The same problem with every letter renamed and every alphabet in another order."""
    joint = problem.pmf
    draw = random.Random(order)
    names = {}
    for name, letters in joint.variables.items():
        fresh = draw.sample([f"{name}~{k}" for k in range(len(letters))], len(letters))
        names[name] = dict(zip(letters, fresh, strict=True))
    alphabets = {n: tuple(sorted(new.values())) for n, new in names.items()}
    records = [
        (
            tuple(names[n][joint.variables[n][c]] for n, c in zip(joint.variables, atom, strict=True)),
            Fraction(w, joint.total),
        )
        for atom, w in zip(joint.support.tolist(), joint.weights.tolist(), strict=True)
    ]
    joint = Pmf.from_records(alphabets, records)

    def moved(measure):
        """The measure of the renamed letters."""
        if isinstance(measure.distortion, str):
            assert measure.distortion == "hamming"
            classes = tuple(tuple(new[a] for a in c for new in names.values() if a in new) for c in measure.classes)
            return replace(measure, classes=classes, parts=tuple(map(moved, measure.parts)))
        of = [(problem.pmf.variables[n], alphabets[n], names[n]) for n in measure.of]
        rows = {
            tuple(new[a] for a, (*_, new) in zip(x, of, strict=True)): row
            for x, row in zip(product(*(old for old, _, _ in of)), measure.distortion, strict=True)
        }
        matrix = [rows[x] for x in product(*(fresh for _, fresh, _ in of))]
        if problem.release:
            out = [(problem.pmf.variables[n], alphabets[n], names[n]) for n in problem.release]
            order = {
                tuple(new[a] for a, (*_, new) in zip(x, out, strict=True)): k
                for k, x in enumerate(product(*(old for old, _, _ in out)))
            }
            matrix = [[row[order[y]] for y in product(*(fresh for _, fresh, _ in out))] for row in matrix]
        return replace(measure, distortion=tuple(map(tuple, matrix)))

    def apart(guarantee):
        """A promise with the distances of the renamed inputs."""
        if not getattr(guarantee, "metric", None):
            return guarantee
        old = list(product(*(problem.pmf.variables[n] for n in problem.inputs)))
        place = {tuple(names[n][a] for n, a in zip(problem.inputs, x, strict=True)): k for k, x in enumerate(old)}
        order = [place[x] for x in product(*(alphabets[n] for n in problem.inputs))]
        return replace(guarantee, metric=[[guarantee.metric[i][j] for j in order] for i in order])

    goal = problem.objective
    return replace(
        problem,
        joint=joint,
        guarantees=tuple(map(apart, problem.guarantees)),
        limits=tuple(map(moved, problem.limits)),
        objective=replace(goal, measure=moved(goal.measure)) if isinstance(goal, MinimizeDistortion) else goal,
        forbid=tuple(
            (new[a], new[b]) for a, b in problem.forbid for n, new in names.items() if n in problem.release and a in new
        ),
    )


def post_processing(output, seed):
    """A random channel that reads a released letter."""
    draw = random.Random(seed)
    letters = [str(k) for k in range(draw.randrange(1, 4))]
    rows = []
    for _ in range(prod(map(len, output.values()))):
        counts = [draw.randrange(0, 5) for _ in letters]
        counts[draw.randrange(len(counts))] += 1
        rows.append(tuple(Fraction(c, sum(counts)) for c in counts))
    return Channel(output, {"Z": tuple(letters)}, tuple(rows))


def solved(problem, designer=solve):
    """The design of a problem, found once for all tests that only look at it."""
    key = json.dumps(
        [designer.__module__, designer.__qualname__, problem.to_json(), problem.law.to_json()], sort_keys=True
    )
    if key not in SOLVED:
        SOLVED[key] = designer(problem)
    return SOLVED[key]


def _stated_once(family, stated):
    """The problems of a family, built once for all tests that take them."""
    key = (family, stated.__name__)
    if key not in STATED:
        STATED[key] = stated()
    return STATED[key]


# --- the contract ----------------------------------------------------------------------------------------------------
class DesignContract:
    """Inherit, and say which small problems the family solves and which it finds infeasible."""

    def problems(self) -> dict[str, Problem]:
        raise NotImplementedError

    def infeasible(self) -> dict[str, Problem]:
        raise NotImplementedError

    def solve(self, problem: Problem) -> Design:
        return solve(problem)

    def solved(self, problem: Problem) -> Design:
        """The design of a problem, found once for all tests that only look at it."""
        return solved(problem, self.solve if type(self).solve is not DesignContract.solve else solve)

    def pytest_generate_tests(self, metafunc):
        for argument, stated in (("problem", self.problems), ("impossible", self.infeasible)):
            if argument in metafunc.fixturenames:
                cases = _stated_once(type(self), stated)
                turn = SOLVED_AGAIN.get(metafunc.function.__name__)
                later = [turn not in (None, k % 4) and len(cases) > 1 for k in range(len(cases))]
                marks = [[pytest.mark.slow] if wait else [] for wait in later]
                metafunc.parametrize(
                    argument,
                    [pytest.param(case, marks=own) for case, own in zip(cases.values(), marks, strict=True)],
                    ids=list(cases),
                )

    def test_every_promise_is_kept_exactly(self, problem):
        design = self.solved(problem)
        assert len(design.proved) == len(problem.guarantees)
        assert len(design.realised) == len(problem.limits)
        assert problem.guarantees or problem.limits
        for guarantee in problem.guarantees:
            assert_kept(problem, design.channel.rows, guarantee)
        for limit, figures in zip(problem.limits, design.realised, strict=True):
            expected = expected_distortion(design, limit)
            assert expected <= limit.at_most
            assert exact(figures["expected"]) == expected

    def test_value_and_bound_enclose_the_optimum(self, problem):
        design = self.solved(problem)
        assert design.gap >= 0
        if problem.objective.sense == "maximize":
            assert design.value <= design.bound
        else:
            assert design.bound <= design.value
        assert float(design.value) == pytest.approx(float(reached(design, problem)), abs=SLACK)

    def test_two_solves_write_the_same_file(self, problem):
        assert self.solve(problem).dumps() == self.solved(problem).dumps()

    def test_round_trip_through_its_files(self, problem):
        design = self.solved(problem)
        again = reread(design)
        assert again == design
        assert again.dumps() == design.dumps()
        assert again.about() == design.about()
        assert again.card_text() == design.card_text()

    def test_the_kernel_accepts_it_and_refuses_it_with_one_entry_perturbed(self, problem):
        design = self.solved(problem)
        verdict = checked(design.dumps())
        more = 1 if problem.objective.sense == "maximize" else -1
        assert more * (verdict.value - design.value) >= 0
        assert more * (design.bound - verdict.bound) >= 0
        assert checked(design.card_text()).rule == "privacy"
        if json.loads(design.dumps())["channel"]["form"] != "dense":
            self.assert_false_claims_are_refused(design)
            return
        if more < 0:  # a channel near the best is as good a channel; what it claims is what can be false
            self.assert_false_claims_are_refused(design)
            self.assert_rows_that_are_no_law_are_refused(design)
            return
        possible = {design.channel.row_of(codes) for codes in problem.pmf.grouped(problem.inputs)[0]}
        for x in sorted(possible):
            document = json.loads(design.dumps())
            rows, step = finer(document)
            row = rows[x]
            y = max(range(len(row)), key=lambda y: int(row[y]))
            row[y] = str(int(row[y]) - step)
            row[y - 1] = str(int(row[y - 1]) + step) if len(row) > 1 else row[y - 1]
            with pytest.raises(NotCertified):
                checked(canonical(document))

    def assert_false_claims_are_refused(self, design):
        sign = 1 if design.problem.objective.sense == "maximize" else -1
        better = {
            "value": design.bound + sign * Fraction(1, 10**9),
            "bound": design.value - sign * (design.gap + Fraction(1, 10**9)),
        }
        for key, claim in better.items():
            document = json.loads(design.dumps())
            document["claims"] |= {key: str(claim), "gap": "1"}
            with pytest.raises(NotCertified, match="claimed"):
                checked(canonical(document))

    def assert_rows_that_are_no_law_are_refused(self, design):
        for x in range(len(design.channel.rows)):
            document = json.loads(design.dumps())
            rows, step = finer(document)
            rows[x][0] = str(int(rows[x][0]) + step)
            with pytest.raises(NotCertified, match="distribution of the values"):
                checked(canonical(document))

    def test_rows_of_impossible_inputs_repeat_the_output_pmf(self, problem):
        channel = self.solved(problem).channel
        possible = {channel.row_of(codes) for codes in problem.pmf.grouped(problem.inputs)[0]}
        everywhere = Counter()
        for (_, y, _), p in released(problem, channel.rows).items():
            everywhere[y] += p
        for x, row in enumerate(channel.rows):
            if x not in possible:
                assert row == tuple(everywhere[y] for y in range(len(row)))

    def test_post_processing_keeps_the_promises_and_adds_nothing(self, problem):
        design = self.solved(problem)
        dense = Channel(design.channel.inputs, design.channel.output, design.channel.rows)
        for seed in range(5):
            after = dense.then(post_processing(design.channel.output, seed))
            for guarantee in problem.guarantees:
                assert_kept(problem, after.rows, guarantee)
            if isinstance(problem.objective, MaximizeInformation):
                assert information(problem, after.rows, problem.objective.names) <= float(design.value) + SLACK

    @given(st.integers(0, 10**6))
    @settings(deadline=None, max_examples=effort(1, 2), suppress_health_check=[HealthCheck.differing_executors])
    def test_relabelling_letters_does_not_change_the_figures(self, problem, order):
        here, there = self.solved(problem), self.solve(relabelled(problem, order))
        within = max(here.gap, there.gap) + Fraction(1, 10**20)
        assert abs(here.value - there.value) <= within
        assert abs(here.bound - there.bound) <= within

    def test_what_cannot_be_promised_is_refused_with_a_figure(self, impossible):
        with pytest.raises(Infeasible, match=r"\d"):
            self.solve(impossible)
