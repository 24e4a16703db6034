"""Least variance under a metric: the figures of a reference, the flat metric, and what is refused."""

import json
from fractions import Fraction

import pytest

from dalenius import Pmf, Problem, solve
from dalenius.errors import Unsupported
from dalenius.kernel.check import proved_bound
from dalenius.kernel.document import read_document
from dalenius.kernel.numbers import Refused, Work, canonical
from dalenius.kernel.variance import metric_columns
from dalenius.mechanisms.local_dp.metric_variance import extreme_columns


def line(letters):
    return [[str(abs(i - j)) for j in range(letters)] for i in range(letters)]


def problem(letters, metric, epsilon="1"):
    names = [str(k) for k in range(letters)]
    joint = Pmf.from_records({"X": names}, [((x,), k + 1) for k, x in enumerate(names)])
    promise = {"local_dp": epsilon} | ({"metric": metric} if metric else {})
    document = {
        "mechanism": {"observe": ["X"], "output": "Y"},
        "objective": {"minimize": {"variance": ["X"]}},
        "guarantee": [promise],
    }
    return Problem.from_document(document).bound(joint)


@pytest.mark.parametrize(
    ("letters", "epsilon", "value"), [(4, "1", 5.078241823), (3, "1", None), (5, "1/2", None), (2, "1", None)]
)
def test_a_line_of_letters_is_proved_to_the_last_digits(letters, epsilon, value):
    design = solve(problem(letters, line(letters), epsilon))
    assert 0 <= design.gap < 1e-6
    if value:
        assert float(design.value) == pytest.approx(value, abs=1e-7)


def test_a_flat_metric_is_no_metric():
    flat = [[str(int(i != j)) for j in range(4)] for i in range(4)]
    assert solve(problem(4, flat)).value == pytest.approx(solve(problem(4, None)).value, abs=1e-6)


def test_a_line_has_a_column_for_each_way_of_going_up_and_down():
    two = Fraction(2)
    for letters in (2, 3, 4, 5):
        ratios = [[two ** abs(i - j) for j in range(letters)] for i in range(letters)]
        found = extreme_columns(ratios)
        assert len(found) == 2 ** (letters - 1)
        assert sorted(map(tuple, metric_columns(ratios, Work(10**9)))) == sorted(found)


def bound(document):
    found = read_document(canonical(document), 10**9)
    return proved_bound(found.setting, found.promises, found.limits, found.objective, found.proof)


def test_the_kernel_bounds_by_all_columns_and_refuses_what_it_cannot_visit():
    document = json.loads(solve(problem(3, line(3))).dumps())
    value = Fraction(document["claims"]["value"])
    assert value - Fraction(1, 10**6) < bound(document) <= value
    for k in range(3):  # whatever the prices, the bound is one
        other = json.loads(json.dumps(document))
        other["proof"]["prices"][k] = str(int(other["proof"]["prices"][k]) * 2 // 3)
        assert bound(other) < value
    form = {"diagonal": ["0"] * 3, "pairs": [["0"] * 3] * 3, "shift": "0"}
    with pytest.raises(Refused, match="columns of two values"):
        bound(document | {"proof": document["proof"] | {"form": form}})
    promise = document["promises"][0]
    plain = promise | {"metric": None, "epsilon": "1/2"}
    stricter = document | {"promises": [promise, plain], "evidence": [None, None]}
    stricter["claims"] = document["claims"] | {"promises": [[], []]}
    assert bound(stricter) <= value * 9  # the strictest ratio of each pair
    far = promise | {"epsilon": "60"}
    with pytest.raises(Refused, match="too far apart"):  # 120 nats are more than the rule bounds
        bound(document | {"promises": [far]})


def test_the_kernel_visits_the_columns_of_six_letters_at_most():
    document = json.loads(solve(problem(4, line(4))).dumps())
    document["variables"] = [{"name": "X", "letters": [str(k) for k in range(7)]}]
    document["promises"][0]["metric"] = line(7)
    document["channel"]["rows"] = [document["channel"]["rows"][min(k, 3)] for k in range(7)]
    with pytest.raises(Refused, match="2 to 6 inputs"):
        bound(document)


def test_more_than_six_letters_are_refused():
    with pytest.raises(Unsupported, match="2 to 6"):
        solve(problem(7, line(7)))
